//! Runs over the control socket: a registered process and everything below it get a profile that no agent can leave.

use castellan_tests::control;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, MONITOR, RULES, ask_again, bash, call, judge, understood};
use serde_json::{Value as Json, json};

use super::{kill, status};

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
