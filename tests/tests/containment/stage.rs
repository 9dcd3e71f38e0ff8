//! [`Stage`]: a real agent with castellan registered, whose calls run contained, and a scripted model.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Claude, Codex, Gemini, Qwen};
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::process::Finished;
use castellan_tests::run::{Options, start_in};
use serde_json::{Value as Json, json};

use crate::rig::{LIMIT, Rig, toolchains};

/// An agent with castellan registered.
pub(crate) struct Stage {
    pub(crate) agent: Agent,
    pub(crate) executable: PathBuf,
    pub(crate) rig: Rig,
}

/// A session that has ended.
pub(crate) struct Played {
    agent: Agent,
    model: Model,
    pub(crate) done: Finished,
}

impl Stage {
    /// Returns `None`, after a warning, if the agent is not installed.
    pub(crate) fn set(agent: Agent) -> Result<Option<Stage>> {
        Stage::with(agent, "", "")
    }

    /// `more`: further keys of the configuration. `rules`: a file of rules of the user.
    pub(crate) fn with(agent: Agent, more: &str, rules: &str) -> Result<Option<Stage>> {
        let Some(executable) = agent.executable()? else { return Ok(None) };
        let rig = Rig::with_rules(more, rules)?;
        rig.home.run_castellan(&["install", agent.name()])?;
        Ok(Some(Stage { agent, executable, rig }))
    }

    /// Plays a session with one call in each turn.
    pub(crate) fn play(&self, calls: Vec<Block>, options: &Options) -> Result<Played> {
        let (agent, number) = (self.agent, calls.len());
        let turns: Vec<Vec<Block>> = calls.into_iter().map(|call| vec![call]).collect();
        let model = Model::start(agent.api(), vec![Script::main(turns)])?;
        let running = start_in(agent, &self.executable, &self.rig.home, &model, options, &toolchains())?;
        // A session of compilers on a busy machine.
        let done = running.finish(LIMIT * 3)?;
        ensure!(done.code == Some(0), "{agent:?}: {done:?}");
        let played = Played { agent, model, done };
        (0..number).try_for_each(|call| played.heard(call).map(drop))?;
        Ok(played)
    }

    /// Plays a session of these commands. Returns what the model heard of each.
    pub(crate) fn play_commands(&self, commands: &[String]) -> Result<(Vec<String>, Finished)> {
        let calls = commands.iter().map(|command| self.agent.shell(command)).collect();
        let played = self.play(calls, &Options::default())?;
        let heard = (0..commands.len()).map(|number| played.heard(number));
        Ok((heard.collect::<Result<_>>()?, played.done))
    }

    /// Returns the records of the agent's calls, the oldest first. The test's own sessions are others.
    pub(crate) fn calls(&self) -> Result<Vec<Json>> {
        let records = self.rig.home.records()?.into_iter();
        let calls = records.filter(|record| record["type"] == "call").map(|record| record["call"].clone());
        let is_own = |call: &Json| {
            call["agent"] == self.agent.field()
                && call["session_id"] != "first"
                && call["session_id"] != "later"
        };
        Ok(calls.filter(is_own).collect())
    }

    /// The number of the agent's calls that ran contained.
    pub(crate) fn contained(&self) -> Result<usize> {
        Ok(self.calls()?.iter().filter(|call| is_contained(call)).count())
    }

    /// Returns the reasons why castellan did not govern calls.
    pub(crate) fn ungoverned(&self) -> Result<Vec<String>> {
        let records = self.rig.home.records()?;
        let found = records.iter().filter_map(|record| record["ungoverned"]["why"].as_str());
        Ok(found.map(str::to_owned).collect())
    }
}

impl Played {
    /// Returns what the model heard of the call with this number.
    pub(crate) fn heard(&self, call: usize) -> Result<String> {
        let result = self.model.result_of(&format!("0-{call}-0"));
        result.with_context(|| format!("{:?}: no result {call}: {:?}", self.agent, self.done))
    }
}

/// Reports whether the call of this record ran contained.
pub(crate) fn is_contained(call: &Json) -> bool {
    call["obligations"].to_string().contains("\"contain\"")
}

/// Returns the exit code that an agent tells its model.
pub(crate) fn told_code(agent: Agent, heard: &str) -> Option<i32> {
    let (before, otherwise) = match agent {
        Claude => ("Exit code ", Some(0)),
        Codex => ("exited with code ", None),
        Gemini | Qwen => return None,
    };
    let Some((_, after)) = heard.split_once(before) else { return otherwise };
    after.split(|one: char| !one.is_ascii_digit()).next()?.parse().ok()
}

/// Returns a call of the agent's shell tool that the agent waits for.
pub(crate) fn waited_shell(agent: Agent, command: &str) -> Block {
    match agent {
        // Its longest wait. It leaves a command in the background after ten seconds otherwise.
        Codex => Block::call("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 })),
        Claude | Gemini | Qwen => agent.shell(command),
    }
}
