//! Questions and answers as bytes.
//!
//! A question is its version, its sort, two bytes of length (little-endian) and the path. An answer is its version, a word
//! for its kind, two bytes of length and that many bytes: a path, a number of an error, or the text of an error. The
//! kind *descriptor* carries one open descriptor with its first byte.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::limits::{ANSWER_BYTES_MAX, ERROR_BYTES_MAX, PATH_BYTES_MAX};

/// Version of both messages. Reader and daemon come from one installation, and a mix of two is an error.
pub(crate) const VERSION: u8 = 1;

/// Bytes before the path of a question, and before the bytes of an answer.
pub(crate) const HEAD_BYTES: usize = 4;

/// The sort of a question about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Opens a regular file for reading; follows a symlink at the end.
    Read,
    /// As `Read`; a symlink at the end is an error.
    ReadNoLink,
    /// Opens a folder for listing.
    List,
    /// Opens the place of any file, which gives its metadata only; follows a symlink at the end.
    Look,
    /// As `Look`; a symlink at the end is itself looked at.
    LookNoLink,
    /// Reads a symlink.
    Link,
    /// Resolves all symlinks.
    Real,
    /// Reports whether the user may execute the file; without access it is an error.
    Execute,
    /// Reports that the reader serves. The path has no meaning.
    Serves,
}

/// All sorts. The place of a sort is its byte in a question.
pub(crate) const SORTS: [Sort; 9] = [
    Sort::Read,
    Sort::ReadNoLink,
    Sort::List,
    Sort::Look,
    Sort::LookNoLink,
    Sort::Link,
    Sort::Real,
    Sort::Execute,
    Sort::Serves,
];

/// A question about an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// What is asked.
    pub(crate) sort: Sort,
    /// An absolute path without a NUL, of at most 4095 bytes.
    pub(crate) path: PathBuf,
}

impl Question {
    /// Returns the bytes. The error is that of the kernel for such a path.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        check_path(&self.path)?;
        let sort = SORTS.iter().position(|sort| *sort == self.sort);
        let sort = sort.and_then(|place| u8::try_from(place).ok()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(framed(sort, self.path.as_os_str().as_bytes()))
    }

    /// Reads a question; `None` at the end of the connection. An error ends the connection, because the begin of the next
    /// question is unknown.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Question>> {
        let mut head = [0; HEAD_BYTES];
        let read = loop {
            match from.read(&mut head) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if read == 0 {
            return Ok(None);
        }
        from.read_exact(head.get_mut(read..).unwrap_or_default())?;
        let [version, sort, low, high] = head;
        let sort = SORTS.get(usize::from(sort)).filter(|_| version == VERSION).copied();
        let sort = sort.ok_or_else(|| malformed("a question of another version"))?;
        let bytes = usize::from(u16::from_le_bytes([low, high]));
        if bytes > PATH_BYTES_MAX {
            return Err(malformed("a path over the limit"));
        }
        let mut path = vec![0; bytes];
        from.read_exact(&mut path)?;
        let path = PathBuf::from(OsString::from_vec(path));
        check_path(&path)?;
        Ok(Some(Question { sort, path }))
    }
}

/// An answer without its descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Yes.
    Done,
    /// An open descriptor comes with the answer.
    Descriptor,
    /// A path.
    Path(PathBuf),
    /// The kernel's number of an error.
    Error(i32),
    /// The text of an error.
    Text(String),
}

const DONE: u8 = 0;
const DESCRIPTOR: u8 = 1;
const PATH: u8 = 2;
const ERROR: u8 = 3;
const TEXT: u8 = 4;

impl Answer {
    /// Returns the answer for an error.
    pub(crate) fn of_error(error: &io::Error) -> Answer {
        error.raw_os_error().map_or_else(|| Answer::Text(error.to_string()), Answer::Error)
    }

    /// Returns the bytes. A path over the limit is an error with the kernel's number.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Answer::Done => framed(DONE, &[]),
            Answer::Descriptor => framed(DESCRIPTOR, &[]),
            Answer::Path(path) => match path.as_os_str().as_bytes() {
                bytes if bytes.len() > ANSWER_BYTES_MAX => {
                    Answer::Error(rustix::io::Errno::NAMETOOLONG.raw_os_error()).encode()
                }
                bytes => framed(PATH, bytes),
            },
            Answer::Error(number) => framed(ERROR, &number.to_le_bytes()),
            Answer::Text(text) => {
                let short = text.get(..text.floor_char_boundary(ERROR_BYTES_MAX)).unwrap_or_default();
                framed(TEXT, short.as_bytes())
            }
        }
    }

    /// Returns the bytes that follow a head.
    pub(crate) fn body_bytes(head: [u8; HEAD_BYTES]) -> io::Result<usize> {
        let [version, _, low, high] = head;
        let bytes = usize::from(u16::from_le_bytes([low, high]));
        if version != VERSION || bytes > ANSWER_BYTES_MAX {
            return Err(malformed("an answer of another version, or over the limit"));
        }
        Ok(bytes)
    }

    /// Decodes an answer.
    pub(crate) fn decode([_, kind, ..]: [u8; HEAD_BYTES], body: Vec<u8>) -> io::Result<Answer> {
        match (kind, body.as_slice()) {
            (DONE, []) => Ok(Answer::Done),
            (DESCRIPTOR, []) => Ok(Answer::Descriptor),
            (PATH, bytes) if !bytes.is_empty() && !bytes.contains(&0) => {
                Ok(Answer::Path(PathBuf::from(OsString::from_vec(body))))
            }
            (ERROR, bytes) => {
                let number = bytes.try_into().map(i32::from_le_bytes).ok().filter(|number| *number > 0);
                number.map(Answer::Error).ok_or_else(|| malformed("an error without a number"))
            }
            (TEXT, _) => {
                let text = String::from_utf8(body).map_err(|_| malformed("a text that is not UTF-8"))?;
                Ok(Answer::Text(text))
            }
            _ => Err(malformed("an unknown answer")),
        }
    }
}

/// A path without a meaning for another process is an error.
fn check_path(path: &Path) -> io::Result<()> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() > PATH_BYTES_MAX {
        return Err(rustix::io::Errno::NAMETOOLONG.into());
    }
    if !path.is_absolute() || bytes.contains(&0) {
        return Err(rustix::io::Errno::INVAL.into());
    }
    Ok(())
}

fn framed(word: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let [low, high] = length.to_le_bytes();
    let mut all = vec![VERSION, word, low, high];
    all.extend(bytes.iter().take(usize::from(length)));
    all
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answers() -> impl Strategy<Value = Answer> {
        prop_oneof![
            Just(Answer::Done),
            Just(Answer::Descriptor),
            "/[a-z/é]{0,60}".prop_map(|path| Answer::Path(path.into())),
            (1..200).prop_map(Answer::Error),
            "[ -~é]{0,100}".prop_map(Answer::Text),
        ]
    }

    proptest! {
        #[test]
        fn a_question_arrives_as_it_was_asked(place in 0..SORTS.len(), path in "/[ -~é]{0,200}") {
            let question = Question { sort: SORTS[place], path: path.into() };
            let bytes = question.encode().unwrap();
            let mut left = bytes.as_slice();
            prop_assert_eq!(Question::read(&mut left).unwrap(), Some(question));
            prop_assert!(left.is_empty());
        }

        #[test]
        fn an_answer_arrives_as_it_was_given(answer in answers()) {
            let bytes = answer.encode();
            let head = bytes[..HEAD_BYTES].try_into().unwrap();
            prop_assert_eq!(Answer::body_bytes(head).unwrap(), bytes.len() - HEAD_BYTES);
            prop_assert_eq!(Answer::decode(head, bytes[HEAD_BYTES..].to_vec()).unwrap(), answer);
        }

        /// No bytes make either end panic, or read more than the limit.
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut left = bytes.as_slice();
            if let Ok(Some(question)) = Question::read(&mut left) {
                prop_assert!(question.path.is_absolute());
            }
            if let Some(head) = bytes.first_chunk() && let Ok(length) = Answer::body_bytes(*head) {
                prop_assert!(length <= ANSWER_BYTES_MAX);
                let _ = Answer::decode(*head, bytes[HEAD_BYTES..].to_vec());
            }
        }
    }

    #[test]
    fn a_path_without_a_meaning_elsewhere_is_not_asked_about() {
        let asked = |path: &str| Question { sort: Sort::Read, path: path.into() }.encode().err();
        let number = |error: Option<io::Error>| error.and_then(|error| error.raw_os_error());
        for path in ["", "file", "./file", "../file", "/a\0b"] {
            assert_eq!(number(asked(path)), Some(rustix::io::Errno::INVAL.raw_os_error()), "{path:?}");
        }
        let long = |bytes: usize| format!("/{}", "x".repeat(bytes - 1));
        let too_long = number(asked(&long(PATH_BYTES_MAX + 1)));
        assert_eq!(too_long, Some(rustix::io::Errno::NAMETOOLONG.raw_os_error()));
        assert!(asked(&long(PATH_BYTES_MAX)).is_none());
    }

    #[test]
    fn the_other_end_keeps_to_the_limits() {
        let read = |bytes: &[u8]| Question::read(&mut &*bytes);
        assert!(read(&[]).unwrap().is_none());
        // Another version, an unknown sort, a length over the limit, a relative path, and an end in the middle.
        for wrong in
            [&b"\x02\0\x01\0/"[..], b"\x01\x09\x01\0/", b"\x01\0\0\x10/", b"\x01\0\x01\0a", b"\x01\0\x05\0/"]
        {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(read(b"\x01\0\x01\0/").unwrap().is_some());
        let long = Answer::Path("x".repeat(ANSWER_BYTES_MAX + 1).into()).encode();
        assert_eq!(long, Answer::Error(rustix::io::Errno::NAMETOOLONG.raw_os_error()).encode());
        assert!(Answer::Text("é".repeat(ERROR_BYTES_MAX)).encode().len() <= ERROR_BYTES_MAX + HEAD_BYTES);
    }
}
