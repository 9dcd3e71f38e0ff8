//! `cargo xtask conformance`: what real Falco answered, against the rule engine. The crate `conformance` does it; here it is
//! only built and run.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::build::{cargo, target};

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    // The whole workspace, as the test suites do: another choice of packages would build dependencies anew.
    cargo(&["build", "--quiet", "--workspace"], "")?;
    let program = target()?.join("debug/castellan-conformance");
    let status =
        Command::new(program).args(words).status().context("castellan-conformance cannot be started")?;
    ensure!(status.success(), "conformance {} failed", words.join(" "));
    Ok(())
}
