//! `castellan daemon`: runs the daemon of a home in the foreground. Hooks use it; people use `castellan start`.

use castellan_daemon::Start;

use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan daemon`, by which castellan starts itself.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Take over from the daemon at standard input
    #[arg(long, hide = true, conflicts_with = "resume")]
    take_over: bool,

    /// Serve on after a handover that failed
    #[arg(long, hide = true)]
    resume: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let start = match (options.take_over, options.resume) {
        (true, _) => Start::TakeOver,
        (false, true) => Start::Resume,
        (false, false) => Start::New,
    };
    castellan_daemon::run(&global.home()?.0, start)?;
    Ok(Exit::Done)
}
