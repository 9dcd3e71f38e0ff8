//! L2: what a program text in a language other than shell would do, as far as reading it tells. It knows languages and their
//! libraries, as data. It must not know files, scopes of paths, rules or verdicts.
//!
//! `parse` and `lower`, or a reader of the language's own, bring a text into one tree for all languages; `run` goes through it as an interpreter would, with values that
//! may be unknown; the tables of `models/*.toml` say what the functions of libraries do. What could act and is in no table, or
//! cannot be followed, is a hole: never silence.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "trees and values have many forms; one that is not named takes the cautious arm: data, or a hole"
)]

mod act;
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
pub use language::Language;
pub use work::Work;

/// What a program text would do when it is started so. Any text is read; what is too long, wrong or not understood is a hole.
pub fn read(language: Language, text: &str, start: &Start) -> Reading {
    read_within(language, text, start, &mut Work::default())
}

/// The same within an amount of work that several programs share; what it does not reach for is a hole.
pub fn read_within(language: Language, text: &str, start: &Start, work: &mut Work) -> Reading {
    run::run(language, text, start, work).0
}

/// The same; what this thread has read a while ago is not read anew, and costs no less of the work.
pub fn read_once(language: Language, text: &str, start: &Start, work: &mut Work) -> Reading {
    memo::kept(language, text, start, work, |work| run::run(language, text, start, work))
}

/// `PowerShell`'s `-EncodedCommand`: text as UTF-16 in base64. `None` where it is none.
pub fn encoded(text: &str) -> Option<String> {
    run::utf16(&run::base64(text)?)
}
