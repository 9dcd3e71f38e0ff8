//! `castellan halt`: denies every further call of agents at once, and ends their processes. Starts the daemon if none
//! runs: the halt must hold for the next call, too.

use std::io::Write;

use castellan_agents::AgentId;
use castellan_daemon::{ControlClient, ControlError, EndedProcess, HaltOf, HaltReport};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{WARNING, printable};
use crate::{starting, values};

/// Options of `castellan halt`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    of: Sessions,
    /// Also end the agents' processes, with everything below them
    #[arg(long)]
    kill: bool,
}

/// The sessions of a halt; without an option all.
#[derive(Debug, clap::Args)]
pub(super) struct Sessions {
    /// One session by the agent's id of it, with its sub-agents and the sessions of the same process
    #[arg(long, value_name = "SESSION", conflicts_with = "agent")]
    session: Option<String>,
    /// The sessions of one agent
    #[arg(long, value_name = "AGENT", value_parser = values::agent())]
    agent: Option<AgentId>,
}

impl Sessions {
    pub(super) fn of(&self) -> HaltOf {
        match (&self.session, self.agent) {
            (Some(session), _) => HaltOf::Session(session.clone()),
            (None, Some(agent)) => HaltOf::Agent(agent.word().to_owned()),
            (None, None) => HaltOf::All,
        }
    }
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let of = options.of.of();
    let client = global.client()?;
    let report = match halt(&client, &of, options.kill) {
        Err(ControlError::NotRunning) => {
            starting::start(global.layout()?.home())?;
            halt(&client, &of, options.kill)?
        }
        halted => halted?,
    };
    let of = printable(&of.to_string());
    global.note(&format!("every call of {of} is denied until you run `castellan resume`"))?;
    if options.kill { show(global, &report) } else { Ok(Exit::Done) }
}

fn halt(client: &ControlClient, of: &HaltOf, kill: bool) -> Result<HaltReport, ControlError> {
    client.halt(of.clone(), kill)
}

/// Shows the processes that ended. The halt is in force, also if some still run.
fn show(global: &Global, report: &HaltReport) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    for EndedProcess { pid, name, is_forced, .. } in &report.ended {
        let how = if *is_forced { "killed" } else { "ended" };
        writeln!(out, "{how}: process {pid} ({})", printable(name))?;
    }
    global.note(&format!("processes ended: {}", report.ended_count))?;
    for EndedProcess { pid, name, why, .. } in &report.left {
        global.message(WARNING, &format!("process {pid} ({}) still runs: {why}", printable(name)))?;
    }
    Ok(if report.left.is_empty() { Exit::Done } else { Exit::Incomplete })
}
