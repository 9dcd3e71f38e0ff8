//! One step of a suite: a command, the installation of the agents, or test executables.

use std::fmt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rustix::process::{Pid, Signal, kill_process_group};

use super::clients;
use super::executables::{self, Executable};
use super::falco;
use super::kits;
use super::matrix::Share;
use super::sandboxes;
use crate::root;

/// A step.
pub(super) enum Step {
    /// A command, its words separated by blanks.
    Run(&'static str),
    /// Installs the pinned agents.
    Clients,
    /// Installs the real Claude Agent SDKs.
    Kits,
    /// Installs the sandboxes that castellan's is compared with.
    Sandboxes,
    /// Tests Falco's plugin.
    Falco,
    /// Builds Falco's plugin, for packages.
    FalcoPlugin,
    /// The test executables that belong to the suite, each with this number of threads.
    Tests { threads: Option<u8>, belongs: fn(&Executable) -> bool },
}

impl Step {
    /// Runs the step; at `until` it is ended, and that is an error.
    pub(super) fn run(&self, share: Share, until: Instant) -> anyhow::Result<()> {
        match self {
            Step::Run(line) => run_command(&line.split_ascii_whitespace().collect::<Vec<_>>(), until),
            Step::Clients => clients::install(until),
            Step::Kits => kits::install(until),
            Step::Sandboxes => sandboxes::install(until),
            Step::Falco => falco::run(until),
            Step::FalcoPlugin => falco::build(until),
            Step::Tests { threads, belongs } => {
                let chosen = executables::built()?.into_iter().filter(belongs).collect();
                executables::run(chosen, *threads, share, until)
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Run(line) => line,
            Step::Clients => "install the agents",
            Step::Kits => "install the agent SDKs",
            Step::Sandboxes => "install other sandboxes",
            Step::Falco => "test Falco's plugin and both engines",
            Step::FalcoPlugin => "build Falco's plugin",
            Step::Tests { .. } => "run the tests",
        })
    }
}

/// How long something took.
pub(super) struct Timed {
    pub(super) what: String,
    pub(super) seconds: f32,
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>7.1} s  {}", self.seconds, self.what)
    }
}

/// Runs a command in the project's root.
pub(super) fn run_command(words: &[&str], until: Instant) -> anyhow::Result<()> {
    let (program, arguments) = words.split_first().context("an empty step")?;
    println!("$ {}", words.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).current_dir::<&Path>(&root()?);
    let status =
        status(&mut command, until)?.with_context(|| format!("`{}` was over its budget", words.join(" ")))?;
    ensure!(status.success(), "`{}` failed: {status}", words.join(" "));
    Ok(())
}

/// Runs a command in a process group of its own. `None`: at `until` the whole group was killed.
pub(super) fn status(command: &mut Command, until: Instant) -> anyhow::Result<Option<ExitStatus>> {
    use std::os::unix::process::CommandExt;

    let program = command.get_program().to_string_lossy().into_owned();
    let mut child =
        command.process_group(0).spawn().with_context(|| format!("`{program}` cannot be started"))?;
    wait(&mut child, until)
}

fn wait(child: &mut Child, until: Instant) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            let group =
                i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child without a pid")?;
            let _ = kill_process_group(group, Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
