//! Runs over the control socket: a registered process and everything below it get a profile that no agent can leave.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use castellan_tests::control;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, MONITOR, RULES, ask_again, bash, call, judge, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::wait::until;
use rustix::process::{Signal, kill_process};
use serde_json::{Value as Json, json};

use super::{LIMIT, kill, status};

/// Registers this test as a run; its hooks are below it.
fn start(home: &Home, profile: Option<&str>) -> anyhow::Result<Json> {
    control::ask(home, &json!({ "run": { "profile": profile } }))
}

fn answer(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&judge(home, &bash(command))?))
}

fn home(name: &str, config: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, config, RULES)?;
    home.start_daemon()?;
    Ok(home)
}

/// Everything that an agent can send as a call: understood, allowed by rules, a second question, and malformed.
fn check_that_nothing_passes(home: &Home) -> anyhow::Result<()> {
    let read = call("Read", &json!({ "file_path": "/w/permitted" }));
    for call in [bash("ls"), bash("doubtful"), read.clone(), call("TodoWrite", &json!({ "todos": [] }))] {
        let done = judge(home, &call)?;
        assert_eq!(understood(&done), "deny", "{call}: {done:?}");
        assert!(done.stdout.contains("this session is an observer: it has no tools"), "{done:?}");
        assert_eq!(understood(&ask_again(home, "claude", &call)?), "deny", "{call}");
    }
    for payload in ["", "{", "[]", "{}", "{\"tool_name\":7}", "\u{0}"] {
        for event in ["PreToolUse", "PermissionRequest"] {
            let done = hook::run(home, "claude", event, payload.as_bytes())?;
            assert_eq!(understood(&done), "deny", "{event} {payload:?}: {done:?}");
        }
    }
    let done = hook::run(home, "nobody", "PreToolUse", bash("ls").to_string().as_bytes())?;
    assert_eq!(understood(&done), "deny", "{done:?}");
    Ok(())
}

#[test]
fn an_observers_run_has_no_tools_in_any_mode() -> anyhow::Result<()> {
    let passthrough = "version = 1\nmode = \"passthrough\"\n";
    for (number, config) in [ENFORCE, MONITOR, passthrough].into_iter().enumerate() {
        let home = home(&format!("observer-{number}"), config)?;
        assert_eq!(answer(&home, "ls")?, "defer");
        let read = call("Read", &json!({ "file_path": "/w/permitted" }));
        assert_ne!(understood(&judge(&home, &read)?), "deny");
        let started = start(&home, Some("observer"))?;
        assert_eq!(started, json!({ "run": { "profile": "observer", "has_tools": false } }));
        check_that_nothing_passes(&home)?;
        // A daemon that is killed and started again keeps the run.
        kill(home.start_daemon()?)?;
        check_that_nothing_passes(&home)?;
        let records = home.records()?;
        let denied = |record: &&Json| record["call"]["findings"][0]["code"] == "no_tools";
        assert!(records.iter().filter(denied).count() >= 8, "{records:?}");
        let own = std::process::id();
        assert!(records.iter().filter(denied).all(|record| record["call"]["run"] == own), "{records:?}");
        let before = records.iter().find(|record| record["type"] == "call").unwrap();
        assert_eq!(before["call"]["run"], Json::Null, "{before}");
    }
    Ok(())
}

#[test]
fn a_run_is_left_by_no_request() -> anyhow::Result<()> {
    let home = home("run-again", ENFORCE)?;
    assert_eq!(answer(&home, "$PROGRAM -x")?, "ask");
    start(&home, Some("strict"))?;
    assert_eq!(answer(&home, "$PROGRAM -x")?, "deny");
    for milder in ["kit", "quiet", "standard", "autonomous"] {
        let refused = start(&home, Some(milder))?;
        let why = refused["refused"].as_str().unwrap_or_default();
        assert!(why.contains("within a run under the profile strict"), "{refused}");
    }
    // The run holds, whatever profile is configured.
    let same = start(&home, None)?;
    assert_eq!(same["run"]["profile"], "strict", "{same}");
    assert_eq!(answer(&home, "$PROGRAM -x")?, "deny");
    start(&home, Some("observer"))?;
    check_that_nothing_passes(&home)?;
    assert!(start(&home, Some("strict"))?["refused"].is_string());
    check_that_nothing_passes(&home)?;
    let runs = status(&home)["runs"].clone();
    assert_eq!(
        (&runs[0]["profile"], &runs[0]["pid"]),
        (&"observer".into(), &std::process::id().into()),
        "{runs}"
    );
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
    let records = home.records()?;
    let said = |word: &str, accepted: bool| {
        records.iter().any(|record| {
            let control = &record["control"];
            control["action"] == "run" && control["accepted"] == accepted && control["argument"] == word
        })
    };
    assert!(said("strict", true) && said("observer", true) && said("quiet", false), "{records:?}");
    Ok(())
}

#[test]
fn a_milder_run_needs_a_person() -> anyhow::Result<()> {
    let home = home("run-milder", "version = 1\nprofile = \"strict\"\n")?;
    let refused = start(&home, Some("quiet"))?;
    assert!(refused["refused"].as_str().unwrap_or_default().contains("this needs a person"), "{refused}");
    assert_eq!(answer(&home, "$PROGRAM -x")?, "deny");
    let unknown = start(&home, Some("lenient"))?;
    assert!(unknown["failed"].as_str().unwrap_or_default().contains("lenient"), "{unknown}");
    // The process is that of the connection; no request names another one.
    let forged = control::ask(&home, &json!({ "run": { "profile": "observer", "pid": 1 } }))?;
    assert!(forged["failed"].as_str().unwrap_or_default().contains("unknown field"), "{forged}");
    assert_eq!(status(&home)["runs"], json!([]));
    Ok(())
}

/// The command line of a run: `profile`, and a shell text. `HOOK` in it asks about a call, and writes the answer to a file.
fn run(home: &Home, profile: &str, text: &str) -> anyhow::Result<Command> {
    let payload = home.workspace().join("payload.json");
    fs::write(&payload, bash("ls").to_string())?;
    let socket = castellan_wire::Home::new(home.castellan()).context("a relative home")?.control_socket();
    let hook = format!(
        "{} --agent claude --event PreToolUse --home {} < {}",
        home.bin().join("castellan-hook").display(),
        home.castellan().display(),
        payload.display()
    );
    let runner = env!("CARGO_BIN_EXE_castellan-test-run");
    let text = text.replace("HOOK", &hook).replace("RUN", &format!("{runner} {}", socket.display()));
    let mut command = home.command(Path::new(runner));
    command.arg(socket).args([profile, "timeout", "600", "sh", "-c", &text]);
    Ok(command)
}

/// Waits for an answer in a file, and checks that it is the one for observers.
fn check_denied(home: &Home, name: &str) -> anyhow::Result<()> {
    let file = home.workspace().join(name);
    let read = || fs::read_to_string(&file).unwrap_or_default();
    let answered = until(LIMIT, || Ok(read().ends_with('}').then_some(())))?;
    answered.with_context(|| format!("no answer in `{}`: {}", file.display(), read()))?;
    assert!(read().contains("this session is an observer: it has no tools"), "{name}: {}", read());
    Ok(())
}

fn finish(mut command: Command) -> anyhow::Result<Finished> {
    Running::start(&mut command)?.finish(LIMIT)
}

#[test]
fn a_run_within_a_run_is_at_least_as_strict() -> anyhow::Result<()> {
    let home = home("run-nested", ENFORCE)?;
    for milder in ["kit", "quiet", "standard"] {
        let done = finish(run(&home, "strict", &format!("RUN {milder} true"))?)?;
        assert_eq!(done.code, Some(77), "{done:?}");
        assert!(done.stderr.contains("within a run under the profile strict"), "{done:?}");
    }
    let done = finish(run(&home, "strict", "RUN observer sh -c 'HOOK'; HOOK")?)?;
    let answers: Vec<&str> = done.stdout.split_inclusive('\n').collect();
    assert!(answers.len() == 1 && done.stdout.contains("this session is an observer"), "{done:?}");
    Ok(())
}

/// Processes that leave their session, their parent or their group stay below the run.
#[test]
fn no_process_leaves_a_run() -> anyhow::Result<()> {
    let home = home("run-leave", MONITOR)?;
    for (number, leave) in [
        "setsid sh -c 'HOOK' > OUT",
        "(setsid sh -c 'sleep 0.2; HOOK' > OUT &) ; (sh -c 'exit 0' &)",
        "nohup sh -c 'HOOK' > OUT 2> /dev/null",
        "env -i /usr/bin/env sh -c 'PATH=/usr/bin:/bin HOOK' > OUT",
        "sh -c 'sh -c \"HOOK > OUT\" & exit 0'",
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("out-{number}");
        let text = leave.replace("OUT", &home.workspace().join(&out).display().to_string());
        // The command's shell waits for the answer, or the run would end.
        let wait = format!("{text}; while ! grep -q observer {out}; do sleep 0.05; done");
        let _running = Running::start(&mut run(&home, "observer", &wait)?)?;
        check_denied(&home, &out).context(leave)?;
    }
    // A process beside the runs has tools.
    assert_eq!(answer(&home, "ls")?, "defer");
    Ok(())
}

#[test]
fn an_agent_stays_in_its_run_when_it_ends_the_process_of_the_run() -> anyhow::Result<()> {
    let home = home("run-killed", ENFORCE)?;
    let (first, go, second) = ("first", home.workspace().join("go"), "second");
    let text = format!(
        "HOOK > {first}; while ! test -e {}; do sleep 0.05; done; HOOK > {second}; while ! test -e end; do sleep 0.05; done",
        go.display()
    );
    let running = Running::start(&mut run(&home, "observer", &text)?)?;
    check_denied(&home, first)?;
    assert_eq!(status(&home)["runs"][0]["agents"], 1);
    kill_process(running.pid(), Signal::KILL)?;
    let killed = running.finish(LIMIT)?;
    assert_eq!(killed.code, None, "{killed:?}");
    kill(home.start_daemon()?)?;
    fs::write(go, "")?;
    check_denied(&home, second)?;
    assert_eq!(status(&home)["runs"][0]["profile"], "observer");
    assert_eq!(answer(&home, "ls")?, "defer", "beside the run");
    fs::write(home.workspace().join("end"), "")?;
    let over = until(LIMIT, || Ok((status(&home)["runs"] == json!([])).then_some(())))?;
    over.context("the run does not end")?;
    let records = home.records()?;
    let is_end = |record: &Json| {
        record["control"]["action"] == "run_end" && record["control"]["argument"] == "profile observer"
    };
    assert!(records.iter().any(is_end), "{records:?}");
    Ok(())
}
