//! The real Claude Agent SDKs and the tools of the packages in `sdk/`, in a cache below the target folder: the pins of
//! `sdk/typescript/package.json` and `sdk/python/requirements-test.txt`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use super::steps::run_command;
use crate::root;

/// Installs the missing ones. Without npm or Python the suite names what it cannot run; in CI that is a
/// failure.
pub(super) fn install(until: Instant) -> anyhow::Result<()> {
    let (sources, cache) = (root()?.join("sdk"), root()?.join("target/sdk"));
    with_pins(&sources.join("typescript/package.json"), &cache.join("typescript"), "npm", |to| {
        std::fs::copy(sources.join("typescript/package.json"), to.join("package.json"))?;
        let to = to.display().to_string();
        run_command(
            &["npm", "install", "--prefix", &to, "--no-audit", "--no-fund", "--ignore-scripts"],
            until,
        )
    })?;
    let pins = sources.join("python/requirements-test.txt");
    with_pins(&pins, &cache.join("python"), "python3", |to| {
        run_command(&["python3", "-m", "venv", &to.display().to_string()], until)?;
        let pip = to.join("bin/pip").display().to_string();
        run_command(&[&pip, "install", "--quiet", "--requirement", &pins.display().to_string()], until)
    })
}

/// Calls `install` unless the folder `to` was installed with the same `pins`.
pub(super) fn with_pins(
    pins: &Path,
    to: &Path,
    program: &str,
    install: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let wanted = std::fs::read(pins).with_context(|| pins.display().to_string())?;
    let installed = to.join("installed");
    if std::fs::read(&installed).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    if Command::new(program).arg("--version").output().is_err() {
        eprintln!("\n!! {program} is missing: the tests with a real agent SDK DO NOT RUN\n");
        ensure!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "in CI the tests with real agent SDKs must run: install {program}"
        );
        return Ok(());
    }
    // An earlier version of the pins.
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir_all(to)?;
    install(to)?;
    std::fs::write(installed, wanted).context("the SDK's cache cannot be marked complete")
}
