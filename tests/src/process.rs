//! Child processes with a time limit and a process group of their own, and the search for processes of a test. Must not
//! depend on what the processes are.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal};

use crate::wait;

/// A process that has ended by itself.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its running time.
    pub took: Duration,
}

/// A running process with its process group. Dropping it kills the group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    started: Instant,
    // Files, not pipes: a grandchild that keeps a pipe open must not delay the test.
    stdout: File,
    stderr: File,
}

impl Running {
    /// Starts `command` with empty standard input.
    pub fn start(command: &mut Command) -> Result<Running> {
        Running::spawn(command.stdin(Stdio::null()))
    }

    /// Starts `command` with `input` as its standard input.
    pub fn start_with_input(command: &mut Command, input: &[u8]) -> Result<Running> {
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(input)?;
        stdin.rewind()?;
        Running::spawn(command.stdin(stdin))
    }

    /// Starts `command` with an open terminal as its standard input.
    pub fn start_at(command: &mut Command, terminal: File) -> Result<Running> {
        Running::spawn(command.stdin(terminal))
    }

    /// Starts `command` with these as its standard input and output.
    pub fn start_on(command: &mut Command, stdin: Stdio, stdout: Stdio) -> Result<Running> {
        let (none, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        command.stdin(stdin).stdout(stdout);
        Running::spawn_into(command, none, stderr)
    }

    fn spawn(command: &mut Command) -> Result<Running> {
        let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
        Running::spawn_into(command.stdout(stdout.try_clone()?), stdout, stderr)
    }

    fn spawn_into(command: &mut Command, stdout: File, stderr: File) -> Result<Running> {
        command.stderr(stderr.try_clone()?).process_group(0);
        let child = command
            .spawn()
            .with_context(|| format!("`{}` cannot be started", command.get_program().display()))?;
        Ok(Running { child, started: Instant::now(), stdout, stderr })
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for its end. Returns an error with its output after `limit`.
    pub fn finish(mut self, limit: Duration) -> Result<Finished> {
        let has_ended = wait::ended(Pid::from_child(&self.child), limit)?;
        let ended = if has_ended { Some(self.child.wait()?) } else { None };
        let (stdout, stderr) = (read_all(&mut self.stdout)?, read_all(&mut self.stderr)?);
        let Some(status) = ended else { bail!("still running after {limit:?}\n{stdout}\n{stderr}") };
        Ok(Finished { code: status.code(), stdout, stderr, took: self.started.elapsed() })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ended_already = rustix::process::kill_process_group(group, Signal::KILL);
        }
        drop(self.child.wait());
    }
}

/// Sends signals by number, also signals without a name in C. Several signals are sent to the stopped process and
/// arrive together when it continues. Continuing cancels pending stop signals.
pub fn send_signals(pid: Pid, numbers: &[u32]) -> Result<()> {
    let pid = pid.as_raw_nonzero();
    let sent: Vec<String> = numbers.iter().map(|number| format!("kill -{number} {pid}")).collect();
    let sent = sent.join("; ");
    let script = match numbers {
        [_] => sent,
        _ => format!("kill -STOP {pid}; {sent}; kill -CONT {pid}"),
    };
    let done = Running::start(Command::new("sh").args(["-c", &script]))?.finish(Duration::from_secs(10))?;
    ensure!(done.code == Some(0), "{done:?}");
    Ok(())
}

/// Stops a process (`SIGSTOP`) and waits until it has stopped. Returns an error if it has ended.
pub fn stop_process(pid: Pid) -> Result<()> {
    rustix::process::kill_process(pid, Signal::STOP)?;
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let stopped =
        wait::until(Duration::from_secs(10), || match process_state(&std::fs::read_to_string(&stat)?) {
            Some('T') => Ok(Some(())),
            Some('Z' | 'X') => bail!("process {pid:?} has ended"),
            _ => Ok(None),
        })?;
    stopped.with_context(|| format!("process {pid:?} did not stop"))
}

/// Returns the state letter of a line of `/proc/PID/stat`. It follows the name, which may contain brackets.
fn process_state(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Returns the other processes whose command line or working directory names a path below `folder`.
pub fn processes_of(folder: &Path) -> Vec<Pid> {
    let own = rustix::process::getpid();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    pids.filter(|pid| *pid != own && belongs_to(*pid, folder)).collect()
}

fn belongs_to(pid: Pid, folder: &Path) -> bool {
    let process = Path::new("/proc").join(pid.as_raw_nonzero().to_string());
    let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
    let inside = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    inside || String::from_utf8_lossy(&words).contains(&*folder.to_string_lossy())
}

fn read_all(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
