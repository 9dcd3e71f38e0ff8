//! `castellan run` with scripted agents: exit codes, streams, budgets, signals and the end of every process.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use castellan_tests::agents::Agent;
use castellan_tests::home::Home;
use castellan_tests::hook;
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;
use castellan_tests::wait;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value as Json, json};

const LIMIT: Duration = Duration::from_secs(30);
const PLAN: &str = "castellan_plan: 1\nname: planned\ncommands:\n  - touch planned-file\n";
const STREAM: &[&str] = &["-p", "--output-format", "stream-json"];

/// A home with a daemon, and an agent that is a shell script and registers castellan's hooks.
struct Rig {
    home: Home,
    agent: PathBuf,
}

impl Rig {
    fn new(script: &str) -> Result<Rig> {
        let rig = Rig::without_daemon(script)?;
        rig.home.start_daemon()?;
        Ok(rig)
    }

    fn without_daemon(script: &str) -> Result<Rig> {
        let home = Home::with_castellan("run", "version = 1\n", "[]\n")?;
        let agent = home.bin().join("agents/claude");
        home.write(&agent, &format!("#!/bin/sh\ncd {}\n{script}\n", home.workspace().display()))?;
        fs::set_permissions(&agent, Permissions::from_mode(0o755))?;
        home.register(Agent::Claude)?;
        Ok(Rig { home, agent })
    }

    /// A command for `castellan run OPTIONS -- AGENT ARGUMENTS`.
    fn command(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        command.arg("--home").arg(self.home.castellan()).arg("run").args(options);
        command.arg("--").arg(&self.agent).args(arguments);
        command
    }

    fn run(&self, options: &[&str], arguments: &[&str]) -> Result<Finished> {
        Running::start(&mut self.command(options, arguments))?.finish(LIMIT)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.workspace().join(name)
    }

    /// The process whose id the agent wrote to a file.
    fn process(&self, file: &str) -> Result<Pid> {
        let read = || {
            let text = fs::read_to_string(self.file(file)).unwrap_or_default();
            Ok(text.strip_suffix('\n').and_then(|pid| Pid::from_raw(pid.parse().ok()?)))
        };
        wait::until(LIMIT, read)?.with_context(|| format!("no process in `{file}`"))
    }

    /// The arguments of the records with this action.
    fn notes(&self, action: &str) -> Result<Vec<String>> {
        let records = self.home.records()?;
        let notes =
            records.iter().map(|record| &record["control"]).filter(|control| control["action"] == action);
        Ok(notes.map(|control| control["argument"].as_str().unwrap_or_default().to_owned()).collect())
    }
}

/// A line of Claude Code's stream about a response.
fn response(id: &str, usage: &Json) -> String {
    json!({"type": "assistant", "session_id": "s-1", "message": {"id": id, "content": [], "usage": usage}})
        .to_string()
}

fn tokens(input: u64, output: u64, cache_creation: u64) -> Json {
    json!({"input_tokens": input, "output_tokens": output, "cache_creation_input_tokens": cache_creation})
}

fn is_gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err()
}

#[test]
fn the_exit_code_is_the_agents() -> Result<()> {
    let check = |script: &str, expected: i32| -> Result<()> {
        let done = Rig::new(script)?.run(&[], &["-p", "go"])?;
        ensure!(done.code == Some(expected), "{script}: {done:?}");
        Ok(())
    };
    check("exit 0", 0)?;
    check("exit 7", 7)?;
    check("exit 255", 255)?;
    check("kill -TERM $$", 128 + 15)?;
    check("kill -KILL $$", 128 + 9)
}

#[test]
fn no_agent_starts_whose_hooks_are_not_castellans() -> Result<()> {
    let rig = Rig::new("touch started")?;
    let printed = rig.home.run_castellan(&["install", "claude", "--print"])?.stdout;
    let fake = rig.file("castellan-hook");
    rig.home.write(&fake, "#!/bin/sh\n")?;
    fs::set_permissions(&fake, Permissions::from_mode(0o755))?;
    let [hook, home] = [rig.home.bin().join("castellan-hook"), rig.home.castellan()];
    let settings = rig.home.user().join(".claude/settings.json");
    for (own, other, message) in [
        (hook, fake, "is not the hook of this castellan"),
        (home, rig.file("other"), "its calls go to another home, "),
    ] {
        let [own, other] = [own, other].map(|path| path.display().to_string());
        ensure!(printed.contains(&own), "{printed}");
        // One hook beside castellan's own is enough.
        for text in [printed.replace(&own, &other), printed.replacen(&own, &other, 1)] {
            rig.home.write(&settings, &text)?;
            for options in [&[][..], &["--own-settings"], &["--profile", "observer"]] {
                let done = rig.run(options, STREAM)?;
                ensure!(done.code == Some(125) && done.stderr.contains(message), "{options:?}: {done:?}");
                ensure!(!rig.file("started").exists(), "the agent has started");
            }
        }
    }
    rig.home.write(&settings, &printed)?;
    let done = rig.run(&[], STREAM)?;
    ensure!(done.code == Some(0) && rig.file("started").exists(), "{done:?}");
    Ok(())
}

#[test]
fn no_agent_starts_that_would_not_ask_castellan() -> Result<()> {
    let rig = Rig::new("touch started")?;
    let settings = Agent::Claude.settings(&rig.home);
    let whole = fs::read_to_string(&settings)?;
    let check = |options: &[&str], text: Option<&str>, message: Option<&str>| -> Result<()> {
        match text {
            Some(text) => rig.home.write(&settings, text)?,
            None if settings.exists() => fs::remove_dir_all(settings.parent().context("no folder")?)?,
            None => {}
        }
        let done = rig.run(options, STREAM)?;
        let expected = message.map_or(0, |_| 125);
        let is_told = message.is_none_or(|message| done.stderr.contains(message));
        ensure!(done.code == Some(expected) && is_told, "{options:?} {text:?}: {done:?}");
        let has_started = rig.file("started").exists();
        ensure!(has_started == message.is_none(), "{options:?} {text:?}: started: {has_started}");
        if has_started {
            fs::remove_file(rig.file("started"))?;
        }
        Ok(())
    };
    let absent = "Claude Code does not ask castellan: no settings of it register castellan's hook: castellan install claude";
    let other = whole.replace("PreToolUse", "Notification");
    for options in [&[][..], &["--budget-invocation", "100"], &["--sandbox"]] {
        check(options, None, Some(absent))?;
        check(options, Some("{}"), Some(absent))?;
        check(options, Some(&other), Some("no hook for PreToolUse"))?;
        check(options, Some("{"), Some("settings.json`"))?;
    }
    // No plan is put in force for an agent that does not start.
    let plan = rig.file("plan.yaml");
    rig.home.write(&plan, PLAN)?;
    let codex = rig.agent.with_file_name("codex");
    fs::copy(&rig.agent, &codex)?;
    let with_codex = |arguments: &[&str]| {
        let mut command = rig.home.command(&rig.home.bin().join("castellan"));
        command.arg("--home").arg(rig.home.castellan()).args(["run", "--plan"]).arg(&plan).arg("--");
        Running::start(command.arg(&codex).args(arguments))?.finish(LIMIT)
    };
    let done = with_codex(&["exec", "go"])?;
    ensure!(done.code == Some(125) && done.stderr.contains("castellan install codex"), "{done:?}");
    // Codex runs no hook that its user does not trust.
    rig.home.register(Agent::Codex)?;
    let done = with_codex(&["exec", "go"])?;
    ensure!(done.code == Some(125) && done.stderr.contains("is not trusted in `/hooks`"), "{done:?}");
    let plans = rig.home.run_castellan(&["plan", "status"])?;
    ensure!(!plans.stdout.contains("planned") && !rig.file("started").exists(), "{plans:?}");
    let done = with_codex(&["--dangerously-bypass-hook-trust", "exec", "go"])?;
    ensure!(done.code == Some(0) && rig.file("started").exists(), "{done:?}");
    fs::remove_file(rig.file("started"))?;
    // The arguments of an observer, and Claude Code's own settings, bring castellan's hooks.
    check(&["--own-settings"], None, None)?;
    rig.run(&["--profile", "observer"], STREAM)?;
    ensure!(rig.file("started").exists(), "the observer has not started");
    fs::remove_file(rig.file("started"))?;
    // castellan's argument beats a repository's switch.
    let switch = rig.file(".claude/settings.json");
    rig.home.write(&switch, r#"{"disableAllHooks":true}"#)?;
    check(&[], Some(&whole), None)
}

#[test]
fn no_agent_starts_where_castellan_cannot_guard_it() -> Result<()> {
    let rig = Rig::without_daemon("touch started")?;
    let check = |options: &[&str], arguments: &[&str], expected: i32, message: &str| -> Result<()> {
        let done = rig.run(options, arguments)?;
        ensure!(
            done.code == Some(expected) && done.stderr.contains(message),
            "{options:?} {arguments:?}: {done:?}"
        );
        ensure!(!rig.file("started").exists(), "the agent has started");
        Ok(())
    };
    rig.home.run_castellan(&["start"])?;
    terminal::run_castellan(&rig.home, &["stop"])?;
    check(&[], &[], 125, "the daemon is not running")?;
    rig.home.start_daemon()?;
    check(&[], &["--settings", "x.json"], 2, "could switch castellan's hooks off")?;
    check(&[], &["--bare"], 2, "could switch castellan's hooks off")?;
    check(&["--profile", "observer"], &["-p", "--mcp-config", "x"], 2, "does not accept `--mcp-config`")?;
    check(&["--profile", "observer"], &["go"], 2, "without a person")?;
    check(&["--profile", "none-such"], &[], 2, "invalid value")?;
    check(&["--budget-invocation", "-1"], &[], 2, "unexpected argument")?;
    check(&["--budget-session", "x"], &[], 2, "invalid value")?;
    check(&["--budget-session", "9"], &["go"], 2, "use `claude -p`")?;
    check(&["--budget-session", "9"], &["-p", "-c", "go"], 2, "use `claude -p`")?;
    check(&["--budget-session", "9"], &["-p", "--no-session-persistence"], 2, "cannot be read")?;
    check(&["--plan", "missing.yaml"], &[], 125, "missing.yaml")?;
    check(&["--profile", "observer", "--own-settings"], &["-p", "go"], 2, "leave `--own-settings` out")?;
    check(&["--own-settings"], &["--settings", "x.json"], 2, "could switch castellan's hooks off")?;
    check(&["--own-settings"], &["--bare"], 2, "could switch castellan's hooks off")?;
    let skip = "--dangerously-skip-permissions";
    check(&["--own-settings"], &["-p", skip], 2, skip)?;
    check(&["--own-settings"], &["--permission-mode", "bypassPermissions"], 2, "bypassPermissions")?;
    check(&["--own-settings"], &["--permission-mode=bypassPermissions"], 2, "bypassPermissions")?;
    rig.home.write(&rig.file("bad.yaml"), "castellan_plan: 1\ncomands: []\n")?;
    check(&["--plan", "bad.yaml"], &[], 125, "comands")?;
    rig.home.write(&rig.file("plan.yaml"), PLAN)?;
    check(&["--plan", "plan.yaml"], &["-p", skip], 2, skip)?;
    let plans = rig.home.run_castellan(&["plan", "status", "--json"])?;
    ensure!(!plans.stdout.contains("touch planned-file"), "a plan is in force without its agent: {plans:?}");
    fs::set_permissions(&rig.agent, Permissions::from_mode(0o644))?;
    check(&[], &[], 126, "not executable")?;
    fs::remove_file(&rig.agent)?;
    check(&[], &[], 127, "not installed")
}

/// A program that has no interpreter is found and cannot be executed.
#[test]
fn an_agent_that_is_no_program_cannot_be_executed() -> Result<()> {
    let rig = Rig::new("")?;
    fs::write(&rig.agent, "#!/no/such/interpreter\n")?;
    let done = rig.run(&[], &[])?;
    ensure!(matches!(done.code, Some(126 | 127)), "{done:?}");
    Ok(())
}

#[test]
fn arguments_and_variables_arrive_unchanged() -> Result<()> {
    let rig = Rig::new(r#"printf '%s|' "$@" "$ODD" > given; env > variables"#)?;
    let odd = OsStr::from_bytes(b"a\nb=\xff\"");
    let mut command = rig.command(&[], &["-p"]);
    command.arg(odd).env("ODD", odd).env("CLAUDE_CODE_SIMPLE", "1").env("GITHUB_TOKEN", "x");
    let done = Running::start(&mut command)?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let mut expected = b"--settings|{\"disableAllHooks\":false}|-p|".to_vec();
    expected.extend([odd.as_bytes(), b"|", odd.as_bytes(), b"|"].concat());
    let given = fs::read(rig.file("given"))?;
    ensure!(given == expected, "{}", std::ffi::OsString::from_vec(given).display());
    let variables = String::from_utf8_lossy(&fs::read(rig.file("variables"))?).into_owned();
    ensure!(variables.contains("GITHUB_TOKEN=x") && !variables.contains("CLAUDE_CODE_SIMPLE"), "{variables}");
    Ok(())
}

#[test]
fn a_stream_passes_unchanged_and_its_calls_are_recorded() -> Result<()> {
    let rig = Rig::new("cat stream")?;
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm -r x"}});
    let message = json!({"id": "m", "content": [call], "usage": tokens(1, 1, 0)});
    let line = json!({"type": "assistant", "session_id": "s-1", "message": message}).to_string();
    let stream = format!("{line}\n\n{line}\r\nno json\n{{\"type\":\"x\"}}\n{}\nend", "x".repeat(300_000));
    fs::write(rig.file("stream"), &stream)?;
    let done = rig.run(&[], STREAM)?;
    ensure!(done.code == Some(0) && done.stdout == stream, "{:?}", done.stderr);
    let notes = rig.notes("tool_attempt")?;
    ensure!(
        matches!(&notes[..], [one] if one.contains("session s-1 call t1: Bash") && one.contains("rm -r x")),
        "{notes:?}"
    );
    Ok(())
}

/// A line above the limit passes, in bounded memory. With a budget it ends the agent: it may hide what was spent.
#[test]
fn a_line_of_100_mb_passes_and_hides_no_spending() -> Result<()> {
    let rig = Rig::new("head -c 100000000 /dev/zero | tr '\\0' a; echo; echo end; sleep 2; touch survived")?;
    let count = |options: &[&str]| -> Result<Finished> {
        let mut shell = rig.home.command(Path::new("sh"));
        let castellan = rig.command(options, STREAM);
        let words = std::iter::once(castellan.get_program()).chain(castellan.get_args());
        shell.args(["-c", r#"{ "$@"; echo $? > code; } | wc -c"#, "sh"]).args(words);
        Running::start(&mut shell)?.finish(LIMIT)
    };
    let done = count(&[])?;
    ensure!(done.stdout.trim() == "100000005", "{done:?}");
    ensure!(
        fs::read_to_string(rig.file("code"))?.trim() == "0" && done.stderr.contains("too long"),
        "{done:?}"
    );
    fs::remove_file(rig.file("survived"))?;
    let done = count(&["--budget-invocation", "1000"])?;
    ensure!(fs::read_to_string(rig.file("code"))?.trim() == "124", "{done:?}");
    ensure!(!rig.file("survived").exists());
    ensure!(rig.notes("token_usage_unreadable")?.len() == 1);
    Ok(())
}

#[test]
fn unreadable_usage_ends_an_agent_with_a_budget() -> Result<()> {
    let rig = Rig::new("cat stream; sleep 60")?;
    let lines = [
        response("m", &json!({"output_tokens": 1})),
        response("m", &json!({"input_tokens": -1, "output_tokens": 1})),
        response("m", &json!({"input_tokens": "7", "output_tokens": 1})),
        response("m", &json!({"input_tokens": 1e30, "output_tokens": 1})),
        response("m", &json!(null)),
        r#"{"type":"assistant","message":{"id":"m","content":[]},"x":"usage"}"#.to_owned(),
        r#"{"type":"assistant","message":{"id":"m","usage":{"input_tokens":1"#.to_owned(),
        r#"{"type":"result","usage":1,"usage":{"input_tokens":0,"output_tokens":0}}"#.to_owned(),
        r#"{"type":"assistant","message":{"id":"m","us\u0061ge":{"input_tokens":-9,"output_tokens":1}}}"#
            .to_owned(),
    ];
    for line in lines {
        fs::write(rig.file("stream"), format!("{line}\n"))?;
        let done = rig.run(&["--budget-invocation", "1000000"], STREAM)?;
        ensure!(done.code == Some(124) && done.stdout == format!("{line}\n"), "{line}: {done:?}");
    }
    Ok(())
}

/// Without a session in the stream, and without a transcript, nobody knows what an agent spends.
#[test]
fn an_agent_with_a_budget_whose_tokens_nobody_reports_is_ended() -> Result<()> {
    let budget = ["--budget-invocation", "1000"];
    // It closes its output, or nobody reads its output, and goes on.
    let rig = Rig::new("exec >&-; sleep 60")?;
    let done = rig.run(&budget, STREAM)?;
    ensure!(done.code == Some(124) && done.stderr.contains("named a session"), "{done:?}");
    let rig = Rig::new("trap '' PIPE; while :; do echo x; sleep 0.05; done")?;
    let mut shell = rig.home.command(Path::new("sh"));
    let castellan = rig.command(&budget, STREAM);
    let words = std::iter::once(castellan.get_program()).chain(castellan.get_args());
    shell.args(["-c", r#"{ "$@"; echo $? > code; } | true"#, "sh"]).args(words);
    Running::start(&mut shell)?.finish(LIMIT)?;
    ensure!(fs::read_to_string(rig.file("code"))?.trim() == "124");
    // A setting of the repository keeps the agent from writing a transcript.
    let rig = Rig::new("echo done")?;
    let done = rig.run(&budget, &["-p", "go"])?;
    ensure!(done.code == Some(124) && done.stderr.contains("reported no tokens"), "{done:?}");
    ensure!(rig.notes("token_usage_unreadable")?.len() == 1);
    Ok(())
}

/// Two starts of a session at once have one budget together.
#[test]
fn parallel_starts_of_a_session_share_its_budget() -> Result<()> {
    let rig = Rig::new(
        "cat stream1; touch up$$\nwhile [ $(ls up* | wc -l) -lt 2 ]; do sleep 0.05; done\nsleep 0.3; cat stream2; sleep 20",
    )?;
    let line = |id: &str| response(id, &tokens(0, 40, 0)) + "\n";
    fs::write(rig.file("stream1"), line("a"))?;
    fs::write(rig.file("stream2"), line("b"))?;
    let start = || Running::start(&mut rig.command(&["--budget-session", "100"], STREAM));
    let both = [start()?, start()?];
    for running in both {
        let done = running.finish(LIMIT)?;
        ensure!(done.code == Some(124), "{done:?}");
    }
    Ok(())
}

/// An agent that ignores SIGTERM, and whose children left its group and its session.
#[test]
fn a_spent_budget_ends_every_process_mid_stream() -> Result<()> {
    let script = r#"
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 1; done' &
(setsid sh -c 'setsid sh -c "echo \$\$ > orphan; sleep 600" &' &)
while [ ! -s child ] || [ ! -s orphan ]; do sleep 0.1; done
echo $$ > agent
cat stream
while :; do sleep 1; done"#;
    let rig = Rig::new(script)?;
    // 40 tokens each; the third one is more than 100.
    let lines: Vec<String> =
        ["a", "a", "b", "c"].iter().map(|id| response(id, &tokens(10, 20, 10)) + "\n").collect();
    fs::write(rig.file("stream"), lines.concat())?;
    let done = rig.run(&["--budget-invocation", "100", "--budget-session", "1000"], STREAM)?;
    ensure!(done.code == Some(124) && done.stdout == lines.concat(), "{done:?}");
    ensure!(done.stderr.contains("four fifths") && done.stderr.contains("invocation 80 of 100"), "{done:?}");
    for file in ["agent", "child", "orphan"] {
        ensure!(is_gone(rig.process(file)?), "{file} still runs");
    }
    let notes = rig.notes("token_budget_exceeded")?;
    let expected = "session s-1: the invocation budget: invocation 120 of 100, session 90 of 1000";
    ensure!(matches!(&notes[..], [one] if one.contains(expected)), "{notes:?}");
    Ok(())
}

/// The daemon can record the end only later.
#[test]
fn a_daemon_that_does_not_answer_delays_no_end() -> Result<()> {
    let script = "echo $$ > agent\nwhile [ ! -e go ]; do sleep 0.1; done\ncat stream\nexec sleep 600";
    let rig = Rig::without_daemon(script)?;
    let daemon = rig.home.start_daemon()?;
    fs::write(rig.file("stream"), response("a", &tokens(10, 20, 10)) + "\n")?;
    let run = Running::start(&mut rig.command(&["--budget-invocation", "1"], STREAM))?;
    let agent = rig.process("agent")?;
    kill_process(daemon, Signal::STOP)?;
    fs::write(rig.file("go"), "")?;
    // The answer of the daemon has 15 seconds.
    let has_ended = wait::ended(agent, Duration::from_secs(8));
    kill_process(daemon, Signal::CONT)?;
    ensure!(has_ended?, "the agent still runs");
    let done = run.finish(LIMIT)?;
    ensure!(done.code == Some(124), "{done:?}");
    let notes = rig.notes("token_budget_exceeded")?;
    ensure!(matches!(&notes[..], [one] if one.contains("invocation 40 of 1")), "{notes:?}");
    Ok(())
}

#[test]
fn the_budget_of_a_session_counts_all_of_its_starts() -> Result<()> {
    let rig = Rig::new("touch started; cat stream; sleep 1")?;
    fs::write(rig.file("stream"), response("m", &tokens(30, 10, 500)) + "\n")?;
    let options = ["--budget-session", "100"];
    for _ in 0..2 {
        let done = rig.run(&options, STREAM)?;
        ensure!(done.code == Some(0), "{done:?}");
    }
    let done = rig.run(&options, STREAM)?;
    ensure!(done.code == Some(124), "{done:?}");
    let notes = rig.notes("token_budget_exceeded")?;
    ensure!(
        matches!(&notes[..], [one] if one.contains("session 120 of 100") && one.contains("no limit")),
        "{notes:?}"
    );
    // A session that is named before its start does not start.
    fs::remove_file(rig.file("started"))?;
    let done = rig.run(&options, &["-p", "--session-id", "s-1", "go"])?;
    ensure!(done.code == Some(124) && !rig.file("started").exists(), "{done:?}");
    // Sums that cannot be read are not zero.
    let sums = rig.home.castellan().join("state/session_tokens.json");
    fs::write(&sums, "{")?;
    let done = rig.run(&options, STREAM)?;
    ensure!(done.code == Some(125), "{done:?}");
    Ok(())
}

/// Without a stream, and for the numbers that a stream reports too early, the transcript counts.
#[test]
fn a_transcript_counts_as_well() -> Result<()> {
    let rig = Rig::new(
        "while [ \"$1\" != --session-id ]; do shift; done\nmkdir -p ~/.claude/projects/p/$2/subagents\ncat old new > ~/.claude/projects/p/$2.jsonl\ncat sub > ~/.claude/projects/p/$2/subagents/agent-1.jsonl\nsleep 60",
    )?;
    let line = |id: &str, time: &str, is_subagent: bool, output: u64| {
        let message = json!({"id": id, "usage": tokens(0, output, 0)});
        json!({"type": "assistant", "isSidechain": is_subagent, "timestamp": time, "message": message})
            .to_string()
            + "\n"
    };
    fs::write(rig.file("old"), line("a", "2020-01-01T00:00:00.000Z", false, 5000))?;
    fs::write(rig.file("new"), line("b", "2099-01-01T00:00:00.000Z", false, 60))?;
    fs::write(rig.file("sub"), line("c", "2099-01-01T00:00:00.000Z", true, 70))?;
    let done = rig.run(&["--budget-invocation", "100"], &["-p", "go"])?;
    ensure!(done.code == Some(124), "{done:?}");
    let notes = rig.notes("token_budget_exceeded")?;
    ensure!(matches!(&notes[..], [one] if one.contains("invocation 130 of 100")), "{notes:?}");
    Ok(())
}

#[test]
fn nothing_of_an_agent_outlives_it() -> Result<()> {
    let rig = Rig::new(
        "setsid sh -c 'trap \"\" TERM HUP; echo $$ > left; sleep 600 & wait; sleep 600' &\nwhile [ ! -s left ]; do sleep 0.1; done\nexit 3",
    )?;
    let done = rig.run(&[], &["-p"])?;
    ensure!(done.code == Some(3), "{done:?}");
    ensure!(is_gone(rig.process("left")?));
    Ok(())
}

#[test]
fn signals_reach_the_agent() -> Result<()> {
    for (signal, name) in [(Signal::TERM, "TERM"), (Signal::INT, "INT"), (Signal::HUP, "HUP")] {
        let rig = Rig::new(&format!("trap 'exit 42' {name}; echo $$ > agent; while :; do sleep 0.1; done"))?;
        let running = Running::start(&mut rig.command(&[], &["-p"]))?;
        rig.process("agent")?;
        kill_process(running.pid(), signal)?;
        let done = running.finish(LIMIT)?;
        ensure!(done.code == Some(42), "{name}: {done:?}");
    }
    Ok(())
}

/// A stopped `castellan run` counts no tokens.
#[test]
fn an_agent_that_stops_its_run_has_no_calls() -> Result<()> {
    let script = r#"
ask() { ../bin/castellan-hook --agent claude --event PreToolUse --home "$CASTELLAN" < call; echo $? >> codes; }
ask
kill -STOP $PPID
until grep -q ') T' /proc/$PPID/stat; do :; done
ask
kill -CONT $PPID
until ! grep -q ') T' /proc/$PPID/stat; do :; done
ask"#;
    let rig = Rig::new(script)?;
    fs::write(rig.file("call"), hook::bash("ls").to_string())?;
    let mut command = rig.command(&[], &["-p"]);
    command.env("CASTELLAN", rig.home.castellan());
    let done = Running::start(&mut command)?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let codes = fs::read_to_string(rig.file("codes"))?;
    let is_named = done.stderr.contains("the run of this agent does not watch it");
    ensure!(codes == "0\n2\n0\n" && is_named, "{codes} {done:?}");
    Ok(())
}

/// Nobody governs an agent whose `castellan run` was killed.
#[test]
fn an_agent_ends_with_its_run() -> Result<()> {
    let rig = Rig::new("trap '' TERM; echo $$ > agent; while :; do sleep 1; done")?;
    let running = Running::start(&mut rig.command(&[], &["-p"]))?;
    let agent = rig.process("agent")?;
    kill_process(running.pid(), Signal::KILL)?;
    // The end of `running` would kill the agent's group.
    ensure!(wait::ended(agent, LIMIT)?, "the agent still runs");
    running.finish(LIMIT)?;
    Ok(())
}

/// A script that stores its arguments and environment's view of the rendered file.
const TELLS: &str = r#"
printf '%s\n' "$@" > given
for word in "$@"; do [ -f "$word" ] && cp "$word" settings && stat -c %a "$word" "${word%/*/*}" > modes; done
true"#;

#[test]
fn an_agent_with_a_plan_gets_its_own_settings() -> Result<()> {
    let rig = Rig::new(TELLS)?;
    rig.home.write(&rig.file("plan.yaml"), PLAN)?;
    let all = rig.home.castellan().join("run/settings");
    for (options, allowed) in [
        (&["--plan", "plan.yaml"][..], json!(["Bash(touch planned-file)"])),
        (&["--own-settings"], json!([])),
    ] {
        let done = rig.run(options, &["-p", "go"])?;
        ensure!(done.code == Some(0), "{done:?}");
        let given = fs::read_to_string(rig.file("given"))?;
        let given: Vec<&str> = given.lines().collect();
        let ["--settings", file, "-p", "go"] = given[..] else { bail!("{given:?}") };
        ensure!(Path::new(file).starts_with(&all) && !Path::new(file).exists(), "{file}");
        ensure!(fs::read_to_string(rig.file("modes"))? == "600\n700\n");
        let settings: Json = serde_json::from_slice(&fs::read(rig.file("settings"))?)?;
        ensure!(settings["permissions"]["allow"] == allowed, "{settings}");
        ensure!(settings["permissions"]["disableBypassPermissionsMode"] == "disable", "{settings}");
        ensure!(
            settings["disableAllHooks"] == false && settings["hooks"]["PreToolUse"].is_array(),
            "{settings}"
        );
        ensure!(fs::read_dir(&all)?.next().is_none(), "the settings outlive the run");
    }
    let plans = rig.home.run_castellan(&["plan", "status"])?;
    ensure!(plans.stdout.contains("planned"), "{plans:?}");
    // Neither option, no settings.
    rig.run(&[], &["--dangerously-skip-permissions"])?;
    let given = fs::read_to_string(rig.file("given"))?;
    ensure!(given == "--settings\n{\"disableAllHooks\":false}\n--dangerously-skip-permissions\n", "{given}");
    Ok(())
}

#[test]
fn each_agent_gets_its_settings_in_its_own_way() -> Result<()> {
    let rig = Rig::new(TELLS)?;
    for agent in [Agent::Codex, Agent::Gemini, Agent::Qwen] {
        rig.home.register(agent)?;
    }
    let run = |agent: &str, options: &[&str], arguments: &[&str]| -> Result<(Finished, String)> {
        let program = rig.agent.with_file_name(agent);
        if agent != "claude" {
            fs::copy(&rig.agent, &program)?;
        }
        let mut command = rig.home.command(&rig.home.bin().join("castellan"));
        command.arg("--home").arg(rig.home.castellan()).arg("run").args(options);
        let done = Running::start(command.arg("--").arg(&program).args(arguments))?.finish(LIMIT)?;
        Ok((done, fs::read_to_string(rig.file("given")).unwrap_or_default()))
    };
    let mark = |given: &str| {
        let (_, rest) = given.split_once("default_permissions=\"castellan-").context("no profile")?;
        Ok::<String, anyhow::Error>(rest.chars().take_while(char::is_ascii_hexdigit).collect())
    };
    // The hooks of the user are not trusted here.
    let exec = &["--dangerously-bypass-hook-trust", "exec", "go"];
    let (done, first) = run("codex", &["--own-settings"], exec)?;
    ensure!(done.code == Some(0) && first.ends_with("exec\ngo\n"), "{done:?}: {first}");
    ensure!(first.matches("features.hooks=true").count() == 1, "{first}");
    ensure!(first.contains(&format!("permissions.castellan-{}=", mark(&first)?)), "{first}");
    let (_, second) = run("codex", &["--own-settings"], exec)?;
    ensure!(mark(&first)?.len() == 32 && mark(&first)? != mark(&second)?, "a repository can guess the name");
    let (done, given) = run("gemini", &["--own-settings"], &["-p", "go"])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(
        given.starts_with("--policy\n") && given.contains("/.gemini/castellan.toml\n-p\ngo\n"),
        "{given}"
    );
    ensure!(fs::read_to_string(rig.file("settings"))?.contains("[[rule]]"));
    fs::remove_file(rig.file("given"))?;
    for (agent, argument) in [
        ("codex", "-sdanger-full-access"),
        ("codex", "-csandbox_mode=\"read-only\""),
        ("gemini", "--yolo"),
        ("gemini", "-dy"),
    ] {
        let (done, given) = run(agent, &["--own-settings"], &[argument])?;
        ensure!(
            done.code == Some(2) && done.stderr.contains(argument) && given.is_empty(),
            "{argument}: {done:?}"
        );
    }
    // castellan renders nothing for this one.
    let (done, given) = run("qwen", &["--own-settings"], &["-p", "go"])?;
    ensure!(
        done.code == Some(2) && done.stderr.contains("no settings for Qwen Code") && given.is_empty(),
        "{done:?}"
    );
    rig.home.write(&rig.file("plan.yaml"), PLAN)?;
    let (done, given) = run("qwen", &["--plan", "plan.yaml"], &["-p", "go"])?;
    ensure!(done.code == Some(0) && given == "-p\ngo\n", "{done:?}: {given}");
    Ok(())
}

/// A later run removes the settings of a killed one, and not those of a run that goes on.
#[test]
fn settings_of_a_killed_run_are_removed() -> Result<()> {
    let rig = Rig::new("case $* in *wait*) echo $$ > agent; while :; do sleep 1; done ;; esac")?;
    let all = rig.home.castellan().join("run/settings");
    let folders = || -> Result<Vec<PathBuf>> {
        Ok(fs::read_dir(&all)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?)
    };
    let killed = Running::start(&mut rig.command(&["--own-settings"], &["wait"]))?;
    let agent = rig.process("agent")?;
    let [left] = &folders()?[..] else { bail!("{:?}", folders()?) };
    kill_process(killed.pid(), Signal::KILL)?;
    ensure!(wait::ended(agent, LIMIT)?, "the agent still runs");
    killed.finish(LIMIT)?;
    ensure!(left.exists());
    fs::remove_file(rig.file("agent"))?;
    let goes_on = Running::start(&mut rig.command(&["--own-settings"], &["wait"]))?;
    rig.process("agent")?;
    ensure!(!left.exists(), "`{}` is still there", left.display());
    let done = rig.run(&["--own-settings"], &[])?;
    ensure!(done.code == Some(0) && folders()?.len() == 1, "{done:?}: {:?}", folders()?);
    kill_process(goes_on.pid(), Signal::TERM)?;
    goes_on.finish(LIMIT)?;
    ensure!(folders()?.is_empty(), "{:?}", folders()?);
    Ok(())
}

/// A repository's files and an agent's surroundings do not reach an observer.
#[test]
fn an_observer_starts_in_a_private_place() -> Result<()> {
    let rig = Rig::new("")?;
    let script = format!(
        "#!/bin/sh\nout={}\npwd > $out/place; env > $out/variables\necho '{}'\n",
        rig.home.workspace().display(),
        response("m", &tokens(1, 1, 0))
    );
    fs::write(&rig.agent, script)?;
    let mut command = rig.command(&["--profile", "observer"], STREAM);
    command.env("GITHUB_TOKEN", "x").env("NODE_OPTIONS", "--require /x").env("ANTHROPIC_API_KEY", "key");
    let done = Running::start(&mut command)?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let place = PathBuf::from(fs::read_to_string(rig.file("place"))?.trim());
    ensure!(place == rig.home.castellan().join("state/observers/claude/work"), "{}", place.display());
    ensure!(fs::metadata(&place)?.permissions().mode() & 0o777 == 0o700);
    let variables = fs::read_to_string(rig.file("variables"))?;
    ensure!(variables.contains("ANTHROPIC_API_KEY=key"), "{variables}");
    ensure!(!variables.contains("GITHUB_TOKEN") && !variables.contains("NODE_OPTIONS"), "{variables}");
    fs::write(place.join(".mcp.json"), "{}")?;
    let done = rig.run(&["--profile", "observer"], &["-p", "go"])?;
    ensure!(done.code == Some(125) && done.stderr.contains("not empty"), "{done:?}");
    Ok(())
}
