//! The sandboxes in which attacks run, each with the command line that starts a program in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use castellan_sandbox::Capabilities;

use super::scene::Scene;
use super::server::Internet;

/// The version of Landlock that the expected verdicts are for.
const LANDLOCK: u32 = 6;

/// A sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sandbox {
    /// No sandbox: each attack must succeed, else it proves nothing.
    None,
    /// castellan's, with the kernel features of a level.
    Castellan(Level),
    /// bubblewrap with a usual command line.
    Bubblewrap,
    /// Anthropic's sandbox-runtime, which builds on bubblewrap.
    Runtime(RuntimeFiles),
}

/// The kernel features that castellan's sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Landlock and the system call filter, without namespaces.
    Landlock,
    /// Namespaces and the system call filter, without Landlock.
    Namespaces,
    /// Everything.
    Full,
}

/// The programs of the sandbox-runtime, in a folder that each user can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeFiles {
    /// Node.js.
    pub node: PathBuf,
    /// The program `srt`.
    pub cli: PathBuf,
}

impl Sandbox {
    /// Returns its name in `expected.toml` and in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Sandbox::None => "none",
            Sandbox::Castellan(Level::Landlock) => "landlock",
            Sandbox::Castellan(Level::Namespaces) => "namespaces",
            Sandbox::Castellan(Level::Full) => "full",
            Sandbox::Bubblewrap => "bubblewrap",
            Sandbox::Runtime(_) => "sandbox-runtime",
        }
    }

    /// Returns what the machine lacks for this sandbox; `None` if it has everything.
    pub(super) fn lacks(&self, can: &Capabilities) -> Option<&'static str> {
        let (wants_namespaces, wants_landlock) = match self {
            Sandbox::Castellan(Level::Full) => (true, true),
            Sandbox::Castellan(Level::Namespaces) => (true, false),
            Sandbox::Castellan(Level::Landlock) => (false, true),
            Sandbox::None | Sandbox::Bubblewrap | Sandbox::Runtime(_) => return None,
        };
        if wants_namespaces && !(can.namespaces && can.network_namespace && can.fresh_proc) {
            return Some("namespaces");
        }
        if wants_landlock && can.landlock < LANDLOCK {
            return Some("a Landlock that refuses signals and abstract sockets");
        }
        (!can.seccomp).then_some("filters of system calls")
    }

    /// Returns the command that runs `words` in the sandbox.
    pub(super) fn command(
        &self,
        scene: &Scene<'_>,
        internet: &Internet,
        words: &[&str],
    ) -> anyhow::Result<Command> {
        let mut command = match self {
            Sandbox::None => {
                let (program, arguments) = words.split_first().context("no program")?;
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            Sandbox::Castellan(level) => castellan(*level, scene, words),
            Sandbox::Bubblewrap => bubblewrap(scene, words),
            Sandbox::Runtime(files) => runtime(files, scene, words)?,
        };
        command.env_clear().current_dir(scene.work());
        for (name, value) in environment(scene) {
            command.env(name, value);
        }
        if *self == Sandbox::None {
            command.env("http_proxy", format!("http://{}", internet.open_proxy));
            command.env("all_proxy", format!("socks5h://{}", internet.open_proxy));
        }
        Ok(command)
    }
}

/// The environment of the user's shell, with a secret.
fn environment(scene: &Scene<'_>) -> Vec<(&'static str, String)> {
    let socket = |name| scene.sockets().join(name).display().to_string();
    vec![
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("HOME", scene.home().display().to_string()),
        ("USER", scene.user.name().to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", scene.secret.clone()),
        ("SSH_AUTH_SOCK", socket("agent.sock")),
        ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket("bus"))),
    ]
}

/// The options of bubblewrap that guides for agents name: everything can be read but the home folder, only the workspace can
/// be written, and nothing else is shared.
pub(super) const BUBBLEWRAP: &str = "bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs HOME --bind WORK WORK --chdir WORK --unshare-all --die-with-parent --new-session --clearenv --setenv PATH … --setenv HOME …";

fn bubblewrap(scene: &Scene<'_>, words: &[&str]) -> Command {
    let (home, work) = (scene.home(), scene.work());
    let mut command = Command::new("bwrap");
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs"]);
    command.arg(&home).arg("--bind").arg(&work).arg(&work).arg("--chdir").arg(&work);
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]);
    command.args(["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME"]).arg(&home);
    command.arg("--").args(words);
    command
}

/// The settings of the sandbox-runtime in words.
pub(super) const RUNTIME: &str = "the home folder in `denyRead`, the workspace and /tmp in `allowWrite`, `.castellan` in `denyWrite`, and `allowed.test` and `private.test` in `allowedDomains`; it cannot resolve these two names, so that its row of work by the proxy says little";

/// The settings of the sandbox-runtime: the secrets cannot be read, the workspace can be written, one host is allowed.
fn runtime(files: &RuntimeFiles, scene: &Scene<'_>, words: &[&str]) -> anyhow::Result<Command> {
    let quoted = |path: &Path| format!("\"{}\"", path.display());
    let settings = format!(
        "{{\"network\":{{\"allowedDomains\":[\"allowed.test\",\"private.test\"],\"deniedDomains\":[]}},\
         \"filesystem\":{{\"denyRead\":[{}],\"allowWrite\":[{},\"/tmp\"],\"denyWrite\":[{}]}}}}",
        quoted(&scene.home()),
        quoted(&scene.work()),
        quoted(&scene.work().join(".castellan"))
    );
    let file = scene.folder().join("srt-settings.json");
    std::fs::write(&file, settings)?;
    let mut command = Command::new(&files.node);
    command.arg(&files.cli).arg("--settings").arg(file).args(words);
    Ok(command)
}

/// The launcher, started as castellan does.
fn castellan(level: Level, scene: &Scene<'_>, words: &[&str]) -> Command {
    let mut command = Command::new(scene.place.bin().join("castellan-attack-box"));
    command.arg(Sandbox::Castellan(level).name()).arg(scene.work().join("targets")).args(words);
    command
}
