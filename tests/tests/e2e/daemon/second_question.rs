//! PermissionRequest: the agent asks for a second time, before its own prompt. The first answer is valid.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, ask_again, bash, call, run, understood};
use castellan_tests::terminal;
use serde_json::{Value as Json, json};

/// Returns the recorded calls, by event.
fn calls(home: &Home) -> anyhow::Result<Vec<String>> {
    let records = home.records()?;
    let calls = records.iter().filter(|record| record["type"] == "call");
    Ok(calls.filter_map(|record| record["call"]["event"].as_str().map(str::to_owned)).collect())
}

/// Asks twice about one call. `answers` are the first and the second answer; only the first is recorded.
fn check(agent: &str, call: &Json, answers: (&str, &str)) -> anyhow::Result<()> {
    let home = Home::with_castellan("second", ENFORCE, RULES)?;
    let first = run(&home, agent, "PreToolUse", call.to_string().as_bytes())?;
    let second = ask_again(&home, agent, call)?;
    let expected = (answers.0.to_owned(), answers.1.to_owned());
    assert_eq!((understood(&first), understood(&second)), expected, "{first:?}\n{second:?}");
    assert_eq!(calls(&home)?, ["PreToolUse"], "{agent}: {call}");
    if answers.1 == "deny" {
        let output: Json = serde_json::from_str(&second.stdout)?;
        let decision = &output["hookSpecificOutput"]["decision"];
        assert_eq!(decision["behavior"], "deny");
        assert!(decision["message"].as_str().is_some_and(|text| text.contains("the test")), "{second:?}");
    }
    Ok(())
}

fn write(file: &str) -> Json {
    call("Write", &json!({"file_path": file, "content": "x"}))
}

fn patch(file: &str) -> Json {
    let text = format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n");
    call("apply_patch", &json!({"command": text}))
}

#[test]
fn the_first_answer_stands() -> anyhow::Result<()> {
    check("claude", &bash("forbidden"), ("deny", "deny"))?;
    // The agent's prompt, which follows, is the answer to an ask.
    check("claude", &bash("doubtful"), ("ask", "defer"))?;
    // Claude asks after an allow only if its user wants to be asked.
    check("claude", &write("permitted"), ("allow", "defer"))?;
    check("claude", &bash("ls"), ("defer", "defer"))?;
    check("codex", &bash("forbidden"), ("deny", "deny"))?;
    // Codex does not ask, so castellan denied the call.
    check("codex", &bash("doubtful"), ("deny", "deny"))?;
    // Codex accepts no `allow` at PreToolUse, but accepts it here.
    check("codex", &patch("permitted"), ("defer", "allow"))?;
    check("codex", &bash("ls"), ("defer", "defer"))
}

#[test]
fn what_was_not_asked_about_is_judged_now() -> anyhow::Result<()> {
    let home = Home::with_castellan("not-asked", ENFORCE, RULES)?;
    run(&home, "claude", "PreToolUse", write("permitted").to_string().as_bytes())?;
    // Another input, session or agent has no answer yet.
    assert_eq!(understood(&ask_again(&home, "claude", &bash("forbidden"))?), "deny");
    let mut session = write("permitted");
    session["session_id"] = "another".into();
    assert_eq!(understood(&ask_again(&home, "claude", &session)?), "defer");
    assert_eq!(understood(&ask_again(&home, "codex", &patch("permitted"))?), "allow");
    let again = "PermissionRequest";
    assert_eq!(calls(&home)?, ["PreToolUse", again, again, again]);
    Ok(())
}

#[test]
fn an_answer_of_another_mode_is_not_used() -> anyhow::Result<()> {
    let home = Home::with_castellan("mode-between", ENFORCE, RULES)?;
    let call = bash("forbidden");
    run(&home, "claude", "PreToolUse", call.to_string().as_bytes())?;
    assert_eq!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));
    assert_eq!(understood(&ask_again(&home, "claude", &call)?), "defer");
    home.run_castellan(&["mode", "enforce"])?;
    assert_eq!(understood(&ask_again(&home, "claude", &call)?), "deny");
    assert_eq!(calls(&home)?, ["PreToolUse", "PermissionRequest", "PermissionRequest"]);
    Ok(())
}
