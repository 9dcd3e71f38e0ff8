//! `cargo xtask conformance`: builds and runs the crate `conformance`, which tests the rule engine against real Falco.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::build::{cargo, target};

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    // Builds the whole workspace, like the test suites. Another choice of packages would rebuild dependencies.
    cargo(&["build", "--quiet", "--workspace"], "")?;
    let program = target()?.join("debug/castellan-conformance");
    let status =
        Command::new(program).args(words).status().context("castellan-conformance cannot be started")?;
    ensure!(status.success(), "conformance {} failed", words.join(" "));
    Ok(())
}
