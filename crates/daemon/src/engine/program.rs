//! The program `falco`: its version, its processes, and its runs that end by themselves. Each process of Falco is started
//! by a second castellan ([`become_falco`]), so that it ends with the daemon in any case.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use castellan_files::explained;
use castellan_rules::Engine as Language;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::trusted::trusted;
use crate::become_program::{NotBecome, become_child_of};
use crate::limits::{ENGINE_LOOK, ENGINE_OUTPUT_BYTES_MAX, ENGINE_STOP_TIME, ENGINE_VERSION_TIME};
use crate::platform;

/// The hidden command of the binary that becomes Falco.
pub const COMMAND: &str = "become-falco";

/// Becomes Falco, which ends when the process that started this one does. `words`: the process id of that one, the
/// program and its arguments. Returns only with an error.
pub fn become_falco(mut words: impl Iterator<Item = OsString>) -> NotBecome {
    let (Some(parent), Some(program)) = (words.next(), words.next()) else {
        return NotBecome::Untied(io::ErrorKind::InvalidInput.into());
    };
    become_child_of(&parent, Command::new(program).args(words))
}

/// The end of the time of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit<'l> {
    pub(super) until: Instant,
    /// Nobody wants the result any more.
    pub(super) is_over: Option<&'l AtomicBool>,
}

impl Limit<'_> {
    /// Returns the limit of a run that begins now.
    pub(crate) fn of(time: Duration) -> Limit<'static> {
        Limit { until: Instant::now() + time, is_over: None }
    }

    /// Returns the same limit, but not later than in this time.
    fn at_most(self, time: Duration) -> Self {
        Limit { until: self.until.min(Instant::now() + time), ..self }
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.is_over.is_some_and(|is_over| is_over.load(Ordering::SeqCst)) || Instant::now() >= self.until
    }
}

/// A process of Falco. The end of this value kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// It was waited for, so its id may be another process's.
    is_waited_for: bool,
}

/// The end of a process.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) is_success: bool,
    /// Its status, in words.
    pub(super) status: String,
}

impl Process {
    /// Starts `falco` in a process group of its own, without an environment. Returns its output, errors too.
    pub(super) fn start(falco: &str, arguments: &[&OsStr]) -> Result<(Process, PipeReader), String> {
        let why = |error: io::Error| format!("`{falco}` cannot be started: {}", explained(&error));
        let castellan = platform::own_executable_file().map_err(why)?;
        let (output, input) = io::pipe().map_err(why)?;
        let errors = input.try_clone().map_err(why)?;
        let mut command = Command::new(castellan);
        command.arg(COMMAND).arg(std::process::id().to_string()).arg(falco).args(arguments);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").current_dir("/");
        command.stdin(Stdio::null()).stdout(input).stderr(errors).process_group(0);
        let child = command.spawn().map_err(why)?;
        Ok((Process { child, is_waited_for: false }, output))
    }

    #[cfg(test)]
    pub(super) fn of(child: Child) -> Process {
        Process { child, is_waited_for: false }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the end of the process; `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<Ended> {
        self.has_ended().then(|| self.wait())
    }

    /// Kills what the process started, and waits for it. Another process may have its id from then on.
    pub(super) fn wait(&mut self) -> Ended {
        if !self.is_waited_for {
            self.kill_group();
        }
        let status = self.child.wait();
        self.is_waited_for = true;
        match status {
            Ok(status) => Ended { is_success: status.success(), status: status.to_string() },
            Err(error) => Ended { is_success: false, status: error.to_string() },
        }
    }

    /// Ends the process and all that it started.
    pub(super) fn stop(self) {
        if let Some(pid) = self.pid().filter(|_| !self.has_ended()) {
            let _ = kill_process(pid, Signal::TERM);
            self.ends_within(ENGINE_STOP_TIME);
        }
    }

    /// Waits for its end, and reports whether it has ended.
    pub(super) fn ends_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.has_ended() {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(ENGINE_LOOK);
        }
        true
    }

    /// Reports whether it has ended. It keeps its id until it is waited for.
    pub(super) fn has_ended(&self) -> bool {
        if self.is_waited_for {
            return true;
        }
        let Some(pid) = self.pid() else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error: it was waited for already.
        waitid(WaitId::Pid(pid), options).map_or(true, |status| status.is_some())
    }

    fn kill_group(&self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended() {
            // Also before it has its own group.
            let _ = self.child.kill();
        }
        self.wait();
    }
}

/// The end of a run of Falco.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) is_success: bool,
    /// Its status, in words.
    pub(super) status: String,
    pub(super) output: String,
}

/// Runs `falco` until it ends. The error says why it did not end.
pub(super) fn run(falco: &str, arguments: &[&OsStr], limit: Limit<'_>) -> Result<Ran, String> {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let (process, output) = Process::start(falco, arguments)?;
    finish(process, output, limit).map_err(|why| format!("`{falco} {}` {why}", words.join(" ")))
}

/// Waits for the end of a process and of its output. The error says why there is none.
fn finish(mut process: Process, output: PipeReader, limit: Limit<'_>) -> Result<Ran, String> {
    let begin = Instant::now();
    let (send, read) = channel();
    let reading = std::thread::Builder::new().name("falco output".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let mut output = output.take(ENGINE_OUTPUT_BYTES_MAX);
        // The bytes so far are the output.
        let _ = output.read_to_end(&mut bytes);
        // Nobody waits for it any more.
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    reading.map_err(|error| format!("has no thread for its output: {error}"))?;
    let Ended { is_success, status } = loop {
        if let Some(ended) = process.ended() {
            break ended;
        }
        if limit.is_reached() {
            let seconds = limit.until.saturating_duration_since(begin).as_secs_f32();
            return Err(format!("did not end within {seconds:.0} s"));
        }
        std::thread::sleep(ENGINE_LOOK);
    };
    // A process that it has started, and that left its group, may hold the output open.
    let output = read.recv_timeout(ENGINE_STOP_TIME);
    let output = output.map_err(|_| "has ended, but another process holds its output open".to_owned())?;
    Ok(Ran { is_success, status, output })
}

/// A Falco that castellan can work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    /// As Falco prints it, such as `0.43.1`.
    pub(super) text: String,
    pub(super) language: Language,
    /// The path of the program without symbolic links.
    pub(super) program: String,
}

/// Asks `falco` for its version. The error says why castellan cannot work with it.
pub(super) fn version(falco: &str, limit: Limit<'_>) -> Result<Version, String> {
    let program = trusted("the program", falco)?;
    let ran = run(&program, &[OsStr::new("--version")], limit.at_most(ENGINE_VERSION_TIME))?;
    let language = castellan_falco::version::engine_of(&ran.output)
        .map_err(|why| format!("`{falco}`: {why} ({})", ran.status))?;
    let found = ran.output.lines().rev().find_map(|line| line.split_once("Falco version:"));
    let text = found.and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or_default();
    Ok(Version { text: text.to_owned(), language, program })
}

/// Checks that a Falco knows the language in which the rules are written.
pub(super) fn check_language(version: &Version, language: Language) -> Result<(), String> {
    if language == Language::V0_44 && version.language == Language::V0_43 {
        return Err(format!(
            "Falco {} does not know the rule language of `rules.engine = \"0.44\"`",
            version.text
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_newer_language_need_a_newer_falco() {
        let of = |language| Version { text: "0.43.1".to_owned(), language, program: String::new() };
        for (has, needs, is_good) in [
            (Language::V0_43, Language::V0_43, true),
            (Language::V0_44, Language::V0_43, true),
            (Language::V0_44, Language::V0_44, true),
            (Language::V0_43, Language::V0_44, false),
        ] {
            assert_eq!(check_language(&of(has), needs).is_ok(), is_good, "{has:?} {needs:?}");
        }
    }

    /// Such a process would hold up each later change of the rules.
    #[test]
    fn a_process_that_holds_the_output_open_holds_up_nothing() {
        let (output, input) = io::pipe().unwrap();
        // It waits until this test has ended, and is in no group of this one.
        let text = "exec 3<&0; setsid sh -c 'echo up > $0; read line <&3' $0 & until test -s $0; do :; done";
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", text]).arg(dir.path().join("up"));
        command.stdin(Stdio::piped()).stdout(input).process_group(0);
        let mut child = command.spawn().unwrap();
        drop(command);
        let _held = child.stdin.take();
        let begin = Instant::now();
        let why = finish(Process::of(child), output, Limit::of(Duration::from_secs(60))).unwrap_err();
        assert!(why.contains("holds its output open"), "{why}");
        assert!(begin.elapsed() < Duration::from_secs(30), "it has waited");
    }

    #[test]
    fn words_without_a_program_start_nothing() {
        for words in [&[][..], &["1"], &["x", "/bin/true"]] {
            let not = become_falco(words.iter().map(OsString::from));
            assert!(matches!(not, NotBecome::Untied(_)), "{words:?}: {not:?}");
        }
    }
}
