//! Reading with a limit, and writing whole or not at all.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Who may have written a file, for it to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Whoever it was, and whatever becomes of it meanwhile: it is only data, or lies where no other user writes.
    Any,
    /// This user or root, and nobody else; through symbolic links too.
    User,
    /// As `User`, but no symbolic link: who makes a repository would choose what is read.
    Project,
    /// This user id alone, and no symbolic link.
    Owner(u32),
    /// As `Owner`, and nobody else may read it either: castellan's own state, which it wrote so.
    Private(u32),
}

/// Reads a regular file of at most `max` bytes as text.
pub(crate) fn read_limited(file: &Path, max: u64) -> io::Result<String> {
    read_guarded(file, max, Guard::Any)
}

/// The same, if nobody else can have written it.
pub(crate) fn read_guarded(file: &Path, max: u64, guard: Guard) -> io::Result<String> {
    let bytes = read_bytes_guarded(file, max, guard)?;
    String::from_utf8(bytes).map_err(|error| io::Error::other(format!("not UTF-8: {error}")))
}

/// Reads a regular file of at most `max` bytes, if nobody else can have written it. One that changes meanwhile is an error:
/// half of one text and half of another is nobody's.
pub(crate) fn read_bytes_guarded(file: &Path, max: u64, guard: Guard) -> io::Result<Vec<u8>> {
    let (opened, before) = open_guarded(file, max, guard)?;
    read_whole(&opened, &before, max, guard)
}

/// Opens such a file, and returns how it was then.
pub(crate) fn open_guarded(file: &Path, max: u64, guard: Guard) -> io::Result<(File, Metadata)> {
    let links = match guard {
        Guard::Any | Guard::User => OFlags::empty(),
        Guard::Project | Guard::Owner(_) | Guard::Private(_) => OFlags::NOFOLLOW,
    };
    // A pipe or device in a file's place would never end, or never begin: it is looked at as it was opened, because it may
    // be put there at any moment.
    let flags = (OFlags::NONBLOCK | links).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(|error| {
        let is_link = rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::LOOP);
        if is_link { io::Error::other("a symbolic link, which is not followed here") } else { error }
    })?;
    let before = opened.metadata()?;
    if !before.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    guard.check(&before)?;
    if before.len() > max { Err(too_long(max)) } else { Ok((opened, before)) }
}

/// Reads an open file that was as `before` says.
fn read_whole(opened: &File, before: &Metadata, max: u64, guard: Guard) -> io::Result<Vec<u8>> {
    let bytes = at_most(opened, max)?.ok_or_else(|| too_long(max))?;
    if guard != Guard::Any && is_changed(before, &opened.metadata()?) {
        return Err(io::Error::other("it was changed while it was read: try again"));
    }
    Ok(bytes)
}

/// Whether a file is not the one that it was when it was looked at before.
pub(crate) fn is_changed(before: &Metadata, after: &Metadata) -> bool {
    let stamp = |of: &Metadata| (of.len(), of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec());
    stamp(before) != stamp(after)
}

fn too_long(max: u64) -> io::Error {
    io::Error::other(format!("more than {max} bytes"))
}

impl Guard {
    /// Whether nobody else can have written what this tells of: a file, or a folder.
    pub(crate) fn check(self, of: &Metadata) -> io::Result<()> {
        let own = rustix::process::geteuid().as_raw();
        let (owners, forbidden): (&[u32], u32) = match &self {
            Guard::Any => return Ok(()),
            Guard::User | Guard::Project => (&[own, 0], 0o002),
            Guard::Owner(owner) => (std::slice::from_ref(owner), 0o022),
            Guard::Private(owner) => (std::slice::from_ref(owner), 0o077),
        };
        if !owners.contains(&of.uid()) {
            return Err(distrust(format!(
                "it belongs to user {}, not {}",
                of.uid(),
                owners.first().unwrap_or(&0)
            )));
        }
        if of.mode() & forbidden & 0o044 != 0 {
            return Err(distrust("others may read or write it: `chmod go=` it".to_owned()));
        }
        if of.mode() & forbidden != 0 {
            return Err(distrust("others can write it: `chmod go-w` it".to_owned()));
        }
        Ok(())
    }
}

/// Whether a file was not read because somebody else can have written it.
pub(crate) fn is_distrusted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn distrust(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
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
    write_private_by(file, |new| new.write_all(bytes))
}

/// The same for what is better not held in memory as a whole.
pub(crate) fn write_private_by(
    file: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let dir = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    write(new.as_file_mut())?;
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

    #[test]
    fn a_change_while_a_file_is_read_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        let own = rustix::process::geteuid().as_raw();
        let check = |what: &str, change: &dyn Fn() -> io::Result<()>| {
            for guard in [Guard::User, Guard::Project, Guard::Owner(own), Guard::Private(own)] {
                std::fs::write(&file, "one").unwrap();
                let opened = File::open(&file).unwrap();
                let before = opened.metadata().unwrap();
                assert_eq!(read_whole(&opened, &before, 10, guard).unwrap(), b"one", "{what}");
                let opened = File::open(&file).unwrap();
                change().unwrap();
                let why = read_whole(&opened, &before, 10, guard).unwrap_err().to_string();
                assert_eq!(why, "it was changed while it was read: try again", "{what}, {guard:?}");
            }
        };
        check("longer", &|| OpenOptions::new().append(true).open(&file)?.write_all(b"two"));
        check("shorter", &|| OpenOptions::new().write(true).open(&file)?.set_len(1));
        check("of another time", &|| {
            let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
            OpenOptions::new().write(true).open(&file)?.set_modified(later)
        });
    }
}
