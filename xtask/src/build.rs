//! Builds the binaries that are installed and measured.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::root;

pub(crate) struct Built {
    pub(crate) castellan: PathBuf,
    pub(crate) hook: PathBuf,
    pub(crate) launcher: PathBuf,
    pub(crate) reader: PathBuf,
}

/// Builds the release binaries. Links the hook statically if possible: shared libraries add half of its run time.
pub(crate) fn release() -> anyhow::Result<Built> {
    release_with("")
}

/// Builds them with additional compiler flags.
pub(crate) fn release_with(flags: &str) -> anyhow::Result<Built> {
    cargo(&["build", "--release", "--package", "castellan-cli"], flags)?;
    let hook = small_static_with("castellan-hook", "castellan-hook", flags)?;
    let launcher = small_static_with("castellan-launcher", "castellan-sandbox", flags)?;
    let reader = small_static_with("castellan-reader", "castellan-reader", flags)?;
    Ok(Built { castellan: target()?.join("release/castellan"), hook, launcher, reader })
}

/// Builds a small program of a package, as the hook or the launcher.
pub(crate) fn small_static(package: &str, program: &str) -> anyhow::Result<PathBuf> {
    small_static_with(package, program, "")
}

fn small_static_with(package: &str, program: &str, flags: &str) -> anyhow::Result<PathBuf> {
    let host = host_triple()?;
    let build = ["build", "--profile", "release-hook", "--package", package, "--target", &host];
    let fixed = if cfg!(target_os = "linux") { "-C target-feature=+crt-static" } else { "" };
    if let Err(error) = cargo(&build, format!("{fixed} {flags}").trim()) {
        eprintln!("xtask: {package} cannot be linked statically here ({error:#}); linking it dynamically");
        cargo(&build, flags)?;
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
    // C code of dependencies names its files in messages, too.
    let maps = flags.split(' ').filter_map(|flag| flag.strip_prefix("--remap-path-prefix="));
    let maps: Vec<String> = maps.map(|map| format!("-ffile-prefix-map={map}")).collect();
    if !maps.is_empty() {
        command.env("CFLAGS", maps.join(" ")).env("CXXFLAGS", maps.join(" "));
    }
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}

pub(crate) fn target() -> anyhow::Result<PathBuf> {
    Ok(std::env::var_os("CARGO_TARGET_DIR").map_or(root()?.join("target"), PathBuf::from))
}

/// Returns Rust's name of this platform.
pub(crate) fn host_triple() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}
