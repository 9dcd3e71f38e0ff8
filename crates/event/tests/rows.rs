//! Tests of the field table and of the rows that give its values.
#![cfg(test)]

use castellan_event::{
    Agent, Answer, Answers, Call, Change, Command, Doubt, Effect, EffectKind, Escape, FIELDS, Facts,
    FieldType, FileOrigin, FileTarget, Guard, HostClass, Level, LocatedFile, Mark, Measured, Object,
    Operation, PatchOp, Query, Remote, Role, Row, Scope, ScriptId, Session, Tool, ToolKind, Value, Why,
    Written, field_index, rows,
};
use serde_json::json;

fn patch() -> Call {
    let file = |path: &str, op, text: &str| FileTarget {
        path: path.to_owned(),
        patch_op: Some(op),
        patch_text: text.to_owned(),
        change: Change::Unsaid,
    };
    Call {
        correlation_id: 7,
        agent: Agent { name: "codex".into(), cwd: "/w".into(), pid: 3, ..Agent::default() },
        tool: Tool {
            name: "apply_patch".into(),
            name_raw: "apply_patch".into(),
            use_id: "u".into(),
            kind: ToolKind::Patch,
            mcp: None,
        },
        input: json!({"command": "whole"}),
        input_text: r#"{"command":"whole"}"#.into(),
        command: None,
        files: vec![file("a.rs", PatchOp::Add, "+a"), file("/x/b\0.rs", PatchOp::Delete, "")],
        in_background: false,
        problems: vec![],
    }
}

fn answer_all(call: &Call) -> Answers {
    let mut answers = Answers::default();
    let Err(queries) = rows(call, &Facts::default(), &Session::default(), &Answers::default()) else {
        return answers;
    };
    for query in queries {
        let Query::RealPath { base, path } = &query else { continue };
        let real =
            Answer::RealPath(if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") });
        assert!(answers.insert(query, real));
    }
    answers
}

/// Returns facts without absent fields.
fn full_facts() -> Facts {
    let word = || Some("x".to_owned());
    let command = Command {
        name: word(),
        path: word(),
        subcommand: word(),
        pipe_from: word(),
        remote: word(),
        ..Command::default()
    };
    let file = LocatedFile {
        path: word(),
        raw: "x".to_owned(),
        is_linked: false,
        home_bytes: Some(0),
        scope: Some(Scope::Secret),
        place: Some(Scope::Home),
        guard: Some(Guard::Hooks),
        origin: Some(FileOrigin::Downloaded),
        escape: Some(Escape::HardLink),
        measured: Measured { links: Some(2), other_name: word(), size: Some(9), is_binary: Some(true) },
        sent_to: Some(Remote { host: word(), class: Some(HostClass::Private), url: word() }),
        doubt: Some(Doubt { role: Some(Role::Target), why: Why::Variable }),
    };
    let op = Operation {
        kind: EffectKind::Write,
        system: word(),
        verb: word(),
        target: word(),
        recursive: Some(true),
        force: Some(true),
    };
    let script = ScriptId { path: "x".to_owned(), sha256: word() };
    let effect =
        Effect { command: Some(0), file: None, script: Some(script.into()), op, object: Object::Target };
    let object = Object::Package { name: word(), origin: None };
    let package = Effect { object, ..Effect::of(EffectKind::Install) };
    let package = Effect { command: Some(0), ..package };
    let effect = Effect { object: Object::File(Box::new(file)), ..effect };
    let written = Written { commands: vec![command.clone()], effects: vec![package, effect.clone()] };
    Facts { commands: vec![command], effects: vec![effect], written, ..Facts::default() }
}

/// Checks one field of row `number`.
fn check(call: &Call, number: usize, field: &str, expected: &str) {
    let answers = answer_all(call);
    let (facts, session) = (Facts::default(), Session::default());
    let rows = rows(call, &facts, &session, &answers).unwrap();
    let value = match rows[number].value(field_index(field).unwrap(), None) {
        Value::Text(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::Absent => String::new(),
        Value::U64(number) => number.to_string(),
        other @ (Value::Bool(_) | Value::Ip(_) | Value::Net(_) | Value::List(_)) => format!("{other:?}"),
    };
    assert_eq!(value, expected, "{field} of row {number}");
}

#[test]
fn every_field_of_the_table_has_a_value_of_its_type() {
    let call = patch();
    let answers = answer_all(&call);
    let (facts, session) =
        (full_facts(), Session { marks: [("m".to_owned(), Mark { count: 2, at_ms: 5 })].into(), now_ms: 9 });
    let rows = rows(&call, &facts, &session, &answers).unwrap();
    let written: Vec<_> = rows.iter().rev().filter(|row| row.level() == Level::Written).collect();
    for (index, field) in FIELDS.iter().enumerate() {
        let mut values = written.iter().map(|row| row.value(index, Some("m")));
        let value = values.find(|value| *value != Value::Absent).unwrap_or(Value::Absent);
        match (value, field.ty, field.list) {
            (Value::Text(_), FieldType::Text, false)
            | (Value::U64(_), FieldType::U64, false)
            | (Value::Bool(_), FieldType::Bool, false)
            | (Value::List(_), FieldType::Text, true) => {}
            (value, ty, _) => panic!("{}: {value:?} is no {ty:?}", field.name),
        }
        let coarser = rows.iter().filter(|row| row.level() < field.level);
        assert!(coarser.into_iter().all(|row| row.value(index, None) == Value::Absent), "{}", field.name);
    }
    assert_eq!(written[0].value(FIELDS.len(), None), Value::Absent);
}

#[test]
fn a_patch_has_a_row_for_each_file_with_its_own_hunk() {
    let call = patch();
    check(&call, 0, "tool.file_path", "a.rs");
    check(&call, 0, "tool.real_file_path", "/w/a.rs");
    check(&call, 0, "tool.input_command", "+a");
    check(&call, 0, "tool.patch_op", "Add");
    check(&call, 0, "agent.real_cwd_prefix", "/w/");
    check(&call, 1, "tool.file_name", "b\0.rs");
    check(&call, 1, "tool.patch_op", "Delete");
    check(&call, 1, "tool.input", r#"{"command":"whole"}"#);
}

#[test]
fn shell_text_with_a_patch_in_it_has_rows_for_both() {
    let tool = Tool { name: "Bash".into(), kind: ToolKind::Shell, ..patch().tool };
    let call = Call { tool, command: Some("apply_patch <<EOF".into()), ..patch() };
    check(&call, 0, "tool.name", "Bash");
    check(&call, 0, "tool.input_command", "apply_patch <<EOF");
    check(&call, 0, "tool.file_path", "");
    check(&call, 1, "tool.name", "apply_patch");
    check(&call, 1, "tool.file_path", "a.rs");
    check(&call, 2, "tool.patch_op", "Delete");
}

#[test]
fn a_call_without_files_has_one_row_and_empty_paths() {
    let call = Call { files: vec![], command: Some("ls".into()), ..patch() };
    check(&call, 0, "tool.input_command", "ls");
    check(&call, 0, "tool.real_file_path", "");
    check(&call, 0, "tool.mcp_server", "");
}

#[test]
fn what_the_world_must_say_is_asked_for_all_at_once() {
    let Err(queries) =
        rows(&patch(), &Facts::default(), &Session::default(), &Answers::default()).map(|rows| rows.len())
    else {
        panic!("nothing was asked")
    };
    assert_eq!(queries.len(), 3);
}

#[test]
fn commands_and_effects_are_joined_to_the_call_from_the_left() {
    let call = patch();
    let answers = answer_all(&call);
    let (session, mut facts) = (Session::default(), full_facts());
    facts.effects.push(Effect { file: Some(1), ..Effect::of(EffectKind::Delete) });
    let rows = rows(&call, &facts, &session, &answers).unwrap();
    let seen: Vec<String> = rows
        .iter()
        .map(|row| {
            let value = |name| match row.value(field_index(name).unwrap(), None) {
                Value::Text(text) => String::from_utf8(text.into_owned()).unwrap(),
                other @ (Value::Absent
                | Value::U64(_)
                | Value::Bool(_)
                | Value::Ip(_)
                | Value::Net(_)
                | Value::List(_)) => {
                    assert_eq!(other, Value::Absent);
                    "-".to_owned()
                }
            };
            ["row.level", "tool.file_path", "cmd.name", "fx.kind"].map(value).join(" ")
        })
        .collect();
    let expected = [
        "call a.rs - -",
        "call /x/b\0.rs - -",
        "command  x -",
        "effect  x write",
        "effect /x/b\0.rs - delete",
        "written  x install",
        "written  x write",
    ];
    assert_eq!(seen, expected);
    let files: Vec<_> = rows.iter().map(|row| row.file()).collect();
    assert_eq!(files, [Some(0), Some(1), None, None, Some(1), None, None]);
}
