use castellan_event::{
    Agent, Change, Command, Effect, EffectKind, FileTarget, LocatedFile, Object, Role, Why,
};
use serde_json::json;

use super::*;
use crate::tools::tool;

const MEASURED: Option<Version> = Some(Version(2, 1, 330));

fn call(agent: AgentId, mode: &str, name: &str) -> Call {
    Call {
        correlation_id: 1,
        agent: Agent { permission_mode: mode.to_owned(), event: "PreToolUse".to_owned(), ..Agent::default() },
        tool: tool(agent, name, String::new()),
        input: json!({}),
        input_text: String::new(),
        command: None,
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}

fn writes(path: &str) -> Facts {
    let path = Some(path.to_owned());
    let file = LocatedFile { path, ..LocatedFile::default() };
    let effect = Effect::on_file(EffectKind::Write, file);
    Facts { effects: vec![effect], ..Facts::default() }
}

fn holds(version: Option<Version>, call: &Call, facts: &Facts) -> bool {
    holds_ask(AgentId::CLAUDE, || version, call, facts)
}

#[track_caller]
fn check(mode: &str, version: Option<Version>, facts: &Facts, expected: bool) {
    let found = holds(version, &call(AgentId::CLAUDE, mode, "Bash"), facts);
    assert_eq!(found, expected, "{mode} {version:?} {facts:?}");
}

#[test]
fn a_mode_that_asks_holds_every_ask_in_every_version() {
    for mode in ["default", "acceptEdits", "dontAsk"] {
        for version in [None, MEASURED, Some(Version(3, 0, 0))] {
            check(mode, version, &writes("/home/u/.profile"), true);
        }
    }
}

#[test]
fn qwen_holds_every_ask_in_the_modes_that_it_has() {
    for mode in ["default", "plan", "auto-edit", "auto_edit", "auto", "yolo"] {
        let call = call(AgentId::QWEN, mode, "run_shell_command");
        assert!(holds_ask(AgentId::QWEN, || None, &call, &writes("/home/u/.profile")), "{mode}");
    }
    for mode in ["", "bypassPermissions"] {
        let call = call(AgentId::QWEN, mode, "run_shell_command");
        assert!(!holds_ask(AgentId::QWEN, || None, &call, &Facts::default()), "{mode}");
    }
    assert!(denies_unattended_asks(AgentId::QWEN) && !denies_unattended_asks(AgentId::CLAUDE));
}

#[test]
fn a_mode_that_skips_prompts_holds_what_was_measured() {
    for mode in ["plan", "auto", "bypassPermissions"] {
        for version in [Version(2, 1, 204), Version(2, 1, 290), Version(2, 1, 330)] {
            check(mode, Some(version), &Facts::default(), true);
            check(mode, Some(version), &writes("/w/src/main.rs"), false);
            check(mode, Some(version), &writes("/home/u/.profile"), false);
        }
        for version in [None, Some(Version(2, 1, 203)), Some(Version(2, 1, 331)), Some(Version(3, 0, 0))] {
            check(mode, version, &writes("/w/src/main.rs"), false);
            check(mode, version, &Facts::default(), false);
        }
    }
}

#[test]
fn a_mode_that_is_not_known_holds_nothing() {
    for mode in ["", "Default", "default ", "bypass", "yolo", "bubble", "manual"] {
        check(mode, MEASURED, &writes("/w/src/main.rs"), false);
        check(mode, MEASURED, &Facts::default(), false);
    }
}

#[test]
fn an_agent_that_asks_nowhere_holds_nothing() {
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] {
        let call = call(AgentId::CODEX, mode, "Bash");
        let version = || Some(measured_version(AgentId::CODEX));
        assert!(!holds_ask(AgentId::CODEX, version, &call, &Facts::default()));
    }
}

#[test]
fn an_open_prompt_holds_every_ask() {
    let at = |event: &str| {
        let mut call = call(AgentId::CLAUDE, "bypassPermissions", "Bash");
        event.clone_into(&mut call.agent.event);
        holds(None, &call, &writes("/home/u/.profile"))
    };
    assert!(at("PermissionRequest"));
    for event in ["PreToolUse", "PostToolUse", "SessionEnd", "pretooluse", ""] {
        assert!(!at(event), "{event}");
    }
}

/// Claude Code 2.1.330 ran calls with each of the first eight paths although the hook asked. A path that it held may be
/// a link at the time of its check.
#[test]
fn any_file_may_be_an_objection() {
    for path in [
        "/w/main.aux",
        "/w/x.con",
        "/w/d.lpt9/x",
        "/w/a~b~1",
        "/w/bunfi\u{200d}g.toml",
        "/w/gradle\u{feff}-wrapper.properties",
        "/w/sub\u{a0}/x",
        "/w/plugin-dir/x.txt",
        "/w/new.txt",
        "/w/a:b.txt",
        "/home/u/.profile",
        "/dev/shm/x",
    ] {
        for kind in [EffectKind::Read, EffectKind::Write, EffectKind::Delete, EffectKind::Execute] {
            let file = LocatedFile { path: Some(path.to_owned()), ..LocatedFile::default() };
            let effects = vec![Effect::on_file(kind, file)];
            check("bypassPermissions", MEASURED, &Facts { effects, ..Facts::default() }, false);
        }
    }
}

#[test]
fn an_effect_is_apart_from_files_only_where_all_of_it_is_known() {
    let pushed = Effect::of(EffectKind::Destroy);
    let check = |change: fn(&mut Effect), expected| {
        let mut effect = pushed.clone();
        change(&mut effect);
        let facts = Facts { effects: vec![effect], commands: vec![Command::default()], ..Facts::default() };
        check("bypassPermissions", MEASURED, &facts, expected);
    };
    check(|_| {}, true);
    check(|effect| effect.object = Object::File(Box::default()), false);
    check(|effect| effect.op.kind = EffectKind::Write, false);
    check(|effect| effect.op.kind = EffectKind::Link, false);
    check(|effect| *effect = Effect::opaque(Role::Target, Why::Variable, None), false);
}

#[test]
fn the_background_and_some_options_are_objections() {
    check("bypassPermissions", MEASURED, &Facts { background: true, ..Facts::default() }, false);
    for (input, expected) in [
        (json!({"command": "x", "dangerouslyDisableSandbox": true}), false),
        (json!({"command": "x", "dangerouslyDisableSandbox": "yes"}), false),
        (json!({"command": "x", "dangerouslyDisableSandbox": false}), true),
        (json!({"command": "x", "allowed_domains": ["a.org"]}), false),
        (json!({"command": "x", "run_in_background": true}), true),
    ] {
        let call = Call { input, ..call(AgentId::CLAUDE, "bypassPermissions", "Bash") };
        assert_eq!(holds(MEASURED, &call, &Facts::default()), expected, "{}", call.input);
    }
}

#[test]
fn a_tool_that_was_not_measured_holds_nothing() {
    for (name, expected) in [
        ("Bash", true),
        ("Write", false),
        ("Edit", false),
        ("NotebookEdit", false),
        ("Read", true),
        ("WebFetch", true),
        ("Agent", true),
        ("mcp__files__write", true),
        ("mcp__claude-in-chrome__navigate", false),
        ("mcp__Claude_Preview__x", false),
        ("Monitor", false),
        ("PowerShell", false),
        ("MultiEdit", false),
        ("CronCreate", false),
        ("Artifact", false),
        ("Workflow", false),
        ("ReadMcpResourceTool", false),
        ("bash", false),
    ] {
        let call = call(AgentId::CLAUDE, "bypassPermissions", name);
        assert_eq!(holds(MEASURED, &call, &Facts::default()), expected, "{name}");
    }
}

#[test]
fn a_file_tool_holds_nothing_but_reading() {
    for (name, path, expected) in [
        ("Write", "/w/a", false),
        ("Edit", "/home/u/.profile", false),
        ("NotebookEdit", "/w/n.ipynb", false),
        ("Read", "/home/u/.profile", true),
    ] {
        let file = FileTarget {
            path: path.to_owned(),
            patch_op: None,
            patch_text: String::new(),
            change: Change::Unsaid,
        };
        let call = Call { files: vec![file], ..call(AgentId::CLAUDE, "bypassPermissions", name) };
        assert_eq!(holds(MEASURED, &call, &Facts::default()), expected, "{name} {path}");
    }
}

#[test]
fn the_command_line_or_the_mode_says_that_nobody_is_there() {
    let check = |agent, line: &str, mode, expected| {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(is_headless(agent, Some(&words), mode), expected, "{line} {mode}");
    };
    check(AgentId::CLAUDE, "claude", "default", false);
    check(AgentId::CLAUDE, "node /x/cli.js -p hello", "default", true);
    check(AgentId::CLAUDE, "claude --model x --print", "default", true);
    check(AgentId::CLAUDE, "claude -- -p", "default", false);
    check(AgentId::CLAUDE, "claude -cp hello", "acceptEdits", true);
    check(AgentId::CLAUDE, "claude --print=x", "default", true);
    check(AgentId::CLAUDE, "claude -c --permission-mode plan", "plan", false);
    for mode in ["acceptEdits", "auto", "bypassPermissions"] {
        check(AgentId::CLAUDE, "claude", mode, false);
    }
    for mode in ["dontAsk", "", "Default", "yolo", "default "] {
        check(AgentId::CLAUDE, "claude", mode, true);
    }
    check(AgentId::CODEX, "codex -c features.hooks=true exec x", "default", true);
    check(AgentId::CODEX, "codex e x", "default", true);
    check(AgentId::CODEX, "codex execute", "default", false);
    check(AgentId::CODEX, "codex -p work", "", false);
    check(AgentId::CODEX, "codex review", "default", true);
    check(AgentId::GEMINI, "node /x/gemini.js -yp go", "", true);
    check(AgentId::GEMINI, "gemini --yolo --prompt=go", "", true);
    check(AgentId::GEMINI, "gemini -i go", "", false);
    check(AgentId::QWEN, "qwen -yp go", "yolo", true);
    check(AgentId::QWEN, "qwen -i go", "auto-edit", false);
    check(AgentId::QWEN, "qwen", "acceptEdits", true);
    assert!(is_headless(AgentId::CLAUDE, None::<&[&str]>, "default"));
}
