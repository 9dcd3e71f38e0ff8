//! The analysis that is measured, on the machine of the corpus: a table and not a file system, so that only the analysis costs.

use castellan_corpus::{HOME, Machine, WORKSPACE};
use castellan_event::{Call, Facts, Recorder};
use castellan_facts::{Setting, analyse};

pub(crate) fn setting() -> Setting {
    Setting { home: HOME.to_owned(), workspace: WORKSPACE.to_owned(), ..Setting::default() }
}

/// The facts of a call.
pub(crate) fn facts(call: &Call, setting: &Setting) -> Facts {
    analyse(call, setting, &mut Recorder::new(&Machine))
}
