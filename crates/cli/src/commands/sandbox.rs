//! `castellan sandbox`: run a command in a sandbox, and show what this machine enforces.

use std::ffi::OsString;
use std::io::Write;

use castellan_policy::{SandboxFiles, SandboxMode, SandboxNetwork};
use castellan_sandbox::{LaunchError, Reason};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, WARNING, write_messages};
use crate::sandbox::{self, Request};
use crate::{starting, values};

/// Options of `castellan sandbox`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Run a command in a sandbox, by the settings in force
    Run(Run),
    /// Show what the kernel of this machine enforces, how that was tested, and what its absence costs
    Probe(Probe),
}

#[derive(Debug, clap::Args)]
struct Probe {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Run {
    /// The files that the command may write: those of the workspace, or none
    #[arg(long, value_name = "POLICY", value_parser = values::sandbox_files())]
    policy: Option<SandboxFiles>,

    /// The network that the command reaches
    #[arg(long, value_name = "NETWORK", value_parser = values::sandbox_network())]
    network: Option<SandboxNetwork>,

    /// A further host that the command reaches
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,

    /// Show what the kernel enforces, on standard error
    #[arg(long)]
    report: bool,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    match &options.what {
        What::Probe(options) => probe(global, options),
        What::Run(run) => match start(global, run) {
            Ok(exit) => Ok(exit),
            Err(error) => {
                writeln!(anstream::stderr(), "{} {}", output::ERROR, output::message(&error))?;
                Ok(error
                    .downcast_ref::<LaunchError>()
                    .map_or(Exit::RunFailed, |error| Exit::Agent(error.code())))
            }
        },
    }
}

/// Probes by use. The answer is no if something is missing.
fn probe(global: &Global, options: &Probe) -> anyhow::Result<Exit> {
    let found = sandbox::probe(&sandbox::launcher()?, global.layout()?.home());
    let mut out = anstream::stdout();
    if options.json {
        let checks = found.checks.iter().map(|check| {
            json!({
                "what": check.what,
                "works": check.works,
                "tested": check.tested,
                "found": check.found,
                "costs": check.costs,
            })
        });
        let checks: Vec<Json> = checks.collect();
        let all = json!({ "version": 1, "container": found.container, "checks": checks });
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(if found.checks.iter().all(|check| check.works) { Exit::Done } else { Exit::No });
    }
    for check in &found.checks {
        let (style, mark) = if check.works { (output::GOOD, "works") } else { (output::WARN, "absent") };
        writeln!(out, "{style}{mark:<6}{style:#}  {}: {}", check.what, output::printable(&check.found))?;
        writeln!(out, "        {}tested: {}{:#}", output::FAINT, check.tested, output::FAINT)?;
        if !check.works {
            writeln!(out, "        without it: {}", check.costs)?;
        }
    }
    if !found.container.is_empty() {
        writeln!(
            out,
            "this is a container ({}), which may permit less",
            output::printable(&found.container.join(", "))
        )?;
    }
    Ok(if found.checks.iter().all(|check| check.works) { Exit::Done } else { Exit::No })
}

/// Runs a command. The process is registered as a run, so that agents below it are known to be in a sandbox.
fn start(global: &Global, run: &Run) -> anyhow::Result<Exit> {
    let (layout, client) = (global.layout()?, global.client()?);
    starting::ensure(layout.home(), &client)?;
    client.start_run(None, false)?;
    let mut in_force = client.sandbox()?;
    if let Some(files) = run.policy {
        in_force.files = files.as_str().to_owned();
    }
    if let Some(network) = run.network {
        in_force.network = network.as_str().to_owned();
    }
    let prepared = sandbox::prepare(Request {
        in_force: &in_force,
        layout: &layout,
        command: &run.command,
        environment: sandbox::variables(&in_force.environment),
        directory: None,
        agent: None,
        hosts: &run.hosts,
        is_required: in_force.mode != SandboxMode::Prefer.as_str(),
        contained: None,
    })?;
    let lines = sandbox::lines(&prepared.report);
    if run.report {
        let mut out = anstream::stderr();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    } else {
        sandbox::warn_of_missing(&prepared.report)?;
    }
    if prepared.report.is_enforced() {
        client.start_run(None, true)?;
    }
    client.note_run(castellan_daemon::RunNote::Sandbox, &sandbox::record(&prepared.report))?;
    let outcome = sandbox::run(prepared, None)?;
    if outcome.reason == Reason::OutOfTime {
        write_messages(
            &mut anstream::stderr(),
            WARNING,
            &["the time of the sandbox is over: castellan ended it"],
        )?;
    }
    if outcome.left {
        write_messages(&mut anstream::stderr(), WARNING, &["processes of the sandbox are left"])?;
    }
    Ok(Exit::Agent(outcome.code))
}
