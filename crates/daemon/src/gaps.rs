//! Gaps: calls and events that hooks answered without a daemon. Hooks leave a line each; here they go into the log.

use std::io;

use castellan_wire::{GAPS_BYTES_MAX, Gap, Home};

use crate::judge::Judge;
use crate::record;
use castellan_files::read_text;

/// Records the gaps that lie in a home, if any. The file is taken away first, and removed when all is recorded: a crash
/// in between records it twice rather than never.
pub(crate) fn collect(home: &Home, judge: &Judge) {
    let taken = home.gaps_taken();
    if !taken.exists() && std::fs::rename(home.gaps(), &taken).is_err() {
        return;
    }
    // A hook that was about to stop adding may have added one line more; twice the limit takes them all.
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
        // A folder in its place, most likely. Out of the way, so that it is not reported for ever.
        let _ = std::fs::rename(&taken, taken.with_extension("unreadable"));
    }
}
