//! A call that the command line describes, and its judgement.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{
    AgentId, Incoming, Origin, Question, decode, file_input, holds_ask, measured_version, prompts,
    question_event, shell_call,
};
use castellan_daemon::{Config, FileSystem, Layout, facts_of, own_paths};
use castellan_event::{Answers, Call, Facts, Recorder, Session};
use castellan_policy::{Decision, Failed, State, StateChange, drive};
use serde_json::Value as Json;

use crate::policy::{self, LoadedPolicy};
use crate::values;

/// Options that describe a call.
#[derive(Debug, clap::Args)]
pub(crate) struct AskedCall {
    /// Shell command that the agent's shell tool would get
    #[arg(required_unless_present_any = ["file", "input"], conflicts_with_all = ["file", "input"])]
    command: Option<String>,

    /// Tool, by the agent's own name; default: the shell
    #[arg(long, conflicts_with = "command")]
    tool: Option<String>,

    /// File that the tool is called for
    #[arg(long, value_name = "PATH", requires = "tool", conflicts_with = "input")]
    file: Option<String>,

    /// Whole input of the tool
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,

    /// Agent that makes the call
    #[arg(long, default_value = AgentId::DEFAULT.word(), value_parser = values::agent())]
    pub(crate) agent: AgentId,

    /// Directory of the call; default: the current directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

/// A call with its facts and decision.
#[derive(Debug)]
pub(crate) struct JudgedCall {
    pub(crate) call: Call,
    pub(crate) facts: Facts,
    pub(crate) loaded: LoadedPolicy,
    pub(crate) decision: Decision,
    pub(crate) change: StateChange,
    pub(crate) answers: Answers,
    /// A new session, without history.
    pub(crate) session: Session,
}

impl AskedCall {
    /// A command in the current directory, by the default agent's shell tool.
    pub(crate) fn of_command(command: &str) -> AskedCall {
        let command = Some(command.to_owned());
        AskedCall { command, tool: None, file: None, input: None, agent: AgentId::DEFAULT, cwd: None }
    }

    /// A tool of the default agent that is called for a file, in a directory.
    pub(crate) fn of_file(tool: &str, file: &str, cwd: PathBuf) -> AskedCall {
        AskedCall {
            command: None,
            tool: Some(tool.to_owned()),
            file: Some(file.to_owned()),
            input: None,
            agent: AgentId::DEFAULT,
            cwd: Some(cwd),
        }
    }

    /// Judges the call by the rules of a home and of the workspace of the call. The caller wants the verdict of the
    /// rules, so the mode is not applied.
    pub(crate) fn judge(&self, layout: &Layout, config: &Config) -> anyhow::Result<JudgedCall> {
        let call = self.call()?;
        let loaded = policy::load(layout, config, Path::new(&call.agent.cwd))?;
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let facts = facts_of(&call, &own_paths(layout), &mut world);
        let session = Session::default();
        let version = || Some(measured_version(self.agent));
        let agent_asks = holds_ask(self.agent, version, &call, &facts);
        let agent_prompts = prompts(self.agent, &call);
        let failed = [Failed::review("this command asks no reviewer")];
        let state = State {
            failed: &failed,
            agent_asks,
            agent_prompts,
            workspace_trust: loaded.workspace_trust,
            ..State::plain(&session)
        };
        let (decision, change) = drive(&call, &facts, &loaded.policy, &state, &mut world);
        Ok(JudgedCall { call, facts, loaded, decision, change, answers: world.into_answers(), session })
    }

    /// Returns the call, with the environment of this process: the agent's environment is not known.
    fn call(&self) -> anyhow::Result<Call> {
        let cwd = match &self.cwd {
            Some(dir) => std::path::absolute(dir)?,
            None => std::env::current_dir().context("the current directory is unknown: give `--cwd`")?,
        };
        let (agent, cwd) = (self.agent, cwd.to_string_lossy());
        let (tool, input) = self.tool_and_input()?;
        let question = Question { session_id: "check", cwd: &cwd, tool, input, use_id: "check" };
        let agent_pid = std::process::id();
        let origin = Origin { correlation_id: 1, agent_pid, hook_cwd: cwd.clone().into_owned() };
        let event = question_event(agent);
        match decode(agent, event, question.payload(agent).as_bytes(), &origin)? {
            Incoming::Question(call) => Ok(call),
            Incoming::Permission(_) | Incoming::Done(_) | Incoming::Session(_) => {
                bail!("`{event}` was not read as a question; report this as a bug")
            }
        }
    }

    /// Returns the tool and its input. A command without a tool goes to the agent's shell.
    fn tool_and_input(&self) -> anyhow::Result<(&str, Json)> {
        let tool = self.tool.as_deref().unwrap_or_default();
        Ok(match (&self.input, &self.file) {
            (Some(input), _) => (tool, serde_json::from_str(input).context("`--input` is not JSON")?),
            (None, Some(file)) => (tool, file_input(self.agent, tool, file)),
            (None, None) => shell_call(self.agent, self.command.as_deref().unwrap_or_default()),
        })
    }
}
