//! The directories of a repository whose settings an agent reads. It must not know the contents of settings.

use std::path::{Path, PathBuf};

use crate::limits::SETTINGS_LEVELS_MAX;
use crate::sight;

/// The directories to check.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Levels {
    /// The working directory first.
    pub(super) directories: Vec<PathBuf>,
    /// True if the repository's root may be above the limit: the agent may read settings in between.
    pub(super) is_cut: bool,
}

/// Returns the working directory and those above it, up to the directory with `.git`. Outside of a repository, or with
/// the root above the limit, it returns only the working directory.
pub(super) fn levels(cwd: &Path) -> Levels {
    let mut above = cwd.ancestors();
    let looked_at: Vec<&Path> = above.by_ref().take(SETTINGS_LEVELS_MAX).collect();
    let root = looked_at.iter().position(|dir| sight::exists(dir.join(".git")));
    let directories = looked_at.into_iter().take(root.unwrap_or(0) + 1).map(Path::to_owned).collect();
    Levels { directories, is_cut: root.is_none() && above.next().is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_looked_at_from_where_the_agent_works_up_to_its_root() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(".git")).unwrap();
        let below = |depth: usize| root.path().join(vec!["d"; depth].join("/"));
        std::fs::create_dir_all(below(SETTINGS_LEVELS_MAX)).unwrap();
        for depth in [1, 20, SETTINGS_LEVELS_MAX - 1] {
            let Levels { directories, is_cut } = levels(&below(depth));
            let last = directories.last();
            assert_eq!((directories.len(), last, is_cut), (depth + 1, Some(&root.path().to_owned()), false));
        }
        let cut = levels(&below(SETTINGS_LEVELS_MAX));
        assert_eq!((cut.directories.len(), cut.is_cut), (1, true));
        assert!(!levels(Path::new("/no/repository")).is_cut);
    }
}
