//! `cargo xtask conformance` and `cargo xtask accuracy --ordinary`: builds and runs the crate `conformance`, which tests
//! the rule engine against real Falco, or the crate `ordinary`, which judges ordinary work.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::build::{cargo, target};

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    run_program("castellan-conformance", words)
}

pub(crate) fn run_ordinary(words: &[&str]) -> anyhow::Result<()> {
    run_program("castellan-ordinary", words)
}

fn run_program(name: &str, words: &[&str]) -> anyhow::Result<()> {
    // Builds the whole workspace, like the test suites. Another choice of packages would rebuild dependencies.
    cargo(&["build", "--quiet", "--workspace"], "")?;
    let program = target()?.join("debug").join(name);
    let status =
        Command::new(program).args(words).status().with_context(|| format!("{name} cannot be started"))?;
    ensure!(status.success(), "{name} {} failed", words.join(" "));
    Ok(())
}
