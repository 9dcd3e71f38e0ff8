//! [`Journal`]: what must outlive the daemon, a line each, in one file of the state directory. What happened is appended before
//! anybody is answered; from time to time the file is written anew, with what still counts. It must not know what lines mean.
//!
//! A daemon that is killed loses nothing that was appended: it is the kernel's then. Only the last line can be torn, and its
//! caller was not answered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::files::{Guard, read_bytes_guarded, write_private};
use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_GROWTH_BYTES};

/// Ending of the name of a file that was put aside.
pub(crate) const DAMAGED: &str = "damaged";

/// The file, and what is to be written to it.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// `None` when it has to be written anew before anything can be appended.
    file: Option<File>,
    bytes: u64,
    /// Bytes after it was last written anew.
    bytes_anew: u64,
    /// Lines that have happened and are not written yet.
    due: String,
}

/// What was there when a daemon started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// Lines, each of them whole.
    Lines(String),
    /// Something that is no journal of ours, or not whole: why.
    Damaged(String),
}

impl Journal {
    /// A journal that is written by the first [`Journal::write`].
    pub(crate) fn new(path: PathBuf) -> Journal {
        Journal { path, file: None, bytes: 0, bytes_anew: 0, due: String::new() }
    }

    /// Reads what a daemon before has left. A last line without its end was never acknowledged, and is left out.
    pub(crate) fn read(path: &Path) -> Found {
        match read(path) {
            Ok(text) => Found::Lines(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
            Err(error) => Found::Damaged(error.to_string()),
        }
    }

    /// Puts what is there out of the way, beside it, for a person to look at; the one before goes.
    pub(crate) fn set_aside(path: &Path) -> io::Result<PathBuf> {
        let aside = path.with_extension(DAMAGED);
        std::fs::rename(path, &aside)?;
        Ok(aside)
    }

    /// Notes a line, without its end, for the next [`Journal::write`].
    pub(crate) fn note(&mut self, line: &str) {
        // What is written anew holds it anyway.
        if self.file.is_some() {
            self.due.push_str(line);
            self.due.push('\n');
        }
    }

    /// Writes what has happened; nobody may be answered before. `whole` is everything that counts, for when the file has
    /// doubled, or could not be written the last time: half a line in its middle would spoil the rest.
    pub(crate) fn write(&mut self, whole: impl FnOnce() -> String) -> io::Result<()> {
        let grown = self.bytes + self.due.len() as u64;
        let Some(file) = self.file.as_mut().filter(|_| grown <= 2 * self.bytes_anew + JOURNAL_GROWTH_BYTES)
        else {
            return self.write_anew(&whole());
        };
        if self.due.is_empty() {
            return Ok(());
        }
        let written = file.write_all(self.due.as_bytes());
        self.due.clear();
        match written {
            Ok(()) => self.bytes = grown,
            Err(_) => self.file = None,
        }
        written
    }

    /// Whether the file is still the one that was written: somebody may have removed or changed it.
    pub(crate) fn is_ours(&self) -> bool {
        let there = std::fs::symlink_metadata(&self.path);
        let ours = self.file.as_ref().map(File::metadata);
        match (there, ours) {
            (Ok(there), Some(Ok(ours))) => {
                (there.dev(), there.ino(), there.len()) == (ours.dev(), ours.ino(), self.bytes)
            }
            // Not written yet.
            (_, None) => true,
            _ => false,
        }
    }

    /// The next [`Journal::write`] writes the whole.
    pub(crate) fn distrust(&mut self) {
        self.file = None;
        self.due.clear();
    }

    fn write_anew(&mut self, whole: &str) -> io::Result<()> {
        self.distrust();
        if whole.len() as u64 > JOURNAL_BYTES_MAX {
            // It could not be read back.
            return Err(io::Error::other(format!("the state has more than {JOURNAL_BYTES_MAX} bytes")));
        }
        write_private(&self.path, whole.as_bytes())?;
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())?;
        let options = OpenOptions::new().append(true).custom_flags(no_follow()).open(&self.path)?;
        (self.bytes, self.bytes_anew) = (whole.len() as u64, whole.len() as u64);
        self.file = Some(options);
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<String> {
    let own = rustix::process::geteuid().as_raw();
    let mut bytes = read_bytes_guarded(path, JOURNAL_BYTES_MAX, Guard::Private(own))?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    if bytes.is_empty() {
        return Err(io::Error::other("it is empty"));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::other(format!("not UTF-8: {error}")))
}

fn no_follow() -> i32 {
    OFlags::NOFOLLOW.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        (dir, path)
    }

    fn lines(text: &str) -> Found {
        Found::Lines(text.to_owned())
    }

    #[test]
    fn what_was_written_is_found_and_what_was_only_noted_is_not() {
        let (_dir, path) = place();
        assert_eq!(Journal::read(&path), Found::Nothing);
        let mut journal = Journal::new(path.clone());
        journal.note("in the whole");
        journal.write(|| "head\n".to_owned()).unwrap();
        assert_eq!(Journal::read(&path), lines("head\n"));
        journal.note("a");
        journal.note("b");
        assert_eq!(Journal::read(&path), lines("head\n"));
        journal.write(|| "not wanted\n".to_owned()).unwrap();
        journal.write(|| "not wanted\n".to_owned()).unwrap();
        assert_eq!(Journal::read(&path), lines("head\na\nb\n"));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_has_doubled_is_written_anew() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        journal.write(|| "head\n".to_owned()).unwrap();
        let line = "x".repeat(JOURNAL_GROWTH_BYTES as usize * 2 / 3);
        for _ in 0..2 {
            journal.note(&line);
            journal.write(|| "all that counts\n".to_owned()).unwrap();
        }
        assert!(Journal::read(&path) == lines("all that counts\n"), "it still holds the long lines");
        journal.note("more");
        journal.write(|| "not wanted\n".to_owned()).unwrap();
        assert_eq!(Journal::read(&path), lines("all that counts\nmore\n"));
    }

    #[test]
    fn a_state_that_could_not_be_read_back_is_not_written() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        let too_long = || "x".repeat(JOURNAL_BYTES_MAX as usize + 1);
        assert!(journal.write(too_long).is_err());
        assert_eq!(Journal::read(&path), Found::Nothing);
        journal.write(|| "head\n".to_owned()).unwrap();
        assert_eq!(Journal::read(&path), lines("head\n"));
    }

    #[test]
    fn a_file_that_somebody_has_touched_is_not_ours_until_it_is_written_anew() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        assert!(journal.is_ours());
        let mut check = |touch: &dyn Fn()| {
            journal.distrust();
            journal.write(|| "head\n".to_owned()).unwrap();
            assert!(journal.is_ours());
            touch();
            assert!(!journal.is_ours());
        };
        check(&|| std::fs::remove_file(&path).unwrap());
        check(&|| std::fs::write(&path, "head\nmore\n").unwrap());
        check(&|| {
            std::fs::rename(&path, path.with_extension("other")).unwrap();
            std::fs::copy(path.with_extension("other"), &path).unwrap();
        });
    }

    /// Checks why a file that was put there is not read.
    fn check(make: impl FnOnce(&Path), expected: &str) {
        let (_dir, path) = place();
        make(&path);
        let Found::Damaged(why) = Journal::read(&path) else { panic!("{expected}: read") };
        assert!(why.contains(expected), "{expected}: {why}");
        let aside = Journal::set_aside(&path).unwrap();
        assert!(aside.symlink_metadata().is_ok() && path.symlink_metadata().is_err());
    }

    fn with_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn private(path: &Path, bytes: &[u8]) {
        std::fs::write(path, bytes).unwrap();
        with_mode(path, 0o600);
    }

    #[test]
    fn what_is_no_journal_of_ours_is_damaged() {
        check(|path| private(path, b""), "empty");
        check(|path| private(path, b"a line without an end"), "empty");
        check(|path| private(path, b"head\n\xff\n"), "not UTF-8");
        check(|path| std::fs::create_dir(path).unwrap(), "not a regular file");
        check(
            |path| {
                private(path, b"head\n");
                with_mode(path, 0o602);
            },
            "others can",
        );
        check(
            |path| {
                private(&path.with_extension("real"), b"head\n");
                std::os::unix::fs::symlink(path.with_extension("real"), path).unwrap();
            },
            "a symbolic link",
        );
        check(
            |path| {
                private(path, b"head\n");
                File::options().append(true).open(path).unwrap().set_len(JOURNAL_BYTES_MAX + 1).unwrap();
            },
            "more than",
        );
        check(
            |path| {
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
                    .unwrap();
            },
            "not a regular file",
        );
    }

    #[test]
    fn a_torn_last_line_is_left_out() {
        let (_dir, path) = place();
        private(&path, b"head\na\nhalf of \xc3");
        assert_eq!(Journal::read(&path), lines("head\na\n"));
    }
}
