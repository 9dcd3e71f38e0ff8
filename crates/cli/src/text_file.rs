//! Text files that are named on the command line, of a size that is bounded.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, anyhow, ensure};

/// Reads a text file of at most `max` bytes.
pub(crate) fn read_text(file: &Path, max: u64) -> anyhow::Result<String> {
    let shown = file.display();
    String::from_utf8(read_bytes(file, max)?).map_err(|error| {
        let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("`{shown}`: line {line} is not UTF-8")
    })
}

/// Reads a file of at most `max` bytes.
pub(crate) fn read_bytes(file: &Path, max: u64) -> anyhow::Result<Vec<u8>> {
    let shown = file.display();
    let mut bytes = Vec::new();
    let opened = File::open(file).with_context(|| format!("`{shown}`"))?;
    opened.take(max.saturating_add(1)).read_to_end(&mut bytes).with_context(|| format!("`{shown}`"))?;
    ensure!(bytes.len() as u64 <= max, "`{shown}`: more than {max} bytes");
    Ok(bytes)
}
