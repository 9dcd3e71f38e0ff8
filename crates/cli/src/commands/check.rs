//! `castellan check`: judges one call without an agent. It goes the way of a real call: an agent's payload is decoded and
//! decided; only memory and log are left out.

mod answer;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{AgentId, Incoming, Origin, decode};
use castellan_daemon::{Config, FileSystem};
use castellan_event::{Call, Mode, Verdict};
use castellan_policy::{RequestId, State, drive};
use serde_json::{Value as Json, json};

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

impl Options {
    fn tool(&self) -> &str {
        self.tool.as_deref().unwrap_or("Bash")
    }
}

const EVENT: &str = "PreToolUse";

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::read(&layout.config_file())?;
    let call = call(options)?;
    let loaded = policy::load(&layout, &config)?;
    // What the rules say is asked, so the mode is not applied; the answer names it.
    let state = State {
        mode: Mode::Enforce,
        agent_asks: castellan_agents::can_ask(options.agent, EVENT),
        next_request: RequestId::from_seed(0),
    };
    let (decision, _, answers) = drive(&call, &loaded.policy, &state, &FileSystem);
    let daemon = global.client()?.status().ok();
    let answered = Answered {
        agent: options.agent,
        call: &call,
        decision: &decision,
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
    let payload = json!({
        "session_id": "check",
        "transcript_path": "",
        "cwd": cwd.to_string_lossy(),
        "permission_mode": "default",
        "hook_event_name": EVENT,
        "tool_name": options.tool(),
        "tool_input": input(options)?,
        "tool_use_id": "check",
    });
    let origin = Origin { correlation_id: 1, agent_pid: 0, hook_cwd: cwd.to_string_lossy().into_owned() };
    match decode(options.agent, EVENT, payload.to_string().as_bytes(), &origin)? {
        Incoming::Question(call) => Ok(call),
        Incoming::Permission(_) | Incoming::Done(_) | Incoming::Notice(_) => {
            bail!("`{EVENT}` was not read as a question; report this as a bug")
        }
    }
}

fn input(options: &Options) -> anyhow::Result<Json> {
    if let Some(input) = &options.input {
        return serde_json::from_str(input).context("`--input` is not JSON");
    }
    if let Some(file) = &options.file {
        return Ok(input_for_file(options.tool(), file));
    }
    Ok(json!({ "command": options.command }))
}

/// A file tool's input; what is written does not matter to rules on paths.
fn input_for_file(tool: &str, file: &str) -> Json {
    let key = KEYS.iter().find(|(name, _)| *name == tool).map_or("file_path", |(_, key)| key);
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    match tool {
        "apply_patch" => {
            json!({ "command": format!("*** Begin Patch\n*** Add File: {file}\n+{name}\n*** End Patch") })
        }
        _ => json!({ key: file }),
    }
}

/// Tools whose key for a path is another than `file_path`.
const KEYS: &[(&str, &str)] =
    &[("NotebookEdit", "notebook_path"), ("Glob", "path"), ("Grep", "path"), ("view_image", "path")];
