//! [`Rig`]: a home of castellan whose commands find a test's programs of a service manager, or none.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::process::{Finished, Running};
use castellan_tests::{hook, terminal, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

const SYSTEMCTL: &str = include_str!("programs/systemctl");
const LAUNCHCTL: &str = include_str!("programs/launchctl");

/// A home, and the programs that its commands find.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) home: Home,
}

impl Rig {
    /// A home without a service manager. `service`: the keys of the table `service`.
    pub(crate) fn new(service: &str) -> Result<Rig> {
        let config = format!("{}[service]\n{service}\n", hook::ENFORCE);
        let rig = Rig { home: Home::with_castellan("service", &config, hook::RULES)? };
        fs::create_dir_all(rig.programs())?;
        // The test's programs are shell scripts. A `systemctl` of this machine must not be among the others.
        for name in ["sh", "cat", "echo", "env", "grep", "ls", "rm", "sed", "touch", "tr"] {
            let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
                .map(|dir| dir.join(name))
                .find(|file| file.is_file());
            std::os::unix::fs::symlink(
                found.with_context(|| format!("no `{name}`"))?,
                rig.programs().join(name),
            )?;
        }
        Ok(rig)
    }

    /// The same with a `systemctl` whose manager is in this state.
    pub(crate) fn with_systemctl(state: &str, service: &str) -> Result<Rig> {
        let rig = Rig::new(service)?;
        rig.note("state", state)?;
        rig.program("systemctl", SYSTEMCTL)?;
        Ok(rig)
    }

    /// The same with a `launchctl`.
    pub(crate) fn with_launchctl() -> Result<Rig> {
        let rig = Rig::new("")?;
        rig.program("launchctl", LAUNCHCTL)?;
        Ok(rig)
    }

    fn program(&self, name: &str, text: &str) -> Result<()> {
        let file = self.programs().join(name);
        self.home.write(&file, text)?;
        Ok(fs::set_permissions(file, Permissions::from_mode(0o755))?)
    }

    fn programs(&self) -> PathBuf {
        self.home.user().join("programs")
    }

    /// Writes a file that a program reads.
    pub(crate) fn note(&self, name: &str, text: &str) -> Result<()> {
        self.home.write(&self.programs().join(name), text)
    }

    /// Removes such a file.
    pub(crate) fn forget(&self, name: &str) -> Result<()> {
        Ok(fs::remove_file(self.programs().join(name))?)
    }

    /// Returns the lines of words that the programs were asked since the last time. `NAME` stands for the service.
    pub(crate) fn words(&self, name: &str) -> Result<Vec<String>> {
        let file = self.programs().join("words");
        let text = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, "")?;
        Ok(text.lines().map(|line| line.replace(name, "NAME")).collect())
    }

    /// Returns the folder of units.
    pub(crate) fn units(&self) -> PathBuf {
        self.home.user().join(".config/systemd/user")
    }

    /// Returns the name of this home's service, from the dry run of its installation.
    pub(crate) fn name(&self) -> Result<String> {
        let shown = self.ok(&["service", "install", "--dry-run"])?;
        let unit = shown
            .lines()
            .find_map(|line| Path::new(line.trim()).file_name()?.to_str()?.strip_suffix(".service"));
        unit.map(str::to_owned).with_context(|| format!("no unit in {shown}"))
    }

    /// Runs `castellan` as a program does.
    pub(crate) fn run(&self, words: &[&str]) -> Result<Finished> {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        command.arg("--home").arg(self.home.castellan()).args(words).env("PATH", self.programs());
        Running::start(&mut command)?.finish(LIMIT)
    }

    /// Runs `castellan` as a person does.
    pub(crate) fn person(&self, words: &[&str]) -> Result<Finished> {
        let path = format!("PATH={}", self.programs().display());
        let (castellan, home) = (self.home.bin().join("castellan"), self.home.castellan());
        let line = [&path, castellan.to_str().context("a path")?, "--home", home.to_str().context("a path")?];
        terminal::run(&self.home, Path::new("/usr/bin/env"), &[&line[..], words].concat())
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn ok(&self, words: &[&str]) -> Result<String> {
        succeeded(words, self.run(words)?)
    }

    /// Runs a person's command that must succeed, and returns its output.
    pub(crate) fn person_ok(&self, words: &[&str]) -> Result<String> {
        succeeded(words, self.person(words)?)
    }

    /// Returns `castellan service status --json` with its exit code.
    pub(crate) fn status(&self) -> Result<(Option<i32>, Json)> {
        let done = self.run(&["service", "status", "--json"])?;
        Ok((done.code, serde_json::from_str(&done.stdout).with_context(|| done.stderr)?))
    }

    /// Returns the process id of the daemon, if one answers.
    pub(crate) fn daemon(&self) -> Result<Option<Pid>> {
        let done = self.run(&["status", "--json"])?;
        let status: Json = serde_json::from_str(&done.stdout)?;
        let pid = status.get("pid").and_then(Json::as_i64).and_then(|pid| i32::try_from(pid).ok());
        Ok(pid.and_then(Pid::from_raw))
    }

    /// Kills the daemon, and waits until it has ended.
    pub(crate) fn kill_daemon(&self) -> Result<Pid> {
        let pid = self.daemon()?.context("no daemon")?;
        kill_process(pid, Signal::KILL)?;
        ensure!(wait::ended(pid, LIMIT)?, "the daemon does not end");
        Ok(pid)
    }

    /// Waits for a daemon other than `before`.
    pub(crate) fn next_daemon(&self, before: Pid) -> Result<Pid> {
        let next = wait::until(LIMIT, || Ok(self.daemon()?.filter(|pid| *pid != before)))?;
        next.context("no other daemon starts")
    }

    /// Asks about a command that a rule denies. Returns the agent's reading of the answer, or `stopped`.
    pub(crate) fn forbidden(&self) -> Result<String> {
        let done = hook::judge(&self.home, &hook::bash("forbidden"))?;
        let is_stopped =
            format!("{}{}", done.stdout, done.stderr).contains("it is stopped, so every call is blocked");
        Ok(if is_stopped { "stopped".to_owned() } else { hook::understood(&done) })
    }
}

fn succeeded(words: &[&str], done: Finished) -> Result<String> {
    ensure!(done.code == Some(0), "{words:?} ends with {:?}: {}{}", done.code, done.stdout, done.stderr);
    Ok(done.stdout)
}
