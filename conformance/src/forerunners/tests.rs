//! The command fails for missing facts, false alarms and an untrue list.

use castellan_event::{Command, Effect, EffectKind, LocatedFile, Operation, Scope};
use serde_json::{Value as Json, json};

use super::*;

/// Returns facts with one command and one effect.
fn one(name: &str, kind: EffectKind, scope: Option<Scope>) -> Facts {
    let command = Command { name: Some(name.to_owned()), ..Command::default() };
    let file = LocatedFile { scope, ..LocatedFile::default() };
    let op = Operation { recursive: Some(true), ..Operation::of(kind) };
    let effect = Effect { command: Some(0), op, ..Effect::on_file(kind, file) };
    Facts { commands: vec![command], effects: vec![effect], ..Facts::default() }
}

fn row(id: &str, expected: Json, reason: Option<&str>) -> Row {
    let row = json!({
        "id": id, "system": "s", "source": "test-suite", "tool": "Bash", "input": { "command": "c" },
        "config": { "mode": "read-only" }, "expected": expected, "reason": reason,
    });
    serde_json::from_value(row).unwrap()
}

/// Checks the result of a row: `-` nothing required, `+` agreed, `~` listed, or the missing facts.
fn check(row: &Row, facts: Facts, expected: &str) {
    let table = Table::read().unwrap();
    let shown = match Judge::new(&table).unwrap().outcome(row, &row.command(&table.complete), facts) {
        Outcome::Nothing => "-".to_owned(),
        Outcome::Agreed => "+".to_owned(),
        Outcome::Listed => "~".to_owned(),
        Outcome::Missing(why) => why,
    };
    assert!(shown.starts_with(expected), "{row:?}: {shown}");
}

#[test]
fn what_an_original_said_must_be_among_the_facts() {
    let root = || one("rm", EffectKind::Delete, Some(Scope::Root));
    let deny = |reason| row("new-1", json!({ "decision": "deny" }), reason);
    check(&deny(Some("Filesystem root deletion blocked")), root(), "+");
    check(&deny(Some("Filesystem root deletion blocked")), Facts::default(), "not found: deletes_root");
    check(&deny(Some("Home directory deletion blocked")), root(), "not found: deletes_home");
    check(&deny(Some("never heard of")), root(), "strict, and no fact is named");
    check(&row("gatekeeper-0383", json!({ "decision": "deny" }), None), root(), "+");
    check(&row("new-2", json!({ "decision": "passthrough" }), None), root(), "-");
}

#[test]
fn what_only_looks_may_not_alarm() {
    let calm = |id| row(id, json!({ "intent": "ReadOnly" }), None);
    let read = || one("ls", EffectKind::Read, Some(Scope::Workspace));
    check(&calm("new-1"), read(), "+");
    check(&calm("new-1"), one("ls", EffectKind::Write, None), "found: alarms");
    check(
        &row("new-2", json!({ "verdict": "allow" }), None),
        one("ls", EffectKind::Delete, None),
        "found: alarms",
    );
    check(&row("new-3", json!({ "exit": 0 }), None), one("ls", EffectKind::Delete, None), "-");
}

#[test]
fn the_list_is_kept_true() {
    let listed = row("claw-tools-0778", json!({ "verdict": "deny" }), None);
    check(&listed, Facts::default(), "~");
    let table = Table::read().unwrap();
    let named: Vec<&str> = table
        .ids()
        .filter(|id| {
            table.lists(id) && table.asked(&row(id, json!({ "intent": "ReadOnly" }), None)) != Asked::Nothing
        })
        .collect();
    let calm = named.first().unwrap();
    check(&row(calm, json!({ "intent": "ReadOnly" }), None), one("x", EffectKind::Write, None), "~");
    check(&row(calm, json!({ "intent": "ReadOnly" }), None), Facts::default(), "listed, but it agrees");
}

#[test]
fn a_program_alone_is_completed_in_lists_only() {
    let table = Table::read().unwrap();
    let row = |source: &str, input: Json| -> Row {
        let row = json!({
            "id": "x", "system": "s", "source": source, "tool": "bash", "input": input, "config": {}, "expected": {},
        });
        serde_json::from_value(row).unwrap()
    };
    for (source, input, expected) in [
        ("rule-list", json!({ "command": "cp x" }), "cp x y"),
        ("test-suite", json!({ "command": "cp x" }), "cp x"),
        ("observed", json!({ "raw_input": "{\"command\":\"ls\"}" }), "ls"),
        ("observed", json!({ "raw_input": "echo hi" }), "echo hi"),
        ("observed", json!({ "raw_input": "{}" }), ""),
        ("observed", json!({ "cmd": "curl x" }), "curl x"),
        ("observed", Json::Null, ""),
    ] {
        assert_eq!(row(source, input).command(&table.complete), expected);
    }
}
