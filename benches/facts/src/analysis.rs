//! The measured analysis, on the machine of the corpus: a table, not a file system, so only the analysis costs time.

use castellan_corpus::{Machine, WORKSPACE};
use castellan_event::{Call, Facts, Recorder};
use castellan_facts::{Setting, analyse};

pub(crate) fn setting() -> Setting {
    Setting { workspace: WORKSPACE.to_owned(), ..Setting::default() }
}

pub(crate) fn facts(call: &Call, setting: &Setting) -> Facts {
    analyse(call, setting, &mut Recorder::new(&Machine::default()))
}
