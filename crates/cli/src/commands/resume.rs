//! `castellan resume`: ends a halt, which requires a person, and a pause, which does not.

use castellan_daemon::HaltOf;

use super::halt::Sessions;
use super::pause::OVER;
use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan resume`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    of: Sessions,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    let of = options.of.of();
    if of == HaltOf::All {
        let status = client.status()?;
        if status.pause.is_some() {
            client.end_pause()?;
            global.note(OVER)?;
            if status.halts.is_empty() {
                return Ok(Exit::Done);
            }
        }
    }
    client.resume(of)?;
    let left: Vec<String> = client.status()?.halts.into_iter().map(|halt| halt.of).collect();
    global.note(&match left.is_empty() {
        true => "the halt is over".to_owned(),
        false => format!("this halt is over; these are still in force: {}", left.join(", ")),
    })?;
    Ok(Exit::Done)
}
