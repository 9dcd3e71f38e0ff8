//! Process data from the kernel: parent, session, terminal, start time and names. Reads Linux's `/proc`. On other
//! systems there is no data, and callers must assume the worst.

use std::path::Path;

use crate::limits::ENVIRONMENT_BYTES_MAX;
use castellan_files::of_system;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// Process id of the session's leader, which may have ended.
    pub(crate) session: u32,
    /// The controlling terminal's device number; 0 when there is none.
    pub(crate) terminal: i32,
    /// Clock ticks since boot; with the pid it identifies a process permanently.
    pub(crate) started: u64,
    /// The kernel's name of the process, at most 15 bytes.
    pub(crate) name: String,
}

impl Process {
    /// Reads a process; `None` when it is gone or cannot be read.
    pub(crate) fn read(pid: u32) -> Option<Process> {
        let stat = of_system(&format!("/proc/{pid}/stat"), ENVIRONMENT_BYTES_MAX)?;
        Process::parse(pid, &String::from_utf8_lossy(&stat))
    }

    /// Returns every readable process.
    pub(crate) fn all() -> Vec<Process> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Process::read).collect()
    }

    /// Parses `pid (name) state ppid pgrp session tty_nr ... starttime`. The name may contain any character, also `)`.
    fn parse(pid: u32, stat: &str) -> Option<Process> {
        let (head, tail) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Process {
            pid,
            parent: field(4)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            terminal: field(7)?.parse().ok()?,
            started: field(22)?.parse().ok()?,
            name,
        })
    }

    /// The file name of the executable. Unlike its own name, a process cannot choose it. For a Python interpreter it is
    /// the kernel's name of the process. For another user's process, whose executable is unreadable, it is the kernel's
    /// name, too. Else empty.
    pub(crate) fn executable_name(&self) -> String {
        let path = std::fs::read_link(format!("/proc/{}/exe", self.pid));
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
        let status = of_system(&format!("/proc/{}/status", self.pid), ENVIRONMENT_BYTES_MAX);
        let status = status.map(|status| String::from_utf8_lossy(&status).into_owned()).unwrap_or_default();
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_ascii_whitespace().next());
        let uid: Option<u32> = uid.and_then(|uid| uid.parse().ok());
        uid.is_some_and(|uid| uid != rustix::process::geteuid().as_raw())
    }

    /// File names at the start of the process: its executable and first two arguments (an interpreter and its script).
    pub(crate) fn program_names(&self) -> Vec<String> {
        let base = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut names = vec![self.name.clone()];
        names.extend(std::fs::read_link(format!("/proc/{}/exe", self.pid)).ok().as_deref().and_then(base));
        let arguments = arguments_of(self.pid).unwrap_or_default();
        let first_two = arguments.iter().take(2);
        names.extend(first_two.filter_map(|bytes| base(Path::new(&*String::from_utf8_lossy(bytes)))));
        names
    }
}

/// The arguments of a process, its own name first. `None`, which means any arguments, when unreadable or empty.
pub(crate) fn arguments_of(pid: u32) -> Option<Vec<Vec<u8>>> {
    let line = of_system(&format!("/proc/{pid}/cmdline"), ENVIRONMENT_BYTES_MAX)?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    (!line.is_empty()).then(|| line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
}

/// Reports whether a process has ended and only waits for its parent.
pub(crate) fn has_ended(pid: u32) -> bool {
    matches!(state(pid), None | Some('Z' | 'X'))
}

/// Reports whether a signal or a debugger has stopped a process.
pub(crate) fn is_stopped(pid: u32) -> bool {
    matches!(state(pid), Some('T' | 't'))
}

/// The kernel's letter for the state of a process.
fn state(pid: u32) -> Option<char> {
    let stat = of_system(&format!("/proc/{pid}/stat"), ENVIRONMENT_BYTES_MAX)?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')').and_then(|(_, tail)| tail.trim_start().chars().next())
}

/// The absolute path of a process's executable; `None` when it cannot be read.
pub(crate) fn executable_of(pid: u32) -> Option<String> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()?.into_os_string().into_string().ok()
}

/// The first of these variables in a process's start environment whose value is not empty, `0` or `false`.
pub(crate) fn set_variable(pid: u32, names: &[&'static str]) -> Option<&'static str> {
    let environ = of_system(&format!("/proc/{pid}/environ"), ENVIRONMENT_BYTES_MAX)?;
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
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let tail = "S 7 7 7 34816 9 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0";
        let process = Process::parse(9, &format!("9 (a) b (c)) {tail}")).unwrap();
        let Process { parent, terminal, started, name, .. } = process;
        assert_eq!((parent, terminal, started, name.as_str()), (7, 34816, 4242, "a) b (c)"));
        assert_eq!(Process::parse(9, "9 (cut"), None);
        assert_eq!(Process::parse(9, "9 (a) S 7"), None);
    }

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
