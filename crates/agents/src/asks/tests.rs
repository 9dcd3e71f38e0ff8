use castellan_event::{Agent, Change, Command, FileTarget, Role, World};
use serde_json::json;

use super::*;
use crate::tools::tool;

const MEASURED: Option<Version> = Some(Version(2, 1, 330));

/// A machine without a symlink, but for `/w/link`.
struct Plain;

impl World for Plain {
    fn answer(&self, query: &Query) -> Option<Answer> {
        match query {
            Query::RealPath { path, .. } if path == "/w/link" => Some(Answer::RealPath("/w/.git".to_owned())),
            Query::RealPath { path, .. } => Some(Answer::RealPath(path.clone())),
            Query::FileKind { .. }
            | Query::Contents { .. }
            | Query::Executable { .. }
            | Query::Repository { .. }
            | Query::Newest { .. }
            | Query::Process { .. } => None,
        }
    }
}

fn call(agent: AgentId, mode: &str, name: &str) -> Call {
    Call {
        correlation_id: 1,
        agent: Agent { permission_mode: mode.to_owned(), event: "PreToolUse".to_owned(), ..Agent::default() },
        tool: tool(agent, name, String::new()),
        input: json!({}),
        input_text: String::new(),
        command: None,
        files: Vec::new(),
        problems: Vec::new(),
    }
}

fn writes(path: &str) -> Facts {
    let path = Some(path.to_owned());
    let effect = Effect { kind: EffectKind::Write, path: path.clone(), path_raw: path, ..Effect::default() };
    Facts { effects: vec![effect], ..Facts::default() }
}

fn holds(version: Option<Version>, call: &Call, facts: &Facts) -> bool {
    holds_ask(AgentId::Claude, || version, call, facts, &mut Recorder::new(&Plain))
}

#[track_caller]
fn check(mode: &str, version: Option<Version>, facts: &Facts, expected: bool) {
    let found = holds(version, &call(AgentId::Claude, mode, "Bash"), facts);
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
fn a_mode_that_skips_prompts_holds_what_was_measured() {
    for mode in ["plan", "auto", "bypassPermissions"] {
        for version in [Version(2, 1, 204), Version(2, 1, 290), Version(2, 1, 330)] {
            check(mode, Some(version), &writes("/w/src/main.rs"), true);
            check(mode, Some(version), &Facts::default(), true);
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
        let call = call(AgentId::Codex, mode, "Bash");
        let version = || Some(measured_version(AgentId::Codex));
        assert!(!holds_ask(AgentId::Codex, version, &call, &Facts::default(), &mut Recorder::new(&Plain)));
    }
}

#[test]
fn an_open_prompt_holds_every_ask() {
    let at = |event: &str| {
        let mut call = call(AgentId::Claude, "bypassPermissions", "Bash");
        event.clone_into(&mut call.agent.event);
        holds(None, &call, &writes("/home/u/.profile"))
    };
    assert!(at("PermissionRequest"));
    for event in ["PreToolUse", "PostToolUse", "SessionEnd", "pretooluse", ""] {
        assert!(!at(event), "{event}");
    }
}

#[test]
fn a_path_is_an_objection_by_its_names() {
    let check = |path: &str, expected| check("bypassPermissions", MEASURED, &writes(path), expected);
    for path in [
        "/w/new.txt",
        "/w/Makefile",
        "/w/.env",
        "/w/.github/workflows/x.yml",
        "/home/u/.ssh/config",
        "/home/u/.config/fish/config.fish",
        "/w/sub/../ok.txt",
        "./dot.txt",
        "/w/ünï.txt",
        "/w/q?.txt",
        "/w/a:b.txt",
        "/dev/null",
    ] {
        check(path, true);
    }
    for path in [
        "/home/u/.profile",
        "/home/u/.zshenv",
        "/home/u/.gitconfig",
        "/home/u/.bash_aliases",
        "/w/.git/hooks/pre-commit",
        "/w/.GIT/y",
        "/w/.mcp.json",
        "/w/.claude/agents/x.md",
        "/home/u/.config/git/config",
        "/w/.some-name-of-tomorrow",
        "/w/.e*",
        "/w/.{envrc,x}",
        "/w/bunfig.toml",
        "/w/BUNFIG.TOML",
        "/w/bunf\u{131}g.toml",
        "/w/pyrightconfig.j\u{17f}on",
        "/w/x~1.txt",
        "/w/tail.",
        "/w/tail ",
        "/w/.../x",
        "/w/line\nbreak.txt",
        "/w/a\\b",
        "//host/share/x",
    ] {
        check(path, false);
    }
}

#[test]
fn what_is_done_where_nobody_knows_may_be_an_objection() {
    let mut effect = writes("/w/a").effects.remove(0);
    let check = |change: fn(&mut Effect)| {
        let mut effects = vec![Effect { ..effect.clone() }];
        effects.iter_mut().for_each(change);
        check("bypassPermissions", MEASURED, &Facts { effects, ..Facts::default() }, false);
    };
    check(|effect| effect.path = None);
    check(|effect| (effect.path, effect.path_raw) = (None, None));
    check(|effect| effect.path_raw = Some(".git/../a".to_owned()));
    check(|effect| effect.is_linked = true);
    check(|effect| (effect.kind, effect.path) = (EffectKind::Delete, Some("/w/link".to_owned())));
    check(|effect| (effect.kind, effect.path) = (EffectKind::Read, Some("/w/.mcp.json".to_owned())));
    check(|effect| (effect.kind, effect.role) = (EffectKind::Opaque, Some(Role::Target)));
    // Nothing of it is done to a file.
    effect.kind = EffectKind::Destroy;
    (effect.path, effect.path_raw) = (None, None);
    let pushed = Facts { effects: vec![effect], commands: vec![Command::default()], ..Facts::default() };
    self::check("bypassPermissions", MEASURED, &pushed, true);
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
        let call = Call { input, ..call(AgentId::Claude, "bypassPermissions", "Bash") };
        assert_eq!(holds(MEASURED, &call, &Facts::default()), expected, "{}", call.input);
    }
}

#[test]
fn a_tool_that_was_not_measured_holds_nothing() {
    for (name, expected) in [
        ("Bash", true),
        ("Write", true),
        ("Edit", true),
        ("NotebookEdit", true),
        ("Read", true),
        ("WebFetch", true),
        ("Agent", true),
        ("mcp__files__write", true),
        ("mcp__claude-in-chrome__navigate", false),
        ("mcp__Claude_Preview__x", false),
        ("Monitor", false),
        ("PowerShell", false),
        ("MultiEdit", false),
        ("Artifact", false),
        ("Workflow", false),
        ("ReadMcpResourceTool", false),
        ("bash", false),
    ] {
        let call = call(AgentId::Claude, "bypassPermissions", name);
        assert_eq!(holds(MEASURED, &call, &Facts::default()), expected, "{name}");
    }
}

#[test]
fn a_files_name_counts_for_the_tool_that_names_it() {
    for (name, path, expected) in [
        ("Write", "/w/a", true),
        ("Write", ".mcp.json", false),
        ("Edit", "/home/u/.profile", false),
        ("NotebookEdit", ".git/n.ipynb", false),
        // Reading is not checked.
        ("Read", "/home/u/.profile", true),
    ] {
        let file = FileTarget {
            path: path.to_owned(),
            patch_op: None,
            patch_text: String::new(),
            change: Change::Unsaid,
        };
        let call = Call { files: vec![file], ..call(AgentId::Claude, "bypassPermissions", name) };
        assert_eq!(holds(MEASURED, &call, &Facts::default()), expected, "{name} {path}");
    }
}
