//! `castellan check`: judges one call without an agent. As for a real call, an agent's payload is decoded and judged;
//! only memory and log are left out.

mod answer;

use castellan_daemon::Config;
use castellan_event::{Mode, Verdict};

use crate::asked_call::AskedCall;
use crate::exit::Exit;
use crate::global::Global;
use answer::Answered;

/// Options of `castellan check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    call: AskedCall,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let judged = options.call.judge(&layout, &config)?;
    let daemon = global.client()?.status().ok();
    let mode = daemon.as_ref().and_then(|status| status.mode.parse().ok()).unwrap_or(config.mode);
    let answered = Answered {
        agent: options.call.agent,
        call: &judged.call,
        decision: &judged.decision,
        marks: &judged.change.marks,
        answers: &judged.answers,
        loaded: &judged.loaded,
        mode: judged.loaded.mode.into_iter().fold(mode, Mode::max),
        daemon_policy: daemon.map(|status| status.policy),
    };
    let mut out = anstream::stdout();
    if options.json {
        answered.write_json(&mut out)?
    } else {
        answered.write(&mut out, global)?
    }
    Ok(match judged.decision.verdict {
        Verdict::Deny => Exit::Deny,
        Verdict::Ask => Exit::Ask,
        Verdict::Allow | Verdict::Defer => Exit::Done,
    })
}
