//! L2: reads a program text in a language other than shell and reports the acts that the program would do. This crate
//! knows languages and their libraries, as data. It must not know files, path scopes, rules or verdicts.
//!
//! `parse` and `lower`, or a hand-written reader, turn a text into one common tree for all languages. `run` interprets
//! the tree with values that may be unknown. The tables of `models/*.toml` describe library functions. Code that could
//! act and is in no table, or cannot be followed, gives a `Hole` act: never silence.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "trees and values have many forms; one that is not named takes the cautious arm: data, or a hole"
)]

mod act;
mod apart;
mod applescript;
mod batch;
mod language;
mod limits;
mod lower;
mod memo;
mod parse;
mod powershell;
mod reader;
mod run;
mod state;
mod table;
mod tree;
mod value;
mod work;

pub use act::{Act, Operand, Reading, Start, What};
pub use apart::{Answered, Helper, answer, read_once};
pub use language::Language;
pub use work::Work;

/// Reports the acts of a program text that starts like this. Any text is valid; an unreadable part gives a `Hole`.
pub fn read(language: Language, text: &str, start: &Start) -> Reading {
    read_within(language, text, start, &mut Work::default())
}

/// Like [`read`], within work that several programs share. A part that the work does not cover gives a `Hole`.
pub fn read_within(language: Language, text: &str, start: &Start, work: &mut Work) -> Reading {
    run::run(language, text, start, work, parse::guard::Process::Helper).0
}

/// Decodes the text of `PowerShell`'s `-EncodedCommand`: UTF-16 in base64. Returns `None` for any other text.
pub fn encoded(text: &str) -> Option<String> {
    run::utf16(&run::base64(text)?)
}
