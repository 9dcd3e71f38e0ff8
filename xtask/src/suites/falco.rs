//! Tests of Falco's plugin with the rows of all cases of the shipped rules, and both engines side by side: those rows, and the
//! sessions of `tests/tests/falco`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use super::steps::status;
use crate::{build, falco, root};

/// Writes the rows, tests the built library with them, and judges them in both engines. A build of the examples of
/// `trial` came before.
pub(super) fn run(until: Instant) -> anyhow::Result<()> {
    let examples = build::target()?.join("debug/examples");
    let rows = build::target()?.join("case-rows.bin");
    finish(Command::new(examples.join("case_rows")).arg(&rows), until)?;
    finish(falco::cargo(&["clippy", "--all-targets"])?.args(["--", "--deny", "warnings"]), until)?;
    let mut test = falco::cargo(&["test", "--lib", "--tests"])?;
    finish(test.env("CASTELLAN_CASE_ROWS", &rows).args(["--", "--include-ignored"]), until)?;
    build(until)?;
    let (library, stand_in) = falco::built("debug")?;
    let both = |falco: &Path| {
        finish(Command::new(examples.join("both_engines")).args([falco, &library]), until)?;
        sessions(falco, &library, until)
    };
    both(&stand_in)?;
    if let Some(falco) = falco::on_path() {
        // The log shows if it is a Falco, or castellan's host of Falco's core.
        finish(Command::new(&falco).arg("--version"), until)?;
        return both(&falco);
    }
    println!("no `falco` is on PATH: castellan's stand-in took its place, and nothing ran in a real Falco");
    Ok(())
}

/// Plays the sessions with this Falco. They wait for processes most of the time.
fn sessions(falco: &Path, library: &Path, until: Instant) -> anyhow::Result<()> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--workspace", "--test", "falco", "--", "--test-threads=8"]).current_dir(root()?);
    cargo.env("CASTELLAN_TEST_FALCO", falco).env("CASTELLAN_TEST_FALCO_PLUGIN", library);
    finish(&mut cargo, until)
}

/// Builds the library and the stand-in.
pub(super) fn build(until: Instant) -> anyhow::Result<()> {
    finish(&mut falco::cargo(&falco::BUILD)?, until)
}

fn finish(command: &mut Command, until: Instant) -> anyhow::Result<()> {
    let what = format!("{command:?}");
    println!("$ {what}");
    let status = status(command, until)?;
    ensure!(status.with_context(|| format!("{what} was over its budget"))?.success(), "{what} failed");
    Ok(())
}
