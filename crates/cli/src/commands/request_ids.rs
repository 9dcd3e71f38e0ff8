//! `castellan request-ids`: prints request ids for shell completion, the newest first.

use std::io::Write;

use crate::exit::Exit;
use crate::global::Global;
use crate::history::RecordedCall;

/// Options of `castellan request-ids`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only ids of calls that wait for your approval
    #[arg(long)]
    pending: bool,

    /// Start of the ids, in any case
    #[arg(default_value = "")]
    start: String,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let all: Vec<String> = if options.pending {
        global.client()?.pending()?.into_iter().rev().map(|call| call.id).collect()
    } else {
        let calls = RecordedCall::stopped(&global.layout()?.log())?;
        calls.into_iter().rev().map(|found| found.call.request.to_string()).collect()
    };
    let mut ids: Vec<&str> = Vec::new();
    for id in &all {
        let begins = id.to_lowercase().starts_with(&options.start.to_lowercase());
        // A shell splits the output into words, so nothing else may come from the log.
        let is_plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if begins && is_plain && !ids.contains(&id.as_str()) {
            ids.push(id);
        }
    }
    let mut out = std::io::stdout();
    ids.into_iter().try_for_each(|id| writeln!(out, "{id}"))?;
    Ok(Exit::Done)
}
