//! [`Tail`]: reads the lines that are added to a file, without ever blocking. It must not know their contents.
//!
//! It reads only a regular file of this user and follows no symlink at its end: a transcript's path comes from a
//! payload.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::sight::{self, open_to_read};
use castellan_files::Links;

use crate::limits::{TRANSCRIPT_BEHIND_MAX, TRANSCRIPT_LINE_BYTES_MAX, TRANSCRIPT_LOOK_BYTES};

/// A growing file.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    /// Device and inode at the last check; `None` if there was no file yet.
    file: Option<(u64, u64)>,
    /// End of the part that was read.
    offset: u64,
    /// The beginning of an incomplete line.
    part: Vec<u8>,
    /// True if the current line is skipped: its beginning was not read, or it is too long.
    is_skipping: bool,
    /// True if trouble with the file is already reported.
    reported: bool,
}

/// Result of a check.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Complete lines, without their line breaks.
    pub(crate) lines: Vec<Vec<u8>>,
    /// An error that hides lines; reported once as long as it lasts.
    pub(crate) trouble: Option<String>,
}

impl Tail {
    /// Reads the file at `path` from its end. A line that is being written counts as old.
    pub(crate) fn at_end(path: PathBuf) -> Tail {
        let mut tail = Tail::at_start(path);
        if let Ok((file, size)) = tail.open() {
            let mut last = [b'\n'];
            let read = size.checked_sub(1).map(|at| file.read_exact_at(&mut last, at));
            tail.is_skipping = read.is_some_and(|read| read.is_err() || last != [b'\n']);
            tail.offset = size;
            tail.file = identity(&file);
        }
        tail
    }

    /// Reads the file at `path` from its beginning.
    pub(crate) fn at_start(path: PathBuf) -> Tail {
        Tail { path, file: None, offset: 0, part: Vec::new(), is_skipping: false, reported: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the lines that were added since the last check, up to the limit of bytes.
    pub(crate) fn look(&mut self) -> Look {
        let mut look = Look::default();
        match self.read(&mut look) {
            Ok(()) => {}
            // Not written yet, or removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.trouble(&mut look, error.to_string()),
        }
        look
    }

    fn read(&mut self, look: &mut Look) -> io::Result<()> {
        let (mut file, size) = self.open()?;
        let identity = identity(&file);
        if self.file.is_some_and(|before| Some(before) != identity) || size < self.offset {
            *self = Tail { reported: self.reported, ..Tail::at_start(std::mem::take(&mut self.path)) };
        }
        self.file = identity;
        let behind = size.saturating_sub(self.offset);
        if behind > TRANSCRIPT_BEHIND_MAX {
            let skipped = behind.saturating_sub(TRANSCRIPT_LOOK_BYTES);
            self.skip_to(size.saturating_sub(TRANSCRIPT_LOOK_BYTES));
            self.trouble(look, format!("{skipped} bytes were added at once, which were not read"));
        }
        if behind == 0 {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        let read = file.take(TRANSCRIPT_LOOK_BYTES).read_to_end(&mut bytes)?;
        self.offset = self.offset.saturating_add(read as u64);
        self.split(&bytes, look);
        Ok(())
    }

    fn split(&mut self, bytes: &[u8], look: &mut Look) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_whole) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            if !self.is_skipping {
                self.part.extend_from_slice(text);
            }
            if self.part.len() > TRANSCRIPT_LINE_BYTES_MAX {
                self.part = Vec::new();
                self.is_skipping = true;
                self.trouble(look, format!("a line has more than {TRANSCRIPT_LINE_BYTES_MAX} bytes"));
            }
            if is_whole {
                let line = std::mem::take(&mut self.part);
                if !std::mem::take(&mut self.is_skipping) {
                    look.lines.push(line);
                }
            }
        }
    }

    fn skip_to(&mut self, offset: u64) {
        self.offset = offset;
        self.part = Vec::new();
        self.is_skipping = true;
    }

    fn trouble(&mut self, look: &mut Look, what: String) {
        if !std::mem::replace(&mut self.reported, true) {
            look.trouble = Some(what);
        }
    }

    /// Opens the file and returns its size, or the reason why it is not read.
    fn open(&self) -> io::Result<(File, u64)> {
        let file = open_to_read(&self.path, Links::Refused)?;
        let meta = file.metadata()?;
        if meta.uid() != sight::user() {
            return Err(io::Error::other("it is another user's"));
        }
        Ok((file, meta.size()))
    }
}

fn identity(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    fn lines(look: &Look) -> Vec<String> {
        look.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    fn add(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn check(tail: &mut Tail, expected: &[&str]) {
        let look = tail.look();
        assert_eq!((lines(&look), look.trouble), (expected.iter().map(|s| (*s).to_owned()).collect(), None));
    }

    #[test]
    fn another_users_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut path = dir.path().join("t.jsonl");
        add(&path, "secret\n");
        match rustix::process::geteuid().is_root() {
            true => std::os::unix::fs::chown(&path, Some(65534), None).unwrap(),
            false => path = "/etc/passwd".into(),
        }
        let look = Tail::at_start(path).look();
        assert_eq!((lines(&look), look.trouble), (vec![], Some("it is another user's".to_owned())));
    }

    #[test]
    fn only_what_is_added_is_read_line_by_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut tail = Tail::at_end(path.clone());
        check(&mut tail, &[]);
        add(&path, "a\nb");
        check(&mut tail, &["a"]);
        add(&path, "c\n\nd\n");
        check(&mut tail, &["bc", "", "d"]);
        check(&mut tail, &[]);
        // The earlier lines and the rest of the last one are not new.
        add(&path, "half");
        let mut late = Tail::at_end(path.clone());
        add(&path, " line\nnew\n");
        check(&mut late, &["new"]);
        check(&mut tail, &["half line", "new"]);
    }

    #[test]
    fn another_file_or_a_cut_one_is_read_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let (path, next) = (dir.path().join("t"), dir.path().join("next"));
        add(&path, "a\nb\n");
        let mut tail = Tail::at_end(path.clone());
        std::fs::write(&path, "c\n").unwrap();
        check(&mut tail, &["c"]);
        add(&next, "longer\nthan before\n");
        std::fs::rename(&next, &path).unwrap();
        check(&mut tail, &["longer", "than before"]);
        std::fs::remove_file(&path).unwrap();
        check(&mut tail, &[]);
    }

    #[test]
    fn what_is_no_file_of_ours_is_told_once_and_never_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let check = |expected: &str| {
            let mut tail = Tail::at_end(path.clone());
            assert_eq!(tail.look().trouble.as_deref(), Some(expected));
            assert_eq!(tail.look(), Look::default());
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
        };
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        check("it is a pipe, not a regular file: move it away");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        check("it is a symbolic link, which castellan does not follow here: replace it by a file");
        std::fs::create_dir(&path).unwrap();
        check("it is a folder, not a regular file: move it away");
        let socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        check("it is a socket, not a regular file: move it away");
        drop(socket);
    }

    #[test]
    fn a_huge_file_costs_one_look_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        add(&path, "a\n");
        let mut tail = Tail::at_end(path.clone());
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(1 << 30).unwrap();
        let look = tail.look();
        assert_eq!(look.lines, Vec::<Vec<u8>>::new());
        let skipped = (1 << 30) - 2 - TRANSCRIPT_LOOK_BYTES;
        assert_eq!(look.trouble, Some(format!("{skipped} bytes were added at once, which were not read")));
        add(&path, "\nb\n");
        check(&mut tail, &["b"]);
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        let mut tail = Tail::at_end(path.clone());
        let mebibyte = "x".repeat(1024 * 1024);
        let mut troubles = Vec::new();
        for _ in 0..100 {
            add(&path, &mebibyte);
            let look = tail.look();
            assert_eq!(look.lines, Vec::<Vec<u8>>::new());
            troubles.extend(look.trouble);
            assert!(tail.part.len() <= TRANSCRIPT_LINE_BYTES_MAX);
        }
        assert_eq!(troubles, [format!("a line has more than {TRANSCRIPT_LINE_BYTES_MAX} bytes")]);
        add(&path, "\nnext\n");
        check(&mut tail, &["next"]);
    }
}
