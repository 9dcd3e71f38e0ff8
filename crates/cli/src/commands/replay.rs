//! `castellan replay`: judges recorded calls again with other rules and shows the differences. Reads files and the log,
//! changes nothing.

mod changes;
mod report;
mod sides;

use std::path::PathBuf;

use castellan_audit::Record;
use castellan_daemon::{KnownTexts, RecordedWorld, own_paths};
use castellan_policy::Profile;
use castellan_trial::{Replay, ReplayOutcome};

use self::changes::Changes;
use self::report::Report;
use self::sides::Sides;
use crate::exit::Exit;
use crate::global::Global;
use crate::history::{self, PartOptions, Seen};
use crate::progress::Progress;
use crate::values;

/// Options of `castellan replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Rule file or folder to add to the rules in force; a file of the same name replaces theirs. Default without
    /// --profile: the current files of the home, applied or not
    #[arg(long, value_name = "FILE|DIR")]
    rules: Vec<PathBuf>,

    /// Use them instead of the rules in force; the built-in rules and the organisation's still apply
    #[arg(long, requires = "rules")]
    instead: bool,

    /// Use the settings of this profile
    #[arg(long, value_parser = values::profile())]
    profile: Option<Profile>,

    #[command(flatten)]
    part: PartOptions,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    castellan_daemon::set_patient_reader();
    let layout = global.layout()?;
    let Some(sides) = Sides::load(&layout, options)? else { return Ok(Exit::No) };
    let log = layout.log();
    let part = options.part.part();
    let calls = history::count(&log, part)?;
    let mut progress = Progress::begin(global, "judged", calls.min(options.part.limit));
    let mut reported = KnownTexts::default();
    let mut replay = Replay::new(sides.policies(), own_paths(&layout));
    let mut changes = Changes::default();
    let missing = history::read(&log, part, calls, |Seen { entry, is_wanted }| {
        let Record::Call(record) = &entry.record else { return Ok(()) };
        reported.learn(record);
        if !is_wanted || history::is_held(&record.answer) {
            return Ok(());
        }
        let world = RecordedWorld::new(record, &reported);
        match (replay.judge(record, &world), ReplayOutcome::recorded(record)) {
            (Ok(replayed), Some(recorded)) => {
                changes.add(entry.seq, entry.time, record, &recorded, &replayed)
            }
            (Err(why), _) => changes.add_unjudged(why),
            (Ok(_), None) => changes.add_without_verdict(),
        }
        progress.step();
        Ok(())
    })?;
    drop(progress);
    let report = Report { changes: &changes, sides: &sides, missing: &missing, since: options.part.since };
    let mut out = anstream::stdout();
    if options.part.json {
        report.write_json(&mut out)?
    } else {
        report.write(&mut out, global)?
    }
    Ok(if missing.is_nothing() && changes.is_whole() { Exit::Done } else { Exit::Incomplete })
}
