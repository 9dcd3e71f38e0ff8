//! Builds the binaries that are installed and measured.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::root;

pub(crate) struct Built {
    pub(crate) castellan: PathBuf,
    pub(crate) hook: PathBuf,
    pub(crate) launcher: PathBuf,
}

/// Builds the release binaries. Links the hook statically if possible: shared libraries add half of its run time.
pub(crate) fn release() -> anyhow::Result<Built> {
    cargo(&["build", "--release", "--package", "castellan-cli"], "")?;
    let hook = small_static("castellan-hook", "castellan-hook")?;
    let launcher = small_static("castellan-launcher", "castellan-sandbox")?;
    Ok(Built { castellan: target()?.join("release/castellan"), hook, launcher })
}

/// Builds a small program of a package, as the hook or the launcher.
pub(crate) fn small_static(package: &str, program: &str) -> anyhow::Result<PathBuf> {
    let host = host_triple()?;
    let build = ["build", "--profile", "release-hook", "--package", package, "--target", &host];
    let flags = if cfg!(target_os = "linux") { "-C target-feature=+crt-static" } else { "" };
    if let Err(error) = cargo(&build, flags) {
        eprintln!("xtask: {package} cannot be linked statically here ({error:#}); linking it dynamically");
        cargo(&build, "")?;
    }
    Ok(target()?.join(host).join("release-hook").join(program))
}

/// Runs cargo with additional compiler flags.
pub(crate) fn cargo(arguments: &[&str], flags: &str) -> anyhow::Result<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root()?);
    if !flags.is_empty() {
        command.env("RUSTFLAGS", flags);
    }
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}

pub(crate) fn target() -> anyhow::Result<PathBuf> {
    Ok(std::env::var_os("CARGO_TARGET_DIR").map_or(root()?.join("target"), PathBuf::from))
}

fn host_triple() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}
