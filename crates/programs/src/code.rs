//! [`code`]: the effects of code in a program's little language, as far as its text shows them. Languages: awk, sed,
//! dc, m4, ex and vim commands, and debugger commands. It must not know programs: the model determines which argument
//! is code.

use castellan_event::Why;

use crate::arg::{Arg, Piece};
use crate::limits::CODE_BYTES_MAX;

pub mod awk;
mod dc;
mod debugger;
mod ex;
mod m4;
pub mod sed;

/// An effect of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// It runs shell text.
    Shell(Arg),
    /// It reads a file.
    Read(Arg),
    /// It writes a file.
    Write(Arg),
    /// It runs the code in a file.
    Execute(Arg),
    /// The text does not show the effect.
    Unknown {
        /// The reason.
        why: Why,
        /// The text in question.
        text: String,
    },
}

/// Returns the effects of code; `None` for an unsupported language. An unknown part is scanned like text in its place.
/// The caller must report that the code had unknown parts.
pub fn code(language: &str, arg: &Arg) -> Option<Vec<Does>> {
    let scan = LANGUAGES.iter().find(|(name, _)| *name == language).map(|(_, scan)| *scan)?;
    let marked = Marked::new(arg);
    if marked.text.len() > CODE_BYTES_MAX {
        return Some(vec![Does::Unknown { why: Why::Size, text: String::new() }]);
    }
    Some(scan(&marked.text).into_iter().map(|found| marked.does(found)).collect())
}

type Scan = fn(&str) -> Vec<Found>;

const LANGUAGES: &[(&str, Scan)] = &[
    ("awk", awk::scan),
    ("dc", dc::scan),
    ("ex", ex::scan),
    ("gdb", debugger::gdb),
    ("lldb", debugger::lldb),
    ("m4", m4::scan),
    ("sed", sed::scan),
];

/// Reports whether [`code`] supports a language.
pub fn reads(language: &str) -> bool {
    LANGUAGES.iter().any(|(name, _)| *name == language)
}

/// Like [`Does`], with marks for unknown parts.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Shell(String),
    Read(String),
    Write(String),
    Execute(String),
    Unknown(Why, String),
}

/// The first mark; the other marks follow it. Real code has no characters of the private use area.
const MARK: u32 = 0xE000;
const MARKS: u32 = 0x1800;

/// The number of the first mark for an unknown number.
const NUMBERS: u32 = MARKS / 2;

/// Reports whether a character is a mark for an unknown part.
fn is_mark(letter: char) -> bool {
    (MARK..MARK + MARKS).contains(&u32::from(letter))
}

/// Reports whether a character is a mark for an unknown number, which is the result of arithmetic.
fn is_number_mark(letter: char) -> bool {
    (MARK + NUMBERS..MARK + MARKS).contains(&u32::from(letter))
}

/// A text with a mark for each unknown part.
struct Marked<'a> {
    text: String,
    unknown: Vec<&'a Piece>,
    numbers: Vec<&'a Piece>,
}

impl Marked<'_> {
    fn new(arg: &Arg) -> Marked<'_> {
        let mut marked = Marked { text: String::new(), unknown: Vec::new(), numbers: Vec::new() };
        for piece in arg.pieces() {
            match piece {
                Piece::Text(text) => marked.text.push_str(text),
                Piece::Unknown { why, written } => {
                    // Only such an expansion is surely a number: a variable may hold any text of unknown arithmetic.
                    let is_expansion = written.starts_with("$((") && written.ends_with("))");
                    let (list, first) = if *why == Why::Arithmetic && is_expansion {
                        (&mut marked.numbers, NUMBERS)
                    } else {
                        (&mut marked.unknown, 0)
                    };
                    let number = u32::try_from(list.len()).unwrap_or(NUMBERS).min(NUMBERS - 1);
                    marked.text.extend(char::from_u32(MARK + first + number));
                    list.push(piece);
                }
            }
        }
        marked
    }

    fn does(&self, found: Found) -> Does {
        match found {
            Found::Shell(text) => Does::Shell(self.arg(&text)),
            Found::Read(text) => Does::Read(self.arg(&text)),
            Found::Write(text) => Does::Write(self.arg(&text)),
            Found::Execute(text) => Does::Execute(self.arg(&text)),
            Found::Unknown(why, text) => {
                let arg = self.arg(&text);
                Does::Unknown { why: arg.why().unwrap_or(why), text: arg.written().into_owned() }
            }
        }
    }

    fn arg(&self, text: &str) -> Arg {
        let pieces = text.chars().map(|letter| {
            let number = u32::from(letter).checked_sub(MARK);
            let piece = number.and_then(|number| match number.checked_sub(NUMBERS) {
                Some(number) => self.numbers.get(usize::try_from(number).ok()?),
                None => self.unknown.get(usize::try_from(number).ok()?),
            });
            match piece {
                Some(piece) => (*piece).clone(),
                None => Piece::Text(letter.to_string()),
            }
        });
        Arg::from_pieces(pieces, false)
    }
}

/// Reports whether a file is a standard stream.
fn is_stream(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "-")
}
