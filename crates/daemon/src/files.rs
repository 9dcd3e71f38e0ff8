//! Reading with a limit, and writing whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Reads a regular file of at most `max` bytes as text.
pub(crate) fn read_limited(file: &Path, max: u64) -> io::Result<String> {
    let bytes = read_bytes_limited(file, max)?;
    String::from_utf8(bytes).map_err(|error| io::Error::other(format!("not UTF-8: {error}")))
}

/// Reads a regular file of at most `max` bytes.
pub(crate) fn read_bytes_limited(file: &Path, max: u64) -> io::Result<Vec<u8>> {
    // A pipe or device in a file's place would never end, or never begin: it is looked at as it was opened, because it may
    // be put there at any moment.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(nonblocking).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    at_most(opened, max)?.ok_or_else(|| io::Error::other(format!("more than {max} bytes")))
}

/// Reads a file that the kernel makes up, or one of the system. `None` when it cannot be read or has more than `max` bytes.
pub(crate) fn of_system(file: &str, max: u64) -> Option<Vec<u8>> {
    at_most(File::open(file).ok()?, max).ok().flatten()
}

/// Bytes of most files that are read.
const READ_AT_ONCE: usize = 8 * 1024;

/// Everything that a reader gives. `None` when it is longer: a size that is told beforehand proves nothing, as files in
/// `/proc` tell 0 and others grow.
pub(crate) fn at_most(reader: impl Read, max: u64) -> io::Result<Option<Vec<u8>>> {
    // Files in `/proc` do not tell their size: grown from nothing, their text would take ten reads.
    let mut bytes = Vec::with_capacity(READ_AT_ONCE);
    let read = reader.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((read as u64 <= max).then_some(bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe.yaml");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let link = dir.path().join("link.yaml");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for file in [pipe.as_path(), dir.path(), &link] {
            let error = read_limited(file, 10).unwrap_err();
            assert_eq!(error.to_string(), "not a regular file", "{}", file.display());
        }
    }
}
