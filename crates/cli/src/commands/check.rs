//! `castellan check`: judges one call without an agent. It goes the way of a real call: an agent's payload is decoded and
//! decided; only memory and log are left out.

mod answer;

use std::path::PathBuf;

use anyhow::{Context, bail};
use castellan_agents::{AgentId, Incoming, Origin, Question, decode, file_input, question_event, shell_call};
use castellan_daemon::{Config, FileSystem};
use castellan_event::{Call, Facts, Mode, Session, Verdict};
use castellan_policy::{RequestId, State, drive};
use serde_json::Value as Json;

use crate::exit::Exit;
use crate::global::Global;
use crate::{policy, values};
use answer::Answered;

/// Options of `castellan check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Shell command, as the agent's shell tool would get it
    #[arg(required_unless_present_any = ["file", "input"], conflicts_with_all = ["file", "input"])]
    command: Option<String>,

    /// Tool, by the agent's own name; without it the shell
    #[arg(long, conflicts_with = "command")]
    tool: Option<String>,

    /// File that the tool is called for
    #[arg(long, value_name = "PATH", requires = "tool", conflicts_with = "input")]
    file: Option<String>,

    /// The tool's whole input
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,

    /// Agent that calls
    #[arg(long, default_value = "claude", value_parser = values::agent())]
    agent: AgentId,

    /// Directory that the call is made in; without it the current one
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::read(&layout.config_file())?;
    let call = call(options)?;
    let loaded = policy::load(&layout, &config)?;
    // What the rules say is asked, so the mode is not applied; the answer names it.
    let session = Session::default();
    let state = State {
        mode: Mode::Enforce,
        agent_asks: castellan_agents::can_ask(options.agent, question_event(options.agent)),
        next_request: RequestId::from_seed(0),
        session: &session,
    };
    let (decision, change, answers) =
        drive(&call, &Facts::default(), &loaded.policy, &state, &FileSystem::default());
    let daemon = global.client()?.status().ok();
    let answered = Answered {
        agent: options.agent,
        call: &call,
        decision: &decision,
        marks: &change.marks,
        answers: &answers,
        loaded: &loaded,
        mode: daemon.as_ref().and_then(|status| status.mode.parse().ok()).unwrap_or(config.mode),
        daemon_policy: daemon.map(|status| status.policy),
    };
    let mut out = anstream::stdout();
    if options.json {
        answered.write_json(&mut out)?
    } else {
        answered.write(&mut out, global)?
    }
    Ok(match decision.verdict {
        Verdict::Deny => Exit::Deny,
        Verdict::Ask => Exit::Ask,
        Verdict::Allow | Verdict::Defer => Exit::Done,
    })
}

/// The call as the agent would report it.
fn call(options: &Options) -> anyhow::Result<Call> {
    let cwd = match &options.cwd {
        Some(dir) => std::path::absolute(dir)?,
        None => std::env::current_dir().context("the current directory is unknown: give `--cwd`")?,
    };
    let (agent, cwd) = (options.agent, cwd.to_string_lossy());
    let (tool, input) = tool_and_input(options)?;
    let question = Question { session_id: "check", cwd: &cwd, tool, input, use_id: "check" };
    let origin = Origin { correlation_id: 1, agent_pid: 0, hook_cwd: cwd.clone().into_owned() };
    let event = question_event(agent);
    match decode(agent, event, question.payload(agent).as_bytes(), &origin)? {
        Incoming::Question(call) => Ok(call),
        Incoming::Permission(_) | Incoming::Done(_) | Incoming::Session(_) => {
            bail!("`{event}` was not read as a question; report this as a bug")
        }
    }
}

/// Without a tool, a command goes to the agent's shell. The command line has one of the three.
fn tool_and_input(options: &Options) -> anyhow::Result<(&str, Json)> {
    let tool = options.tool.as_deref().unwrap_or_default();
    Ok(match (&options.input, &options.file) {
        (Some(input), _) => (tool, serde_json::from_str(input).context("`--input` is not JSON")?),
        (None, Some(file)) => (tool, file_input(options.agent, tool, file)),
        (None, None) => shell_call(options.agent, options.command.as_deref().unwrap_or_default()),
    })
}
