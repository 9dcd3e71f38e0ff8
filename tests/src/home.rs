//! A temporary home below one folder: a user's home directory, a repository, Codex's home, castellan's home and
//! binaries. Its environment inherits only `PATH`. Dropping it kills all of its processes and removes the folder. Must
//! not depend on what the agents do in it.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::process::{Finished, Running, processes_of};
use crate::wait::{self, until};
use crate::{agents, etc};

/// castellan answers its own commands at once; only a broken castellan needs this long.
const COMMAND_LIMIT: Duration = Duration::from_secs(20);

/// Codex's configuration without the model's name and address, which the command line gives.
const TRUST_FILE: &str = r#"model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
wire_api = "responses"
requires_openai_auth = false

[analytics]
enabled = false
"#;

/// A temporary home.
#[derive(Debug)]
pub struct Home {
    root: TempDir,
    private_etc: bool,
}

impl Home {
    /// Creates a home without castellan. `name` only helps people who look at the folder.
    pub fn new(name: &str) -> Result<Home> {
        // Codex refuses to set up its helpers below the temporary folder.
        let parent = agents::target().join("e2e");
        fs::create_dir_all(&parent)?;
        let parent = parent.canonicalize()?;
        Home::in_folder(tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(parent)?)
    }

    /// Creates a home at a path that is the same in every run, for screens that show paths.
    pub(crate) fn at_steady_path(name: &str) -> Result<Home> {
        let parent = std::env::temp_dir().canonicalize()?;
        // A run that was killed leaves its folder.
        let path = parent.join(format!("castellan-{name}"));
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        Home::in_folder(
            tempfile::Builder::new().prefix(&format!("castellan-{name}")).rand_bytes(0).tempdir_in(parent)?,
        )
    }

    fn in_folder(root: TempDir) -> Result<Home> {
        let home = Home { root, private_etc: false };
        for folder in [home.user(), home.codex(), home.workspace(), home.bin(), home.temporary()] {
            fs::create_dir_all(folder)?;
        }
        let trust = format!("\n[projects.{:?}]\ntrust_level = \"trusted\"\n", home.workspace());
        fs::write(home.codex().join("config.toml"), format!("{TRUST_FILE}{trust}"))?;
        let mut git = home.command(Path::new("git"));
        let done = Running::start(git.args(["init", "--quiet"]))?.finish(COMMAND_LIMIT)?;
        ensure!(done.code == Some(0), "`git init` failed: {}", done.stderr);
        Ok(home)
    }

    /// Creates a home with castellan's binaries, its configuration and one file of rules.
    ///
    /// The binaries come from `CASTELLAN_BIN_DIR`, or else from the folder of this test's build. The caller must build
    /// them (`cargo xtask test` does). Returns an error if they are missing.
    pub fn with_castellan(name: &str, config: &str, rules: &str) -> Result<Home> {
        let home = Home::new(name)?;
        for binary in ["castellan", "castellan-hook", "castellan-sandbox"] {
            home.link(binary)?;
        }
        // The daemon contains calls only after its probe has ended, so a test that does not name containment goes without it.
        // At the end, so that messages name the lines of `config`.
        let containment =
            if config.contains("containment") { "" } else { "\n[containment]\nmode = \"off\"\n" };
        home.write(&home.castellan().join("config/config.toml"), &format!("{config}{containment}"))?;
        home.write(&home.castellan().join("config/rules/user/test.yaml"), rules)?;
        Ok(home)
    }

    /// Puts one of castellan's binaries into [`Home::bin`].
    pub fn link(&self, binary: &str) -> Result<()> {
        self.link_as(binary, binary)
    }

    /// Puts one of the built binaries into [`Home::bin`], under a name.
    pub fn link_as(&self, binary: &str, name: &str) -> Result<()> {
        let built = built_binaries()?.join(binary);
        // A hard link, because the hook looks for `castellan` beside its own executable, past symlinks. Not a copy: an
        // executable that is being written while another thread forks cannot be started.
        let missing = || format!("`{}` cannot be linked; run `cargo build` first", built.display());
        fs::hard_link(&built, self.bin().join(name)).with_context(missing)
    }

    /// Puts a file of its own with one of the built binaries into [`Home::bin`], under a name. The change time of a link is
    /// also that of all others, so a home that comes or goes would change it.
    pub fn copy_as(&self, binary: &str, name: &str) -> Result<()> {
        let built = built_binaries()?.join(binary);
        // A separate process, because an executable that is being written while another thread forks cannot be started.
        let copied = Command::new("cp").arg(&built).arg(self.bin().join(name)).status()?;
        ensure!(copied.success(), "`{}` cannot be copied; run `cargo build` first", built.display());
        Ok(())
    }

    /// Gives all later commands private `/etc/castellan`, `/etc/claude-code` and `/etc/codex`. Returns false, after a
    /// warning, if the system does not permit it. With `CI=true` that is an error.
    pub fn make_etc_private(&mut self) -> Result<bool> {
        etc::lay_out(self.root.path())?;
        self.private_etc = true;
        let done = Running::start(&mut self.command(Path::new("true")))?.finish(COMMAND_LIMIT)?;
        if done.code != Some(0) {
            agents::not_run(&format!("no private mount namespace: {}", done.stderr.trim()))?;
        }
        Ok(done.code == Some(0))
    }

    /// Gives all later commands an empty `/run` and returns its folder, after [`Home::make_etc_private`].
    pub fn make_run_private(&self) -> Result<PathBuf> {
        ensure!(self.private_etc, "no private mount namespace");
        let run = self.root.path().join("run");
        fs::create_dir_all(&run)?;
        Ok(run)
    }

    /// Gives all later commands an empty `/var/lib` and returns its folder, after [`Home::make_etc_private`].
    pub fn make_state_private(&self) -> Result<PathBuf> {
        ensure!(self.private_etc, "no private mount namespace");
        let state = self.root.path().join("var-lib");
        fs::create_dir_all(&state)?;
        Ok(state)
    }

    /// The user's home directory.
    pub fn user(&self) -> PathBuf {
        self.root.path().join("user")
    }

    /// `CODEX_HOME`.
    pub fn codex(&self) -> PathBuf {
        self.root.path().join("codex")
    }

    /// The git repository in which agents start.
    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("repo")
    }

    /// The folder of castellan's binaries.
    pub fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    /// The value of castellan's `--home`.
    pub fn castellan(&self) -> PathBuf {
        self.root.path().join("castellan")
    }

    /// The test's `/etc` after [`Home::make_etc_private`].
    pub fn etc(&self) -> PathBuf {
        self.root.path().join("etc")
    }

    /// Writes a file, and creates its parent folders for the user alone.
    pub fn write(&self, file: &Path, text: &str) -> Result<()> {
        let folder = file.parent().context("a file without a folder")?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        fs::write(file, text).with_context(|| format!("`{}` cannot be written", file.display()))
    }

    /// Returns a command that runs in the workspace with this home's environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = match self.private_etc {
            true => etc::command(self.root.path(), program),
            false => Command::new(program),
        };
        command.env_clear().current_dir(self.workspace());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.user()).env("CODEX_HOME", self.codex()).env("TMPDIR", self.temporary());
        command
    }

    /// Runs `castellan --home <home> ARGUMENTS`. Returns an error unless the exit code is 0, or 1 of a command that answers
    /// whether castellan protects: most homes of tests guard no agent.
    pub fn run_castellan(&self, arguments: &[&str]) -> Result<Finished> {
        let mut command = self.command(&self.bin().join("castellan"));
        command.arg("--home").arg(self.castellan()).args(arguments);
        let done = Running::start(&mut command)?.finish(COMMAND_LIMIT)?;
        let may_say_no = matches!(arguments.first(), Some(&("status" | "doctor")));
        if done.code != Some(0) && !(may_say_no && done.code == Some(1)) {
            bail!(
                "`castellan {}` exits with {:?}\n{}{}",
                arguments.join(" "),
                done.code,
                done.stdout,
                done.stderr
            );
        }
        Ok(done)
    }

    /// Registers castellan's hooks in the user's settings of an agent, in the place of all that is there.
    pub fn register(&self, agent: agents::Agent) -> Result<()> {
        let printed = self.run_castellan(&["install", agent.name(), "--print"])?.stdout;
        self.write(&agent.settings(self), &printed)
    }

    /// Returns the records of the log, oldest first.
    pub fn records(&self) -> Result<Vec<Json>> {
        let log = self.run_castellan(&["log", "--json"])?.stdout;
        log.lines()
            .map(|line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}")))
            .collect()
    }

    /// Starts the daemon and returns its process id.
    pub fn start_daemon(&self) -> Result<Pid> {
        self.run_castellan(&["start"])?;
        let status: Json = serde_json::from_str(&self.run_castellan(&["status", "--json"])?.stdout)?;
        let pid = status.get("pid").and_then(Json::as_i64).and_then(|pid| i32::try_from(pid).ok());
        pid.and_then(Pid::from_raw).with_context(|| format!("no `pid` in {status}"))
    }

    /// Waits until a hook is connected to a daemon that does not accept the connection.
    pub fn wait_for_waiting_hook(&self, limit: Duration) -> Result<()> {
        // In the kernel's table, state 02 is a connection that nobody has accepted yet.
        let folder = self.castellan();
        let waiting = |line: &str| {
            let columns: Vec<_> = line.split_ascii_whitespace().collect();
            columns.get(5) == Some(&"02")
                && columns.get(7).is_some_and(|path| Path::new(path).starts_with(&folder))
        };
        let seen =
            until(limit, || Ok(fs::read_to_string("/proc/net/unix")?.lines().any(waiting).then_some(())))?;
        seen.context("no hook has connected")
    }

    /// The folder of temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.root.path().join("tmp")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Finds processes by the home's unique path and kills them, so stopped or broken daemons end too. Repeats until
        // none is left, because an ending hook may have just started a daemon.
        drop(until(Duration::from_secs(5), || {
            let left = processes_of(self.root.path());
            for pid in &left {
                let _ended_already = kill_process(*pid, Signal::KILL);
            }
            for pid in &left {
                wait::ended(*pid, Duration::from_secs(1))?;
            }
            Ok(left.is_empty().then_some(()))
        }));
    }
}

/// Test executables are in the folder `deps` below the folder of the binaries.
fn built_binaries() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CASTELLAN_BIN_DIR") {
        return Ok(folder.into());
    }
    let test = std::env::current_exe()?;
    let folder = test.parent().and_then(Path::parent).context("the test executable has no folder")?;
    Ok(folder.to_owned())
}

/// Returns the hook as it is installed, linked statically; `None` if it has not been built.
pub fn static_hook() -> Result<Option<PathBuf>> {
    let mut found = None;
    for entry in fs::read_dir(agents::target())? {
        let hook = entry?.path().join("release-hook/castellan-hook");
        if hook.is_file() {
            found = Some(hook);
        }
    }
    Ok(found)
}
