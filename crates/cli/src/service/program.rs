//! Runs a program of a service manager, found on `PATH`, within a time limit. Must not know managers.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use castellan_files::at_most;

use crate::agent_files::is_executable;
use crate::limits::{MANAGER_OUTPUT_BYTES_MAX, MANAGER_TIME, POLL};
use crate::output::printable;

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) is_success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    /// The first line of what it wrote, for people.
    pub(crate) fn says(&self) -> String {
        let mut lines = self.stderr.lines().chain(self.stdout.lines()).map(str::trim);
        printable(lines.find(|line| !line.is_empty()).unwrap_or("it said nothing"))
    }
}

/// Returns the path of a program in an absolute directory of `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    dirs.map(|dir| dir.join(name)).find(|file| is_executable(file))
}

/// Runs a program with words and variables. It must end by itself within [`MANAGER_TIME`].
pub(crate) fn run(program: &Path, words: &[&str], variables: &[(&str, PathBuf)]) -> anyhow::Result<Ran> {
    let shown = || format!("`{} {}`", program.display(), words.join(" "));
    // Files, not pipes: a process that the program leaves behind could keep a pipe open.
    let file =
        || tempfile::tempfile().context("no temporary file can be made: set `TMPDIR` to a folder of yours");
    let (stdout, stderr) = (file()?, file()?);
    let mut command = Command::new(program);
    command.args(words).envs(variables.iter().cloned());
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn().with_context(shown)?;
    let until = Instant::now() + MANAGER_TIME;
    let status = loop {
        if let Some(status) = child.try_wait().with_context(shown)? {
            break status;
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            bail!("{} did not end within {} s", shown(), MANAGER_TIME.as_secs());
        }
        std::thread::sleep(POLL);
    };
    Ok(Ran { is_success: status.success(), stdout: text(stdout), stderr: text(stderr) })
}

/// Reads what a program wrote; nothing if it is too much.
fn text(mut file: File) -> String {
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| at_most(file, MANAGER_OUTPUT_BYTES_MAX));
    let bytes = read.ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
