//! Runs a text in an isolated bash and returns its calls of the marker. This module must not know the found commands.
#![expect(clippy::expect_used, reason = "a test's own files")]

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BASH: &str = "/bin/bash";

/// Writes its directory, name and arguments. With `-p` the environment does not change its behavior.
const MARKER: &str = r#"#!/bin/sh -p
printf '%s\0' "$#" "$PWD" "${0##*/}" "$@" >> "${0%/*}/log"
"#;

pub(crate) const MARKERS: &[&str] = &["mark", "mk"];

/// bash, with a directory for its runs.
#[derive(Debug)]
pub(crate) struct Bash {
    root: PathBuf,
    number: Cell<u64>,
}

/// A call that bash made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) directory: String,
    pub(crate) argv: Vec<String>,
}

/// The result of running a text.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) calls: Vec<Called>,
    /// True if the text did not finish in time.
    pub(crate) late: bool,
    pub(crate) directory: String,
    pub(crate) home: String,
    pub(crate) path: String,
}

impl Bash {
    /// Returns `None` if bash is not installed.
    pub(crate) fn new(thread: u32) -> Option<Bash> {
        if !Path::new(BASH).exists() || !Path::new("/usr/bin/timeout").exists() {
            return None;
        }
        let root = std::env::temp_dir().join(format!("castellan-oracle-{}-{thread}", std::process::id()));
        fs::create_dir_all(&root).expect("a directory");
        let root = root.canonicalize().expect("a directory");
        Some(Bash { root, number: Cell::new(0) })
    }

    /// Runs a text. Returns `None` for a text that cannot be an argument.
    pub(crate) fn run(&self, text: &str) -> Option<Ran> {
        if text.contains('\0') {
            return None;
        }
        self.number.set(self.number.get() + 1);
        let base = self.root.join(self.number.get().to_string());
        let (bin, home, work) = (base.join("bin"), base.join("home"), base.join("work"));
        let mut deep = work.clone();
        for one in [&bin, &home, &work] {
            fs::create_dir_all(one).expect("a directory");
        }
        for _ in 0..6 {
            for file in ["a1.txt", "a2.txt", "b.md"] {
                fs::write(deep.join(file), "mark of file\n").expect("a file");
            }
            deep = deep.join("sub");
            fs::create_dir(&deep).expect("a directory");
        }
        for name in MARKERS {
            fs::write(bin.join(name), MARKER).expect("a file");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(bin.join(name), mode).expect("a mode");
        }
        symlink(BASH, bin.join("bash")).expect("a link");
        let status = Command::new(BASH)
            .args(["-c", LIMITED, "limited", text])
            .env_clear()
            .env("BIN", &bin)
            .env("HOME", &home)
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("bash runs");
        let log = fs::read(bin.join("log")).unwrap_or_default();
        let calls = calls(&log);
        // Background processes may still write.
        let _ = fs::remove_dir_all(&base);
        Some(Ran {
            calls,
            late: matches!(status.code(), Some(124 | 137)),
            directory: work.display().to_string(),
            home: home.display().to_string(),
            path: bin.display().to_string(),
        })
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Limits memory, time, file sizes and open files. `PATH` contains only the marker's directory.
const LIMITED: &str = r#"ulimit -v 1000000 -t 2 -f 2000 -n 100 &&
exec /usr/bin/env -i /usr/bin/timeout -k 1 2 /usr/bin/env PATH="$BIN" HOME="$HOME" FUNCNEST=40 LC_ALL=C.UTF-8 bash --norc --noprofile -c "$1""#;

fn calls(log: &[u8]) -> Vec<Called> {
    let log = String::from_utf8_lossy(log).into_owned();
    let mut words = log.split('\0').map(str::to_owned);
    let mut calls = Vec::new();
    while let Some(count) = words.next().and_then(|count| count.parse::<usize>().ok()) {
        let (Some(directory), argv) = (words.next(), words.by_ref().take(count + 1).collect()) else { break };
        calls.push(Called { directory, argv });
    }
    calls
}
