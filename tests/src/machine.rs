//! A machine with its own users and one registration: temporary users in a private `/etc`, and their programs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use crate::agents::{self, Agent};
use crate::home::Home;
use crate::hook::{ENFORCE, HOOK_LIMIT, RULES, bash, understood};
use crate::model::{Model, Script};
use crate::process::{Finished, Running};
use crate::run::{AGENT_LIMIT, claude_environment};

/// A temporary user.
pub const ONE: u32 = 61_001;
/// A second temporary user.
pub const TWO: u32 = 61_002;
/// A user id without an entry in the user database.
pub const UNNAMED: u32 = 61_003;

/// The files of machine-wide registrations, below `/etc`: Claude Code's and Codex's.
pub const REGISTRATIONS: [&str; 2] =
    ["claude-code/managed-settings.d/50-castellan.json", "codex/requirements.toml"];

/// A machine with some users.
#[derive(Debug)]
pub struct Machine {
    /// The administrator's home.
    pub home: Home,
}

impl Machine {
    /// Creates the machine. Returns `None`, after a warning, if this cannot run here.
    pub fn new() -> Result<Option<Machine>> {
        if !rustix::process::geteuid().is_root() {
            agents::not_run("to run as other users needs root")?;
            return Ok(None);
        }
        let mut home = Home::with_castellan("every-user", ENFORCE, RULES)?;
        if !home.make_etc_private()? {
            return Ok(None);
        }
        let machine = Machine { home };
        fs::set_permissions(machine.root()?, fs::Permissions::from_mode(0o755))?;
        let mut users = "root:x:0:0::/root:/bin/sh\n".to_owned();
        for user in [ONE, TWO] {
            let dir = machine.user(user)?;
            fs::create_dir_all(&dir)?;
            chown(&dir, Some(user), Some(user))?;
            users.push_str(&format!("u{user}:x:{user}:{user}::{}:/bin/sh\n", dir.display()));
        }
        let passwd = machine.home.etc().join("passwd");
        fs::remove_file(&passwd)?;
        fs::write(passwd, users)?;
        Ok(Some(machine))
    }

    /// The folder above all others.
    pub fn root(&self) -> Result<PathBuf> {
        Ok(self.home.etc().parent().context("no root")?.to_owned())
    }

    /// A user's home directory.
    pub fn user(&self, user: u32) -> Result<PathBuf> {
        Ok(self.root()?.join(format!("users/{user}")))
    }

    /// castellan's home of a user.
    pub fn castellan(&self, user: u32) -> Result<PathBuf> {
        Ok(self.user(user)?.join(".local/share/castellan"))
    }

    /// Runs `castellan` as root, like an administrator.
    pub fn administer(&self, arguments: &[&str]) -> Result<Finished> {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        Running::start(command.args(arguments))?.finish(HOOK_LIMIT)
    }

    /// Runs a program as a user, with an environment that names other directories.
    pub fn run_as(&self, user: u32, arguments: &[String], input: &str) -> Result<Finished> {
        let mut command = self.command_as(user, Path::new("timeout"));
        command.arg("60").args(arguments);
        let elsewhere = self.root()?.join("elsewhere");
        command.env("HOME", &elsewhere).env("XDG_DATA_HOME", &elsewhere).env("USER", "root").current_dir("/");
        Running::start_with_input(&mut command, input.as_bytes())?.finish(HOOK_LIMIT)
    }

    /// Returns a command that runs a program as a user.
    pub fn command_as(&self, user: u32, program: &Path) -> Command {
        let mut command = self.home.command(Path::new("setpriv"));
        let id = user.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(program);
        command
    }

    /// Returns the command line that is registered for all users.
    pub fn hook(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.home.etc().join(REGISTRATIONS[0]))?;
        let settings: Json = serde_json::from_str(&text)?;
        let handler = settings.pointer("/hooks/PreToolUse/0/hooks/0").context("no hook for questions")?;
        let program = handler.get("command").context("no command")?;
        let arguments = handler.get("args").and_then(Json::as_array).context("no arguments")?;
        let words = std::iter::once(program).chain(arguments);
        words.map(|word| word.as_str().map(str::to_owned).context("no word")).collect()
    }

    /// Returns the answer to a user's agent about a command, and the hook's standard error.
    pub fn ask(&self, user: u32, command: &str) -> Result<(String, String)> {
        let done = self.run_as(user, &self.hook()?, &bash(command).to_string())?;
        Ok((understood(&done), done.stderr))
    }

    /// Returns the commands that a user's daemon has judged, from its log.
    pub fn judged(&self, user: u32) -> Result<Vec<String>> {
        let castellan = self.home.bin().join("castellan").display().to_string();
        let home = self.castellan(user)?.display().to_string();
        let line = [castellan, "--home".to_owned(), home, "log".to_owned(), "--json".to_owned()];
        let log = self.run_as(user, &line, "")?;
        let records = log.stdout.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        Ok(records
            .filter_map(|one| one.pointer("/call/input/command")?.as_str().map(str::to_owned))
            .collect())
    }
}

/// Two users, one with a rule against a file. Each user's Claude Code asks that user's own daemon about it.
pub fn check_each_users_claude() -> Result<()> {
    let Some(executable) = Agent::Claude.executable()? else { return Ok(()) };
    let Some(machine) = Machine::new()? else { return Ok(()) };
    let rules = machine.castellan(ONE)?.join("config/rules/user/test.yaml");
    machine.home.write(&rules, RULES)?;
    let given = Running::start(Command::new("chown").args(["-R", &ONE.to_string()]).arg(machine.user(ONE)?))?;
    ensure!(given.finish(HOOK_LIMIT)?.code == Some(0), "the rules cannot be given to their user");
    ensure!(machine.administer(&["install", "--managed", "claude"])?.code == Some(0), "not installed");
    for (user, is_made) in [(ONE, false), (TWO, true)] {
        let command = "touch forbidden-file";
        let model =
            Model::start(Agent::Claude.api(), vec![Script::main([vec![Agent::Claude.shell(command)]])])?;
        let mut claude = machine.command_as(user, &executable);
        let dir = machine.user(user)?;
        claude.envs(claude_environment(&model)).env("HOME", &dir).env("TMPDIR", &dir).current_dir(&dir);
        claude.args(["-p", "--output-format", "json", "--permission-mode", "bypassPermissions", "go"]);
        let done = Running::start(&mut claude)?.finish(AGENT_LIMIT)?;
        let made = dir.join("forbidden-file").exists();
        ensure!(made == is_made, "user {user}: {made}: {done:?}");
        let judged = machine.judged(user)?;
        ensure!(
            judged == [command],
            "user {user}: {judged:?}, told {:?}: {done:?}",
            model.result_of("0-0-0")
        );
    }
    Ok(())
}
