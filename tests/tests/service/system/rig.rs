//! [`Rig`]: a machine on which castellan guards two users by daemons with a user of their own. A program of the test is
//! `systemctl`: it starts what the units name. The test itself starts the readers, as the service manager does.

use std::fs::{self, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::hook::{RULES, bash, understood};
use castellan_tests::machine::{Machine, ONE, TWO};
use castellan_tests::process::{Finished, Running, processes_of};
use castellan_tests::{terminal, wait};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The daemon's user.
pub(crate) const DAEMON: u32 = 61_000;

const SYSTEMCTL: &str = include_str!("systemctl");

/// The machine. `readers` are the running ones.
pub(crate) struct Rig {
    pub(crate) machine: Machine,
    readers: Vec<(u32, Running)>,
}

impl Rig {
    /// The machine without castellan. `None`, after a warning, if this cannot run here.
    pub(crate) fn bare() -> Result<Option<Rig>> {
        let Some(machine) = Machine::new()? else { return Ok(None) };
        let root = machine.root()?;
        for folder in
            [machine.home.make_run_private()?, machine.home.make_state_private()?, root.join("programs")]
        {
            fs::create_dir_all(&folder)?;
            fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
        }
        fs::set_permissions(machine.home.temporary(), Permissions::from_mode(0o1777))?;
        let passwd = machine.home.etc().join("passwd");
        let daemon = format!("castellan:x:{DAEMON}:{DAEMON}::/var/lib/castellan:/usr/sbin/nologin\n");
        fs::write(&passwd, fs::read_to_string(&passwd)? + &daemon)?;
        let rig = Rig { machine, readers: Vec::new() };
        // A separate process copies it: an executable that is being written while another thread forks cannot be started.
        let built = std::env::current_exe()?;
        let built = built.parent().and_then(Path::parent).context("no folder")?.join("castellan-reader");
        let copied = Running::start(Command::new("cp").arg(built).arg(rig.reader()))?.finish(LIMIT)?;
        ensure!(copied.code == Some(0), "{copied:?}: run `cargo build -p castellan-reader` first");
        let systemctl = rig.programs()?.join("systemctl");
        fs::write(&systemctl, SYSTEMCTL)?;
        fs::set_permissions(&systemctl, Permissions::from_mode(0o755))?;
        rig.organisation("rules/test.yaml", RULES)?;
        Ok(Some(rig))
    }

    /// The machine with both users guarded, and their readers.
    pub(crate) fn installed() -> Result<Option<Rig>> {
        let Some(mut rig) = Rig::bare()? else { return Ok(None) };
        rig.install()?;
        for user in [ONE, TWO] {
            rig.start_reader(user)?;
        }
        Ok(Some(rig))
    }

    /// Changes the configuration of a user as the administrator.
    pub(crate) fn configure(&self, user: u32, config: &str) -> Result<()> {
        fs::write(self.home_of(user)?.join("config/config.toml"), config)?;
        let (own, home) = (self.machine.home.bin().join("castellan"), format!("/var/lib/castellan/{user}"));
        let done = terminal::run(&self.machine.home, &own, &["--home", &home, "apply", "--yes"])?;
        ensure!(done.code == Some(0), "{done:?}");
        Ok(())
    }

    /// Installs for both users.
    pub(crate) fn install(&self) -> Result<Finished> {
        let done =
            self.administer(&["install", "--system", "--user", "u61001", "--user", "u61002", "claude"])?;
        ensure!(done.code == Some(0), "{done:?}");
        Ok(done)
    }

    /// Writes one of the organisation's files.
    pub(crate) fn organisation(&self, name: &str, text: &str) -> Result<()> {
        let file = self.machine.home.etc().join("castellan").join(name);
        fs::create_dir_all(file.parent().context("a folder")?)?;
        Ok(fs::write(file, text)?)
    }

    /// The folder of `systemctl`.
    pub(crate) fn programs(&self) -> Result<PathBuf> {
        Ok(self.machine.root()?.join("programs"))
    }

    pub(crate) fn reader(&self) -> PathBuf {
        self.machine.home.bin().join("castellan-reader")
    }

    /// The folder that is `/run/castellan/UID` for the machine.
    pub(crate) fn run_of(&self, user: u32) -> Result<PathBuf> {
        Ok(self.machine.root()?.join(format!("run/castellan/{user}")))
    }

    /// The folder that is `/var/lib/castellan/UID` for the machine.
    pub(crate) fn home_of(&self, user: u32) -> Result<PathBuf> {
        Ok(self.machine.root()?.join(format!("var-lib/castellan/{user}")))
    }

    /// Runs `castellan` as root.
    pub(crate) fn administer(&self, words: &[&str]) -> Result<Finished> {
        let mut command = self.machine.home.command(&self.machine.home.bin().join("castellan"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(words).env("PATH", format!("{}:{path}", self.programs()?.display()));
        Running::start(&mut command)?.finish(LIMIT)
    }

    /// Runs `castellan` as root for the home of a user.
    pub(crate) fn administer_for(&self, user: u32, words: &[&str]) -> Result<Finished> {
        let home = format!("/var/lib/castellan/{user}");
        self.administer(&[&["--home", &home], words].concat())
    }

    /// Runs shell text as code of a user's agent.
    pub(crate) fn code(&self, user: u32, text: &str) -> Result<Finished> {
        self.machine.run_as(user, &["sh".to_owned(), "-c".to_owned(), text.to_owned()], "")
    }

    /// Runs `castellan` as code of a user's agent.
    pub(crate) fn castellan(&self, user: u32, words: &[&str]) -> Result<Finished> {
        let own = self.machine.home.bin().join("castellan").display().to_string();
        let words = std::iter::once(own).chain(words.iter().map(|word| (*word).to_owned()));
        self.machine.run_as(user, &words.collect::<Vec<_>>(), "")
    }

    /// Returns the answer to a user's agent about a command, and the hook's standard error.
    pub(crate) fn ask(&self, user: u32, command: &str) -> Result<(String, String)> {
        let done = self.machine.run_as(user, &self.machine.hook()?, &bash(command).to_string())?;
        Ok((understood(&done), format!("{}{}", done.stdout, done.stderr)))
    }

    /// Starts a hook of a user's agent.
    pub(crate) fn start_ask(&self, user: u32, command: &str) -> Result<Running> {
        let mut hook = self.machine.command_as(user, Path::new("timeout"));
        hook.arg("60").args(self.machine.hook()?).current_dir("/");
        Running::start_with_input(&mut hook, bash(command).to_string().as_bytes())
    }

    /// Waits until a call of a user is pending, and returns its id.
    pub(crate) fn pending(&self, user: u32) -> Result<String> {
        let look = || {
            let shown = self.administer_for(user, &["pending", "--json"])?.stdout;
            let shown: Json = serde_json::from_str(&shown)?;
            Ok(shown["pending"][0]["id"].as_str().map(str::to_owned))
        };
        wait::until(LIMIT, look)?.with_context(|| format!("no call is pending: {:#?}", self.records(user)))
    }

    /// Runs `castellan` as the person with this user does, at a terminal.
    pub(crate) fn person(&self, user: u32, words: &[&str]) -> Result<Finished> {
        let (id, own) = (user.to_string(), self.machine.home.bin().join("castellan").display().to_string());
        let line = ["--reuid", &id, "--regid", &id, "--clear-groups", &own];
        terminal::run(&self.machine.home, Path::new("setpriv"), &[&line[..], words].concat())
    }

    /// Starts the reader of a user with its socket, as the service manager does, and waits until it answers.
    pub(crate) fn start_reader(&mut self, user: u32) -> Result<()> {
        let path = self.run_of(user)?.join("reader.sock");
        let _was_there = fs::remove_file(&path);
        let listener = castellan_wire::bind(&path)?;
        chown(&path, Some(DAEMON), Some(DAEMON))?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let script = format!(
            "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=reader exec setpriv --reuid {user} --regid {user} \
             --clear-groups --no-new-privs '{}' --daemon castellan",
            self.reader().display()
        );
        let mut command = self.machine.home.command(Path::new("bash"));
        let stdin = Stdio::from(OwnedFd::from(listener));
        let running = Running::start_on(command.args(["-c", &script]), stdin, Stdio::null())?;
        self.readers.push((user, running));
        let sees =
            || Ok(self.status(user)?["system"]["reader"].as_str().is_some_and(str::is_empty).then_some(()));
        wait::until(LIMIT, sees)?.with_context(|| format!("no reader of {user}"))
    }

    /// Ends the reader of a user, whose socket then has nobody who listens.
    pub(crate) fn end_reader(&mut self, user: u32) {
        self.readers.retain(|(of, _)| *of != user);
    }

    /// Returns the process of a user's reader.
    pub(crate) fn reader_pid(&self, user: u32) -> Result<Pid> {
        let name = self.reader().display().to_string();
        let is_it = |pid: &Pid| {
            let process = format!("/proc/{}", pid.as_raw_nonzero());
            let words = fs::read_to_string(format!("{process}/cmdline")).unwrap_or_default();
            let status = fs::read_to_string(format!("{process}/status")).unwrap_or_default();
            words.starts_with(&name) && status.contains(&format!("Uid:\t{user}\t"))
        };
        processes_of(&self.machine.home.bin()).into_iter().find(is_it).context("no reader")
    }

    /// Returns the status of a user's daemon, as root sees it.
    pub(crate) fn status(&self, user: u32) -> Result<Json> {
        let done = self.administer_for(user, &["status", "--json"])?;
        serde_json::from_str(&done.stdout).with_context(|| format!("{done:?}"))
    }

    /// Returns the process of a user's daemon.
    pub(crate) fn daemon_pid(&self, user: u32) -> Result<Pid> {
        let status = self.status(user)?;
        let pid = status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        pid.with_context(|| format!("no daemon: {status}"))
    }

    /// Kills the daemon of a user, and starts it again as the service manager does.
    pub(crate) fn restart_daemon(&self, user: u32) -> Result<()> {
        let pid = self.daemon_pid(user)?;
        kill_process(pid, Signal::KILL)?;
        ensure!(wait::ended(pid, LIMIT)?, "the daemon does not end");
        let mut command = self.machine.home.command(&self.programs()?.join("systemctl"));
        let unit = format!("castellan@{user}.service");
        // Its end ends what has not left its process group yet.
        let starting = Running::start(command.args(["enable", "--now", &unit]))?;
        let other = || Ok(self.daemon_pid(user).ok().filter(|next| *next != pid));
        let found = wait::until(LIMIT, other)?;
        let done = starting.finish(LIMIT)?;
        ensure!(done.code == Some(0), "{done:?}");
        found.map(drop).with_context(|| {
            let said = fs::read_to_string(self.programs().unwrap_or_default().join("daemon.log"));
            format!("no other daemon: {said:?}")
        })
    }

    /// Returns the log of a user, as root sees it.
    pub(crate) fn records(&self, user: u32) -> Result<Vec<Json>> {
        let done = self.administer_for(user, &["log", "--json"])?;
        ensure!(done.code == Some(0), "{done:?}");
        done.stdout.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
    }
}
