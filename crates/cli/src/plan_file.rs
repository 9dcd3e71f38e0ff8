//! The file of a plan: its text, and its path for people. It must not know the use of the plan.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use castellan_daemon::PLAN_BYTES_MAX;
use castellan_files::{Links, at_most, open_to_read};

/// Reads a plan in full. A symbolic link may change its target after a look at it.
pub(crate) fn read(file: &Path) -> anyhow::Result<String> {
    let shown = || format!("`{}`", file.display());
    let bytes = if file == Path::new("-") {
        at_most(io::stdin().lock(), PLAN_BYTES_MAX as u64)
    } else {
        open_to_read(file, Links::Refused)
            .and_then(|file: File| at_most(file.take(u64::MAX), PLAN_BYTES_MAX as u64))
    };
    let Some(bytes) = bytes.with_context(shown)? else {
        bail!("{} has more than {PLAN_BYTES_MAX} bytes", shown());
    };
    String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", shown()))
}

/// Returns the absolute path of a plan.
pub(crate) fn source(file: &Path) -> anyhow::Result<String> {
    Ok(std::path::absolute(file)?.display().to_string())
}
