//! A person's consent: pending calls are shown, and only approved calls run.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, ask_again, bash, run, understood};
use castellan_tests::process::Finished;
use castellan_tests::terminal;
use serde_json::Value as Json;

use super::ways_out::castellan;
use super::{kill, status};

/// Answers the question of `castellan approve`.
fn answer(mut approve: terminal::Session, words: &str) -> anyhow::Result<Finished> {
    approve.answer("[y/N]", words)?;
    approve.finish()
}

/// Asks about a command as Codex, which receives a deny instead of an ask.
fn ask(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&run(home, "codex", "PreToolUse", bash(command).to_string().as_bytes())?))
}

fn pending(home: &Home) -> anyhow::Result<Vec<Json>> {
    let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
    Ok(shown["pending"].as_array().cloned().unwrap_or_default())
}

fn id(home: &Home) -> anyhow::Result<String> {
    let calls = pending(home)?;
    anyhow::ensure!(calls.len() == 1, "{calls:?}");
    Ok(calls[0]["id"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn an_approved_call_runs_once_and_no_other_does() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-once", ENFORCE, RULES)?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let waiting = pending(&home)?;
    assert_eq!(
        (waiting.len(), &waiting[0]["times"], &waiting[0]["input"]),
        (1, &2.into(), &"doubtful".into())
    );
    let asked = terminal::start_castellan(&home, &["approve", &id(&home)?])?;
    let declined = answer(asked, "n\n")?;
    assert_eq!(declined.code, Some(1), "{declined:?}");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let approved = answer(terminal::start_castellan(&home, &["approve", &id(&home)?])?, "y\n")?;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert_eq!(ask(&home, "doubtful; ls")?, "deny");
    assert_eq!(ask(&home, "doubtful")?, "defer");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let records = home.records()?;
    let lifted = |record: &&Json| record["call"]["findings"][0]["lifted"] == "grant";
    assert_eq!(records.iter().filter(lifted).count(), 1);
    assert!(records.iter().any(|record| record["control"]["action"] == "approve"));
    Ok(())
}

#[test]
fn two_like_approvals_offer_one_for_the_session() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-class", ENFORCE, RULES)?;
    for command in ["doubtful run a", "doubtful run b"] {
        assert_eq!(ask(&home, command)?, "deny", "{command}");
        assert_eq!(pending(&home)?[0]["class"], Json::Null, "{command}");
        let approved = terminal::run_castellan(&home, &["approve", &id(&home)?, "--yes"])?;
        assert_eq!(approved.code, Some(0), "{command}: {approved:?}");
        assert_eq!(ask(&home, command)?, "defer", "{command}");
    }
    assert_eq!(ask(&home, "doubtful run c")?, "deny");
    let class = pending(&home)?[0]["class"].as_str().unwrap_or_default().to_owned();
    assert!(class.contains("doubtful"), "{class}");
    let asked = terminal::start_castellan(&home, &["approve", &id(&home)?, "--session"])?;
    let approved = answer(asked, "y\n")?;
    assert!(approved.stdout.contains("a grant for the session covers all such calls"), "{approved:?}");
    let granted: Json =
        serde_json::from_str(&home.run_castellan(&["pending", "--granted", "--json"])?.stdout)?;
    let id = granted["granted"][0]["id"].as_str().unwrap_or_default().to_owned();
    kill(home.start_daemon()?)?;
    assert_eq!(ask(&home, "doubtful run d")?, "defer");
    assert_eq!(ask(&home, "doubtful run d; ls")?, "deny", "another program");
    assert_eq!(ask(&home, "doubtful destroy d")?, "deny", "another subcommand");
    assert_eq!(home.run_castellan(&["refuse", &id])?.code, Some(0));
    assert_eq!(ask(&home, "doubtful run e")?, "deny", "the grant is revoked");
    Ok(())
}

/// Sends an event of Claude Code: a finished call, or something else.
fn send(home: &Home, event: &str, use_id: &str) -> anyhow::Result<()> {
    let mut payload = bash("doubtful");
    payload["hook_event_name"] = event.into();
    payload["tool_use_id"] = use_id.into();
    payload["prompt"] = "go on".into();
    payload["reason"] = "other".into();
    let done = run(home, "claude", event, payload.to_string().as_bytes())?;
    anyhow::ensure!(done.code == Some(0), "{done:?}");
    Ok(())
}

/// Asks about a call as Claude Code, which opens its own prompt.
fn prompt(home: &Home, use_id: &str) -> anyhow::Result<()> {
    let mut call = bash("doubtful");
    call["tool_use_id"] = use_id.into();
    let answer = understood(&run(home, "claude", "PreToolUse", call.to_string().as_bytes())?);
    anyhow::ensure!(answer == "ask", "{answer}");
    Ok(())
}

#[test]
fn a_yes_at_the_agents_own_prompt_uses_up_what_was_granted_once() -> anyhow::Result<()> {
    for event in ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionEnd"] {
        let home = Home::with_castellan("consent-prompt", ENFORCE, RULES)?;
        prompt(&home, "one")?;
        let approved = terminal::run_castellan(&home, &["approve", &id(&home)?, "--yes"])?;
        assert!(approved.stdout.contains("also answer Yes in Claude Code"), "{approved:?}");
        send(&home, event, "one")?;
        assert_eq!(status(&home)["grants"], 0, "{event}");
        prompt(&home, "two")?;
    }
    Ok(())
}

#[test]
fn what_has_run_or_whose_turn_is_over_waits_for_nobody() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-over", ENFORCE, RULES)?;
    for event in ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionEnd"] {
        prompt(&home, event)?;
        let before = id(&home)?;
        assert_eq!(status(&home)["waiting"], 1, "{event}");
        send(&home, event, event)?;
        assert_eq!(pending(&home)?, [] as [Json; 0], "{event}");
        assert_eq!(status(&home)["waiting"], 0, "{event}");
        let late = terminal::run_castellan(&home, &["approve", &before, "--yes"])?;
        assert!(late.code == Some(7) && late.stderr.contains("no call that waits"), "{event}: {late:?}");
    }
    Ok(())
}

/// The daemon is killed between approval and call, and between the calls. The approval is valid once.
#[test]
fn what_is_approved_outlives_the_daemon_and_what_is_used_is_used() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-killed", ENFORCE, RULES)?;
    ask(&home, "doubtful")?;
    let approved = terminal::run_castellan(&home, &["approve", &id(&home)?, "--yes"])?;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    kill(home.start_daemon()?)?;
    assert_eq!(ask(&home, "doubtful; ls")?, "deny");
    assert_eq!(ask(&home, "doubtful")?, "defer");
    kill(home.start_daemon()?)?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let always = id(&home)?;
    assert_eq!(terminal::run_castellan(&home, &["approve", &always, "--always", "--yes"])?.code, Some(0));
    kill(home.start_daemon()?)?;
    assert_eq!(ask(&home, "doubtful")?, "defer");
    assert_eq!(ask(&home, "doubtful")?, "defer");
    assert_eq!(home.run_castellan(&["refuse", &always])?.code, Some(0));
    kill(home.start_daemon()?)?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    Ok(())
}

#[test]
fn a_grant_for_the_session_holds_until_it_is_refused() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-session", ENFORCE, RULES)?;
    ask(&home, "doubtful")?;
    let id = id(&home)?;
    terminal::run_castellan(&home, &["approve", &id, "--session", "--yes"])?;
    for _ in 0..3 {
        assert_eq!(ask(&home, "doubtful")?, "defer");
    }
    let mut other = bash("doubtful");
    other["session_id"] = "another".into();
    assert_eq!(understood(&run(&home, "codex", "PreToolUse", other.to_string().as_bytes())?), "deny");
    // A refusal needs no person at a terminal.
    assert_eq!(home.run_castellan(&["refuse", &id])?.code, Some(0));
    assert_eq!(ask(&home, "doubtful")?, "deny");
    Ok(())
}

#[test]
fn an_agent_cannot_approve_and_a_deny_is_no_call_that_waits() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-refused", ENFORCE, RULES)?;
    assert_eq!(ask(&home, "forbidden")?, "deny");
    assert_eq!(pending(&home)?, [] as [Json; 0]);
    ask(&home, "doubtful")?;
    let id = id(&home)?;
    // Without a terminal, like an agent's tool call.
    let refused = castellan(&home, &["approve", &id, "--yes"])?;
    assert_eq!(refused.code, Some(4), "{refused:?}");
    let shown = castellan(&home, &["status"])?.stdout;
    assert!(
        shown.contains("1 request to loosen something; the last: approve ")
            && shown.contains("1 call for you"),
        "{shown}"
    );
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let unknown = terminal::run_castellan(&home, &["approve", "ZZZ"])?;
    assert_eq!(unknown.code, Some(7), "{unknown:?}");
    let tried =
        |record: &&Json| record["control"]["action"] == "approve" && record["control"]["accepted"] == false;
    assert_eq!(home.records()?.iter().filter(tried).count(), 2);
    Ok(())
}

/// `castellan why` gives a person the commands that work for the call at that moment, and takes an id in any case.
#[test]
fn a_person_learns_why_and_what_to_do() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-why", ENFORCE, RULES)?;
    let why = |arguments: &[&str]| -> anyhow::Result<String> {
        let done = terminal::run_castellan(&home, &[&["why"], arguments].concat())?;
        anyhow::ensure!(done.code == Some(0), "{done:?}");
        Ok(done.stdout)
    };
    assert_eq!(ask(&home, "forbidden")?, "deny");
    let denied = why(&[])?;
    assert!(denied.contains("after you changed the rule in ") && !denied.contains("approve"), "{denied}");

    assert_eq!(ask(&home, "doubtful x")?, "deny");
    let id = id(&home)?;
    let small = id.to_lowercase();
    let asked = why(&[&small])?;
    assert_eq!(asked, why(&[])?);
    for part in [
        &format!("approve {id} --always"),
        "│ doubtful x",
        "Codex does not hold such an ask",
        "in force: nobody approved the call",
        "allow 'Bash(doubtful x:*)'",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert_eq!(terminal::run_castellan(&home, &["approve", &small, "--session", "--yes"])?.code, Some(0));
    let waits_no_more = why(&[&small])?;
    assert!(!waits_no_more.contains(&format!("approve {id}")), "{waits_no_more}");
    assert_eq!(ask(&home, "doubtful x")?, "defer");
    let record = home.records()?.into_iter().rfind(|record| record["type"] == "call").unwrap_or_default();
    let granted = why(&[&record["seq"].to_string()])?;
    assert!(granted.contains("no effect: a person approved the call"), "{granted}");
    assert_eq!(terminal::run_castellan(&home, &["refuse", &small])?.code, Some(0));
    Ok(())
}

/// The person sees the whole call at any length, with control characters escaped, and the record identifies the call.
#[test]
fn a_person_sees_the_whole_call_and_the_log_says_which() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-whole", ENFORCE, RULES)?;
    let end = "\u{1b}[2J\u{202e}the very end";
    let command = format!("echo doubtful {}\n{end}", "x".repeat(5000));
    assert_eq!(ask(&home, &command)?, "deny");
    let id = id(&home)?;
    let approved = terminal::run_castellan(&home, &["approve", &id, "--yes", "--session"])?;
    let shown = &approved.stdout;
    let of_call = shown.lines().filter(|line| line.starts_with("    │ ") || line.starts_with("    ┆ "));
    assert_eq!(of_call.map(|line| line.matches('x').count()).sum::<usize>(), 5000, "{shown}");
    assert!(shown.contains("\\u{1b}[2J\\u{202e}the very end") && shown.contains("Test ask: "), "{shown}");
    assert!(!shown.contains('\u{202e}') && shown.contains("├─ echo doubtful"), "{shown}");
    let records = home.records()?;
    let call = records.iter().find(|record| record["call"]["request"] == id).expect("the call's record");
    let consent =
        records.iter().find(|record| record["control"]["action"] == "approve").expect("the consent");
    assert_eq!(consent["control"]["call"], call["call"]["correlation_id"]);
    let hash = consent["control"]["input_sha256"].as_str().unwrap_or_default();
    assert!(hash.len() == 64 && shown.contains(hash), "{consent}");
    Ok(())
}

#[test]
fn a_grant_for_always_is_for_this_call_in_any_session() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-always", ENFORCE, RULES)?;
    ask(&home, "doubtful")?;
    let id = id(&home)?;
    terminal::run_castellan(&home, &["approve", &id, "--always", "--yes"])?;
    let in_session = |session: &str, command: &str| -> anyhow::Result<String> {
        let mut call = bash(command);
        call["session_id"] = session.into();
        Ok(understood(&run(&home, "codex", "PreToolUse", call.to_string().as_bytes())?))
    };
    assert_eq!(in_session("another", "doubtful")?, "defer");
    assert_eq!(in_session("another", "doubtful; ls")?, "deny");
    let granted = home.run_castellan(&["pending", "--granted"])?.stdout;
    assert!(granted.contains(&id) && granted.contains(", always"), "{granted}");
    home.run_castellan(&["refuse", &id])?;
    assert_eq!(in_session("another", "doubtful")?, "deny");
    Ok(())
}

/// Codex asks again before its own reviewer. A revoked grant is not valid there either.
#[test]
fn what_is_refused_is_not_granted_at_the_second_question() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-second", ENFORCE, RULES)?;
    let again = || Ok::<_, anyhow::Error>(understood(&ask_again(&home, "codex", &bash("doubtful"))?));
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let id = id(&home)?;
    terminal::run_castellan(&home, &["approve", &id, "--session", "--yes"])?;
    assert_eq!(ask(&home, "doubtful")?, "defer");
    assert_eq!(again()?, "allow");
    home.run_castellan(&["refuse", &id])?;
    assert_eq!(again()?, "deny");
    Ok(())
}

#[test]
fn with_a_pin_a_terminal_is_not_enough() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-pin", "version = 1\npresence = \"pin\"\n", RULES)?;
    ask(&home, "doubtful")?;
    let id = id(&home)?;
    let unset = terminal::run_castellan(&home, &["approve", &id, "--yes"])?;
    assert!(unset.code == Some(4) && unset.stderr.contains("no PIN is set"), "{unset:?}");
    let mut setting = terminal::start_castellan(&home, &["presence", "set-pin"])?;
    setting.answer("new PIN:", "4711\n")?;
    setting.answer("again:", "4711\n")?;
    assert_eq!(setting.finish()?.code, Some(0));
    let mut wrong = terminal::start_castellan(&home, &["approve", &id, "--yes"])?;
    wrong.answer("PIN:", "4712\n")?;
    let wrong = wrong.finish()?;
    assert!(wrong.code == Some(4) && wrong.stderr.contains("the PIN is wrong"), "{wrong:?}");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let mut right = terminal::start_castellan(&home, &["approve", &id, "--yes"])?;
    right.answer("PIN:", "4711\n")?;
    assert_eq!(right.finish()?.code, Some(0));
    assert_eq!(ask(&home, "doubtful")?, "defer");
    // A new PIN needs the old one, and no PIN is in the log.
    let mut setting = terminal::start_castellan(&home, &["presence", "set-pin"])?;
    setting.answer("new PIN:", "1234\n")?;
    setting.answer("again:", "1234\n")?;
    setting.answer("PIN:", "0000\n")?;
    assert_eq!(setting.finish()?.code, Some(4));
    let records = format!("{:?}", home.records()?);
    assert!(["4711", "4712"].iter().all(|pin| !records.contains(&format!("\"{pin}"))), "{records}");
    // A request without a PIN, or with a wrong one, is recorded with its action, and counted.
    expect_refused(&home, &["approve", "approve", "set_pin"])
}

/// Checks the refused actions in the log and in the status.
fn expect_refused(home: &Home, expected: &[&str]) -> anyhow::Result<()> {
    let records = home.records()?;
    let controls = records.iter().map(|record| &record["control"]);
    let refused = controls.filter(|control| control["accepted"] == false);
    let actions: Vec<&str> = refused.filter_map(|control| control["action"].as_str()).collect();
    assert_eq!(actions, expected);
    assert_eq!(status(home)["refused"], expected.len());
    Ok(())
}
