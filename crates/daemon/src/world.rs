//! [`FileSystem`]: the real World, which answers the core's questions.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use castellan_event::{Answer, PATH_BYTES_MAX, Query, World};

use crate::limits::{STEPS_PER_DECISION_MAX, SYMLINKS_MAX};

/// The machine that the daemon runs on, for one decision: what it may look at is counted.
#[derive(Debug)]
pub struct FileSystem {
    steps_left: Cell<u32>,
}

impl Default for FileSystem {
    fn default() -> FileSystem {
        FileSystem { steps_left: Cell::new(STEPS_PER_DECISION_MAX) }
    }
}

impl World for FileSystem {
    fn answer(&self, query: &Query) -> Option<Answer> {
        match query {
            Query::RealPath { base, path } => {
                let real = self.real_path(&Path::new("/").join(base).join(path))?;
                Some(Answer::RealPath(real.to_string_lossy().into_owned()))
            }
            Query::FileKind { .. }
            | Query::Contents { .. }
            | Query::Executable { .. }
            | Query::Repository { .. }
            | Query::Process { .. } => None,
        }
    }
}

impl FileSystem {
    /// Resolves every symlink of a path, of which any part may not exist yet; what does not exist is kept as written. A
    /// symlink to nothing is followed too: writing through it makes its target. `None` over a limit, and for paths that
    /// mean something else to the agent's process than to this one.
    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut rest: Vec<OsString> = components(path)?;
        let mut links = 0;
        while let Some(part) = rest.pop() {
            self.steps_left.set(self.steps_left.get().checked_sub(1)?);
            if part == OsStr::new("..") {
                real.pop();
                continue;
            }
            real.push(&part);
            if OF_EACH_PROCESS.iter().any(|own| real == Path::new(own)) {
                return None;
            }
            if let Ok(Some(target)) = read_link(&real) {
                links += 1;
                if links > SYMLINKS_MAX {
                    return None;
                }
                real.pop();
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(components(&target)?);
            }
        }
        Some(real)
    }
}

/// What leads elsewhere for every process that looks.
const OF_EACH_PROCESS: &[&str] = &["/proc/self", "/proc/thread-self"];

/// The components of a path, last one first; `..` is kept, because what it leads to depends on symlinks before it. `None`
/// for a path that no system call takes.
fn components(path: &Path) -> Option<Vec<OsString>> {
    if path.as_os_str().len() > 2 * PATH_BYTES_MAX {
        return None;
    }
    let parts = path.components().rev().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    Some(parts.collect())
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
        let real = match FileSystem::default().answer(&query) {
            Some(Answer::RealPath(real)) => real.replace(&base.display().to_string(), "BASE"),
            _ => "no answer".to_owned(),
        };
        assert_eq!(real, expected, "{}", path.get(..80).unwrap_or(path));
    }

    #[test]
    fn symlinks_of_every_component_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let base = &FileSystem::default().real_path(dir.path()).unwrap();
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
        check(base, "loop-a/x", "no answer");
        // Long detours do not hide a symlink at their end.
        check(base, &format!("{}etc/passwd", "real/../".repeat(500)), "/etc/passwd");
        check(base, &format!("{}etc/passwd", "real/../".repeat(2000)), "no answer");
        check(base, "/proc/self/cwd/x", "no answer");
        check(base, "/dev/fd/0", "no answer");
        check(base, "", "BASE");
    }

    #[test]
    fn one_decision_looks_at_no_more_than_its_share() {
        let world = FileSystem::default();
        let query = Query::RealPath { base: "/".into(), path: "a/".repeat(500) };
        let answered = (0..1000).take_while(|_| world.answer(&query).is_some()).count();
        assert_eq!(answered, STEPS_PER_DECISION_MAX as usize / 500);
    }
}
