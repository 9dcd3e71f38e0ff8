//! The analysis that is measured, on the machine of the corpus: a table and not a file system, so that only the analysis costs.

use castellan_corpus::{Machine, WORKSPACE};
use castellan_event::{Call, Facts, Recorder};
use castellan_facts::{Setting, analyse};

pub(crate) fn setting() -> Setting {
    Setting { workspace: WORKSPACE.to_owned(), ..Setting::default() }
}

/// The facts of a call.
pub(crate) fn facts(call: &Call, setting: &Setting) -> Facts {
    analyse(call, setting, &mut Recorder::new(&Machine::default()))
}
