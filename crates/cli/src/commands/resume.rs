//! `castellan resume`: ends a halt. Requires a person.

use super::halt::Sessions;
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
    client.resume(options.of.of())?;
    let left: Vec<String> = client.status()?.halts.into_iter().map(|halt| halt.of).collect();
    global.note(&match left.is_empty() {
        true => "the halt is over".to_owned(),
        false => format!("this halt is over; these are still in force: {}", left.join(", ")),
    })?;
    Ok(Exit::Done)
}
