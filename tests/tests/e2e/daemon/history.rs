//! Replays a log written by a real daemon. The same rules give the same verdicts, even after changes on the machine;
//! other rules give their own verdicts.

use std::fs;
use std::os::unix::fs::symlink;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, run, understood};
use castellan_tests::process::{Finished, Running};
use serde_json::{Value as Json, json};

use super::LIMIT;

/// Denies reads of files that are really in a vault, under any name.
const VAULT: &str = r#"
- rule: Test vault
  desc: d
  condition: fx.kind = read and fx.path contains /vault/
  output: the test denies
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

/// Denies a command that the applied rules defer to the agent.
const TRIED: &str = r#"
- rule: Test head
  desc: d
  condition: cmd.name = head
  output: the test denies
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

/// Makes one call and returns the answer.
fn play(home: &Home, number: usize, command: &str) -> anyhow::Result<String> {
    let mut call = bash(command);
    call["cwd"] = home.workspace().display().to_string().into();
    call["tool_use_id"] = format!("use-{number}").into();
    let answer = understood(&judge(home, &call)?);
    if answer != "deny" {
        call["hook_event_name"] = "PostToolUse".into();
        call["tool_response"] = json!({});
        run(home, "claude", "PostToolUse", call.to_string().as_bytes())?;
    }
    Ok(answer)
}

/// Returns the result of a `castellan` command on its history.
pub(super) fn run_json(home: &Home, arguments: &[&str]) -> anyhow::Result<(Finished, Json)> {
    let mut command = home.command(&home.bin().join("castellan"));
    command.arg("--home").arg(home.castellan()).args(arguments).arg("--json");
    // Calls that take seconds are judged again, each, while other tests run.
    let done = Running::start(&mut command)?.finish(6 * LIMIT)?;
    let json = serde_json::from_str(&done.stdout).map_err(|error| anyhow::anyhow!("{error}: {done:?}"))?;
    Ok((done, json))
}

#[test]
fn a_recorded_session_is_judged_as_it_was() -> anyhow::Result<()> {
    let home = Home::with_castellan("history", ENFORCE, &format!("{RULES}{VAULT}"))?;
    let at = |name: &str| home.workspace().join(name);
    fs::create_dir(at("vault"))?;
    fs::write(at("vault/key"), "k")?;
    fs::write(at("kept.sh"), "cat vault/key\n")?;
    fs::write(at("plain"), "p")?;
    symlink("vault/key", at("link"))?;
    let calls = [
        ("ls", "defer"),
        ("cat link", "deny"),
        ("bash kept.sh", "deny"),
        ("head plain", "defer"),
        ("echo forbidden", "deny"),
        ("echo doubtful", "ask"),
        ("rm -r plain", "defer"),
    ];
    for (number, (command, expected)) in calls.iter().enumerate() {
        assert_eq!(play(&home, number, command)?, *expected, "{command}");
    }
    // The link now has another target, and the removed file is gone.
    fs::remove_file(at("link"))?;
    symlink("plain", at("link"))?;
    fs::remove_file(at("plain"))?;
    let log = || home.records();
    let before = log()?;

    let (done, json) = run_json(&home, &["replay"])?;
    assert_eq!(
        (done.code, &json["beside"], &json["judged"]),
        (Some(0), &json!("recorded"), &json!(calls.len()))
    );
    assert_eq!((&json["changes"], &json["with_changed_files"]), (&json!([]), &json!(0)), "{json}");

    fs::write(at("tried.yaml"), TRIED)?;
    let tried = at("tried.yaml").display().to_string();
    let (done, json) = run_json(&home, &["replay", "--rules", &tried])?;
    assert_eq!((done.code, &json["beside"]), (Some(0), &json!("in_force")), "{json}");
    assert_eq!(json["otherwise_than_recorded"], json!(0), "{json}");
    let [change] = json["changes"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&change["kind"], &change["calls"]), (&json!("newly_denied"), &json!(1)));
    assert_eq!(change["groups"][0]["examples"][0]["subject"], json!("head plain"));

    // Without the rules in force, the calls that they denied pass.
    let (_, json) = run_json(&home, &["replay", "--rules", &tried, "--instead"])?;
    let kinds: Vec<&Json> =
        json["changes"].as_array().unwrap().iter().map(|change| &change["kind"]).collect();
    assert_eq!(kinds, [&json!("newly_denied"), &json!("newly_let_through")], "{json}");
    assert_eq!(json["changes"][1]["calls"], json!(4), "{json}");

    // The script has changed, so both sides treat it as unreadable.
    fs::write(at("kept.sh"), "ls\n")?;
    let (_, json) = run_json(&home, &["replay"])?;
    assert_eq!(json["with_changed_files"], json!(1), "{json}");

    // Edited files that are not applied are tried without being named.
    home.write(&home.castellan().join("config/rules/user/tried.yaml"), TRIED)?;
    let (_, json) = run_json(&home, &["replay"])?;
    assert_eq!((&json["beside"], &json["changes"][0]["calls"]), (&json!("in_force"), &json!(1)), "{json}");

    let (done, json) = run_json(&home, &["report"])?;
    assert_eq!(
        (done.code, &json["verdicts"]),
        (Some(0), &json!({ "deny": 3, "ask": 1, "allow": 0, "defer": 3 }))
    );
    let asked = &json["asked_most"][0];
    assert_eq!((&asked["rule"], &asked["approved"]), (&json!("Test ask"), &json!(1)), "{json}");
    // These commands only read, and record nothing.
    assert_eq!(log()?, before);
    Ok(())
}
