//! The program that makes sandboxes: its place, and its faults.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::agent_files::is_executable;
use crate::launch;

/// Returns the place of the program.
pub(crate) fn place() -> anyhow::Result<PathBuf> {
    launch::beside("castellan-sandbox")
}

/// Returns the program.
///
/// # Errors
/// It is missing.
pub(crate) fn launcher() -> anyhow::Result<PathBuf> {
    let launcher = place()?;
    if !launcher.is_file() {
        bail!(
            "`{}`, the program that makes sandboxes, is missing, so nothing was started: install castellan again",
            launcher.display()
        );
    }
    Ok(launcher)
}

/// Returns the reason if the program cannot make sandboxes for this castellan. Another version understands other plans.
pub(crate) fn fault(program: &Path) -> Option<String> {
    let shown = program.display();
    if !is_executable(program) {
        return Some(format!("{shown} is missing or not executable, so nothing can start in a sandbox"));
    }
    let mut command = Command::new(program);
    command.arg("--version").env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    let own = env!("CARGO_PKG_VERSION");
    let expected = format!("castellan-sandbox {own}");
    match command.output() {
        Ok(output) if output.status.success() && output.stdout.trim_ascii() == expected.as_bytes() => None,
        Ok(_) => Some(format!("{shown} is of another version than {own}, so nothing can start in a sandbox")),
        Err(error) => Some(format!("{shown} cannot be started: {error}")),
    }
}
