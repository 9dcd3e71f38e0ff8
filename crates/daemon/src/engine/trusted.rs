//! Files that decide about calls: the program `falco` and castellan's plugin. No other user may be able to replace them.
//! The module must not know their contents.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use castellan_files::{Guard, explained};

use super::groups::has_no_users;
use crate::platform::has_access_list;

/// The groups of a process whose files are checked.
#[derive(Debug, Clone)]
struct Groups {
    /// Its users may write: most often it is the user's own group.
    effective: u32,
    /// All groups of the process.
    all: Vec<u32>,
    /// Reports whether no user is in a group, of which the second argument has those of this process.
    has_no_users: fn(u32, &[u32]) -> bool,
}

/// The bit of a folder in which each user can rename and remove only files of their own.
const STICKY: u32 = 0o1000;

/// Checks that only this user or root can have written a file that decides about calls, or can replace it: the file, its
/// folder, and all folders above. Returns its path without symbolic links: another user could change a link after the
/// check. The error names `name`, the path and the remedy.
pub(super) fn trusted(name: &str, path: &str) -> Result<String, String> {
    let effective = rustix::process::getegid().as_raw();
    let groups = rustix::process::getgroups().map_err(|error| {
        format!("{name} `{path}`: the groups of this process are unknown: {}", explained(&error.into()))
    })?;
    let all = groups.into_iter().map(rustix::process::Gid::as_raw).chain([effective]).collect();
    trusted_for(&Groups { effective, all, has_no_users }, name, path)
}

/// As [`trusted`], for a process of these groups.
fn trusted_for(groups: &Groups, name: &str, path: &str) -> Result<String, String> {
    let of = |path: &Path, why: &str| format!("{name} `{}`: {why}", path.display());
    let real = std::fs::canonicalize(path).map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        // An agent reads this, too, and is not to install anything.
        let missing = "it does not exist".to_owned();
        of(Path::new(path), &if is_missing { missing } else { explained(&error) })
    })?;
    for (above, part) in real.ancestors().enumerate() {
        let found = std::fs::metadata(part).map_err(|error| of(part, &explained(&error)))?;
        if above == 0 && !found.is_file() {
            return Err(of(part, "it is no file"));
        }
        // The entry in such a folder was checked before: it belongs to this user or to root.
        if above > 1 && found.mode() & STICKY != 0 && is_of_us(&found) {
            continue;
        }
        Guard::User.check(&found).map_err(|error| of(part, &error.to_string()))?;
        if found.mode() & 0o020 == 0 {
            continue;
        }
        // With such a list, the bits of the group are those of all users in the list.
        if has_access_list(part) {
            let why = "it has an access list (ACL) by which others may write it: run `setfacl -b` on it";
            return Err(of(part, why));
        }
        let group = found.gid();
        let is_harmless =
            group == groups.effective || found.uid() == 0 && (groups.has_no_users)(group, &groups.all);
        if !is_harmless {
            let why = format!("the users of group {group} can write it: run `chmod g-w` on it");
            return Err(of(part, &why));
        }
    }
    real.into_os_string().into_string().map_err(|path| of(Path::new(&path), "its path is not UTF-8"))
}

/// Reports whether only root can write a file, its folder, and all folders above. A missing file is judged by its folder.
pub(super) fn is_of_root_alone(path: &Path) -> bool {
    let real = std::fs::canonicalize(path).or_else(|_| std::fs::canonicalize(path.parent().unwrap_or(path)));
    let is_root =
        |part: &Path| std::fs::metadata(part).is_ok_and(|of| of.uid() == 0 && of.mode() & 0o022 == 0);
    real.is_ok_and(|real| real.ancestors().all(is_root))
}

fn is_of_us(found: &std::fs::Metadata) -> bool {
    [0, rustix::process::geteuid().as_raw()].contains(&found.uid())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A folder with a folder below, in which the file `falco` is.
    fn place() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().canonicalize().unwrap().join("bin");
        std::fs::create_dir(&below).unwrap();
        let file = below.join("falco");
        std::fs::write(&file, "").unwrap();
        set_mode(&below, 0o755);
        set_mode(&file, 0o755);
        (dir, below, file)
    }

    #[test]
    fn a_file_that_others_can_replace_decides_nothing() {
        let (dir, below, file) = place();
        let path = file.to_str().unwrap();
        let refused = |part: &str| {
            let why = trusted("the program", path).unwrap_err();
            assert!(why.contains(part) && why.starts_with("the program `"), "{why}");
        };
        assert_eq!(trusted("the program", path).as_deref(), Ok(path));
        for part in [&file, &below, &dir.path().canonicalize().unwrap()] {
            let before = std::fs::metadata(part).unwrap().permissions().mode();
            set_mode(part, before | 0o002);
            refused("other users can write it");
            set_mode(part, before);
        }
        // As `/tmp`, but not as the folder of the file itself, where another user can make a file that Falco loads.
        set_mode(dir.path(), 0o1777);
        assert_eq!(trusted("the program", path).as_deref(), Ok(path));
        set_mode(dir.path(), 0o755);
        set_mode(&below, 0o1777);
        refused("other users can write it");
        set_mode(&below, 0o755);
        std::fs::remove_file(&file).unwrap();
        refused("does not exist");
        std::fs::create_dir(&file).unwrap();
        refused("no file");
    }

    /// A Falco of root loads the library: a user who could write it would be root.
    #[test]
    fn a_library_for_root_is_one_that_only_root_can_write() {
        let (_dir, below, file) = place();
        let shell = Path::new("/bin/sh");
        assert!(is_of_root_alone(shell) && is_of_root_alone(&shell.with_file_name("missing")));
        // Everybody may make files in `/tmp`.
        for path in [file.as_path(), &below, &below.join("missing"), Path::new("/nonexistent/folder/file")] {
            assert!(!is_of_root_alone(path), "{}", path.display());
        }
    }

    /// An access list for another user shows in the bits of the group only.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_user_in_an_access_list_can_replace_a_file() {
        const ACCESS_LIST: &str = "system.posix_acl_access";
        let (_dir, below, file) = place();
        // The version, then tag, permission and id of the owner, a user, the group, the mask, and others.
        let entries =
            [(1u16, 7u16, u32::MAX), (2, 7, 12345), (4, 5, u32::MAX), (16, 7, u32::MAX), (32, 5, u32::MAX)];
        let mut list = 2u32.to_le_bytes().to_vec();
        for (tag, may, id) in entries {
            list.extend([&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat());
        }
        match rustix::fs::setxattr(&below, ACCESS_LIST, &list, rustix::fs::XattrFlags::empty()) {
            Err(rustix::io::Errno::NOTSUP) => return,
            set => set.unwrap(),
        }
        let why = trusted("the program", file.to_str().unwrap()).unwrap_err();
        assert!(why.contains("access list"), "{why}");
        rustix::fs::removexattr(&below, ACCESS_LIST).unwrap();
        set_mode(&below, 0o755);
        assert!(trusted("the program", file.to_str().unwrap()).is_ok());
    }

    /// Debian's users have a group each; files of their own are often writable by it. `/usr/local/bin` is writable by
    /// `staff`, which has no user.
    #[test]
    fn users_of_another_group_cannot_replace_a_file_that_decides() {
        let (dir, below, file) = place();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let group = std::fs::metadata(&file).unwrap().gid();
        let is_root = rustix::process::geteuid().is_root();
        let check = |effective: u32, has_no_users: fn(u32, &[u32]) -> bool| {
            let groups = Groups { effective, all: vec![effective], has_no_users };
            trusted_for(&groups, "the program", link.to_str().unwrap())
        };
        let real = file.to_str().unwrap();
        for part in [file.as_path(), &below, dir.path()] {
            let before = std::fs::metadata(part).unwrap().permissions().mode();
            set_mode(part, 0o2775);
            let why = check(group + 1, |_, _| false).unwrap_err();
            assert!(why.contains(&format!("the users of group {group} can write it")), "{why}");
            assert_eq!(check(group, |_, _| false).as_deref(), Ok(real));
            // A group without users is harmless for root's files only: the user of another file can add users.
            assert_eq!(check(group + 1, |_, _| true).is_ok(), is_root);
            set_mode(part, before);
        }
        assert!(check(group + 1, |_, _| false).is_ok());
    }
}
