//! [`Origins`]: files of a session by the source of their contents. It must not know who wrote the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::within::keep_within;
use crate::limits::CHANGED_PATHS_PER_SESSION_MAX;

/// Paths of files. Each set is shared with readers, because there may be thousands of paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    /// The contents came from the network.
    pub(crate) downloaded: Arc<BTreeSet<String>>,
    /// The contents include what a call read from a secret.
    pub(crate) secret_copies: Arc<BTreeSet<String>>,
    /// The contents are the output of code that castellan did not read.
    pub(crate) unread_output: Arc<BTreeSet<String>>,
}

impl Origins {
    pub(crate) fn is_empty(&self) -> bool {
        self.downloaded.is_empty() && self.secret_copies.is_empty() && self.unread_output.is_empty()
    }

    /// Adds paths. Over the limit, a directory replaces its paths. Returns false if the root directory alone has more.
    pub(super) fn add(&mut self, more: Origins) -> bool {
        let sets = [
            (&mut self.downloaded, more.downloaded),
            (&mut self.secret_copies, more.secret_copies),
            (&mut self.unread_output, more.unread_output),
        ];
        let mut fits = true;
        for (paths, more) in sets.into_iter().filter(|(_, more)| !more.is_empty()) {
            let paths = Arc::make_mut(paths);
            paths.extend(Arc::unwrap_or_clone(more));
            fits &= keep_within(paths, CHANGED_PATHS_PER_SESSION_MAX);
        }
        fits
    }
}
