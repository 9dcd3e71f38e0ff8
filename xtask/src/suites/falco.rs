//! Tests of Falco's plugin: its own workspace, with the rows of all cases of the shipped rules.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};

use super::steps::status;
use crate::{build, root};

const MANIFEST: &str = "plugins/falco/Cargo.toml";

/// Writes the rows, then tests the built library with them. `cargo build --workspace --examples` came before.
pub(super) fn run(until: Instant) -> anyhow::Result<()> {
    let target = build::target()?;
    let rows = target.join("case-rows.bin");
    finish(Command::new(target.join("debug/examples/case_rows")).arg(&rows), until)?;
    let into = target.join("falco-plugin");
    let of_plugin = |words: &[&str]| {
        let mut cargo = build_command(words, &into);
        cargo.env("CASTELLAN_CASE_ROWS", &rows);
        cargo
    };
    finish(of_plugin(&["clippy", "--all-targets"]).args(["--", "--deny", "warnings"]), until)?;
    finish(of_plugin(&["test"]).args(["--", "--include-ignored"]), until)?;
    if is_on_path("falco") {
        println!("falco is on PATH, but no test drives it yet");
    } else {
        println!("falco is not on PATH: nothing ran in a real Falco");
    }
    Ok(())
}

fn build_command(words: &[&str], into: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).args(["--locked", "--manifest-path", MANIFEST, "--target-dir"]).arg(into);
    cargo
}

fn finish(command: &mut Command, until: Instant) -> anyhow::Result<()> {
    let what = format!("{command:?}");
    println!("$ {what}");
    let status = status(command.current_dir(root()?), until)?;
    ensure!(status.with_context(|| format!("{what} was over its budget"))?.success(), "{what} failed");
    Ok(())
}

fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
