//! `castellan approve`: lets a call happen that waits for a person. The agent has to make it again.

use std::time::Duration;

use castellan_daemon::GrantScope;

use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan approve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id, as `castellan pending` shows it
    id: String,

    #[command(flatten)]
    scope: Scope,
}

/// For how long. Without a word, once.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Scope {
    /// For one call within a quarter of an hour (the default)
    #[arg(long)]
    once: bool,

    /// For every such call of the session
    #[arg(long)]
    session: bool,

    /// For every such call of the session within a time, such as 1h
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let (scope, words) = match &options.scope {
        Scope { session: true, .. } => (GrantScope::Session, "for the session".to_owned()),
        Scope { time: Some(time), .. } => {
            (GrantScope::For(time.as_secs()), format!("for {}", humantime::format_duration(*time)))
        }
        Scope { .. } => (GrantScope::Once, "once".to_owned()),
    };
    global.client()?.approve(&options.id, scope)?;
    global.note(&format!("the call is granted {words}: the agent may make it again, as it was"))?;
    Ok(Exit::Done)
}
