//! The directories of a repository whose settings an agent reads. It must not know what these say.

use std::path::{Path, PathBuf};

use crate::limits::SETTINGS_LEVELS_MAX;

/// The working directory and those above it, up to the one that holds `.git`; only itself outside of a repository, and where that is
/// further up than is looked.
pub(super) fn levels(cwd: &Path) -> Vec<PathBuf> {
    let above: Vec<&Path> = cwd.ancestors().take(SETTINGS_LEVELS_MAX).collect();
    let root = above.iter().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    above.into_iter().take(root + 1).map(Path::to_owned).collect()
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
            let levels = levels(&below(depth));
            assert_eq!((levels.len(), levels.last()), (depth + 1, Some(&root.path().to_owned())), "{depth}");
        }
        assert_eq!(levels(&below(SETTINGS_LEVELS_MAX)).len(), 1);
    }
}
