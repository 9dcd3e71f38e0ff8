//! [`FileSystem`]: the real World, which answers the core's questions. Never blocks on a file, and limits the work for
//! one decision. Does not depend on the reason for a question.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod farms;
mod look;
mod names;
mod owner;
mod search;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use castellan_event::{Answer, FileKind, HEAD_BYTES, PATH_BYTES_MAX, Process, Query, World};
use rustix::io::Errno;

use crate::limits::{BYTES_PER_STEP, PROCESS_PATHS_MAX, STEPS_PER_DECISION_MAX, SYMLINKS_MAX};
use crate::{readers, sight};

/// The daemon's machine, for one decision. Counts the work.
#[derive(Debug)]
pub struct FileSystem {
    steps_left: Cell<u32>,
    /// Paths that were already checked, so that a decision sees one state of the machine and checks `/usr` once for all
    /// directories of a `PATH`. Valid for one decision only, because a path may lead elsewhere at the next call.
    seen: RefCell<HashMap<OsString, Seen>>,
    /// The last listing of files with several names.
    names: RefCell<Option<names::Listed>>,
}

/// State of a path, without following it.
#[derive(Debug, Clone)]
enum Seen {
    /// A symlink to this target.
    Link(PathBuf),
    /// Nothing, so there is nothing below it either.
    Missing,
    /// A file or directory, no symlink.
    Itself,
    /// Not accessible.
    Unreadable,
}

impl Default for FileSystem {
    fn default() -> FileSystem {
        FileSystem {
            steps_left: Cell::new(STEPS_PER_DECISION_MAX),
            seen: RefCell::default(),
            names: RefCell::default(),
        }
    }
}

impl World for FileSystem {
    fn answer(&self, query: &Query) -> Option<Answer> {
        match query {
            Query::RealPath { base, path } => {
                let real = self.real_path(&Path::new("/").join(base).join(path))?;
                Some(Answer::RealPath(real.to_string_lossy().into_owned()))
            }
            Query::FileKind { path } => {
                let real = self.resolve(path)?;
                let kind = if self.is_missing(&real) { FileKind::Missing } else { look::kind(&real) };
                Some(Answer::FileKind(kind))
            }
            Query::Contents { path } => {
                let real = self.resolve(path)?;
                let contents = if self.is_missing(&real) { None } else { look::contents(&real) };
                let read = contents.as_ref().map_or(0, Vec::len) / BYTES_PER_STEP;
                self.take(u32::try_from(read).ok()?)?;
                Some(Answer::Contents(contents))
            }
            Query::Executable { name, path } => Some(Answer::Executable(self.executable(name, path)?)),
            Query::Repository { of } => Some(Answer::Repository(self.repository(of)?)),
            Query::Newest { directory, prefix, suffix } => {
                Some(Answer::Newest(self.newest(directory, prefix, suffix)?))
            }
            Query::Inode { path } => {
                let real = self.resolve(path)?;
                self.take(1)?;
                Some(Answer::Inode(if self.is_missing(&real) { None } else { look::inode(&real) }))
            }
            Query::Head { path } => {
                let real = self.resolve(path)?;
                self.take(u32::try_from(1 + HEAD_BYTES / BYTES_PER_STEP).ok()?)?;
                Some(Answer::Head(if self.is_missing(&real) { None } else { look::is_binary(&real) }))
            }
            Query::OtherNames { path, directories } => {
                Some(Answer::OtherNames(self.other_names(path, directories)?))
            }
            Query::Process { pid } => {
                self.take(1)?;
                Some(Answer::Process(self.process(*pid)))
            }
        }
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        readers::read(request)
    }
}

impl FileSystem {
    /// Returns the real path of an absolute path. `None` for a relative one, which would refer to the daemon's
    /// directory.
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        self.real_path(path).filter(|_| path.is_absolute())
    }

    /// Counts work. `None` when the decision has used its limit.
    fn take(&self, steps: u32) -> Option<()> {
        self.steps_left.set(self.steps_left.get().checked_sub(steps)?);
        Some(())
    }

    /// Resolves all symlinks of a path. Parts that do not exist stay as written. Also follows a symlink to nothing,
    /// because writing through it creates its target.
    ///
    /// Returns `None`:
    /// * over a limit;
    /// * below a directory without access, which may contain symlinks and which the agent can make accessible first;
    /// * for a path with another meaning in the agent's process than in this one.
    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        let mut rest = Cow::Borrowed(path);
        let mut links = 0;
        is_usable(path).then_some(())?;
        while let Some((target, after)) = self.walk(&mut real, &rest)? {
            links += 1;
            if links > SYMLINKS_MAX || !is_usable(&target) {
                return None;
            }
            rest = Cow::Owned(target.join(after));
        }
        Some(real)
    }

    /// Follows a path from the directory `real` to its end or to its first symlink, and updates `real`. At a symlink,
    /// `real` becomes the directory from which the target continues. Then returns the target and the rest of the path.
    fn walk<'p>(&self, real: &mut PathBuf, path: &'p Path) -> Option<Option<(PathBuf, &'p Path)>> {
        let mut components = path.components();
        while let Some(component) = components.next() {
            match component {
                Component::Normal(part) => real.push(part),
                // Earlier symlinks are already resolved, so the parent is the real one.
                Component::ParentDir => {
                    self.take(1)?;
                    real.pop();
                    continue;
                }
                Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
            }
            self.take(1)?;
            if OF_EACH_PROCESS.iter().any(|own| real.as_os_str() == *own) {
                return None;
            }
            let target = match self.look(real) {
                Seen::Itself | Seen::Missing => continue,
                Seen::Unreadable => return None,
                Seen::Link(target) => target,
            };
            real.pop();
            if target.is_absolute() {
                *real = PathBuf::from("/");
            }
            return Some(Some((target, components.as_path())));
        }
        Some(None)
    }
}

impl FileSystem {
    /// Checks a path whose parent is real.
    fn look(&self, path: &Path) -> Seen {
        if let Some(seen) = self.seen.borrow().get(path.as_os_str()) {
            return seen.clone();
        }
        let is_below_nothing = path.parent().is_some_and(|parent| self.is_missing(parent));
        let seen = if is_below_nothing { Seen::Missing } else { read_link(path) };
        self.seen.borrow_mut().insert(path.as_os_str().to_owned(), seen.clone());
        seen
    }

    fn is_missing(&self, path: &Path) -> bool {
        matches!(self.seen.borrow().get(path.as_os_str()), Some(Seen::Missing))
    }

    /// Returns the process with the real paths of its environment. `None` when a part of it cannot be read.
    fn process(&self, pid: u32) -> Option<Process> {
        let mut process = owner::process(pid)?;
        let values =
            process.env.iter().flat_map(|(_, value)| value.split(':')).chain([process.home.as_str()]);
        let paths: BTreeSet<&str> = values.filter(|value| value.starts_with('/')).collect();
        if paths.len() > PROCESS_PATHS_MAX {
            return None;
        }
        let mut links = Vec::new();
        for path in paths {
            // A path that cannot be resolved, such as a loop, stays as written.
            let Some(real) = self.real_path(Path::new(path)) else { continue };
            let real = real.to_string_lossy().into_owned();
            if real != path {
                links.push((path.to_owned(), real));
            }
        }
        process.links = links;
        Some(process)
    }
}

/// Paths that lead elsewhere in every process.
const OF_EACH_PROCESS: &[&str] = &["/proc/self", "/proc/thread-self"];

/// Reports whether a system call accepts a path of this length.
fn is_usable(path: &Path) -> bool {
    path.as_os_str().len() <= 2 * PATH_BYTES_MAX
}

fn read_link(path: &Path) -> Seen {
    let error = match sight::read_link(path) {
        Ok(target) => return Seen::Link(target),
        Err(error) => error,
    };
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NOTDIR) => Seen::Missing,
        // `EINVAL` means that the path is no symlink. No file can have a name that is too long.
        Some(Errno::INVAL | Errno::NAMETOOLONG) => Seen::Itself,
        _ => Seen::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Stdio;

    use super::*;
    use crate::limits::CONTENTS_BYTES_MAX;

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

    /// A directory with every kind of file, and its real path.
    fn zoo() -> (tempfile::TempDir, String) {
        let dir = tempfile::tempdir().unwrap();
        let base = FileSystem::default().real_path(dir.path()).unwrap();
        std::fs::create_dir_all(base.join("dir/deep")).unwrap();
        std::fs::write(base.join("file"), "text").unwrap();
        std::fs::write(base.join("limit"), vec![b'x'; CONTENTS_BYTES_MAX as usize]).unwrap();
        std::fs::write(base.join("huge"), vec![b'x'; CONTENTS_BYTES_MAX as usize + 1]).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, base.join("fifo"), 0o600.into()).unwrap();
        symlink("file", base.join("link")).unwrap();
        symlink("fifo", base.join("to-fifo")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        symlink("nowhere", base.join("dangling")).unwrap();
        let text = base.to_str().unwrap().to_owned();
        (dir, text)
    }

    fn kind(path: String) -> Option<FileKind> {
        let answer = FileSystem::default().answer(&Query::FileKind { path })?;
        if let Answer::FileKind(kind) = answer { Some(kind) } else { panic!("{answer:?}") }
    }

    #[test]
    fn kinds_of_files() {
        let (_dir, base) = zoo();
        let socket = std::os::unix::net::UnixListener::bind(format!("{base}/socket")).unwrap();
        let cases = [
            ("file", Some(FileKind::File)),
            ("link", Some(FileKind::File)),
            ("dir", Some(FileKind::Directory)),
            ("fifo", Some(FileKind::Fifo)),
            ("to-fifo", Some(FileKind::Fifo)),
            ("socket", Some(FileKind::Socket)),
            ("not-there", Some(FileKind::Missing)),
            ("file/below", Some(FileKind::Missing)),
            ("dangling", Some(FileKind::Missing)),
            ("loop", None),
        ];
        for (name, expected) in cases {
            assert_eq!(kind(format!("{base}/{name}")), expected, "{name}");
        }
        drop(socket);
        assert_eq!(kind("/dev/null".to_owned()), Some(FileKind::Device));
        assert_eq!(kind("/proc/self/exe".to_owned()), None);
        assert_eq!(kind("file".to_owned()), None, "a relative path means nothing here");
    }

    fn contents(path: String) -> Option<Option<usize>> {
        let answer = FileSystem::default().answer(&Query::Contents { path })?;
        if let Answer::Contents(bytes) = answer {
            Some(bytes.map(|bytes| bytes.len()))
        } else {
            panic!("{answer:?}")
        }
    }

    #[test]
    fn only_regular_files_of_some_size_are_read_and_nothing_is_waited_for() {
        let (_dir, base) = zoo();
        let cases = [
            ("file", Some(Some(4))),
            ("link", Some(Some(4))),
            ("limit", Some(Some(CONTENTS_BYTES_MAX as usize))),
            ("huge", Some(None)),
            ("fifo", Some(None)),
            ("to-fifo", Some(None)),
            ("dir", Some(None)),
            ("not-there", Some(None)),
            ("loop", None),
        ];
        for (name, expected) in cases {
            assert_eq!(contents(format!("{base}/{name}")), expected, "{name}");
        }
        assert_eq!(contents("/dev/zero".to_owned()), Some(None));
    }

    /// Asks as a user other than root, because root can read everything.
    fn as_nobody<T: Send>(ask: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                // The kernel changes the user of this thread only.
                let nobody = rustix::process::Uid::from_raw(65534);
                if rustix::process::geteuid().is_root() {
                    rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
                }
                ask()
            });
            asking.join().unwrap()
        })
    }

    /// The call itself may open a directory without access, and the directory may contain symlinks.
    #[test]
    fn below_a_directory_that_may_not_be_looked_into_nothing_is_known() {
        let (_dir, base) = zoo();
        let closed = format!("{base}/dir");
        let chmod = |path: &str, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
        symlink("/etc", format!("{closed}/link")).unwrap();
        chmod(&base, 0o755).unwrap();
        chmod(&closed, 0o755).unwrap();
        as_nobody(|| check(Path::new(&base), "dir/link/passwd", "/etc/passwd"));
        chmod(&closed, 0o000).unwrap();
        as_nobody(|| {
            check(Path::new(&base), "dir", "BASE/dir");
            check(Path::new(&base), "dir/../file", "BASE/file");
            for path in
                ["dir/link", "dir/link/passwd", "dir/deep/new", "dir/not-there", "dir/deep/../../file"]
            {
                check(Path::new(&base), path, "no answer");
            }
            assert_eq!(kind(closed.clone()), Some(FileKind::Directory));
            assert_eq!((kind(format!("{closed}/deep")), contents(format!("{closed}/deep"))), (None, None));
            let newest =
                Query::Newest { directory: closed.clone(), prefix: String::new(), suffix: String::new() };
            assert_eq!(FileSystem::default().answer(&newest), None);
        });
        chmod(&closed, 0o700).unwrap();
    }

    #[test]
    fn reading_costs_as_much_as_looking() {
        let (_dir, base) = zoo();
        let world = FileSystem::default();
        let query = Query::Contents { path: format!("{base}/limit") };
        let answered = (0..10_000).take_while(|_| world.answer(&query).is_some()).count();
        let of_bytes = STEPS_PER_DECISION_MAX as usize / (CONTENTS_BYTES_MAX as usize / BYTES_PER_STEP);
        assert!(answered <= of_bytes, "{answered} files of the largest size");
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let (_dir, base) = zoo();
        let program = |name: &str, mode: u32| {
            std::fs::write(format!("{base}/{name}"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(format!("{base}/{name}"), PermissionsExt::from_mode(mode)).unwrap();
        };
        std::fs::create_dir_all(format!("{base}/dir/tool")).unwrap();
        program("tool", 0o755);
        program("data", 0o644);
        symlink("../tool", format!("{base}/dir/alias")).unwrap();
        let look_up = |name: &str, path: &str| {
            let path = path.replace("BASE", &base);
            match FileSystem::default().answer(&Query::Executable { name: name.to_owned(), path }) {
                Some(Answer::Executable(file)) => {
                    file.map_or("none".to_owned(), |file| file.replace(&base, "BASE"))
                }
                _ => "no answer".to_owned(),
            }
        };
        let cases = [
            ("tool", "BASE", "BASE/tool"),
            ("tool", "/not-there:BASE/dir:BASE", "BASE/tool"),
            ("alias", "BASE/dir", "BASE/tool"),
            ("data", "BASE", "none"),
            ("dir", "BASE", "none"),
            ("loop", "BASE", "none"),
            ("tool", "BASE/dir", "none"),
            // A relative entry depends on the call's directory, which is unknown here.
            ("tool", "bin:BASE", "no answer"),
            ("tool", ":BASE", "no answer"),
            ("tool", "BASE:bin", "BASE/tool"),
            ("tool", "", "no answer"),
            ("", "BASE", "no answer"),
            ("dir/tool", "BASE", "no answer"),
        ];
        for (name, path, expected) in cases {
            assert_eq!(look_up(name, path), expected, "{name} in {path}");
        }
    }

    #[test]
    fn the_nearest_repository_is_found() {
        let (_dir, base) = zoo();
        let repository = |of: &str| match FileSystem::default()
            .answer(&Query::Repository { of: of.replace("BASE", &base) })
        {
            Some(Answer::Repository(found)) => {
                found.map_or("none".to_owned(), |at| at.replace(&base, "BASE"))
            }
            _ => "no answer".to_owned(),
        };
        assert_eq!(repository("BASE/dir/deep"), "none");
        std::fs::create_dir(format!("{base}/.git")).unwrap();
        assert_eq!(repository("BASE/dir/deep"), "BASE");
        assert_eq!(repository("BASE"), "BASE");
        assert_eq!(repository("BASE/not/there"), "BASE");
        // A worktree has a file there.
        std::fs::write(format!("{base}/dir/.git"), "gitdir: /elsewhere").unwrap();
        assert_eq!(repository("BASE/dir/deep"), "BASE/dir");
        symlink("dir/deep", format!("{base}/into")).unwrap();
        assert_eq!(repository("BASE/into"), "BASE/dir");
        assert_eq!(repository("dir"), "no answer");
        assert_eq!(repository("BASE/loop"), "no answer");
        // git follows a symlink there, and continues above a broken one.
        for (name, target, expected) in [
            ("a", "../.git", "BASE/a"),
            ("b", "../dir/.git", "BASE/b"),
            ("c", "nowhere", "BASE"),
            ("d", ".git", "BASE"),
        ] {
            std::fs::create_dir(format!("{base}/{name}")).unwrap();
            symlink(target, format!("{base}/{name}/.git")).unwrap();
            assert_eq!(repository(&format!("BASE/{name}")), expected, "{target}");
        }
    }

    #[test]
    fn a_process_comes_with_where_its_paths_lead() {
        if !cfg!(target_os = "linux") {
            return;
        }
        let (_dir, base) = zoo();
        std::fs::create_dir_all(format!("{base}/dir")).unwrap();
        symlink("dir", format!("{base}/way")).unwrap();
        let path = |count: usize| {
            let many = (0..count).map(|number| format!("/n/{number}"));
            format!("{base}/way:relative:{base}/dir:{base}/loop:{}", many.collect::<Vec<_>>().join(":"))
        };
        for (count, is_known) in [(3, true), (2 * PROCESS_PATHS_MAX, false)] {
            let mut child = std::process::Command::new("/bin/cat");
            child.stdin(Stdio::piped()).stdout(Stdio::piped()).env_clear().env("PATH", path(count));
            let mut child = child.spawn().unwrap();
            // After its answer, the child has its environment.
            child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
            child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            let answer = FileSystem::default().answer(&Query::Process { pid: child.id() });
            child.kill().unwrap();
            child.wait().unwrap();
            let Some(Answer::Process(process)) = answer else { panic!("no answer") };
            assert_eq!(process.is_some(), is_known);
            if let Some(process) = process {
                assert_eq!(process.real(&format!("{base}/way")), format!("{base}/dir"));
                for same in ["relative", "/n/1"] {
                    assert_eq!(process.real(same), same);
                }
            }
        }
    }

    #[test]
    fn the_file_that_was_changed_last_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap().display().to_string();
        let names = ["s-b.sh", "s-a.sh", "s-c.txt", "x.sh"];
        for (at, name) in names.iter().enumerate() {
            let file = std::fs::File::create(format!("{base}/{name}")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(at as u64)).unwrap();
        }
        let newest = |directory: String, prefix: &str| {
            let query = Query::Newest { directory, prefix: prefix.to_owned(), suffix: ".sh".to_owned() };
            FileSystem::default().answer(&query)
        };
        let found = Some(Answer::Newest(Some(format!("{base}/s-a.sh"))));
        assert_eq!(newest(base.clone(), "s-"), found);
        assert_eq!(newest(base.clone(), "none"), Some(Answer::Newest(None)));
        assert_eq!(newest(format!("{base}/not-there"), "s-"), Some(Answer::Newest(None)));
        assert_eq!(newest(format!("{base}/x.sh"), "s-"), None, "no directory");
        assert_eq!(newest("relative".to_owned(), "s-"), None);
    }
}
