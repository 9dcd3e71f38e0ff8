//! Falco's plugin, a workspace of its own, and the program that stands in Falco's place where none is installed.

use std::path::PathBuf;
use std::process::Command;

use crate::{build, root};

/// The manifest, from the root of the project.
pub(crate) const MANIFEST: &str = "plugins/falco/Cargo.toml";

/// Returns a command of cargo for the plugin's workspace. Its files go below the target folder of the project.
pub(crate) fn cargo(words: &[&str]) -> anyhow::Result<Command> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(words).args(["--locked", "--manifest-path", MANIFEST, "--target-dir"]).arg(target()?);
    cargo.current_dir(root()?);
    Ok(cargo)
}

/// The words that build the library and the stand-in.
pub(crate) const BUILD: [&str; 4] = ["build", "--lib", "--example", "stand_in"];

/// Returns the paths of the built library and the stand-in. `profile`: `debug` or `release`.
pub(crate) fn built(profile: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let folder = target()?.join(profile);
    let library = format!("{}coding_agent{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok((folder.join(library), folder.join("examples/stand_in")))
}

/// Returns the `falco` on PATH.
pub(crate) fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("falco")).find(|program| program.is_file())
}

fn target() -> anyhow::Result<PathBuf> {
    Ok(build::target()?.join("falco-plugin"))
}
