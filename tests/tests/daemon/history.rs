//! A log that a real daemon wrote, judged again: the same rules say the same, whatever has become of the machine since; others say what
//! they say.

use std::fs;
use std::os::unix::fs::symlink;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, run, understood};
use castellan_tests::process::{Finished, Running};
use serde_json::{Value as Json, json};

use crate::LIMIT;

/// Denies what really lies in a vault, whatever it is called.
const VAULT: &str = r#"
- rule: Test vault
  desc: d
  condition: fx.kind = read and fx.path contains /vault/
  output: the test denies
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

/// Denies what the applied rules leave to the agent.
const TRIED: &str = r#"
- rule: Test head
  desc: d
  condition: cmd.name = head
  output: the test denies
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

/// One call, and what it is answered.
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

/// What `castellan` says about its own history, and how it ends.
fn told(home: &Home, arguments: &[&str]) -> anyhow::Result<(Finished, Json)> {
    let mut command = home.command(&home.bin().join("castellan"));
    command.arg("--home").arg(home.castellan()).args(arguments).arg("--json");
    let done = Running::start(&mut command)?.finish(LIMIT)?;
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
    // The link leads nowhere by now, and what was removed is gone.
    fs::remove_file(at("link"))?;
    symlink("plain", at("link"))?;
    fs::remove_file(at("plain"))?;
    let log = || home.records();
    let before = log()?;

    let (done, json) = told(&home, &["replay"])?;
    assert_eq!(
        (done.code, &json["beside"], &json["judged"]),
        (Some(0), &json!("recorded"), &json!(calls.len()))
    );
    assert_eq!((&json["changes"], &json["with_changed_files"]), (&json!([]), &json!(0)), "{json}");

    fs::write(at("tried.yaml"), TRIED)?;
    let tried = at("tried.yaml").display().to_string();
    let (done, json) = told(&home, &["replay", "--rules", &tried])?;
    assert_eq!((done.code, &json["beside"]), (Some(0), &json!("in_force")), "{json}");
    assert_eq!(json["otherwise_than_recorded"], json!(0), "{json}");
    let [change] = json["changes"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!((&change["kind"], &change["calls"]), (&json!("newly_denied"), &json!(1)));
    assert_eq!(change["groups"][0]["examples"][0]["subject"], json!("head plain"));

    // Without the rules in force what they denied goes through.
    let (_, json) = told(&home, &["replay", "--rules", &tried, "--instead"])?;
    let kinds: Vec<&Json> =
        json["changes"].as_array().unwrap().iter().map(|change| &change["kind"]).collect();
    assert_eq!(kinds, [&json!("newly_denied"), &json!("newly_let_through")], "{json}");
    assert_eq!(json["changes"][1]["calls"], json!(4), "{json}");

    // The script is another: it counts as not readable, for both sides.
    fs::write(at("kept.sh"), "ls\n")?;
    let (_, json) = told(&home, &["replay"])?;
    assert_eq!(json["with_changed_files"], json!(1), "{json}");

    // Edited files that wait are tried without being named.
    home.write(&home.castellan().join("config/rules/user/tried.yaml"), TRIED)?;
    let (_, json) = told(&home, &["replay"])?;
    assert_eq!((&json["beside"], &json["changes"][0]["calls"]), (&json!("in_force"), &json!(1)), "{json}");

    let (done, json) = told(&home, &["report"])?;
    assert_eq!(
        (done.code, &json["verdicts"]),
        (Some(0), &json!({ "deny": 3, "ask": 1, "allow": 0, "defer": 3 }))
    );
    let asked = &json["asked_most"][0];
    assert_eq!((&asked["rule"], &asked["approved"]), (&json!("Test ask"), &json!(1)), "{json}");
    // Nothing of this was recorded: only looked at.
    assert_eq!(log()?, before);
    Ok(())
}
