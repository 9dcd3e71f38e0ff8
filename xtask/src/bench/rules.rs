//! `cargo xtask bench rules`: what rules cost, measured by the program of `benches/rules`.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::build;

pub(crate) fn run() -> anyhow::Result<()> {
    build::cargo(&["build", "--release", "--package", "castellan-bench-rules"], "")?;
    let bench = build::target()?.join("release/castellan-bench-rules");
    let status = Command::new(bench).status().context("the benchmark cannot be started")?;
    ensure!(status.success(), "the benchmark failed");
    Ok(())
}
