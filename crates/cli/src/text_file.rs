//! Reads and writes text files of bounded size, named on the command line (possibly pipes) or found in a folder.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use castellan_files::Guard;

/// Reads a text file of at most `max` bytes that is named on the command line.
pub(crate) fn read_text(file: &Path, max: u64) -> anyhow::Result<String> {
    text(file, read_bytes(file, max)?)
}

/// Reads a text file of at most `max` bytes that was found in a folder and may be of any file type.
pub(crate) fn read_found(file: &Path, max: u64) -> anyhow::Result<String> {
    let read = castellan_files::read_bytes(file, max, Guard::Any);
    text(file, read.with_context(|| format!("`{}`", file.display()))?)
}

fn text(file: &Path, bytes: Vec<u8>) -> anyhow::Result<String> {
    let shown = file.display();
    String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("`{shown}`: line {line} is not UTF-8")
    })
}

/// Reads a file of at most `max` bytes that is named on the command line.
#[expect(clippy::disallowed_methods, reason = "a person names the file, and may name a pipe")]
pub(crate) fn read_bytes(file: &Path, max: u64) -> anyhow::Result<Vec<u8>> {
    let shown = file.display();
    let mut bytes = Vec::new();
    let opened = File::open(file).with_context(|| format!("`{shown}`"))?;
    opened.take(max.saturating_add(1)).read_to_end(&mut bytes).with_context(|| format!("`{shown}`"))?;
    ensure!(bytes.len() as u64 <= max, "`{shown}`: more than {max} bytes");
    Ok(bytes)
}

/// Writes a text to a file that is named on the command line.
#[expect(clippy::disallowed_methods, reason = "a person names the file, and may name a pipe")]
pub(crate) fn write_text(file: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(file, text).with_context(|| format!("`{}`", file.display()))
}
