//! The real effects of a text: turns system calls into events on paths, programs and addresses, each with the programs
//! that led to it. Must not depend on the prediction.

use castellan_event::lexical_path;
use std::collections::BTreeMap;

use crate::strace::{self, Line, Syscall};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Opened for reading.
    Read,
    /// Created, opened for writing, or changed in its metadata.
    Write,
    /// Removed, or moved away.
    Delete,
    /// Ran a file.
    Exec,
    /// Connected or sent to `address:port`.
    Connect,
    /// Only checked for existence or metadata.
    Look,
}

/// An action that was done or tried.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// The absolute path, or the address with its port.
    pub(crate) what: String,
    pub(crate) is_done: bool,
    /// It made a directory, or opened one.
    pub(crate) is_directory: bool,
    /// The base names of the programs that led to it, outermost first, without the text's own shell.
    pub(crate) programs: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Process {
    cwd: String,
    programs: Vec<String>,
    /// The start of the text's own shell was seen, and left out.
    is_replaced: bool,
}

/// Returns the events of a trace without duplicates, in order of kind and path.
pub(crate) fn events(trace: &str, cwd: &str) -> Vec<Event> {
    let mut seen = Seen { first: None, processes: BTreeMap::new(), making: None, events: Vec::new() };
    for line in strace::lines(trace) {
        match line {
            Line::Begun(pid) => seen.making = Some(pid),
            Line::Ended(call) => seen.take(&call, cwd),
        }
    }
    seen.events.sort();
    seen.events.dedup();
    seen.events
}

struct Seen {
    first: Option<u32>,
    processes: BTreeMap<u32, Process>,
    /// The process whose unfinished call creates another process.
    making: Option<u32>,
    events: Vec<Event>,
}

impl Seen {
    fn take(&mut self, call: &Syscall, cwd: &str) {
        let is_first = *self.first.get_or_insert(call.pid) == call.pid;
        if !self.processes.contains_key(&call.pid) {
            let parent = self.making.and_then(|parent| self.processes.get(&parent));
            let new =
                parent.cloned().unwrap_or_else(|| Process { cwd: cwd.to_owned(), ..Process::default() });
            self.processes.insert(call.pid, Process { is_replaced: false, ..new });
        }
        let Some(process) = self.processes.get_mut(&call.pid) else { return };
        if let Some(cwd) = call.args.iter().find_map(|arg| arg.strip_prefix("AT_FDCWD<")?.strip_suffix('>')) {
            cwd.clone_into(&mut process.cwd);
        }
        match call.name.as_str() {
            "clone" | "clone3" | "fork" | "vfork" => {
                let Ok(child) = call.result.parse() else { return };
                let child_of = Process { is_replaced: false, ..process.clone() };
                self.processes.entry(child).or_insert(child_of);
            }
            "chdir" if call.is_done() => {
                if let Some(path) = strace::string(call.arg(0)) {
                    process.cwd = lexical_path(&process.cwd, &path);
                }
            }
            "fchdir" if call.is_done() => {
                if let Some(path) = strace::note(call.arg(0)) {
                    path.clone_into(&mut process.cwd);
                }
            }
            "execve" | "execveat" => {
                let Some(path) = strace::string(call.arg(usize::from(call.name == "execveat"))) else {
                    return;
                };
                let path = lexical_path(&process.cwd, &path);
                // The first program is the shell that runs the text.
                let is_shell = is_first && self.events.is_empty() && process.programs.is_empty();
                if is_shell && path.ends_with("/bash") && !process.is_replaced {
                    process.is_replaced = true;
                    return;
                }
                self.events.push(Event {
                    kind: Kind::Exec,
                    what: path.clone(),
                    is_done: call.is_done(),
                    is_directory: false,
                    programs: process.programs.clone(),
                });
                if call.is_done() {
                    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                    process.programs.push(name);
                }
            }
            _ => {
                // A connection counts even if it is non-blocking or refused.
                let is_done = call.is_done() || matches!(call.name.as_str(), "connect" | "sendto");
                let is_directory = is_of_directory(call);
                let programs = &process.programs;
                let event =
                    |(kind, what)| Event { kind, what, is_done, is_directory, programs: programs.clone() };
                self.events.extend(done(call, &process.cwd).into_iter().map(event));
            }
        }
    }
}

fn is_of_directory(call: &Syscall) -> bool {
    call.name.starts_with("mkdir") || call.args.iter().any(|arg| arg.contains("O_DIRECTORY"))
}

/// Returns the actions of a call, each with its absolute path or address.
fn done(call: &Syscall, cwd: &str) -> Vec<(Kind, String)> {
    let plain = |at: usize| strace::string(call.arg(at)).map(|path| lexical_path(cwd, &path));
    let below = |at: usize| {
        let directory = strace::note(call.arg(at)).unwrap_or(cwd);
        match strace::string(call.arg(at + 1)) {
            Some(path) => Some(lexical_path(directory, &path)),
            // No path: the descriptor itself.
            None => Some(directory.to_owned()),
        }
    };
    let one = |kind, path: Option<String>| path.map(|path| (kind, path)).into_iter().collect();
    let both = |from: Option<String>, to: Option<String>| {
        let from = from.map(|path| (Kind::Delete, path));
        from.into_iter().chain(to.map(|path| (Kind::Write, path))).collect()
    };
    match call.name.as_str() {
        "open" => opened(call, plain(0), call.arg(1)),
        "openat" | "openat2" => opened(call, below(0), call.arg(2)),
        "creat" | "mkdir" | "mknod" | "truncate" | "chmod" | "chown" | "lchown" | "utime" | "utimes" => {
            one(Kind::Write, plain(0))
        }
        "mkdirat" | "mknodat" | "fchmodat" | "fchownat" | "utimensat" | "futimesat" => {
            one(Kind::Write, below(0))
        }
        "write" | "writev" | "pwrite64" | "pwritev" | "fallocate" | "ftruncate" | "fchmod" | "fchown" => {
            one(Kind::Write, strace::note(call.arg(0)).map(str::to_owned))
        }
        "symlink" => one(Kind::Write, plain(1)),
        "symlinkat" => one(Kind::Write, below(1)),
        "link" => one(Kind::Write, plain(1)),
        "linkat" => one(Kind::Write, below(2)),
        "rename" => both(plain(0), plain(1)),
        "renameat" | "renameat2" => both(below(0), below(2)),
        "unlink" | "rmdir" => one(Kind::Delete, plain(0)),
        "unlinkat" => one(Kind::Delete, below(0)),
        "stat" | "lstat" | "statfs" | "access" | "readlink" => one(Kind::Look, plain(0)),
        "newfstatat" | "statx" | "faccessat" | "faccessat2" | "readlinkat" => one(Kind::Look, below(0)),
        "connect" => one(Kind::Connect, address(call.arg(1))),
        "sendto" => one(Kind::Connect, address(call.arg(4))),
        _ => Vec::new(),
    }
}

/// Returns the event of an opened file. Its path is the kernel's, with symlinks resolved.
fn opened(call: &Syscall, path: Option<String>, flags: &str) -> Vec<(Kind, String)> {
    let real = strace::note(&call.result).filter(|path| path.starts_with('/')).map(str::to_owned);
    let Some(path) = real.or(path) else { return Vec::new() };
    let has = |flag: &str| flags.split(['|', ',', ' ', '=', '{']).any(|one| one == flag);
    if has("O_TMPFILE") {
        // A file without a name.
        return Vec::new();
    }
    // A file opened for reading and writing is written only by a later call.
    let is_only_maybe = has("O_RDWR") && !has("O_TRUNC") && !has("O_EXCL");
    let kind = match () {
        () if is_only_maybe => Kind::Read,
        () if ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| has(flag)) => Kind::Write,
        () if has("O_PATH") => Kind::Look,
        () => Kind::Read,
    };
    vec![(kind, path)]
}

/// Parses `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}`; other families are local.
fn address(arg: &str) -> Option<String> {
    let between = |from: &str, to: &str| Some(arg.split_once(from)?.1.split_once(to)?.0.to_owned());
    let (port, host) = match () {
        () if arg.contains("AF_INET6") => {
            (between("sin6_port=htons(", ")")?, between("inet_pton(AF_INET6, \"", "\"")?)
        }
        () if arg.contains("AF_INET") => (between("sin_port=htons(", ")")?, between("inet_addr(\"", "\"")?),
        () => return None,
    };
    // A connection to port 0 only determines the route (getaddrinfo sorts addresses by it).
    (port != "0").then(|| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(trace: &str, expected: &[(Kind, &str, bool)]) {
        let shell = "1 execve(\"/bin/bash\", [\"bash\"], 0x1) = 0\n".to_owned();
        let found = events(&(shell + trace), "/w");
        let found: Vec<_> =
            found.iter().map(|event| (event.kind, event.what.as_str(), event.is_done)).collect();
        assert_eq!(found, expected, "{trace}");
    }

    #[test]
    fn calls_become_events() {
        check(
            "1 openat(AT_FDCWD</w>, \"link/x\", O_RDONLY) = 3</w/real/x>",
            &[(Kind::Read, "/w/real/x", true)],
        );
        check("1 openat(AT_FDCWD</w>, \"x\", O_WRONLY) = -1 ENOENT (none)", &[(Kind::Write, "/w/x", false)]);
        check("1 rename(\"a\", \"/b\") = 0", &[(Kind::Write, "/b", true), (Kind::Delete, "/w/a", true)]);
        check("1 unlinkat(4</w/d>, \"a\", 0) = 0", &[(Kind::Delete, "/w/d/a", true)]);
        check("1 chdir(\"d\") = 0\n1 mkdir(\"../e\", 0777) = 0", &[(Kind::Write, "/w/e", true)]);
        check("1 clone(x) = 2\n2 execve(\"./run\", [], 0x1) = 0", &[(Kind::Exec, "/w/run", true)]);
        check("1 utimensat(0</w/t>, NULL, NULL, 0) = 0", &[(Kind::Write, "/w/t", true)]);
        check(
            "1 connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0",
            &[(Kind::Connect, "127.0.0.1:80", true)],
        );
    }
}
