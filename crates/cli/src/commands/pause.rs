//! `castellan pause`: records calls and leaves them to the agents, for a limited time. Requires a person. Ends by itself.

use std::time::Duration;

use anyhow::bail;
use castellan_daemon::PAUSE_S_MAX;

use crate::exit::Exit;
use crate::global::Global;
use crate::output::WARNING;

/// Options of `castellan pause`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Time of the pause, such as 10m; at most 4h
    #[arg(value_name = "TIME", value_parser = humantime::parse_duration, required_unless_present = "end")]
    time: Option<Duration>,

    /// End the pause, and no halt; `castellan resume` ends both
    #[arg(long, conflicts_with = "time")]
    end: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let Some(time) = options.time else {
        client.end_pause()?;
        global.note(OVER)?;
        return Ok(Exit::Done);
    };
    let seconds = time.as_secs();
    if seconds == 0 || seconds > PAUSE_S_MAX {
        bail!(
            "a pause has from 1 s to {} h: for a longer time change the mode, `castellan mode monitor`",
            PAUSE_S_MAX / 3600
        );
    }
    client.pause(seconds)?;
    let time = humantime::format_duration(Duration::from_secs(seconds));
    let text = format!("castellan judges no call for {time}: it records calls and leaves them to the agents");
    global.message(WARNING, &text)?;
    global.note("`castellan resume` ends the pause earlier")?;
    Ok(Exit::Done)
}

/// The text at the end of a pause.
pub(super) const OVER: &str = "the pause is over: castellan judges every call";
