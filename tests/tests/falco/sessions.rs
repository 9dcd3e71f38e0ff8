//! The sessions, as data: levels of rules, a stricter profile, plans, grants, review, containment with undo and keep. Each also
//! compares the records, `castellan why` and `castellan log verify`.

use anyhow::Result;
use serde_json::json;

use crate::compare::{Session, compare};
use crate::step::Step::{Ask, AskAgain, Contained, Done, Holds, Person, Program, Prompted, Undoable, Write};
use crate::step::{Step, bash, call, in_session};

/// Rules of each level and each verdict, each with a word or an effect of its own.
const RULES: &str = "
- rule: Call deny
  desc: d
  condition: tool.input_command contains forbidden
  output: the call says %tool.input_command. Instead, say something else
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Call ask
  desc: d
  condition: tool.input_command contains doubtful
  output: the test asks
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Path allow
  desc: d
  condition: tool.file_path endswith permitted
  output: the test allows
  priority: NOTICE
  source: coding_agent
  tags: [coding_agent_allow]

- rule: Command deny
  desc: d
  condition: row.level = command and cmd.name = printf and cmd.args intersects (secretly)
  output: printf %cmd.args
  priority: ERROR
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Effect ask
  desc: d
  condition: fx.kind = write and fx.path endswith .lock
  output: this writes %fx.path
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask, \"coding_agent_mark:locked\"]

- rule: After a lock
  desc: d
  condition: cmd.name = sort and session.mark_count[locked] >= 1
  output: a lock was written before
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Mark
  desc: d
  condition: tool.input_command contains remember
  output: o
  priority: NOTICE
  source: coding_agent
  tags: [\"coding_agent_mark:locked\"]

- rule: Soft
  desc: d
  condition: tool.input_command contains gentle
  output: this is soft
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_review]

- rule: Notice
  desc: d
  condition: cmd.name = uname
  output: only a notice
  priority: NOTICE
  source: coding_agent

- rule: Contain
  desc: d
  condition: cmd.name = touch and tool.input contains inside
  output: the test contains this
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_contain]
";

const ENFORCE: &str = "version = 1\n";

fn session(name: &'static str, config: &str, steps: Vec<Step>) -> Session {
    Session { name, config: config.to_owned(), rules: RULES, steps }
}

fn levels() -> Session {
    let ask = |command: &str, expected| Ask("claude", bash(command), expected);
    let read = |path: &str, expected| Ask("claude", call("Read", &json!({ "file_path": path })), expected);
    let steps = vec![
        ask("ls", "defer"),
        ask("echo forbidden", "deny"),
        Program(&["why", "$ID"], 0),
        Program(&["why", "$ID", "--json"], 0),
        ask("echo doubtful", "ask"),
        AskAgain(bash("echo doubtful"), "defer"),
        ask("echo doubtful; echo forbidden", "deny"),
        ask("printf a secretly; ls", "deny"),
        Program(&["why", "$ID"], 0),
        ask("printf a", "defer"),
        ask("bash -c 'printf a secretly'", "deny"),
        ask("echo x > a.lock", "ask"),
        Program(&["why", "$ID"], 0),
        ask("echo x > a.txt; echo y > b.lock", "ask"),
        Ask("claude", call("Write", &json!({ "file_path": "$W/c.lock", "content": "x" })), "ask"),
        read("/x/permitted", "allow"),
        read("/x/other", "defer"),
        ask("echo remember", "defer"),
        ask("sort a", "deny"),
        Ask("claude", in_session("another", "sort a"), "defer"),
        ask("uname -a", "defer"),
        ask("echo gentle", "ask"),
        ask("touch inside", "ask"),
        ask("x=$(cat a); $x", "ask"),
        ask("rm -rf /", "deny"),
        ask("git push --force origin main", "ask"),
        Ask("codex", bash("echo doubtful"), "deny"),
        Ask("claude", call("Unheard", &json!({ "a": [1, null] })), "defer"),
        Ask("claude", call("Read", &json!({ "file_path": "/a/\u{0}b" })), "deny"),
        Program(&["log", "--verdict", "deny"], 0),
    ];
    session("levels", ENFORCE, steps)
}

/// The same kinds of calls where the profile has a level, and in a session without a person.
fn strict() -> Session {
    let ask = |command: &str, expected| Ask("claude", bash(command), expected);
    let steps = vec![
        ask("ls", "defer"),
        ask("echo x > /etc/x", "ask"),
        Program(&["why", "$ID"], 0),
        ask("x=$(cat a); $x", "deny"),
        ask("echo doubtful", "ask"),
        ask("echo forbidden", "deny"),
        Ask("claude", call("Unheard", &json!({})), "deny"),
        Person(&["trust", "--yes", "$W"], 0),
        ask("echo x > a.txt", "defer"),
        Person(&["profile", "autonomous"], 0),
        ask("ls", "allow"),
        ask("echo forbidden", "deny"),
        ask("x=$(cat a); $x", "ask"),
        Person(&["mode", "monitor"], 0),
        ask("echo forbidden", "defer"),
        ask("echo doubtful", "defer"),
        Person(&["mode", "enforce"], 0),
        Person(&["packs", "git", "observe"], 0),
        ask("git push --force origin main", "ask"),
        Person(&["profile", "observer"], 0),
        ask("ls", "deny"),
    ];
    session("strict", "version = 1\nprofile = \"strict\"\n", steps)
}

const PLAN: &str =
    "castellan_plan: 1\nname: tidy\ncommands: [touch *]\nwrites: [out]\nhosts: []\nbranches: []\n";

fn plans() -> Session {
    let ask = |command: &str, expected| Ask("claude", bash(command), expected);
    let steps = vec![
        Write("plan.yaml", PLAN),
        Write("out/kept", "x"),
        Program(&["plan", "use", "--strict", "$W/plan.yaml"], 0),
        ask("touch out/a", "defer"),
        Done(bash("touch out/a")),
        ask("touch out/a.lock", "ask"),
        ask("touch out/forbidden", "deny"),
        ask("ls", "deny"),
        Program(&["why", "$ID"], 0),
        ask("touch elsewhere", "deny"),
        ask("ls # castellan: ad-hoc", "ask"),
        ask("echo forbidden # castellan: ad-hoc", "deny"),
        Program(&["plan", "status"], 0),
        Program(&["plan", "end"], 4),
        Person(&["plan", "end"], 0),
        ask("ls", "defer"),
        Person(&["plan", "use", "$W/plan.yaml"], 0),
        ask("ls", "defer"),
        ask("echo forbidden", "deny"),
        Program(&["plan", "status"], 0),
    ];
    session("plans", ENFORCE, steps)
}

fn grants() -> Session {
    let ask = |command: &str, expected| Ask("codex", bash(command), expected);
    let steps = vec![
        ask("echo doubtful", "deny"),
        Program(&["pending"], 0),
        Program(&["approve", "$ID", "--yes"], 4),
        Person(&["approve", "$ID", "--yes"], 0),
        Program(&["pending", "--granted"], 0),
        ask("echo doubtful; ls", "deny"),
        ask("echo doubtful", "defer"),
        ask("echo doubtful", "deny"),
        Person(&["approve", "$ID", "--session", "--yes"], 0),
        ask("echo doubtful", "defer"),
        ask("echo doubtful", "defer"),
        // The grant is about one finding, and Falco finds another one.
        ask("echo doubtful > a.lock", "deny"),
        Person(&["refuse", "$ID"], 0),
        ask("echo doubtful > a.lock", "deny"),
        // Nothing lifts a deny.
        ask("echo forbidden", "deny"),
        Person(&["approve", "$ID", "--yes"], 7),
        Ask("claude", bash("echo doubtful again"), "ask"),
        Person(&["approve", "$ID", "--yes"], 0),
        Ask("claude", bash("echo doubtful again"), "allow"),
        Ask("claude", bash("echo doubtful again"), "ask"),
        Person(&["allow", "Bash(echo doubtful x:*)", "--yes"], 0),
        Ask("claude", bash("echo doubtful x"), "allow"),
        Ask("claude", bash("echo doubtful x; echo forbidden"), "deny"),
        Ask("claude", bash("echo x"), "defer"),
    ];
    session("grants", ENFORCE, steps)
}

fn review() -> Session {
    let command = json!(["/bin/sh", "-c", "cat >>$W/asked; . $W/answer"]);
    let config =
        format!("version = 1\n[review]\nprovider = \"command\"\ncommand = {command}\ntime_ms = 5000\n");
    let says = |answer: &'static str| Write("answer", answer);
    let steps = vec![
        says(r#"echo '{"answer": "allow", "reason": "the user asked for it"}'"#),
        Prompted("please do it", "echo gentle", "defer"),
        // Falco has another finding, so nobody asks the reviewer.
        Prompted("please do it", "echo gentle doubtful", "ask"),
        Prompted("please do it", "echo gentle forbidden", "deny"),
        says(r#"echo '{"answer": "deny", "reason": "the user wants no such thing"}'"#),
        Prompted("please do that", "echo gentle", "deny"),
        Program(&["why", "$ID"], 0),
        says("echo nonsense"),
        Prompted("please do another thing", "echo gentle", "ask"),
        Program(&["why", "$ID"], 0),
        // Without a prompt nobody knows what the user wants.
        Ask("claude", bash("echo gentle"), "ask"),
    ];
    session("review", &config, steps)
}

fn contained() -> Session {
    let later = |command: &str, expected| Ask("claude", in_session("later", command), expected);
    let write = || call("Write", &json!({ "file_path": "$W/notes", "content": "second\n" }));
    let steps = vec![
        Write("run.sh", "echo judged\n"),
        Write("notes", "first\n"),
        later("bash run.sh", "defer"),
        // A rule that Falco tests contains a call that castellan understands.
        Ask("claude", in_session("understood", "touch inside"), "allow"),
        Contained("echo 'echo later' > run.sh; echo ran"),
        Holds("run.sh", "echo later\n"),
        Undoable,
        Program(&["diff", "$ID"], 0),
        Program(&["undo", "$ID", "--yes"], 4),
        Person(&["undo", "$ID", "--yes"], 0),
        Holds("run.sh", "echo judged\n"),
        later("bash run.sh", "defer"),
        Contained("echo 'echo again' > run.sh"),
        Undoable,
        Person(&["keep", "$ID", "--yes"], 0),
        later("bash run.sh", "defer"),
        // Written by unread code: contained, too. Falco's findings stay.
        Contained("echo 'echo more' > run.sh"),
        later("bash run.sh", "allow"),
        later("bash run.sh; echo doubtful", "ask"),
        later("bash run.sh; echo forbidden", "deny"),
        Program(&["why", "$ID"], 0),
        // A checkpoint of a call that castellan understands; none of a call that Falco denies.
        Ask("claude", write(), "defer"),
        Write("notes", "second\n"),
        Undoable,
        Program(&["diff", "$ID"], 0),
        Person(&["undo", "$ID", "--yes"], 0),
        Holds("notes", "first\n"),
        Ask("claude", bash("echo forbidden > notes"), "deny"),
        Program(&["undo"], 0),
    ];
    session("contained", "version = 1\ncontainment.mode = \"prefer\"\n", steps)
}

#[test]
fn levels_of_rules_decide_the_same_in_both_engines() -> Result<()> {
    compare(&levels())
}

#[test]
fn profiles_modes_and_packs_decide_the_same_in_both_engines() -> Result<()> {
    compare(&strict())
}

#[test]
fn plans_hold_the_same_in_both_engines() -> Result<()> {
    compare(&plans())
}

#[test]
fn grants_lift_the_same_in_both_engines() -> Result<()> {
    compare(&grants())
}

#[test]
fn reviews_are_the_same_in_both_engines() -> Result<()> {
    compare(&review())
}

#[test]
fn containment_undo_and_keep_are_the_same_in_both_engines() -> Result<()> {
    compare(&contained())
}
