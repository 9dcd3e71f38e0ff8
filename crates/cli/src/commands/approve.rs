//! `castellan approve`: grants a pending call after showing all of it to a person. The agent must repeat the call,
//! unless the agent waits for the answer.

use std::time::Duration;

use castellan_daemon::{ControlError, GrantScope};

use super::pending::consent::{granted, question};
use super::pending::whole;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::terminal_columns;
use crate::{ask, presence};

/// Options of `castellan approve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id from `castellan pending`
    id: String,

    #[command(flatten)]
    scope: Scope,

    /// Skip the question; a person must still be present
    #[arg(long, short)]
    yes: bool,
}

/// The duration of the grant; default: once.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Scope {
    /// For one call within 15 minutes (default)
    #[arg(long)]
    once: bool,

    /// For this call in this session; after two approvals of like calls, for all such calls
    #[arg(long)]
    session: bool,

    /// For every such call in this session within TIME, such as 1h
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,

    /// For every such call in this directory, in any session, until you refuse it
    #[arg(long)]
    always: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let (scope, words) = match &options.scope {
        Scope { session: true, .. } => (GrantScope::Session, "for the session".to_owned()),
        Scope { always: true, .. } => (GrantScope::Always, "always, until you refuse it".to_owned()),
        Scope { time: Some(time), .. } => {
            (GrantScope::For(time.as_secs()), format!("for {}", humantime::format_duration(*time)))
        }
        Scope { .. } => (GrantScope::Once, "once".to_owned()),
    };
    let client = global.client()?;
    // No call has an empty hash.
    presence::require_before(|| client.approve(&options.id, "", scope))?;
    let call = match client.show(&options.id) {
        // The daemon still refuses and records a caller who may not approve.
        Err(ControlError::Failed(_)) => {
            client.approve(&options.id, "", scope)?;
            return Ok(Exit::No);
        }
        shown => shown?,
    };
    let has_seen = ask::show(&whole::text(&call, terminal_columns())?)?;
    if !has_seen || !options.yes && !ask::is_agreed(&question(&words))? {
        global.note("nothing was approved")?;
        return Ok(Exit::No);
    }
    client.approve(&options.id, &call.shown, scope)?;
    global.note(&granted(&call.call, &words))?;
    Ok(Exit::Done)
}
