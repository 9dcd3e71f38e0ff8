//! The rig itself, and castellan's assumptions about the agents: each pinned agent's reaction to a hook's answers. A
//! stand-in for castellan's hook gives a fixed answer; the model asks for a file. If a new version of an agent fails
//! here, castellan's answers to it are wrong until `crates/agents` and `crates/hook` are updated.

use std::path::PathBuf;

use anyhow::Result;
use castellan_tests::agents::Agent::{self, Claude, Codex, Gemini, Qwen};
use castellan_tests::home::Home;
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::run::{self, CODEX_CODE_MODE, CODEX_UNBOUND, CODEX_UNKNOWN_MODEL, Options};
use castellan_tests::scenario::SwitchedOff::{self, BeforeStart, MidSession};
use serde_json::{Map, Value as Json, json};

/// Shell texts of hooks. Each stores its input in a file beside the workspace.
const SILENT: &str = "cat >> ../asked";
const BLOCK: &str = "cat >> ../asked; echo by the stand-in >&2; exit 2";
const FAIL: &str = "cat >> ../asked; exit 1";
const KILLED: &str = "cat >> ../asked; kill -9 $$";

/// Returns a hook with this decision.
fn decide(decision: &str) -> String {
    format!("cat >> ../asked; {}", echo(decision))
}

/// Returns a hook that denies calls with the word `touch`.
fn deny_touch() -> String {
    format!("tee -a ../asked | grep -q touch && {}; exit 0", echo("deny"))
}

fn echo(decision: &str) -> String {
    let output = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": "by the stand-in",
    });
    format!("echo '{}'", json!({"hookSpecificOutput": output}))
}

/// A first call, long enough for Claude's file watcher, which takes up to a second. Tests in which a change takes
/// effect show that this is long enough. Without them, the tests in which a change has no effect would prove nothing.
const WATCHED: &str = "sleep 3";

const DEFAULT_PERMISSIONS: Options = Options { claude_permission_mode: "default", ..BYPASS };
const CODE_MODE: Options = Options { codex_model: CODEX_CODE_MODE, ..BYPASS };
const BYPASS: Options = Options {
    claude_permission_mode: "bypassPermissions",
    codex_sandbox: CODEX_UNBOUND,
    codex_model: "gpt-5.5",
    trusts_hooks: true,
    arguments: &[],
};

/// Observations of the call that makes the file `f`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    /// The hook was asked about it.
    asked: bool,
    /// The file was made.
    made: bool,
    /// Part of the message to the model.
    told: &'static str,
}

const DENIED: Seen = Seen { asked: true, made: false, told: "by the stand-in" };
const RUNS: Seen = Seen { asked: true, made: true, told: "" };
const RUNS_UNASKED: Seen = Seen { asked: false, made: true, told: "" };

#[derive(Clone, Copy, PartialEq)]
enum Registered {
    User,
    /// For Claude, with `"onFailure":"block"`.
    UserClosed,
    /// Machine-wide.
    Managed,
}

struct Case {
    agent: Agent,
    hook: String,
    registered: Registered,
    options: Options,
    /// The call that makes the file `f`.
    call: Block,
    /// The time at which the repository switches hooks off.
    switched_off: Option<SwitchedOff>,
    /// The repository's file, and the text that switches hooks off.
    switch: (&'static str, &'static str),
}

impl Case {
    fn new(agent: Agent, hook: impl Into<String>, options: Options) -> Case {
        let call = agent.shell("touch f");
        let (hook, switch) = (hook.into(), switch(agent));
        Case { agent, hook, registered: Registered::User, options, call, switched_off: None, switch }
    }
}

fn check(case: Case, expected: Seen) -> Result<()> {
    let Some(executable) = case.agent.executable()? else { return Ok(()) };
    let mut home = Home::new("rig")?;
    if case.registered == Registered::Managed && !home.make_etc_private()? {
        return Ok(());
    }
    register(&home, &case)?;
    let (off, off_text) = case.switch;
    let off = home.workspace().join(off);
    let late = case.switched_off == Some(MidSession);
    if case.switched_off.is_some() {
        home.write(&off, if late { "" } else { off_text })?;
    }
    let first = case.agent.shell(if late { WATCHED } else { "true" });
    let script = Script::main([vec![first], vec![case.call]])
        .before(0, move || assert!(!late || std::fs::write(&off, off_text).is_ok()));
    let model = Model::start(case.agent.api(), vec![script])?;
    let done = run::run(case.agent, &executable, &home, &model, &case.options)?;
    let heard = model.result_of("0-1-0").unwrap_or_default();
    let asked = asked(&home);
    let seen = Seen {
        asked: ["touch f", "Add File: f"].iter().any(|call| asked.contains(call)),
        made: home.workspace().join("f").exists(),
        told: if heard.contains(expected.told) { expected.told } else { "" },
    };
    assert_eq!(seen, expected, "the model was told `{heard}`\n{done:?}");
    Ok(())
}

/// Returns the hook's input, or an empty text.
fn asked(home: &Home) -> String {
    std::fs::read_to_string(home.workspace().join("../asked")).unwrap_or_default()
}

fn register(home: &Home, case: &Case) -> Result<()> {
    let on_failure = if case.registered == Registered::UserClosed { "block" } else { "continue" };
    let hook = match case.agent {
        Claude => {
            let args = ["-c", &case.hook];
            json!({"type": "command", "command": "/bin/sh", "args": args, "onFailure": on_failure})
        }
        Codex => json!({"type": "command", "command": &case.hook}),
        Gemini | Qwen => json!({"type": "command", "command": &case.hook, "timeout": LIMIT_MS}),
    };
    case.agent.prepare(home)?;
    let prepared = std::fs::read_to_string(case.agent.settings(home)).unwrap_or_default();
    let mut settings: Map<String, Json> = serde_json::from_str(&prepared).unwrap_or_default();
    settings.insert("hooks".to_owned(), json!({ case.agent.question(): [{"hooks": [hook]}] }));
    let hooks = Json::Object(settings).to_string();
    let toml = || {
        let command = Json::from(&*case.hook);
        format!(
            "[features]\nhooks = true\n[hooks]\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = {command}\n"
        )
    };
    match (case.agent, case.registered) {
        (Claude, Registered::Managed) => {
            home.write(&home.etc().join("claude-code/managed-settings.d/h.json"), &hooks)
        }
        (Codex, Registered::Managed) => home.write(&home.etc().join("codex/requirements.toml"), &toml()),
        (agent, _) => home.write(&agent.settings(home), &hooks),
    }
}

/// Returns the file by which a repository switches hooks off, and its text.
fn switch(agent: Agent) -> (&'static str, &'static str) {
    match agent {
        Claude => (".claude/settings.json", r#"{"disableAllHooks":true}"#),
        Codex => (".codex/config.toml", "[features]\nhooks = false\n"),
        Gemini => (".gemini/settings.json", r#"{"hooksConfig":{"enabled":false}}"#),
        Qwen => (".qwen/settings.json", r#"{"disableAllHooks":true}"#),
    }
}

/// The time limit of hooks of Gemini CLI and Qwen Code in these tests.
const LIMIT_MS: u32 = 2000;

/// Returns a hook that prints a deny in time and ends too late.
fn deny_and_stay(deny: &str) -> String {
    format!("{deny}; exec sleep 20")
}

/// Gemini CLI's deny.
const GEMINI_DENY: &str = r#"echo '{"decision":"deny","reason":"by the stand-in"}'"#;

#[test]
fn gemini_carries_out_what_its_hook_answers() -> Result<()> {
    check(Case::new(Gemini, format!("cat >> ../asked; {GEMINI_DENY}"), BYPASS), DENIED)?;
    check(Case::new(Gemini, BLOCK, BYPASS), DENIED)?;
    check(Case::new(Gemini, SILENT, BYPASS), RUNS)?;
    // Another agent's deny, and failing hooks.
    for hook in [decide("deny"), FAIL.to_owned(), KILLED.to_owned()] {
        check(Case::new(Gemini, hook, BYPASS), RUNS)?;
    }
    check(Case::new(Gemini, deny_and_stay(&format!("cat >> ../asked; {GEMINI_DENY}")), BYPASS), RUNS)
}

#[test]
fn qwen_carries_out_what_its_hook_answers() -> Result<()> {
    for hook in [decide("deny"), decide("ask"), BLOCK.to_owned()] {
        check(Case::new(Qwen, hook, BYPASS), DENIED)?;
    }
    for hook in [decide("allow"), SILENT.to_owned(), FAIL.to_owned(), KILLED.to_owned()] {
        check(Case::new(Qwen, hook, BYPASS), RUNS)?;
    }
    check(Case::new(Qwen, deny_and_stay(&decide("deny")), BYPASS), RUNS)
}

#[test]
fn a_repository_switches_off_hooks_of_gemini_and_qwen_at_their_start() -> Result<()> {
    let off = |agent, switch| {
        let deny = if agent == Gemini { format!("cat >> ../asked; {GEMINI_DENY}") } else { decide("deny") };
        Case { switched_off: Some(BeforeStart), switch, ..Case::new(agent, deny, BYPASS) }
    };
    let (gemini, qwen) = (switch(Gemini), switch(Qwen));
    check(off(Gemini, gemini), RUNS_UNASKED)?;
    check(off(Gemini, (gemini.0, r#"{"hooks":null}"#)), RUNS_UNASKED)?;
    check(off(Gemini, (gemini.0, r#"{"hooksConfig":{"enabled":"false"}}"#)), RUNS_UNASKED)?;
    check(off(Gemini, (gemini.0, r#"{"hooks":{"BeforeTool":null}}"#)), DENIED)?;
    check(off(Qwen, qwen), RUNS_UNASKED)?;
    check(off(Qwen, (qwen.0, r#"{"disableAllHooks":1}"#)), RUNS_UNASKED)?;
    check(off(Qwen, (qwen.0, r#"{"env":{"QWEN_CODE_SAFE_MODE":"1"}}"#)), RUNS_UNASKED)?;
    check(off(Qwen, (qwen.0, r#"{"hooks":null}"#)), DENIED)?;
    check(off(Qwen, (".env", "QWEN_CODE_SAFE_MODE=1\n")), RUNS_UNASKED)?;
    check(off(Qwen, (".qwen/.env", "QWEN_CODE_SIMPLE=1\n")), RUNS_UNASKED)
}

#[test]
fn claude_takes_no_variable_from_a_repository() -> Result<()> {
    let switch = (switch(Claude).0, r#"{"env":{"CLAUDE_CODE_SIMPLE":"1"}}"#);
    let case = Case::new(Claude, decide("deny"), BYPASS);
    check(Case { switched_off: Some(BeforeStart), switch, ..case }, DENIED)
}

#[test]
fn claude_carries_out_what_its_hook_answers() -> Result<()> {
    check(Case::new(Claude, SILENT, BYPASS), RUNS)?;
    check(Case::new(Claude, decide("deny"), BYPASS), DENIED)?;
    check(Case::new(Claude, BLOCK, BYPASS), DENIED)?;
    check(Case::new(Claude, decide("ask"), BYPASS), DENIED)?;
    check(Case::new(Claude, decide("ask"), DEFAULT_PERMISSIONS), DENIED)?;
    check(Case::new(Claude, SILENT, DEFAULT_PERMISSIONS), Seen { told: "needs approval", ..DENIED })?;
    check(Case::new(Claude, decide("allow"), DEFAULT_PERMISSIONS), RUNS)
}

/// The reaction of the real Claude Code to a hook's ask, by mode. The last column is the version installed here.
const ASKS: &str = include_str!("../../../corpus/asks/claude.tsv");

/// Returns, for each call that makes a file, if it ran in a mode. A call is paired with the path of its file.
fn ran_although_asked(mode: &'static str, calls: &[(Block, PathBuf)], home: &Home) -> Result<Vec<bool>> {
    let Some(executable) = Claude.executable()? else { return Ok(Vec::new()) };
    let case = Case::new(Claude, decide("ask"), Options { claude_permission_mode: mode, ..BYPASS });
    register(home, &case)?;
    let script = Script::main(calls.iter().map(|(call, _)| vec![call.clone()]).collect::<Vec<_>>());
    let model = Model::start(Claude.api(), vec![script])?;
    run::run(Claude, &executable, home, &model, &case.options)?;
    Ok(calls.iter().map(|(_, file)| file.exists()).collect())
}

#[test]
fn claude_holds_the_asks_that_it_was_measured_to_hold() -> Result<()> {
    // `plan` and `auto` ask a model of their own, which the script does not play.
    for mode in ["default", "acceptEdits", "dontAsk", "bypassPermissions"] {
        let home = Home::new("rig")?;
        let placed = |target: &str| match target.split_once('/') {
            Some(("~", rest)) => home.user().join(rest),
            Some(("OUT", rest)) => home.user().join("out").join(rest),
            _ => home.workspace().join(target),
        };
        let call = |tool: &str, target: &str| match tool {
            "Write" => {
                (Block::call("Write", json!({"file_path": placed(target), "content": "x"})), placed(target))
            }
            _ => {
                let (order, file) = target.rsplit_once(' ').unwrap_or_default();
                (Claude.shell(&format!("{order} {}", placed(file).display())), placed(file))
            }
        };
        let row = |(tool, target): &(&str, &str)| {
            let start = format!("{mode}\t-p\t{tool}\t{}\t", Json::from(*target));
            let row = ASKS.lines().find(|line| line.starts_with(&start));
            row.unwrap_or_else(|| panic!("`{start}` was not measured")).ends_with("ran")
        };
        let calls: Vec<_> = MAKING.iter().map(|(tool, target)| call(tool, target)).collect();
        let ran = ran_although_asked(mode, &calls, &home)?;
        if !ran.is_empty() {
            assert_eq!(ran, MAKING.iter().map(row).collect::<Vec<_>>(), "{mode}: {MAKING:?}");
        }
    }
    Ok(())
}

/// Calls that were measured in every mode and make a new file.
const MAKING: &[(&str, &str)] = &[
    ("Write", "~/.zshenv"),
    ("Write", "~/.ssh/config"),
    ("Bash", "echo x >> ~/.bash_aliases"),
    ("Write", "./new.txt"),
    ("Write", "~/fresh.txt"),
    ("Bash", "touch made.txt"),
];

#[test]
fn claude_lets_a_call_through_when_its_hook_fails_unless_told_to_block() -> Result<()> {
    for hook in [FAIL, KILLED] {
        check(Case::new(Claude, hook, BYPASS), RUNS)?;
        check(
            Case { registered: Registered::UserClosed, ..Case::new(Claude, hook, BYPASS) },
            Seen { told: "", ..DENIED },
        )?;
    }
    Ok(())
}

#[test]
fn codex_carries_out_denials_and_runs_what_is_asked() -> Result<()> {
    check(Case::new(Codex, SILENT, BYPASS), RUNS)?;
    check(Case::new(Codex, decide("deny"), BYPASS), DENIED)?;
    check(Case::new(Codex, BLOCK, BYPASS), DENIED)?;
    check(Case::new(Codex, decide("ask"), BYPASS), RUNS)?;
    check(Case::new(Codex, FAIL, BYPASS), RUNS)?;
    check(Case::new(Codex, KILLED, BYPASS), RUNS)
}

#[test]
fn codex_asks_its_hook_about_patches() -> Result<()> {
    let patch = "*** Begin Patch\n*** Add File: f\n+x\n*** End Patch\n".to_owned();
    let call = Block::FreeCall { tool: "apply_patch".to_owned(), input: patch };
    check(Case { call: call.clone(), ..Case::new(Codex, SILENT, BYPASS) }, RUNS)?;
    check(Case { call, ..Case::new(Codex, decide("deny"), BYPASS) }, DENIED)
}

fn code(javascript: &str) -> Block {
    Block::FreeCall { tool: "exec".to_owned(), input: javascript.to_owned() }
}

#[test]
fn codex_asks_its_hook_about_calls_nested_in_code() -> Result<()> {
    let call = code("text(await tools.exec_command({cmd: 'touch f'}))");
    check(Case { call: call.clone(), ..Case::new(Codex, SILENT, CODE_MODE) }, RUNS)?;
    check(Case { call, ..Case::new(Codex, decide("deny"), CODE_MODE) }, DENIED)
}

/// A security gap: Codex sends no hook event for input to a program. castellan must judge the command that starts it.
#[test]
fn codex_does_not_ask_its_hook_about_input_to_a_running_program() -> Result<()> {
    let call = code(
        "const shell = await tools.exec_command({cmd: 'sh -i', tty: true, yield_time_ms: 250});
         const session_id = shell.session_id;
         text(await tools.write_stdin({session_id, chars: 'touch f\\n', yield_time_ms: 250}));
         await tools.write_stdin({session_id, chars: 'exit\\n', yield_time_ms: 1000});",
    );
    check(Case { call, ..Case::new(Codex, deny_touch(), CODE_MODE) }, RUNS_UNASKED)
}

/// Runs a sub-agent that makes the file `f`. Returns the hook's input.
fn check_subagent(agent: Agent, options: Options, spawn: fn(&str) -> Block) -> Result<String> {
    const TASK: &str = "make the file of the sub-agent";
    let Some(executable) = agent.executable()? else { return Ok(String::new()) };
    let home = Home::new("rig-subagent")?;
    register(&home, &Case::new(agent, deny_touch(), options))?;
    let scripts =
        vec![Script::main([vec![spawn(TASK)]]), Script::subagent(TASK, [vec![agent.shell("touch f")]])];
    let model = Model::start(agent.api(), scripts)?;
    let done = run::run(agent, &executable, &home, &model, &options)?;
    let told = model.result_of("1-0-0").unwrap_or_default();
    assert!(told.contains("by the stand-in"), "{told}\n{done:?}");
    assert!(!home.workspace().join("f").exists(), "{agent:?}");
    Ok(asked(&home))
}

#[test]
fn both_ask_their_hooks_about_the_calls_of_a_subagent() -> Result<()> {
    let asked = check_subagent(Claude, BYPASS, |task| {
        Block::call("Agent", json!({"description": "x", "prompt": task, "subagent_type": "general-purpose"}))
    })?;
    assert!(asked.contains(r#""tool_name":"Agent""#), "{asked}");
    let options = Options { codex_model: CODEX_UNKNOWN_MODEL, ..BYPASS };
    let spawn = |task: &str| Block::call("multi_agent_v1.spawn_agent", json!({"message": task}));
    let asked = check_subagent(Codex, options, spawn)?;
    assert!(asked.contains(r#""tool_name":"spawn_agent""#), "{asked}");
    // The hook receives this tool's group and name as one word.
    let asked = check_subagent(Codex, CODE_MODE, |task| {
        let input = json!({"task_name": "maker", "message": task, "fork_turns": "none"});
        Block::call("collaboration.spawn_agent", input)
    })?;
    assert!(asked.contains(r#""tool_name":"collaborationspawn_agent""#), "{asked}");
    Ok(())
}

#[test]
fn both_run_the_other_one_of_two_parallel_calls() -> Result<()> {
    for agent in [Claude, Codex] {
        let Some(executable) = agent.executable()? else { continue };
        let home = Home::new("rig-parallel")?;
        register(&home, &Case::new(agent, deny_touch(), BYPASS))?;
        let script = Script::main([vec![agent.shell("touch f"), agent.shell("echo hi > g")]]);
        let model = Model::start(agent.api(), vec![script])?;
        let done = run::run(agent, &executable, &home, &model, &BYPASS)?;
        assert!(model.result_of("0-0-0").is_some_and(|told| told.contains("by the stand-in")), "{done:?}");
        let made = ["f", "g"].map(|file| home.workspace().join(file).exists());
        assert_eq!(made, [false, true], "{agent:?}: {done:?}");
    }
    Ok(())
}

#[test]
fn a_repository_can_switch_a_users_hooks_off() -> Result<()> {
    for agent in [Claude, Codex] {
        check(
            Case { switched_off: Some(BeforeStart), ..Case::new(agent, deny_touch(), BYPASS) },
            RUNS_UNASKED,
        )?;
    }
    // Claude reads the file again in the middle of a session; Codex does not.
    check(Case { switched_off: Some(MidSession), ..Case::new(Claude, deny_touch(), BYPASS) }, RUNS_UNASKED)?;
    check(Case { switched_off: Some(MidSession), ..Case::new(Codex, deny_touch(), BYPASS) }, DENIED)
}

#[test]
fn a_repository_cannot_switch_hooks_off_against_the_command_line() -> Result<()> {
    let claude = Options { arguments: &["--settings", r#"{"disableAllHooks":false}"#], ..BYPASS };
    let codex = Options { arguments: &["-c", "features.hooks=true"], ..BYPASS };
    for when in [Some(BeforeStart), Some(MidSession)] {
        check(Case { switched_off: when, ..Case::new(Claude, deny_touch(), claude) }, DENIED)?;
        check(Case { switched_off: when, ..Case::new(Codex, deny_touch(), codex) }, DENIED)?;
    }
    Ok(())
}

#[test]
fn a_repository_cannot_switch_managed_hooks_off() -> Result<()> {
    let options = Options { trusts_hooks: false, ..BYPASS };
    for agent in [Claude, Codex] {
        for switched_off in [Some(BeforeStart), Some(MidSession)] {
            let registered = Registered::Managed;
            check(Case { switched_off, registered, ..Case::new(agent, deny_touch(), options) }, DENIED)?;
        }
    }
    Ok(())
}
