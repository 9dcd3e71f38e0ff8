//! Signs of a container.

use std::ffi::OsString;
use std::path::Path;

/// Files that container engines make.
const FILES: &[&str] = &[".dockerenv", "run/.containerenv"];

/// Variables that they set.
const VARIABLES: &[&str] =
    &["container", "docker", "podman", "KUBERNETES_SERVICE_HOST", "kubernetes_service_host"];

/// Words in the groups of the first process.
const WORDS: &[&str] = &["docker", "containerd", "kubepods", "podman", "libpod"];

/// Returns the signs below a root directory and in the names of variables.
#[must_use]
pub fn markers(root: &Path, variables: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut found: Vec<String> =
        FILES.iter().filter(|file| root.join(file).exists()).map(|file| format!("/{file}")).collect();
    found.extend(
        variables
            .filter(|name| VARIABLES.iter().any(|known| name == known))
            .map(|name| format!("variable {}", name.display())),
    );
    let groups = std::fs::read_to_string(root.join("proc/1/cgroup")).unwrap_or_default();
    found.extend(
        WORDS.iter().filter(|word| groups.contains(**word)).map(|word| format!("control group '{word}'")),
    );
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_variables_and_groups_are_signs() {
        let root = tempfile::tempdir().unwrap();
        assert!(markers(root.path(), ["PATH".into()].into_iter()).is_empty());
        std::fs::write(root.path().join(".dockerenv"), "").unwrap();
        std::fs::create_dir_all(root.path().join("proc/1")).unwrap();
        std::fs::write(root.path().join("proc/1/cgroup"), "0::/kubepods/pod1\n").unwrap();
        let found = markers(root.path(), ["container".into()].into_iter());
        assert_eq!(found, ["/.dockerenv", "variable container", "control group 'kubepods'"]);
    }
}
