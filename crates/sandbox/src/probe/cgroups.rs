//! Control groups that this user may make. Unverified with a real delegated group: the machines of the tests have version 1.

use std::path::Path;

use rustix::fs::{Access, access};

use crate::capabilities::Cgroups;
use crate::limits::PROBE_TEXT_BYTES;

/// Controllers that limits need.
const NEEDED: [&str; 2] = ["memory", "pids"];

#[cfg(target_os = "linux")]
pub(super) fn own() -> Cgroups {
    let text = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    find(Path::new("/sys/fs/cgroup"), &text)
}

/// Finds the groups below `root` for a process with these lines of `/proc/self/cgroup`. A new group is made beside that of
/// the process, because a group with processes cannot have groups with controllers.
#[must_use]
pub fn find(root: &Path, own: &str) -> Cgroups {
    if !root.join("cgroup.controllers").exists() {
        return if root.join("memory").is_dir() || root.join("pids").is_dir() {
            Cgroups::V1
        } else {
            Cgroups::None
        };
    }
    let group = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let Some(parent) = group.and_then(|group| Path::new(group).parent()) else {
        return Cgroups::NotDelegated;
    };
    let parent = root.join(parent);
    let controllers = read(&parent.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |needed: &&str| controllers.split_whitespace().any(|controller| controller == *needed);
    let may = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    if NEEDED.iter().all(has) && may(&parent) && may(&parent.join("cgroup.procs")) {
        Cgroups::Delegated(parent)
    } else {
        Cgroups::NotDelegated
    }
}

fn read(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(PROBE_TEXT_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn a_delegated_group_is_found_beside_the_own_one() {
        let files = [
            ("cgroup.controllers", "cpu memory pids"),
            ("user/app/cgroup.subtree_control", "memory pids\n"),
            ("user/app/cgroup.procs", ""),
            ("user/app/shell.scope/cgroup.procs", ""),
        ];
        let root = tree(&files);
        let found = find(root.path(), "1:name=systemd:/x\n0::/user/app/shell.scope\n");
        assert_eq!(found, Cgroups::Delegated(root.path().join("user/app")));
    }

    #[test]
    fn a_group_without_controllers_or_of_version_1_is_not_used() {
        let bare = [
            ("cgroup.controllers", ""),
            ("user/app/cgroup.subtree_control", "pids"),
            ("user/app/cgroup.procs", ""),
        ];
        assert_eq!(find(tree(&bare).path(), "0::/user/app/shell.scope\n"), Cgroups::NotDelegated);
        assert_eq!(find(tree(&bare).path(), "0::/\n"), Cgroups::NotDelegated);
        assert_eq!(find(tree(&[("memory/tasks", "")]).path(), "4:memory:/\n"), Cgroups::V1);
        assert_eq!(find(tree(&[]).path(), ""), Cgroups::None);
    }
}
