//! Marks of sessions, from a rule's tag to the answer to a later call, through hook and daemon.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, judge, understood};
use serde_json::{Value as Json, json};

use super::kill;

/// `secret` sets a mark, `push` is denied soon after it, `late` long after it. A denied call tries to set a mark.
const RULES: &[(&str, &str, &str)] = &[
    ("Read a secret", "tool.input_command contains secret", "\"coding_agent_mark:secret\""),
    (
        "Push after a secret",
        "tool.input_command contains push and session.mark_count[secret] >= 1 and session.mark_age_ms[secret] < 3600000",
        "coding_agent_deny",
    ),
    (
        "Late",
        "tool.input_command contains late and session.mark_age_ms[secret] >= 3600000",
        "coding_agent_deny",
    ),
    ("Twice", "tool.input_command contains twice and session.mark_count[secret] >= 2", "coding_agent_deny"),
    (
        "Forbidden",
        "tool.input_command contains forbidden",
        "coding_agent_deny, \"coding_agent_mark:forbidden\"",
    ),
    (
        "After",
        "tool.input_command contains after and session.mark_count[forbidden] >= 1",
        "coding_agent_deny",
    ),
];

fn home(name: &str) -> anyhow::Result<Home> {
    let rule = |(name, condition, tags): &(&str, &str, &str)| {
        format!(
            "- rule: {name}\n  desc: d\n  condition: {condition}\n  output: o\n  priority: NOTICE\n  source: \
             coding_agent\n  tags: [{tags}]\n"
        )
    };
    Home::with_castellan(name, ENFORCE, &RULES.iter().map(rule).collect::<String>())
}

/// Checks the answer to a command in a session; `a/b` is sub-agent `b` of session `a`.
fn check(home: &Home, session: &str, command: &str, expected: &str) -> anyhow::Result<()> {
    let (session, subagent) = session.split_once('/').unwrap_or((session, ""));
    let mut call = bash(command);
    call["session_id"] = session.into();
    call["agent_id"] = subagent.into();
    assert_eq!(understood(&judge(home, &call)?), expected, "`{command}` in `{session}/{subagent}`");
    Ok(())
}

/// Returns the labels that each call set, in order.
fn marks(home: &Home) -> anyhow::Result<Vec<Json>> {
    let records = home.records()?;
    let calls = records.iter().filter(|record| record["type"] == "call");
    Ok(calls.map(|record| record["call"]["marks"].clone()).collect())
}

#[test]
fn a_mark_denies_a_later_call_of_its_session() -> anyhow::Result<()> {
    let home = home("marks")?;
    check(&home, "a", "push", "defer")?;
    check(&home, "a", "secret push", "defer")?;
    check(&home, "a", "push", "deny")?;
    check(&home, "a", "late", "defer")?;
    // Another session, which does not remove a mark of this session.
    check(&home, "b", "push", "defer")?;
    check(&home, "a", "push", "deny")?;
    check(&home, "a/sub", "push", "deny")?;
    check(&home, "a", "twice", "defer")?;
    check(&home, "a/sub", "secret", "defer")?;
    check(&home, "a", "twice", "deny")?;
    let label = |label: &str| json!([{ "label": label }]);
    let none = json!([]);
    let secret = label("secret");
    // The third denial with the same denial key.
    let probing = label("probing");
    let expected = [&none, &secret, &none, &none, &none, &none, &probing, &none, &secret, &none];
    assert_eq!(marks(&home)?.iter().collect::<Vec<_>>(), expected);
    Ok(())
}

#[test]
fn a_denied_call_does_not_mark() -> anyhow::Result<()> {
    let home = home("marks-denied")?;
    check(&home, "a", "forbidden", "deny")?;
    check(&home, "a", "forbidden secret", "deny")?;
    check(&home, "a", "after", "defer")?;
    check(&home, "a", "push", "defer")?;
    assert_eq!(marks(&home)?, [json!([]), json!([]), json!([]), json!([])]);
    Ok(())
}

/// A mark set before the answer is still present after the daemon was killed.
#[test]
fn marks_outlive_the_daemon() -> anyhow::Result<()> {
    let home = home("marks-restart")?;
    check(&home, "a", "secret", "defer")?;
    for _ in 0..2 {
        kill(home.start_daemon()?)?;
        check(&home, "a", "push", "deny")?;
        check(&home, "b", "push", "defer")?;
    }
    check(&home, "a", "secret", "defer")?;
    kill(home.start_daemon()?)?;
    check(&home, "a", "twice", "deny")?;
    let starts = home.records()?.into_iter().filter(|record| record["control"]["action"] == "start");
    assert_eq!(starts.count(), 4);
    Ok(())
}
