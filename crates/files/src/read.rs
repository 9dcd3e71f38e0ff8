//! Reading within a limit.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::guard::Guard;
use crate::open::open_to_read;

/// Size of most files that are read.
const READ_AT_ONCE: usize = 8 * 1024;

/// Reads a regular file of at most `max` bytes as text. Symbolic links are followed.
pub fn read_text(file: &Path, max: u64) -> io::Result<String> {
    read_guarded(file, max, Guard::Any)
}

/// Reads such a file as text, if `guard` accepts it.
pub fn read_guarded(file: &Path, max: u64, guard: Guard) -> io::Result<String> {
    text(read_bytes(file, max, guard)?)
}

/// Returns the bytes of a file as text.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|error| io::Error::other(format!("it is not UTF-8: save it as UTF-8 ({error})")))
}

/// Reads a regular file of at most `max` bytes, if `guard` accepts it. A change during the read is an error, because a
/// mix of two texts has no author.
pub fn read_bytes(file: &Path, max: u64, guard: Guard) -> io::Result<Vec<u8>> {
    read_opened(open_to_read(file, guard.links())?, max, guard, rustix::process::geteuid().as_raw())
}

/// Reads a file that was opened with [`Guard::links`], as [`read_bytes`] does for the user with the id `own`.
pub fn read_opened(opened: File, max: u64, guard: Guard, own: u32) -> io::Result<Vec<u8>> {
    let before = checked(&opened, max, guard, own)?;
    read_whole(&opened, &before, max, guard)
}

/// Opens such a file, and returns it with its metadata.
pub fn open_guarded(file: &Path, max: u64, guard: Guard) -> io::Result<(File, Metadata)> {
    let opened = open_to_read(file, guard.links())?;
    let before = checked(&opened, max, guard, rustix::process::geteuid().as_raw())?;
    Ok((opened, before))
}

fn checked(opened: &File, max: u64, guard: Guard, own: u32) -> io::Result<Metadata> {
    let before = opened.metadata()?;
    guard.check_for(own, &before)?;
    if before.len() > max { Err(too_long(max)) } else { Ok(before) }
}

/// Reads an open file whose metadata was `before`.
fn read_whole(opened: &File, before: &Metadata, max: u64, guard: Guard) -> io::Result<Vec<u8>> {
    let bytes = at_most(opened, max)?.ok_or_else(|| too_long(max))?;
    if guard != Guard::Any && is_changed(before, &opened.metadata()?) {
        return Err(io::Error::other("it changed while castellan read it: try again"));
    }
    Ok(bytes)
}

/// Reports whether a file has changed since `before`.
pub fn is_changed(before: &Metadata, after: &Metadata) -> bool {
    let stamp = |of: &Metadata| (of.len(), of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec());
    stamp(before) != stamp(after)
}

fn too_long(max: u64) -> io::Error {
    io::Error::other(format!("it has more than {max} bytes: shorten it"))
}

/// Reads a file that the kernel generates, below `/proc`. `None` when it cannot be read or has more than `max` bytes.
pub fn of_system(file: &str, max: u64) -> Option<Vec<u8>> {
    at_most(open_to_read(Path::new(file), crate::Links::Followed).ok()?, max).ok().flatten()
}

/// Reads everything up to `max` bytes; `None` when there is more. A file's size proves nothing: files in `/proc` have
/// the size 0, and others grow.
pub fn at_most(reader: impl Read, max: u64) -> io::Result<Option<Vec<u8>>> {
    // Files in `/proc` report the size 0. A buffer that starts empty would need ten reads.
    let mut bytes = Vec::with_capacity(READ_AT_ONCE);
    let read = reader.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((read as u64 <= max).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use super::*;

    fn odd(dir: &Path) -> Vec<(&'static str, PathBuf)> {
        let named = |name: &str| dir.join(name);
        let (pipe, socket, link) = (named("pipe"), named("socket"), named("link"));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        drop(UnixListener::bind(&socket).unwrap());
        symlink("/dev/zero", &link).unwrap();
        symlink(&pipe, named("link to a pipe")).unwrap();
        std::fs::create_dir(named("folder")).unwrap();
        vec![
            ("pipe", pipe),
            ("pipe", named("link to a pipe")),
            ("socket", socket),
            ("device", link),
            ("device", "/dev/full".into()),
            ("device", "/dev/tty".into()),
            ("folder", named("folder")),
        ]
    }

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        for (kind, file) in odd(dir.path()) {
            let expected = format!("it is a {kind}, not a regular file: move it away");
            let told = |error: io::Error| assert_eq!(error.to_string(), expected, "{}", file.display());
            told(read_text(&file, 10).unwrap_err());
            for options in [
                OpenOptions::new().write(true),
                OpenOptions::new().append(true),
                OpenOptions::new().read(true).write(true),
                OpenOptions::new().write(true).create(true).truncate(true),
            ] {
                told(crate::open_with(options, &file, crate::Links::Followed).unwrap_err());
            }
        }
    }

    #[test]
    fn a_file_without_an_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sparse");
        File::create(&file).unwrap().set_len(20 << 30).unwrap();
        assert_eq!(read_text(&file, 10).unwrap_err().to_string(), "it has more than 10 bytes: shorten it");
        assert_eq!(at_most(io::repeat(0), 10).unwrap(), None);
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
                assert_eq!(why, "it changed while castellan read it: try again", "{what}, {guard:?}");
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
