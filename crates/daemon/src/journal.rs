//! [`Journal`]: state that must survive the daemon, as lines in a file. Events are appended before any reply is sent;
//! from time to time the file is rewritten with the valid state. It must not know the meaning of lines.
//!
//! A killed daemon loses no appended line: the kernel has it. Only the last line can be torn; no reply was sent for it.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::limits::{JOURNAL_BYTES_MAX, JOURNAL_GROWTH_BYTES};
use castellan_files::{Guard, Links, is_changed, open_guarded, open_with, sync_folder, write_private_by};

/// Extension of a file that was moved aside.
pub(crate) const DAMAGED: &str = "damaged";

/// The file and its pending lines.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// `None` if the file must be rewritten before the next append.
    file: Option<File>,
    /// Stamp of the file after the last write.
    left: Option<Stamp>,
    /// True if another program had changed the file at the last write, and this is not yet reported.
    was_touched: bool,
    bytes: u64,
    /// Size after the last rewrite.
    bytes_anew: u64,
    /// Lines that are not written yet.
    due: String,
    /// Another process writes the file now.
    is_closed: bool,
}

/// Properties of a file that show a write by another program: resetting the file's times changes its ctime.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Metadata) -> Stamp {
        Stamp {
            file: (file.dev(), file.ino()),
            bytes: file.len(),
            written: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

/// The file's state when the daemon starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is no file.
    Nothing,
    /// Complete lines; all were passed on.
    Lines,
    /// Damaged or no journal of ours, with the reason. The lines passed on so far must be discarded.
    Damaged(String),
}

impl Journal {
    /// Returns a journal whose file the first [`Journal::write`] creates.
    pub(crate) fn new(path: PathBuf) -> Journal {
        Journal {
            path,
            file: None,
            left: None,
            was_touched: false,
            bytes: 0,
            bytes_anew: 0,
            due: String::new(),
            is_closed: false,
        }
    }

    /// Reads the journal of an earlier daemon line by line, because a long journal must not stay in memory. Skips a
    /// last line without a newline: no reply was sent for it.
    pub(crate) fn read(path: &Path, take: impl FnMut(&str) -> Result<(), String>) -> Found {
        match read(path, take) {
            Ok(()) => Found::Lines,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
            Err(error) => Found::Damaged(error.to_string()),
        }
    }

    /// Moves the present file aside for a person to inspect. Replaces an earlier such file.
    pub(crate) fn set_aside(path: &Path) -> io::Result<PathBuf> {
        let aside = path.with_extension(DAMAGED);
        std::fs::rename(path, &aside)?;
        Ok(aside)
    }

    /// Adds a line, given without its newline, for the next [`Journal::write`].
    pub(crate) fn note(&mut self, line: &str) {
        // A rewrite contains it anyway.
        if self.file.is_some() {
            self.due.push_str(line);
            self.due.push('\n');
        }
    }

    /// Writes the pending lines; no reply may be sent before. Rewrites the file with `whole`, the valid state, if it
    /// has doubled. Also rewrites it after a failed write: a partial line in the middle would make the rest unreadable.
    pub(crate) fn write(&mut self, whole: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        if self.is_closed {
            return Err(io::Error::other("the state was handed over to another castellan daemon"));
        }
        let grown = self.bytes + self.due.len() as u64;
        if self.file.is_some() && grown <= 2 * self.bytes_anew + JOURNAL_GROWTH_BYTES {
            if self.due.is_empty() {
                return Ok(());
            }
            // Appending to another program's contents would make them look like ours.
            if self.is_unchanged() {
                return self.append(grown);
            }
            self.was_touched = true;
        }
        self.write_anew(whole)
    }

    fn append(&mut self, grown: u64) -> io::Result<()> {
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        let written = file.write_all(self.due.as_bytes()).and_then(|()| file.metadata());
        self.due.clear();
        match written {
            Ok(left) => {
                self.bytes = grown;
                self.left = Some(Stamp::of(&left));
                Ok(())
            }
            Err(error) => {
                self.file = None;
                Err(error)
            }
        }
    }

    /// Leaves the file to another process. Every later [`Journal::write`] is an error.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Reports whether no other program has removed or changed the file since it was written.
    pub(crate) fn is_ours(&self) -> bool {
        // A file that is not written yet cannot be changed by others.
        !self.was_touched && (self.file.is_none() || self.is_unchanged())
    }

    fn is_unchanged(&self) -> bool {
        let there = std::fs::symlink_metadata(&self.path).map(|there| Stamp::of(&there));
        there.is_ok_and(|there| there.bytes == self.bytes && self.left.as_ref() == Some(&there))
    }

    /// Makes the next [`Journal::write`] rewrite the file, which is then ours again.
    pub(crate) fn distrust(&mut self) {
        self.was_touched = false;
        self.forget();
    }

    fn forget(&mut self) {
        self.file = None;
        self.due.clear();
    }

    fn write_anew(&mut self, whole: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.forget();
        let mut bytes = 0;
        write_private_by(&self.path, |file| {
            let mut counted = Counted { file, bytes: 0 };
            let mut lines = BufWriter::new(&mut counted);
            whole(&mut lines)?;
            lines.flush()?;
            drop(lines);
            bytes = counted.bytes;
            Ok(())
        })?;
        self.path.parent().map_or(Ok(()), sync_folder)?;
        let file = open_with(OpenOptions::new().append(true), &self.path, Links::Refused)?;
        (self.bytes, self.bytes_anew) = (bytes, bytes);
        self.left = Some(Stamp::of(&file.metadata()?));
        self.file = Some(file);
        Ok(())
    }
}

/// Rejects writes beyond the size that can be read back.
struct Counted<'f> {
    file: &'f mut File,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes + bytes.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(io::Error::other(format!("the state has more than {JOURNAL_BYTES_MAX} bytes")));
        }
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn read(path: &Path, mut take: impl FnMut(&str) -> Result<(), String>) -> io::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    let (opened, before) = open_guarded(path, JOURNAL_BYTES_MAX, Guard::Private(own))?;
    // One byte more, to detect a file that grows meanwhile.
    let mut lines = BufReader::new((&opened).take(before.len() + 1));
    let (mut line, mut number, mut bytes) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        bytes += lines.read_until(b'\n', &mut line)? as u64;
        // The rest has no newline: it is empty or a torn line.
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        number += 1;
        let wrong = |why: String| io::Error::other(format!("line {number}: {why}"));
        let text = std::str::from_utf8(whole).map_err(|error| wrong(format!("not UTF-8: {error}")))?;
        take(text).map_err(wrong)?;
    }
    if is_changed(&before, &opened.metadata()?) || bytes != before.len() {
        return Err(io::Error::other("it was changed while it was read"));
    }
    if number == 0 {
        return Err(io::Error::other("it is empty"));
    }
    Ok(())
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

    /// Checks the lines that are read.
    fn finds(path: &Path, expected: &[&str]) {
        let mut lines = Vec::new();
        let found = Journal::read(path, |line| {
            lines.push(line.to_owned());
            Ok(())
        });
        assert_eq!(found, if expected.is_empty() { Found::Nothing } else { Found::Lines });
        assert!(lines == expected, "{} lines are not {expected:?}", lines.len());
    }

    #[test]
    fn a_closed_journal_leaves_the_file_alone() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        journal.write(whole("head\n")).unwrap();
        journal.close();
        assert!(journal.write(whole("head\n")).is_err(), "nothing is due");
        journal.note("a");
        assert!(journal.write(whole("head\na\n")).is_err());
        journal.distrust();
        assert!(journal.write(whole("head\na\n")).is_err());
        finds(&path, &["head"]);
    }

    /// Writes a text as the whole state.
    fn whole(text: &str) -> impl FnOnce(&mut dyn Write) -> io::Result<()> {
        move |file| file.write_all(text.as_bytes())
    }

    #[test]
    fn what_was_written_is_found_and_what_was_only_noted_is_not() {
        let (_dir, path) = place();
        finds(&path, &[]);
        let mut journal = Journal::new(path.clone());
        journal.note("in the whole");
        journal.write(whole("head\n")).unwrap();
        finds(&path, &["head"]);
        journal.note("a");
        journal.note("b");
        finds(&path, &["head"]);
        journal.write(whole("not wanted\n")).unwrap();
        journal.write(whole("not wanted\n")).unwrap();
        finds(&path, &["head", "a", "b"]);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_has_doubled_is_written_anew() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        journal.write(whole("head\n")).unwrap();
        let line = "x".repeat(JOURNAL_GROWTH_BYTES as usize * 2 / 3);
        for _ in 0..2 {
            journal.note(&line);
            journal.write(whole("all that counts\n")).unwrap();
        }
        finds(&path, &["all that counts"]);
        journal.note("more");
        journal.write(whole("not wanted\n")).unwrap();
        finds(&path, &["all that counts", "more"]);
    }

    #[test]
    fn a_state_that_could_not_be_read_back_is_not_written() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        let line = format!("{}\n", "x".repeat(1 << 20));
        let too_long = |file: &mut dyn Write| {
            (0..=JOURNAL_BYTES_MAX >> 20).try_for_each(|_| file.write_all(line.as_bytes()))
        };
        assert!(journal.write(too_long).is_err());
        finds(&path, &[]);
        journal.write(whole("head\n")).unwrap();
        finds(&path, &["head"]);
    }

    #[test]
    fn a_file_that_somebody_has_touched_is_not_ours_until_it_is_written_anew() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        assert!(journal.is_ours());
        let mut check = |touch: &dyn Fn()| {
            journal.distrust();
            journal.write(whole("head\n")).unwrap();
            assert!(journal.is_ours());
            later(&path);
            touch();
            assert!(!journal.is_ours());
        };
        check(&|| std::fs::remove_file(&path).unwrap());
        check(&|| std::fs::write(&path, "head\nmore\n").unwrap());
        // In place, with the same length, and its time set back.
        check(&|| {
            let file = File::options().write(true).open(&path).unwrap();
            let before = file.metadata().unwrap().modified().unwrap();
            (&file).write_all(b"HEAD\n").unwrap();
            file.set_modified(before).unwrap();
        });
        check(&|| {
            std::fs::rename(&path, path.with_extension("other")).unwrap();
            std::fs::copy(path.with_extension("other"), &path).unwrap();
        });
    }

    #[test]
    fn nothing_is_appended_to_what_somebody_else_has_written_and_that_is_told() {
        let (_dir, path) = place();
        let mut journal = Journal::new(path.clone());
        journal.write(whole("head\n")).unwrap();
        later(&path);
        std::fs::write(&path, "HEAD\n").unwrap();
        journal.note("a");
        journal.write(whole("head\na\n")).unwrap();
        finds(&path, &["head", "a"]);
        assert!(!journal.is_ours());
        journal.distrust();
        assert!(journal.is_ours());
        journal.write(whole("head\na\n")).unwrap();
        assert!(journal.is_ours());
    }

    /// Waits until the file system's clock is later than the file's last write.
    fn later(path: &Path) {
        let changed = |path: &Path| path.metadata().map(|file| (file.ctime(), file.ctime_nsec())).unwrap();
        let (before, probe) = (changed(path), path.with_extension("probe"));
        loop {
            std::fs::write(&probe, "x").unwrap();
            if changed(&probe) > before {
                return;
            }
        }
    }

    /// Checks the reason why a file is rejected.
    fn check(make: impl FnOnce(&Path), expected: &str) {
        let (_dir, path) = place();
        make(&path);
        let Found::Damaged(why) = Journal::read(&path, |_| Ok(())) else { panic!("{expected}: read") };
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
            "other users can",
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
    fn a_line_that_nobody_takes_is_named() {
        let (_dir, path) = place();
        private(&path, b"head\na\nb\n");
        let take = |line: &str| if line == "a" { Err("why".to_owned()) } else { Ok(()) };
        assert_eq!(Journal::read(&path, take), Found::Damaged("line 2: why".to_owned()));
    }

    #[test]
    fn a_journal_that_is_changed_while_it_is_read_is_damaged() {
        let check = |change: &dyn Fn(&Path)| {
            let (_dir, path) = place();
            private(&path, b"head\na\n");
            let found = Journal::read(&path, |_| {
                change(&path);
                Ok(())
            });
            assert_eq!(found, Found::Damaged("it was changed while it was read".to_owned()));
        };
        check(&|path| File::options().append(true).open(path).unwrap().write_all(b"b\n").unwrap());
        check(&|path| File::options().write(true).open(path).unwrap().write_all(b"HEAD\n").unwrap());
        check(&|path| File::options().write(true).open(path).unwrap().set_len(2).unwrap());
    }

    #[test]
    fn a_torn_last_line_is_left_out() {
        let (_dir, path) = place();
        private(&path, b"head\na\nhalf of \xc3");
        finds(&path, &["head", "a"]);
    }
}
