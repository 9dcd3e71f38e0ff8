//! Test executables: which cargo has built, and running several at a time. cargo runs them one after the other, while
//! most wait for processes.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::matrix::Share;
use super::steps::{Timed, status};
use crate::root;

/// A test executable.
#[derive(Debug, Clone)]
pub(super) struct Executable {
    pub(super) package: String,
    /// The target: the crate's own name for its unit tests.
    pub(super) name: String,
    path: PathBuf,
    /// The package's folder, in which cargo runs its tests.
    folder: PathBuf,
}

/// Builds the tests of the workspace and returns their executables.
pub(super) fn built() -> anyhow::Result<Vec<Executable>> {
    let words = ["test", "--workspace", "--no-run", "--quiet", "--message-format=json-render-diagnostics"];
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(words)
        .current_dir(root()?)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cargo cannot be started")?;
    ensure!(output.status.success(), "the tests do not build");
    String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| executable(line).transpose()).collect()
}

/// Reads one message of cargo; `None` where it is about no test executable.
fn executable(line: &str) -> anyhow::Result<Option<Executable>> {
    let message: Value = serde_json::from_str(line).context("cargo wrote no JSON")?;
    let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
    let Some(path) = message.get("executable").and_then(Value::as_str).filter(|_| is_test) else {
        return Ok(None);
    };
    let text = |pointer: &str| {
        message.pointer(pointer).and_then(Value::as_str).with_context(|| format!("cargo gives no {pointer}"))
    };
    let folder =
        PathBuf::from(text("/manifest_path")?).parent().context("a manifest in no folder")?.to_owned();
    let (_, package) = text("/package_id")?.rsplit_once('/').context("a package without a path")?;
    let (folder_name, rest) = package.split_once('#').context("a package without a version")?;
    // `path+file:///…/crates/facts#castellan-facts@0.1.0`, or `…/xtask#0.1.0` where folder and package have the same
    // name.
    let package = rest.split_once('@').map_or(folder_name, |(name, _)| name).to_owned();
    Ok(Some(Executable { package, name: text("/target/name")?.to_owned(), path: path.into(), folder }))
}

/// Runs executables in the given order, as many at a time as there are processors.
pub(super) fn run(
    executables: Vec<Executable>,
    threads: Option<u8>,
    share: Share,
    until: Instant,
) -> anyhow::Result<()> {
    ensure!(!executables.is_empty(), "no test executable belongs to this suite");
    let queue = Mutex::new(VecDeque::from(executables));
    let failed = Mutex::new(Vec::new());
    let work = || {
        while let Some(test) = { queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front() } {
            if let Err(error) = test.run(threads, share, until) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{error:#}"));
            }
        }
    };
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (0..processors).for_each(|_| _ = scope.spawn(work));
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    ensure!(failed.is_empty(), "{}", failed.join("\n  "));
    Ok(())
}

impl Executable {
    /// Runs the tests of a share, and prints what they wrote when they have ended.
    fn run(&self, threads: Option<u8>, share: Share, until: Instant) -> anyhow::Result<()> {
        let mut arguments = Vec::new();
        if !share.is_whole() {
            let tests = share.of_tests(self.list()?);
            println!(
                "{} {}, {share}, chosen by the commit:\n  {}",
                self.package,
                self.name,
                tests.join("\n  ")
            );
            arguments.push("--exact".to_owned());
            arguments.extend(tests);
        }
        if let Some(threads) = threads {
            arguments.push(format!("--test-threads={threads}"));
        }
        let mut written = tempfile::tempfile()?;
        let mut command = self.command();
        command.args(&arguments).stdout(written.try_clone()?).stderr(written.try_clone()?);
        let started = Instant::now();
        let status = status(&mut command, until)?;
        let text = {
            use std::io::{Read, Seek};
            let mut bytes = Vec::new();
            written.rewind()?;
            written.read_to_end(&mut bytes)?;
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let what = format!("{} {}: {}", self.package, self.name, result(&text));
        println!("{}", Timed { what, seconds: started.elapsed().as_secs_f32() });
        let is_complete = text.lines().any(|line| line.starts_with("test result: ok."));
        match status {
            Some(status) if status.success() && !is_complete => {
                bail!("{} {} ended without a result:\n{text}", self.package, self.name)
            }
            Some(status) if status.success() => {
                // A test that was skipped says so.
                text.lines().filter(|line| line.contains("SKIPPED")).for_each(|line| println!("{line}"));
                Ok(())
            }
            Some(status) => bail!("{} {} failed ({status}):\n{text}", self.package, self.name),
            None => bail!("{} {} was over its budget:\n{text}", self.package, self.name),
        }
    }

    fn list(&self) -> anyhow::Result<Vec<String>> {
        let output = self.command().args(["--list", "--format", "terse"]).output()?;
        ensure!(output.status.success(), "{} {} does not list its tests", self.package, self.name);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// The summary that libtest wrote: `12 passed; 0 failed`.
fn result(text: &str) -> String {
    let summary = text.lines().rev().find_map(|line| line.strip_prefix("test result: "));
    let parts: Vec<&str> = summary.unwrap_or("no result").split("; ").take(2).collect();
    parts.join("; ").trim_start_matches("ok. ").to_owned()
}
