//! Reading with a limit and writing whole or not at all: how the daemon handles every file of a home.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Reads a regular file of at most `max` bytes as text.
pub(crate) fn read_limited(file: &Path, max: u64) -> io::Result<String> {
    // A pipe or device in a file's place would never end, or never begin.
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::other(format!("more than {max} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::other(format!("not UTF-8: {error}")))
}

/// Writes a file of mode 0600 in one step: readers see the old one or the new one, and two writers do not mix.
pub(crate) fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    new.write_all(bytes)?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}
