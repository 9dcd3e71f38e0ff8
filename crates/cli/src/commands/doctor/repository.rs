//! Whether the repository around the current directory switches an agent's hooks off.

use std::path::{Path, PathBuf};

use castellan_agents::{AgentId, repository_files, repository_switches_off};

use crate::limits::REPOSITORY_FILE_BYTES_MAX;

/// Says how each file of the repository that does so switches the agent's hooks off. `not` is the user's own directory of
/// the agent, which is none of a repository.
pub(super) fn switches(agent: AgentId, cwd: &Path, not: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for dir in up_to_root(cwd) {
        for name in repository_files(agent) {
            let file = dir.join(name);
            if file.starts_with(not) {
                continue;
            }
            let small = std::fs::metadata(&file).is_ok_and(|meta| meta.len() <= REPOSITORY_FILE_BYTES_MAX);
            let text = small.then(|| std::fs::read_to_string(&file).ok()).flatten();
            found
                .extend(text.and_then(|text| repository_switches_off(agent, &file.to_string_lossy(), &text)));
        }
    }
    found
}

/// The directory and those above it, up to the one that holds `.git`; only the directory itself outside of a repository.
fn up_to_root(cwd: &Path) -> Vec<PathBuf> {
    let above: Vec<PathBuf> = cwd.ancestors().map(Path::to_owned).collect();
    let root = above.iter().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    above.into_iter().take(root + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_between_here_and_the_root_count() {
        let dir = tempfile::tempdir().unwrap();
        let (root, inner) = (dir.path().join("repo"), dir.path().join("repo/a/b"));
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let check = |file: &str, text: &str, agent, expected: usize| {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            assert_eq!(switches(agent, &inner, Path::new("/nowhere")).len(), expected, "{}", file.display());
            std::fs::remove_file(file).unwrap();
        };
        let off = r#"{"disableAllHooks": true}"#;
        check("repo/.claude/settings.json", off, AgentId::Claude, 1);
        check("repo/a/b/.claude/settings.local.json", off, AgentId::Claude, 1);
        check("repo/.claude/settings.json", "{}", AgentId::Claude, 0);
        check(".claude/settings.json", off, AgentId::Claude, 0);
        check("repo/.codex/config.toml", "[features]\nhooks = false\n", AgentId::Codex, 1);
    }
}
