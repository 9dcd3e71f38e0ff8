//! Waits without pauses: for events that the system reports (a process's end, a name in a folder), and by polling for
//! everything else. Must not depend on the purpose of the wait.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Waits until a process has ended. Returns false after `limit`.
pub fn ended(pid: Pid, limit: Duration) -> Result<bool> {
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => Ok(readable(process.as_fd(), Instant::now() + limit)?),
        Err(Errno::SRCH) => Ok(true),
        Err(error) => Err(error).context("a process cannot be waited for"),
    }
}

/// Waits until a file exists, or is gone. Returns false after `limit`.
pub fn file(path: &Path, is_there: bool, limit: Duration) -> Result<bool> {
    let end = Instant::now() + limit;
    let folder = path.parent().context("a file without a folder")?;
    if !folder.exists() && !is_there {
        return Ok(true);
    }
    if !folder.exists() && !file(folder, true, limit)? {
        return Ok(false);
    }
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let names = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE;
    inotify::add_watch(&changes, folder, names)
        .with_context(|| format!("`{}` cannot be watched", folder.display()))?;
    let mut buffer = [MaybeUninit::uninit(); 4096];
    // The check runs after the watch is set, so the watch reports later changes.
    while path.symlink_metadata().is_ok() != is_there {
        if !readable(changes.as_fd(), end)? {
            return Ok(false);
        }
        let mut told = inotify::Reader::new(&changes, &mut buffer);
        while told.next().is_ok() {}
    }
    Ok(true)
}

/// Polls for a condition without an event; `None` after `limit`. There is no pause, because each question takes time.
pub fn until<T>(limit: Duration, mut question: impl FnMut() -> Result<Option<T>>) -> Result<Option<T>> {
    let end = Instant::now() + limit;
    loop {
        let answer = question()?;
        if answer.is_some() || Instant::now() > end {
            return Ok(answer);
        }
        std::thread::yield_now();
    }
}

/// Waits for input. Returns false at `end`.
fn readable(file: BorrowedFd<'_>, end: Instant) -> io::Result<bool> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&left)) {
            Ok(found) => return Ok(found > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);
    const NOW: Duration = Duration::ZERO;

    #[test]
    fn the_end_of_a_process_is_seen_and_not_before() {
        // `cat` ends at the end of its input.
        let mut cat = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&cat);
        assert!(!ended(pid, NOW).unwrap());
        drop(cat.stdin.take());
        assert!(ended(pid, SOON).unwrap());
        cat.wait().unwrap();
        assert!(ended(pid, NOW).unwrap(), "it is gone");
    }

    #[test]
    fn a_name_is_seen_when_it_comes_and_when_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(!file(&path, true, NOW).unwrap());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| file(&path, true, SOON));
            std::fs::write(folder.path().join("another"), "").unwrap();
            std::fs::write(&path, "").unwrap();
            assert!(waits.join().unwrap().unwrap());
            let waits = scope.spawn(|| file(&path, false, SOON));
            std::fs::remove_file(&path).unwrap();
            assert!(waits.join().unwrap().unwrap());
        });
        let deep = folder.path().join("b/c");
        assert!(file(&deep, false, NOW).unwrap());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| file(&deep, true, SOON));
            std::fs::create_dir(folder.path().join("b")).unwrap();
            std::fs::write(&deep, "").unwrap();
            assert!(waits.join().unwrap().unwrap());
        });
    }
}
