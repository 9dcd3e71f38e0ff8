//! The programs `falco` and its plugin as files, and runs of `falco` that end by themselves. Each process of Falco is
//! started by a second castellan ([`become_falco`]), so that it ends with the daemon in any case.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use castellan_files::{Guard, explained};
use castellan_rules::Engine as Language;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::limits::{ENGINE_LOOK, ENGINE_OUTPUT_BYTES_MAX, ENGINE_STOP_TIME, ENGINE_VERSION_TIME};
use crate::platform;

/// The hidden command of the binary that becomes Falco.
pub const COMMAND: &str = "become-falco";

/// Becomes Falco, which ends when the process that started this one does. `words`: the process id of that one, the
/// program and its arguments. Returns only with an error.
pub fn become_falco(mut words: impl Iterator<Item = OsString>) -> io::Error {
    let parent = words.next().and_then(|word| word.to_str()?.parse::<u32>().ok());
    let (Some(parent), Some(program)) = (parent, words.next()) else {
        return io::ErrorKind::InvalidInput.into();
    };
    if let Err(error) = platform::end_with_parent() {
        return error;
    }
    // The other one may have ended before.
    if std::os::unix::process::parent_id() != parent {
        return io::Error::other("the process that started this one has ended");
    }
    Command::new(program).args(words).exec()
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
pub(super) fn run(falco: &str, arguments: &[&OsStr], time: Duration) -> Result<Ran, String> {
    let (mut process, output) = Process::start(falco, arguments)?;
    let reading = std::thread::Builder::new().name("falco output".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let mut output = output.take(ENGINE_OUTPUT_BYTES_MAX);
        // What was read so far is the output.
        let _ = output.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let reading = reading.map_err(|error| format!("no thread for Falco's output: {error}"))?;
    let until = Instant::now() + time;
    let Ended { is_success, status } = loop {
        if let Some(ended) = process.ended() {
            break ended;
        }
        if Instant::now() >= until {
            let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
            return Err(format!("`{falco} {}` did not end within {} s", words.join(" "), time.as_secs()));
        }
        std::thread::sleep(ENGINE_LOOK);
    };
    Ok(Ran { is_success, status, output: reading.join().unwrap_or_default() })
}

/// Checks that only this user or root can have written a file that decides about calls, and its folder. Returns its path
/// without symbolic links: another user could change a link after the check.
pub(super) fn check_file(name: &str, path: &str) -> Result<String, String> {
    check_file_for(rustix::process::getegid().as_raw(), name, path)
}

/// As [`check_file`], for a process of the group `group`. Its users may write: it is most often the user's own group.
fn check_file_for(group: u32, name: &str, path: &str) -> Result<String, String> {
    let of = |path: &Path, why: &str| format!("{name} `{}`: {why}", path.display());
    let real = std::fs::canonicalize(path).map_err(|error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        // An agent reads this, too, and is not to install anything.
        let missing = "it does not exist".to_owned();
        of(Path::new(path), &if is_missing { missing } else { explained(&error) })
    })?;
    for part in [Some(real.as_path()), real.parent()].into_iter().flatten() {
        let found = std::fs::metadata(part).map_err(|error| of(part, &explained(&error)))?;
        Guard::User.check(&found).map_err(|error| of(part, &error.to_string()))?;
        if found.mode() & 0o020 != 0 && found.gid() != group {
            let why = format!("the users of group {} can write it: run `chmod g-w` on it", found.gid());
            return Err(of(part, &why));
        }
        if part == real.as_path() && !found.is_file() {
            return Err(of(part, "it is no file"));
        }
    }
    real.into_os_string().into_string().map_err(|path| of(Path::new(&path), "its path is not UTF-8"))
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
pub(super) fn version(falco: &str) -> Result<Version, String> {
    let program = check_file("the program", falco)?;
    let ran = run(&program, &[OsStr::new("--version")], ENGINE_VERSION_TIME)?;
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_can_write_decides_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("falco");
        let path = file.to_str().unwrap().to_owned();
        let refused = |part: &str| {
            let why = check_file("the program", &path).unwrap_err();
            assert!(why.contains(part) && why.starts_with("the program `"), "{why}");
        };
        refused("does not exist");
        std::fs::create_dir(&file).unwrap();
        refused("no file");
        std::fs::remove_dir(&file).unwrap();
        std::fs::write(&file, "").unwrap();
        let real = dir.path().canonicalize().unwrap().join("falco").to_str().unwrap().to_owned();
        assert_eq!(check_file("the program", &path), Ok(real));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o777)).unwrap();
        refused("other users can write it");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        refused("other users can write it");
    }

    /// Debian's users have a group each; files of their own are often writable by it.
    #[test]
    fn users_of_another_group_cannot_write_a_file_that_decides() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("falco"), dir.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let group = std::fs::metadata(&file).unwrap().gid();
        let check = |group: u32| check_file_for(group, "the program", link.to_str().unwrap());
        for part in [file.as_path(), dir.path()] {
            let before = std::fs::metadata(part).unwrap().permissions();
            std::fs::set_permissions(part, std::fs::Permissions::from_mode(0o775)).unwrap();
            let why = check(group + 1).unwrap_err();
            assert!(why.contains(&format!("the users of group {group} can write it")), "{why}");
            let real = file.canonicalize().unwrap();
            assert_eq!(check(group).as_deref(), Ok(real.to_str().unwrap()));
            std::fs::set_permissions(part, before).unwrap();
        }
        assert!(check(group + 1).is_ok());
    }

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

    #[test]
    fn words_without_a_program_start_nothing() {
        for words in [&[][..], &["1"], &["x", "/bin/true"]] {
            let error = become_falco(words.iter().map(OsString::from));
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{words:?}");
        }
    }
}
