//! `castellan run`: start an agent under a profile, a plan and budgets. It must not know how the agent is watched.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use castellan_policy::Profile;

use crate::exit::Exit;
use crate::global::Global;
use crate::run::{self, Request};
use crate::{output, values};

/// Options of `castellan run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Profile of the agent and of everything below it; default: the configured one. `observer` has no tools
    #[arg(long, value_name = "PROFILE", value_parser = values::profile())]
    profile: Option<Profile>,

    /// Put a copy of this plan in force for the workspace
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Give the agent its own settings for the workspace, as `castellan settings render` writes them; `--plan` does so too
    #[arg(long)]
    own_settings: bool,

    /// Start the agent in a sandbox; default: as `sandbox.mode` says
    #[arg(long)]
    sandbox: bool,

    /// End the agent after more tokens in this start; observers: 50000
    #[arg(long, value_name = "TOKENS")]
    budget_invocation: Option<u64>,

    /// End the agent after more tokens in all starts of its session; observers: 500000
    #[arg(long, value_name = "TOKENS")]
    budget_session: Option<u64>,

    /// The agent and its arguments: `-- claude -p 'fix the test'`
    #[arg(last = true, required = true, value_name = "AGENT")]
    command: Vec<OsString>,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let request = Request {
        profile: options.profile,
        plan: options.plan.as_deref(),
        own_settings: options.own_settings,
        sandbox: options.sandbox,
        budget_invocation: options.budget_invocation,
        budget_session: options.budget_session,
        command: &options.command,
    };
    guarded_exit(|| run::run(global, &request))
}

/// Returns the exit of a run. The codes of its errors differ from those of other commands: the agent has codes of its own.
pub(crate) fn guarded_exit(run: impl FnOnce() -> anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    match run() {
        Ok(exit) => Ok(exit),
        Err(error) => {
            let exit = run::exit_of(&error);
            writeln!(anstream::stderr(), "{} {}", output::ERROR, output::message(&error))?;
            Ok(exit)
        }
    }
}
