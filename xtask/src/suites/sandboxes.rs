//! The sandboxes that castellan's is compared with, and the tools that work in it: bubblewrap and pytest of the system, and
//! Anthropic's sandbox-runtime by the pins of `attacks/runtime/package.json` in a cache below the target folder.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::ensure;

use super::kits::with_pins;
use super::steps::run_command;
use crate::root;

/// Programs of the system, each with its package in Debian.
const PROGRAMS: &[(&str, &str)] =
    &[("bwrap", "bubblewrap"), ("socat", "socat"), ("rg", "ripgrep"), ("pytest", "python3-pytest")];

/// Returns the folder of the sandbox-runtime.
pub(crate) fn runtime() -> anyhow::Result<PathBuf> {
    Ok(root()?.join("target/sandbox-runtime"))
}

/// Installs the missing ones. The suite names what it cannot run; in CI that is a failure.
pub(crate) fn install(until: Instant) -> anyhow::Result<()> {
    let is_missing = |program: &str| Command::new(program).arg("--version").output().is_err();
    let missing = || PROGRAMS.iter().filter(|(program, _)| is_missing(program)).map(|(_, package)| *package);
    let packages: Vec<&str> = missing().collect();
    if !packages.is_empty() && rustix::process::geteuid().is_root() && !is_missing("apt-get") {
        run_command(&["apt-get", "update"], until)?;
        let install = ["apt-get", "install", "--yes", "--no-install-recommends"];
        run_command(&[install.as_slice(), &packages].concat(), until)?;
    }
    let packages: Vec<&str> = missing().collect();
    if !packages.is_empty() {
        eprintln!(
            "\n!! {} are missing: comparisons and work that need them DO NOT RUN\n",
            packages.join(", ")
        );
        ensure!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "in CI they must run");
    }
    let pins = root()?.join("attacks/runtime/package.json");
    with_pins(&pins, &runtime()?, "npm", |to| {
        std::fs::copy(&pins, to.join("package.json"))?;
        let to = to.display().to_string();
        let words = ["npm", "install", "--prefix", &to, "--no-audit", "--no-fund", "--ignore-scripts"];
        run_command(&words, until)
    })
}
