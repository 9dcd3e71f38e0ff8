//! Gaps: events that hooks answered without a daemon. Hooks leave lines in a file; this module moves them into the log.

use std::io;

use castellan_wire::{GAPS_BYTES_MAX, Gap, Home};

use crate::judge::Judge;
use crate::record;
use castellan_files::read_text;

/// Records the gaps of a home, if there are any. The file is renamed first, and removed when all lines are recorded.
/// After a crash in between the lines are recorded twice instead of never.
pub(crate) fn collect(home: &Home, judge: &Judge) {
    let taken = home.gaps_taken();
    if !taken.exists() && std::fs::rename(home.gaps(), &taken).is_err() {
        return;
    }
    // A hook that is about to stop may have added a line over the limit; twice the limit reads them all.
    let recorded = read_text(&taken, 2 * GAPS_BYTES_MAX).map(|text| {
        text.lines().all(|line| judge.append(&record::gap(Gap::parse(line).as_ref(), line)).is_ok())
    });
    let removed = match recorded {
        Ok(false) => return,
        Ok(true) => std::fs::remove_file(&taken),
        Err(error) => {
            judge.fail("gaps", &format!("`{}` cannot be read: {error}", taken.display()));
            std::fs::remove_file(&taken)
        }
    };
    if removed.is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
        // Most likely a folder. It is renamed, so that it is not reported again and again.
        let _ = std::fs::rename(&taken, taken.with_extension("unreadable"));
    }
}
