//! The plays of the real-agent tests. Each has one agent, castellan registered as by a user, and one scripted model. It
//! checks the files, the results sent to the model, and the records. Must not depend on how an answer is encoded.

mod asks;
mod at_prompt;
mod judges;
mod late;
mod levels;
mod native;
mod places;
mod plans;
mod prompts;
mod records;
mod repository;
mod reviews;
mod signalled;
mod trust;
mod ungoverned;

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Signal, kill_process};
use serde_json::{Value as Json, json};

pub use asks::check_asks;
pub use at_prompt::{check_agreed_at_prompt, check_refused_at_prompt};
pub use judges::{check_claudes_judge, check_codexs_reviewer, check_prompt_hooks};
pub use late::check_late_answer;
pub use levels::{check_ceiling, check_denied_escalation, check_escalation};
pub use native::{
    check_native, check_native_arguments, check_native_auto, check_native_run, check_native_sandbox,
};
pub use places::{check_directory, check_named_off, check_write};
pub use plans::{check_presented_plan, check_strict_plan, check_warned_plan};
pub use prompts::{check_asks_before_code_runs, check_prompts};
pub use repository::check_repository;
pub use reviews::{check_forged_prompt, check_reviews, check_reviews_of_codex};
pub use signalled::{KILL, SIGNALS, STOP, check_signalled_hook};
pub use trust::check_trust;

use records::call_about;
pub(crate) use records::{expect_record, expect_told};

use crate::agents::Agent;
use crate::home::Home;
use crate::model::{Block, Model, Script};
use crate::process::{Finished, stop_process};
use crate::run::{self, AGENT_LIMIT, Options};
use crate::terminal;

pub use ungoverned::{check_none_foreign, check_noticed, check_plugin, check_rewritten, check_typed};

/// Each rule matches one file name, independent of the tool.
const RULES: &str = r#"
- rule: Test deny
  desc: Denies a file of the tests.
  condition: tool.input contains "denied-file"
  output: the test denies this file
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Test ask
  desc: Asks about a file of the tests.
  condition: tool.input contains "asked-file"
  output: the test asks about this file
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Test review
  desc: Leaves a file of the tests to the reviewer.
  condition: tool.input contains "reviewed-file"
  output: the test reviews this file
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_review]

- rule: Test effect
  desc: Denies a file of the tests by what makes it, wherever the command stands.
  condition: fx.kind = write and fx.path endswith "/started-file" and cmd.name = touch
  output: the test denies what makes this file
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Test directory
  desc: Denies a file of the tests by where the command that makes it runs.
  condition: fx.kind = write and fx.path endswith "/sub/placed-file"
  output: the test denies a file in this place
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Test patch
  desc: Denies a file of the tests by what a patch does to it, whatever carries the patch.
  condition: tool.name = apply_patch and tool.patch_op = Add and tool.real_file_path endswith "/patched-file"
  output: the test denies this patch
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Test allow
  desc: Allows a file of the tests.
  condition: tool.file_path endswith "allowed-file"
  output: the test allows this file
  priority: NOTICE
  source: coding_agent
  tags: [coding_agent_allow]
"#;

/// The message to the model when castellan denies a call that it could not judge.
const FAILED: &str = "castellan blocked this: ";

/// The first call of a session in which the repository changes its settings. It lasts long enough for an agent's file
/// watcher (Claude's takes up to a second). Qwen Code refuses a call that only sleeps.
const WATCHED: &str = "touch watched-file; sleep 3";

/// A call that makes one file.
#[derive(Debug)]
pub struct Case {
    /// castellan's mode.
    pub mode: &'static str,
    /// The options of the agent's start.
    pub options: Options,
    /// The call that the model requests.
    pub call: Block,
    /// The file that the call makes, in the workspace.
    pub file: &'static str,
    /// The file must exist at the end.
    pub made: bool,
    /// A text that the model must receive.
    pub told: &'static str,
    /// `verdict`, `answer` and `enforced` of the call's record.
    pub recorded: (&'static str, &'static str, bool),
}

impl Case {
    /// A shell command that makes `file`, in enforce mode.
    pub fn touch(
        agent: Agent,
        file: &'static str,
        made: bool,
        told: &'static str,
        recorded: (&'static str, &'static str, bool),
    ) -> Case {
        let call = agent.shell(&format!("touch {file}"));
        Case { mode: "enforce", options: Options::default(), call, file, made, told, recorded }
    }
}

/// The way in which castellan is registered with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// In the user's own settings.
    User,
    /// In the user's own settings, with flags at the agent's start that a repository cannot override.
    Launcher,
    /// In the machine's settings.
    Managed,
}

/// The time at which a repository switches hooks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchedOff {
    /// Before the agent starts.
    BeforeStart,
    /// In the middle of the session.
    MidSession,
}

/// The reason why there is no daemon to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// The user has stopped it on purpose.
    Stopped,
    /// The binary beside the hook is missing.
    NoBinary,
}

/// An agent with castellan registered.
pub(crate) struct Stage {
    pub(crate) agent: Agent,
    pub(crate) executable: PathBuf,
    pub(crate) home: Home,
}

/// Plays one call in enforce or monitor mode.
pub fn check(agent: Agent, case: Case) -> Result<()> {
    let Some(stage) = Stage::set(agent, case.mode, Registered::User)? else { return Ok(()) };
    let (model, done) = stage.play(vec![Script::main([vec![case.call]])], &case.options)?;
    stage.expect_file(case.file, case.made, &done);
    expect_told(&model, "0-0-0", case.told);
    // Hints for the user, such as `castellan why`, are not for the model.
    let is_hint = |request: &Json| request.to_string().contains("castellan why");
    let heard = model.heard().requests.iter().any(is_hint);
    ensure!(!heard, "the model was told what only the user is to read");
    let (verdict, answer, enforced) = case.recorded;
    let calls = stage.calls()?;
    let [call] = &calls[..] else { anyhow::bail!("one call, but {} records: {calls:?}", calls.len()) };
    expect_record(
        call,
        json!({"verdict": verdict, "answer": answer, "enforced": enforced, "mode": case.mode}),
    );
    expect_record(call, json!({"agent": agent.field(), "event": agent.question()}));
    Ok(())
}

/// Plays a call that matches no rule, without a daemon. The call is denied, and the gap is recorded later.
pub fn check_absent_daemon(agent: Agent, absent: Absent) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    match absent {
        Absent::Stopped => {
            let done = terminal::run_castellan(&stage.home, &["stop"])?;
            ensure!(done.code == Some(0), "`castellan stop` at a terminal: {done:?}");
        }
        Absent::NoBinary => {
            let daemon = stage.home.start_daemon()?;
            std::fs::remove_file(stage.home.bin().join("castellan"))?;
            kill_process(daemon, Signal::KILL)?;
        }
    }
    let script = Script::main([vec![agent.shell("touch other-file")]]);
    let (model, done) = stage.play(vec![script], &Options::default())?;
    stage.expect_file("other-file", false, &done);
    expect_told(&model, "0-0-0", FAILED);
    if absent == Absent::NoBinary {
        stage.home.link("castellan")?;
    }
    stage.expect_gap()
}

/// Plays a call that matches no rule, and kills the daemon while the call waits for it.
pub fn check_killed_daemon(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let daemon = stage.home.start_daemon()?;
    // The hooks of the session's start also wait for a moment. Only after the daemon has stopped, a waiting hook is the
    // call's.
    let (stopped, is_stopped) = mpsc::channel();
    let script = Script::main([vec![agent.shell("touch other-file")]]).before(0, move || {
        let result = stop_process(daemon);
        // The receiver is gone if the test has failed.
        drop(stopped.send(result));
    });
    let model = Model::start(agent.api(), vec![script])?;
    let running = run::start(agent, &stage.executable, &stage.home, &model, &Options::default())?;
    is_stopped.recv_timeout(AGENT_LIMIT).context("the model was not asked")??;
    stage.home.wait_for_waiting_hook(Duration::from_secs(30))?;
    kill_process(daemon, Signal::KILL)?;
    let done = running.finish(AGENT_LIMIT)?;
    stage.expect_file("other-file", false, &done);
    expect_told(&model, "0-0-0", FAILED);
    stage.expect_gap()
}

/// Plays a turn of two calls: each has its own answer and its own record.
pub fn check_parallel_calls(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let turn = vec![agent.shell("touch denied-file"), agent.shell("touch other-file")];
    let (model, done) = stage.play(vec![Script::main([turn])], &Options::default())?;
    stage.expect_file("denied-file", false, &done);
    stage.expect_file("other-file", true, &done);
    expect_told(&model, "0-0-0", "the test denies this file");
    let calls = stage.calls()?;
    ensure!(calls.len() == 2, "two calls, but {} records: {calls:?}", calls.len());
    let [denied, other] = ["denied-file", "other-file"].map(|file| call_about(&calls, file));
    expect_record(denied?, json!({"verdict": "deny", "enforced": true}));
    expect_record(other?, json!({"verdict": "defer", "enforced": true}));
    Ok(())
}

/// Plays a call that switches castellan to monitor mode, by a copy of its program under another name. castellan denies
/// the call, because an unknown program receives castellan's own home.
pub fn check_loosening(agent: Agent, options: &Options) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    // The shipped rules match neither the program's name nor the order of the words.
    let disguised = stage.home.bin().join("tool");
    std::fs::hard_link(stage.home.bin().join("castellan"), &disguised)?;
    let command = format!("{} mode monitor --home {}", disguised.display(), stage.home.castellan().display());
    let call = agent.shell(&format!("script --return --quiet --command '{command}' /dev/null"));
    let (model, _done) = stage.play(vec![Script::main([vec![call]])], options)?;
    let told = model.result_of("0-0-0").unwrap_or_default();
    ensure!(told.contains("belongs to the guard of this session"), "the model was told `{told}`");
    expect_record(stage.call(&stage.calls()?, "0-0-0")?, json!({"verdict": "deny", "mode": "enforce"}));
    let status: Json = serde_json::from_str(&stage.home.run_castellan(&["status", "--json"])?.stdout)?;
    expect_record(&status, json!({"mode": "enforce"}));
    Ok(())
}

/// Plays a call of a sub-agent: castellan denies it like any other, and the record names the sub-agent. `spawn` is the
/// call that starts a sub-agent with a task.
pub fn check_subagent(agent: Agent, options: &Options, spawn: fn(&str) -> Block) -> Result<()> {
    const TASK: &str = "make the file of the sub-agent";
    let Some(stage) = Stage::set(agent, "enforce", Registered::User)? else { return Ok(()) };
    let turns = [vec![agent.shell("touch denied-file"), agent.shell("touch other-file")]];
    let scripts = vec![Script::main([vec![spawn(TASK)]]), Script::subagent(TASK, turns)];
    let (model, done) = stage.play(scripts, options)?;
    stage.expect_file("denied-file", false, &done);
    stage.expect_file("other-file", true, &done);
    expect_told(&model, "1-0-0", "the test denies this file");
    let calls = stage.calls()?;
    let [main, denied, other] = [TASK, "denied-file", "other-file"].map(|text| call_about(&calls, text));
    let (main, denied, other) = (main?, denied?, other?);
    expect_record(main, json!({"tool": "Agent", "verdict": "defer", "subagent_id": ""}));
    expect_record(denied, json!({"tool": "Bash", "verdict": "deny", "enforced": true}));
    expect_record(other, json!({"tool": "Bash", "verdict": "defer", "subagent_id": denied["subagent_id"]}));
    let is_marked = denied["subagent_id"] != "";
    ensure!(is_marked == agent.marks_subagents(), "whose call was it? {denied}");
    ensure!(denied["session_id"] == main["session_id"], "two sessions: {main} {denied}");
    Ok(())
}

/// Plays a denied call in a repository that switches hooks off. `holds`: castellan is still asked.
pub fn check_switched_off(
    agent: Agent,
    registered: Registered,
    when: SwitchedOff,
    holds: bool,
) -> Result<()> {
    let Some(stage) = Stage::set(agent, "enforce", registered)? else { return Ok(()) };
    let (file, text, flags): (_, _, &[&str]) = match agent {
        Agent::Claude => (
            ".claude/settings.json",
            r#"{"disableAllHooks":true}"#,
            &["--settings", r#"{"disableAllHooks":false}"#],
        ),
        Agent::Codex => (".codex/config.toml", "[features]\nhooks = false\n", &["-c", "features.hooks=true"]),
        Agent::Gemini => (".gemini/settings.json", r#"{"hooksConfig":{"enabled":false}}"#, &[]),
        Agent::Qwen => (".qwen/settings.json", r#"{"disableAllHooks":true}"#, &[]),
    };
    let file = stage.home.workspace().join(file);
    let blank = if text.starts_with('{') { "{}" } else { "" };
    stage.home.write(&file, if when == SwitchedOff::BeforeStart { text } else { blank })?;
    let turns = [vec![agent.shell(WATCHED)], vec![agent.shell("touch denied-file")]];
    let script = Script::main(turns).before(0, move || assert!(std::fs::write(&file, text).is_ok()));
    let options = Options {
        trusts_hooks: registered != Registered::Managed,
        arguments: if registered == Registered::Launcher { flags } else { &[] },
        ..Options::default()
    };
    let (model, done) = stage.play(vec![script], &options)?;
    stage.expect_file("denied-file", !holds, &done);
    if holds {
        expect_told(&model, "0-1-0", "the test denies this file");
        expect_record(stage.call(&stage.calls()?, "0-1-0")?, json!({"verdict": "deny", "enforced": true}));
    }
    Ok(())
}

impl Stage {
    /// Sets up a home and registers castellan. Returns `None`, after a warning, if the test cannot run here.
    fn set(agent: Agent, mode: &str, registered: Registered) -> Result<Option<Stage>> {
        Stage::with_config(agent, &format!("version = 1\nmode = \"{mode}\"\n"), registered)
    }

    /// Sets up the same with a complete configuration.
    pub(crate) fn with_config(agent: Agent, config: &str, registered: Registered) -> Result<Option<Stage>> {
        let Some(executable) = agent.executable()? else { return Ok(None) };
        let mut home = Home::with_castellan(agent.name(), config, RULES)?;
        agent.prepare(&home)?;
        if registered == Registered::Managed {
            if !home.make_etc_private()? {
                return Ok(None);
            }
            home.run_castellan(&["install", "--managed", agent.name()])?;
        } else {
            home.run_castellan(&["install", agent.name()])?;
        }
        Ok(Some(Stage { agent, executable, home }))
    }

    pub(crate) fn play(&self, scripts: Vec<Script>, options: &Options) -> Result<(Model, Finished)> {
        let model = Model::start(self.agent.api(), scripts)?;
        let done = run::run(self.agent, &self.executable, &self.home, &model, options)?;
        Ok((model, done))
    }

    pub(crate) fn expect_file(&self, file: &str, made: bool, done: &Finished) {
        let there = self.home.workspace().join(file).exists();
        assert_eq!(there, made, "whether {:?} has made `{file}`\n{done:?}", self.agent);
    }

    /// Starts the daemon and checks for the record of calls that were denied without a daemon.
    fn expect_gap(&self) -> Result<()> {
        self.home.start_daemon()?;
        let records = self.home.records()?;
        let gap =
            records.iter().find(|record| record.pointer("/gap/event") == Some(&self.agent.question().into()));
        ensure!(gap.is_some(), "the gap is not recorded: {records:?}");
        Ok(())
    }
}
