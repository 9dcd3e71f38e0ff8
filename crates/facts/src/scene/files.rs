//! [`Files`]: the files with code that the analysis of a call has met. Each is read once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Arg;

#[derive(Default)]
pub(crate) struct Files {
    /// Files with code that the call's analysis asked for, by their absolute path as written.
    pub(crate) known: BTreeMap<String, Known>,
    /// Texts that the shell text of the call writes into files, in the order of the text.
    pub(crate) texts: Vec<(Rc<str>, Arg)>,
    /// Files that the call writes, while they are analysed as if they ran after it.
    pub(crate) writing: BTreeSet<String>,
    /// Real paths of the files that run and whose text the walk has read.
    pub(crate) read: BTreeSet<String>,
    /// Real paths of all files that run, with the SHA-256 of the text that was read. None if another text runs.
    pub(crate) ran: BTreeMap<String, Option<String>>,
    /// Real paths of the project's missing files with code.
    pub(crate) missing: BTreeSet<String>,
    /// Modules that a command's program has loaded. Each module is loaded once.
    pub(crate) modules: BTreeSet<(usize, String)>,
    /// Files of the session that programs may load and that were already read.
    pub(crate) sources: BTreeSet<String>,
    /// Languages of the files that tools of the call may load by names that castellan does not know.
    pub(crate) loads: BTreeSet<&'static str>,
    /// Files of repositories that were already read.
    pub(crate) repositories: BTreeSet<String>,
    /// The names that each manifest declares, by the path of the query. None for a missing manifest.
    pub(crate) manifests: HashMap<String, Option<Rc<[String]>>>,
}

/// A file with code.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The real path.
    pub(crate) path: String,
    /// SHA-256 of the contents, in hex.
    pub(crate) sha256: Option<String>,
    /// The contents, or the reason why they are unknown.
    pub(crate) text: Result<Rc<str>, Why>,
    /// The file begins like a program in machine code: no interpreter reads it.
    pub(crate) is_of_machine: bool,
}

impl Files {
    /// True if the text of a file is known. The file may appear only during the call.
    pub(crate) fn has_text(&self, path: &str) -> bool {
        self.known.get(path).is_some_and(|known| known.text.is_ok())
    }
}
