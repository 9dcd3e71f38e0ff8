//! Files of contained commands that the call meets. It must not know which programs load files.

use std::collections::BTreeSet;

use super::Scene;

/// What version control does to files of contained commands, beside its effects.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Directories whose files it puts elsewhere.
    pub(crate) reads: BTreeSet<String>,
    /// It changes files that the call does not name, by the text of a contained file: a patch.
    pub(crate) is_patched: bool,
    /// Work trees that the call names beside the repository, and that it fills.
    pub(crate) filled: BTreeSet<String>,
}

/// Endings of files that no program loads as code or settings. Documents and patches are not among them: `cargo test` and
/// `pytest` run the examples in documents, and installs apply patches to code.
const INERT: &[&str] = &[
    ".csv", ".gif", ".jpeg", ".jpg", ".log", ".mp3", ".mp4", ".otf", ".pdf", ".png", ".svg", ".tsv", ".ttf",
    ".webp", ".woff", ".woff2",
];

impl Scene<'_, '_, '_> {
    /// Notices that a file runs or is loaded.
    pub(crate) fn meet_contained(&mut self, path: &str) {
        if self.session.is_contained(path) {
            self.contained.insert(path.to_owned());
        }
    }

    /// Notices that a command in `cwd` may load the files of its project that `may_load` accepts: in the workspace, below
    /// its directory, or beside a directory above it. Stores the first.
    pub(crate) fn load_contained(&mut self, cwd: Option<&str>, may_load: impl Fn(&str) -> bool) {
        let setting = self.session.setting;
        let workspace = setting.workspace.trim_end_matches('/');
        let cwd = cwd.unwrap_or(workspace);
        let is_below = |path: &str, root: &str| {
            let rest = path.strip_prefix(root).filter(|_| !root.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_near = |path: &str| {
            let beside = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            is_below(path, workspace) || is_below(path, cwd) || is_below(cwd, beside) || is_below(cwd, path)
        };
        let is_inert = |path: &str| INERT.iter().any(|end| path.ends_with(end));
        let found = setting.contained.iter().find(|path| is_near(path) && !is_inert(path) && may_load(path));
        self.contained.extend(found.cloned());
    }
}
