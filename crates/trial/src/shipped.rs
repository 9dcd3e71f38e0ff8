//! The shipped rule files with their cases.

use castellan_daemon::{ORGANISATION_PACKS, SHIPPED_PACKS};
use castellan_rules::Source;

/// Returns the shipped rule files, including the organisation's, each with its cases.
pub fn shipped_cases() -> Vec<(Source, Source)> {
    SHIPPED_PACKS.iter().chain(ORGANISATION_PACKS).map(|pack| (pack.rules(), pack.cases())).collect()
}
