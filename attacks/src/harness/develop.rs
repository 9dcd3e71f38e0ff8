//! Ordinary development in castellan's sandbox: a script in the workspace, without the small limits of the attacks.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::sandbox::{Level, Sandbox};
use super::scene::{Place, User};
use super::server::Internet;
use crate::targets::Targets;

/// A job: what is done before in the workspace, and inside.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// A script of the shell that runs outside, in the workspace.
    pub before: &'a str,
    /// A script of the shell that runs inside, in the workspace.
    pub inside: &'a str,
    /// The port of `allowed.test`.
    pub port: u16,
}

/// Runs a job as the user of the harness; returns what it wrote.
///
/// # Errors
///
/// A scene that cannot be made, or a script that fails, with what it wrote.
pub fn develop(job: Job<'_>, level: Level, program: &Path) -> anyhow::Result<String> {
    let place = Place::new(program)?;
    let internet = Internet::start()?;
    let scene = place.scene(User::Own)?;
    let mut targets = Targets::default();
    for (name, path) in [("work", scene.work()), ("home", scene.home()), ("sockets", scene.sockets())] {
        targets.set(name, path.display());
    }
    targets.set("capabilities", place.capabilities(User::Own).display());
    targets.set("server-port", job.port);
    targets.set("limits", "none");
    std::fs::write(scene.work().join("targets"), targets.text())?;
    let mut before = Command::new("/bin/sh");
    before.args(["-ec", job.before]).current_dir(scene.work()).env("HOME", scene.home());
    let before = before.output().context("no shell")?;
    anyhow::ensure!(before.status.success(), "outside: {}", String::from_utf8_lossy(&before.stderr));
    let words = ["/bin/sh", "-ec", job.inside];
    let mut command = Sandbox::Castellan(level).command(&scene, &internet, &words)?;
    // The tools of the machine, in folders that the sandbox shows for reading.
    for name in ["PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "PYENV_ROOT", "PYENV_VERSION"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let (None, Some(home)) = (std::env::var_os("RUSTUP_HOME"), std::env::home_dir()) {
        command.env("RUSTUP_HOME", home.join(".rustup"));
    }
    let output = command.output().context("the sandbox cannot be started")?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    anyhow::ensure!(output.status.success(), "inside ({}): {text}", output.status);
    Ok(text)
}
