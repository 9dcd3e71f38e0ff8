//! [`FileSystem`]: the real World, which answers the core's questions.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use castellan_event::{Answer, Query, World};

use crate::limits::{COMPONENTS_MAX, SYMLINKS_MAX};

/// The machine that the daemon runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystem;

impl World for FileSystem {
    fn answer(&self, query: &Query) -> Option<Answer> {
        match query {
            Query::RealPath { base, path } => {
                let real = real_path(&Path::new("/").join(base).join(path));
                Some(Answer::RealPath(real.to_string_lossy().into_owned()))
            }
        }
    }
}

/// Resolves every symlink of a path, of which any part may not exist yet; what does not exist is kept as written. A
/// symlink to nothing is followed too: writing through it makes its target.
fn real_path(path: &Path) -> PathBuf {
    let mut real = PathBuf::from("/");
    let mut rest: Vec<OsString> = components(path);
    let mut links = 0;
    for _ in 0..COMPONENTS_MAX {
        let Some(part) = rest.pop() else { return real };
        if part == OsStr::new("..") {
            real.pop();
            continue;
        }
        real.push(&part);
        match read_link(&real) {
            Ok(Some(target)) if links < SYMLINKS_MAX => {
                links += 1;
                real.pop();
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(components(&target));
            }
            _ => {}
        }
    }
    real.extend(rest.into_iter().rev());
    real
}

/// The components of a path, last one first; `..` is kept, because what it leads to depends on symlinks before it.
fn components(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

fn read_link(path: &Path) -> io::Result<Option<PathBuf>> {
    match std::fs::read_link(path) {
        Ok(target) => Ok(Some(target)),
        // Not a symlink.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn check(base: &Path, path: &str, expected: &str) {
        let query = Query::RealPath { base: base.display().to_string(), path: path.to_owned() };
        let Some(Answer::RealPath(real)) = FileSystem.answer(&query) else { panic!("no answer for {path}") };
        assert_eq!(real.replace(&base.display().to_string(), "BASE"), expected, "{path}");
    }

    #[test]
    fn symlinks_of_every_component_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let base = &real_path(dir.path());
        std::fs::create_dir_all(base.join("real/deep")).unwrap();
        symlink("real", base.join("link")).unwrap();
        symlink("real/not-there", base.join("dangling")).unwrap();
        symlink("/etc", base.join("etc")).unwrap();
        symlink("loop-b", base.join("loop-a")).unwrap();
        symlink("loop-a", base.join("loop-b")).unwrap();

        check(base, "link/deep/new", "BASE/real/deep/new");
        check(base, "link/deep/../x", "BASE/real/x");
        check(base, "dangling", "BASE/real/not-there");
        check(base, "etc/passwd", "/etc/passwd");
        check(base, "./real//deep/.", "BASE/real/deep");
        check(base, "not/../there/..", "BASE");
        check(base, "/a/../../b", "/b");
        check(base, "loop-a/x", "BASE/loop-a/x");
        check(base, "", "BASE");
    }
}
