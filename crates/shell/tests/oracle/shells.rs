//! Runs a text in an isolated shell and returns the commands that ran. This module must not know the found commands.
#![expect(clippy::expect_used, reason = "a test's own files")]

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use castellan_shell::Shell;

/// A shell that runs texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tried {
    pub(crate) name: &'static str,
    /// The shell as castellan knows it.
    pub(crate) shell: Shell,
    /// The name under which it runs: its `$0`.
    called: &'static str,
    /// Its letter in the grammar.
    pub(crate) letter: char,
    /// Options that keep it from reading start files.
    options: &'static [&'static str],
}

pub(crate) const TRIED: &[Tried] = &[
    Tried {
        name: "bash",
        called: "bash",
        shell: Shell::Bash,
        letter: 'b',
        options: &["--norc", "--noprofile"],
    },
    Tried { name: "zsh", called: "zsh", shell: Shell::Zsh, letter: 'z', options: &["-f"] },
    Tried { name: "ksh", called: "ksh", shell: Shell::Ksh, letter: 'k', options: &[] },
    Tried { name: "dash", called: "sh", shell: Shell::Posix, letter: 'd', options: &[] },
];

impl Tried {
    /// Returns the program, if it is installed.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        ["/bin", "/usr/bin"].iter().map(|folder| Path::new(folder).join(self.name)).find(|path| path.exists())
    }
}

/// Writes its directory, name and arguments. With `-p` the environment does not change its behavior.
const MARKER: &str = r#"#!/bin/sh -p
printf '%s\0' "$#" "$PWD" "${0##*/}" "$@" >> "${0%/*}/log"
"#;

pub(crate) const MARKERS: &[&str] = &["mark", "mk"];

/// Programs that run if a text disables the builtin of their name.
const PROGRAMS: &[&str] = &["echo", "printf", "test"];

/// Variables that each shell gets, besides `PATH` and `HOME`.
pub(crate) const VARIABLES: &[(&str, &str)] = &[("FUNCNEST", "40"), ("LC_ALL", "C.UTF-8")];

/// A program in front of the shell that writes each execve to the file named after its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tracer {
    pub(crate) words: &'static [&'static str],
    /// Returns the programs of the file that ran, as their path and arguments.
    pub(crate) read: fn(&str) -> Vec<Vec<String>>,
}

/// A place for runs.
#[derive(Debug)]
pub(crate) struct Runner {
    root: PathBuf,
    number: Cell<u64>,
    tracer: Option<Tracer>,
}

/// A command that a shell ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called {
    /// The working directory, if the marker told it.
    pub(crate) directory: Option<String>,
    pub(crate) argv: Vec<String>,
}

/// The result of running a text.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) calls: Vec<Called>,
    /// True if the text did not finish in time.
    pub(crate) late: bool,
}

/// The folders of one run. They end with it.
#[derive(Debug)]
pub(crate) struct Place {
    base: PathBuf,
    pub(crate) bin: String,
    pub(crate) home: String,
    pub(crate) work: String,
}

impl Runner {
    pub(crate) fn new(thread: usize, tracer: Option<Tracer>) -> Runner {
        let root = std::env::temp_dir().join(format!("castellan-oracle-{}-{thread}", std::process::id()));
        fs::create_dir_all(&root).expect("a directory");
        let root = root.canonicalize().expect("a directory");
        Runner { root, number: Cell::new(0), tracer }
    }

    /// Makes the folders of a run: programs, home and working directory.
    pub(crate) fn place(&self) -> Place {
        self.number.set(self.number.get() + 1);
        let base = self.root.join(self.number.get().to_string());
        let (bin, home, work) = (base.join("bin"), base.join("home"), base.join("work"));
        furnish(&bin, &home, &work);
        let [bin, home, work] = [bin, home, work].map(|path| path.display().to_string());
        Place { base, bin, home, work }
    }

    /// Runs a text. Returns `None` for a text that cannot be an argument, or without the shell.
    pub(crate) fn run(&self, place: &Place, tried: &Tried, text: &str) -> Option<Ran> {
        tried.program().filter(|_| !text.contains('\0'))?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LIMITED, "limited"]).args(TIMEOUT);
        let trace = place.base.join("trace");
        if let Some(tracer) = &self.tracer {
            command.args(tracer.words).arg(&trace);
        }
        command.arg(tried.called).args(tried.options).args(["-c", text]);
        let status = command
            .env_clear()
            .envs([("PATH", &place.bin), ("HOME", &place.home)])
            .envs(VARIABLES.iter().copied())
            .current_dir(&place.work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("a shell runs");
        let mut calls = marked(&fs::read(Path::new(&place.bin).join("log")).unwrap_or_default());
        if let Some(tracer) = &self.tracer {
            let trace = fs::read(&trace).expect("a trace");
            add_traced(&mut calls, (tracer.read)(&String::from_utf8_lossy(&trace)));
        }
        Some(Ran { calls, late: matches!(status.code(), Some(124 | 137)) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Background processes may still write.
        let _ = fs::remove_dir_all(&self.base);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Limits memory, processor time, file sizes and open files.
const LIMITED: &str = r#"ulimit -v 1000000 && ulimit -t 2 && ulimit -f 2000 && ulimit -n 100 && exec "$@""#;

/// Some texts wait for each other. A busy machine makes the others slow.
const TIMEOUT: &[&str] = &["/usr/bin/timeout", "-k", "1", "5"];

fn furnish(bin: &Path, home: &Path, work: &Path) {
    for one in [bin, home, work] {
        fs::create_dir_all(one).expect("a directory");
    }
    let mut deep = work.to_owned();
    for _ in 0..6 {
        for file in ["a1.txt", "a2.txt", "b.md"] {
            fs::write(deep.join(file), "mark of file\n").expect("a file");
        }
        deep = deep.join("sub");
        fs::create_dir(&deep).expect("a directory");
    }
    for name in MARKERS {
        fs::write(bin.join(name), MARKER).expect("a file");
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    for tried in TRIED {
        if let Some(program) = tried.program() {
            symlink(program, bin.join(tried.name)).expect("a link");
        }
    }
    for name in PROGRAMS {
        symlink(Path::new("/usr/bin").join(name), bin.join(name)).expect("a link");
    }
    let dash = bin.join("dash");
    let sh = if dash.exists() { dash } else { PathBuf::from("/bin/sh") };
    symlink(sh, bin.join("sh")).expect("a link");
}

/// Reads the markers' log.
fn marked(log: &[u8]) -> Vec<Called> {
    let log = String::from_utf8_lossy(log).into_owned();
    let mut words = log.split('\0').map(str::to_owned);
    let mut calls = Vec::new();
    while let Some(count) = words.next().and_then(|count| count.parse::<usize>().ok()) {
        let (Some(directory), argv) = (words.next(), words.by_ref().take(count + 1).collect()) else { break };
        calls.push(Called { directory: Some(directory), argv });
    }
    calls
}

/// Adds the programs that did not write to the log. The first one is the shell of the text.
fn add_traced(calls: &mut Vec<Called>, ran: Vec<Vec<String>>) {
    let mut logged: Vec<Vec<String>> = calls.iter().map(|call| call.argv.clone()).collect();
    for argv in ran.into_iter().skip(1) {
        match logged.iter().position(|one| *one == argv) {
            Some(at) => drop(logged.swap_remove(at)),
            None => calls.push(Called { directory: None, argv }),
        }
    }
}
