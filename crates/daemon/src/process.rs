//! Questions about a process: its names, arguments, environment and state. The data come from `platform`. Where the system
//! gives none, callers must assume the worst.

use std::path::Path;

pub(crate) use crate::platform::Process;
use crate::platform::{self, State};
use crate::sight;

impl Process {
    /// Reads a process; `None` when it is gone or cannot be read.
    pub(crate) fn read(pid: u32) -> Option<Process> {
        platform::process(pid)
    }

    /// Returns every readable process.
    pub(crate) fn all() -> Vec<Process> {
        platform::processes()
    }

    /// The file name of the executable. Unlike its own name, a process cannot choose it. For a Python interpreter it is
    /// the kernel's name of the process. For another user's process, whose executable is unreadable, it is the kernel's
    /// name, too. Else empty.
    pub(crate) fn executable_name(&self) -> String {
        let path = platform::executable(self.pid);
        let name = path.ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        match name {
            // The executable was replaced while it runs.
            Some(name) => match name.strip_suffix(" (deleted)").unwrap_or(&name) {
                name if name.starts_with("python") => self.name.clone(),
                name => name.to_owned(),
            },
            None if self.is_another_users() => self.name.clone(),
            None => String::new(),
        }
    }

    fn is_another_users(&self) -> bool {
        platform::real_user(self.pid).is_some_and(|user| user != sight::user())
    }

    /// File names at the start of the process: its executable and first two arguments (an interpreter and its script).
    pub(crate) fn program_names(&self) -> Vec<String> {
        let base = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut names = vec![self.name.clone()];
        names.extend(platform::executable(self.pid).ok().as_deref().and_then(base));
        let arguments = arguments_of(self.pid).unwrap_or_default();
        let first_two = arguments.iter().take(2);
        names.extend(first_two.filter_map(|bytes| base(Path::new(&*String::from_utf8_lossy(bytes)))));
        names
    }
}

/// The arguments of a process, its own name first. `None`, which means any arguments, when unreadable or empty.
pub(crate) fn arguments_of(pid: u32) -> Option<Vec<Vec<u8>>> {
    platform::arguments(pid)
}

/// Reports whether a process has ended and only waits for its parent.
pub(crate) fn has_ended(pid: u32) -> bool {
    matches!(platform::state(pid), None | Some(State::Ended))
}

/// Reports whether a signal or a debugger has stopped a process.
pub(crate) fn is_stopped(pid: u32) -> bool {
    platform::state(pid) == Some(State::Stopped)
}

/// The absolute path of a process's executable; `None` when it cannot be read.
pub(crate) fn executable_of(pid: u32) -> Option<String> {
    platform::executable(pid).ok()?.into_os_string().into_string().ok()
}

/// The first of these variables in a process's start environment whose value is not empty, `0` or `false`.
pub(crate) fn set_variable(pid: u32, names: &[&'static str]) -> Option<&'static str> {
    let environ = platform::environment(pid)?;
    let is_set = |name: &&&str| {
        let values = environ.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(name.as_bytes()));
        let mut values = values.filter_map(|rest| rest.strip_prefix(b"="));
        values.any(|value| ![&b""[..], b"0", b"false"].contains(&value))
    };
    names.iter().find(is_set).copied()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn how_a_process_was_started_is_read_or_not_known() {
        // The child runs until its input ends.
        let mut child = std::process::Command::new("cat")
            .arg("-")
            .env("SET_HERE", "1")
            .env("OFF_HERE", "0")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // After its answer, the child has been started.
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let words =
            |words: &[&str]| Some(words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>());
        assert_eq!(arguments_of(child.id()), words(&["cat", "-"]));
        assert_eq!(set_variable(child.id(), &["NOT_HERE", "OFF_HERE", "SET_HERE"]), Some("SET_HERE"));
        assert_eq!(set_variable(child.id(), &["SET", "OFF_HERE", "SET_HERE_TOO"]), None);
        drop(child.stdin.take());
        // A process that has ended but was not waited for has an empty command line, although it had one.
        while Process::read(child.id()).is_some() && arguments_of(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert_eq!(arguments_of(child.id()), None);
        child.wait().unwrap();
        assert_eq!(arguments_of(child.id()), None);
    }
}
