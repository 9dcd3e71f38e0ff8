//! [`Rig`]: a home whose daemon contains calls. The test is the agent of one session; each later session has an agent of its
//! own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{HOOK_LIMIT, judge, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::wait;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The text of the secret.
pub(crate) const CANARY: &str = "a-secret-that-stays-outside";

/// An answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) decision: String,
    /// The command that runs instead.
    pub(crate) rewrite: Option<String>,
}

impl Answer {
    fn of(done: &Finished) -> Answer {
        let output: Option<Json> = serde_json::from_str(&done.stdout).ok();
        let rewrite =
            output.as_ref().and_then(|json| json.pointer("/hookSpecificOutput/updatedInput/command"));
        Answer { decision: understood(done), rewrite: rewrite.and_then(Json::as_str).map(str::to_owned) }
    }

    pub(crate) fn is_contained(&self) -> bool {
        self.decision == "allow" && self.rewrite.is_some()
    }

    /// Reports whether the call runs outside of a sandbox without a question of castellan.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self.decision.as_str(), "allow" | "defer") && self.rewrite.is_none()
    }
}

/// A home with a daemon that contains calls.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) home: Home,
}

impl Rig {
    pub(crate) fn new() -> Result<Rig> {
        Rig::with("")
    }

    /// `more`: further keys of the configuration.
    pub(crate) fn with(more: &str) -> Result<Rig> {
        Rig::with_rules(more, "")
    }

    /// `rules`: a file of rules of the user.
    pub(crate) fn with_rules(more: &str, rules: &str) -> Result<Rig> {
        let rig = Rig::stopped(more, rules)?;
        rig.home.start_daemon()?;
        // The daemon probes the machine in the background. The test is no agent yet.
        let asked = rig.unread("true")?;
        let contains = || Ok(rig.ask_later(&asked)?.is_contained().then_some(()));
        wait::until(LIMIT, contains)?.context("castellan contains no call on this machine")?;
        Ok(rig)
    }

    /// A home whose daemon does not run.
    pub(crate) fn stopped(more: &str, rules: &str) -> Result<Rig> {
        let home = Home::with_castellan(
            "contained",
            &format!("version = 1\ncontainment.mode = \"prefer\"\n{more}\n"),
            rules,
        )?;
        home.write(&home.user().join(".ssh/id_canary"), CANARY)?;
        home.write(&home.workspace().join(".env"), &format!("KEY={CANARY}\n"))?;
        // As an installation for this user.
        let (castellan, user) = (home.castellan(), home.user());
        let places =
            format!("config={0}/config\nstate={0}/state\nuser={1}\n", castellan.display(), user.display());
        home.write(&castellan.join("layout"), &format!("castellan-layout 2\n{places}"))?;
        Ok(Rig { home })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.workspace().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<()> {
        self.home.write(&self.file(name), text)
    }

    /// Asks castellan about a shell command, as the agent of the first session.
    pub(crate) fn ask(&self, command: &str) -> Result<Answer> {
        self.ask_with(&self.call(command, "first"))
    }

    pub(crate) fn ask_with(&self, call: &Json) -> Result<Answer> {
        let mut hook = self.home.command(&self.home.bin().join("castellan-hook"));
        hook.args(["--agent", "claude", "--event", "PreToolUse", "--home"]).arg(self.home.castellan());
        let done = Running::start_with_input(&mut hook, call.to_string().as_bytes())?.finish(HOOK_LIMIT)?;
        Ok(Answer::of(&done))
    }

    /// Asks castellan as the agent of a later session, which has ended when this returns.
    pub(crate) fn ask_later(&self, command: &str) -> Result<Answer> {
        self.ask_in("later", command)
    }

    /// Asks castellan as the agent of a session, which has ended when this returns.
    pub(crate) fn ask_in(&self, session: &str, command: &str) -> Result<Answer> {
        Ok(Answer::of(&judge(&self.home, &self.call(command, session))?))
    }

    /// A call of Claude's Bash tool in the workspace.
    pub(crate) fn call(&self, command: &str, session: &str) -> Json {
        json!({
            "session_id": session, "transcript_path": "/nowhere", "cwd": self.home.workspace(),
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_use_id": format!("toolu_{:x}", hash(command)),
        })
    }

    /// Runs a command in the workspace with a shell of this agent.
    pub(crate) fn shell(&self, command: &str) -> Result<Finished> {
        Running::start(&mut self.shell_command(command))?.finish(LIMIT)
    }

    pub(crate) fn shell_command(&self, command: &str) -> Command {
        let mut shell = self.home.command(Path::new("bash"));
        shell.arg("-c").arg(command);
        shell.envs(toolchains());
        shell
    }

    /// Asks about a command, which castellan must contain, and runs it.
    pub(crate) fn contained(&self, command: &str) -> Result<Finished> {
        let answer = self.ask(command)?;
        let rewrite = answer.rewrite.clone().filter(|_| answer.is_contained());
        let rewrite = rewrite.with_context(|| format!("not contained: {command}: {answer:?}"))?;
        let done = self.shell(&rewrite)?;
        self.done(command, &rewrite)?;
        Ok(done)
    }

    /// Another agent that asks about a text that castellan does not read, and runs the answer's command. The test can still be
    /// a person. `before`: a command between the two.
    pub(crate) fn elsewhere(&self, script: &str, before: &str) -> Result<Running> {
        self.agent(&self.unread(script)?, before)
    }

    /// Another agent that asks about a command, and runs the answer's command if castellan has changed it. `before`: shell text
    /// between the two; its function `report` reports the end of the call.
    pub(crate) fn agent(&self, command: &str, before: &str) -> Result<Running> {
        let call = self.home.castellan().join("call.json");
        self.home.write(&call, &self.call(command, "elsewhere").to_string())?;
        let hook = |event: &str| {
            let (hook, home) = (self.home.bin().join("castellan-hook"), self.home.castellan());
            format!("{} --agent claude --event {event} --home {}", hook.display(), home.display())
        };
        let find =
            "perl -MJSON::PP -0777 -ne 'print decode_json($_)->{hookSpecificOutput}{updatedInput}{command}'";
        let done = "s/PreToolUse/PostToolUse/; s/\"tool_use_id\"/\"tool_response\":{},&/";
        let text = format!(
            "report() {{ sed '{done}' {call} | {}; }}; run=$({} < {call} | {find}); {before}; bash -c \"$run\"",
            hook("PostToolUse"),
            hook("PreToolUse"),
            call = call.display()
        );
        // castellan takes `timeout` for the agent.
        let mut agent = self.home.command(Path::new("timeout"));
        agent.args(["60", "bash", "-c", &text]);
        Running::start(&mut agent)
    }

    /// Runs a text that castellan does not read, contained.
    pub(crate) fn inside(&self, script: &str) -> Result<Finished> {
        self.contained(&self.unread(script)?)
    }

    /// Returns a shell command with a text that castellan does not read, because it comes from a file.
    pub(crate) fn unread(&self, script: &str) -> Result<String> {
        let name = format!("steps/{:x}", hash(script));
        self.write(&name, script)?;
        Ok(format!("eval \"$(cat {name})\""))
    }

    /// Reports the end of a call, as Claude does.
    pub(crate) fn done(&self, asked: &str, ran: &str) -> Result<()> {
        let mut call = self.call(asked, "first");
        let fields = call.as_object_mut().context("no object")?;
        fields.insert("hook_event_name".to_owned(), "PostToolUse".into());
        fields.insert("tool_input".to_owned(), json!({ "command": ran }));
        fields.insert("tool_response".to_owned(), json!({}));
        let mut hook = self.home.command(&self.home.bin().join("castellan-hook"));
        hook.args(["--agent", "claude", "--event", "PostToolUse", "--home"]).arg(self.home.castellan());
        let done = Running::start_with_input(&mut hook, call.to_string().as_bytes())?.finish(HOOK_LIMIT)?;
        ensure!(done.code == Some(0), "{done:?}");
        Ok(())
    }

    /// Ends the daemon as the end of the machine would, and starts another one.
    pub(crate) fn restart_daemon(&self) -> Result<()> {
        self.restart_after(|| Ok(()))?;
        let asked = self.unread("true")?;
        let contains = || Ok(self.ask(&asked)?.is_contained().then_some(()));
        wait::until(LIMIT, contains)?.context("castellan contains no call any more")
    }

    /// Ends the daemon, does something, and starts another one.
    pub(crate) fn restart_after(&self, between: impl FnOnce() -> Result<()>) -> Result<()> {
        let status: Json = serde_json::from_str(&self.home.run_castellan(&["status", "--json"])?.stdout)?;
        let pid =
            status["pid"].as_i64().and_then(|pid| Pid::from_raw(pid.try_into().ok()?)).context("no pid")?;
        kill_process(pid, Signal::KILL)?;
        ensure!(wait::ended(pid, LIMIT)?, "the daemon goes on");
        between()?;
        self.home.start_daemon()?;
        Ok(())
    }

    /// The calls that a person can undo or keep, the newest first.
    pub(crate) fn undoable(&self) -> Result<Vec<String>> {
        let listed: Vec<Json> = serde_json::from_str(&self.home.run_castellan(&["undo", "--json"])?.stdout)?;
        listed.iter().map(|one| one["id"].as_str().map(str::to_owned).context("no id")).collect()
    }

    /// The records of requests with this action: accepted, argument, reason.
    pub(crate) fn notes(&self, action: &str) -> Result<Vec<Json>> {
        let records = self.home.records()?;
        let controls = records.into_iter().map(|record| record["control"].clone());
        Ok(controls.filter(|control| control["action"] == action).collect())
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }
}

/// Variables that name the toolchains of this machine: the home of the test has none.
pub(crate) fn toolchains() -> Vec<(&'static str, PathBuf)> {
    let places =
        [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")].into_iter().filter_map(|(name, place)| {
            let found = std::env::home_dir().map(|home| home.join(place)).filter(|place| place.is_dir());
            Some((name, std::env::var_os(name).map(PathBuf::from).or(found)?))
        });
    places.collect()
}

/// An id that differs for different texts.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
