//! Reads PowerShell 7.4 and Windows PowerShell 5.1 into the common tree. Source: `about_Language_Keywords`,
//! `about_Parsing` and `about_Operators`. Hand-written, because the existing grammars read `$HOME/x` as an error and
//! `1..3` as a command. Reads once from left to right, in expression mode or in command mode, as PowerShell does. Names
//! are in lower case, variables begin with `$`, types with `[`. Must not know what a command does.

use std::rc::Rc;

use castellan_event::Why;

use crate::reader;
use crate::tree::Node;
use crate::work::Meter;

mod commands;
mod definitions;
mod expressions;
mod literals;
mod statements;

/// No keyword is longer.
const KEYWORD_BYTES: usize = 16;

pub(crate) fn read(text: &str, meter: &Meter) -> Node {
    // `-Command -` reads the program from standard input.
    let text = if text.trim() == "-" { "" } else { text };
    let mut reader = Reader::new(text, meter, Kept::default());
    let mut parts = reader.statements(None);
    parts.append(&mut reader.kept.attributes);
    parts.append(&mut reader.errors);
    Node::sequence(reader.since(0), parts)
}

/// Returns the name of a type as the tables write it.
pub(crate) fn type_named(name: &str) -> String {
    literals::short(name)
}

#[derive(Default)]
struct Kept {
    /// The names that the enclosing functions assign, the innermost function last.
    scopes: Vec<Vec<Rc<str>>>,
    /// Blocks in attributes, which PowerShell runs by itself: `[ValidateScript({ ... })]`.
    attributes: Vec<Node>,
}

type Reader<'t> = reader::Reader<'t, Kept>;

impl Reader<'_> {
    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    /// Reads a required token; reports a syntax error if it is absent.
    fn expect(&mut self, what: &str) {
        self.blanks(true);
        if !self.eats(what) {
            self.wrong(self.at, Why::Syntax);
        }
    }

    /// Skips blanks and comments; with `lines` also line ends.
    fn blanks(&mut self, lines: bool) {
        let from = self.at;
        self.over_blanks(lines);
        self.pay(self.at - from);
    }

    fn over_blanks(&mut self, lines: bool) {
        loop {
            let rest = self.rest();
            match rest.chars().next() {
                Some('\n' | '\r') if !lines => return,
                Some(letter) if letter.is_whitespace() => self.at += letter.len_utf8(),
                Some('`') if rest.starts_with("`\n") => self.at += 2,
                Some('`') if rest.starts_with("`\r\n") => self.at += 3,
                Some('#') => self.at += rest.find('\n').unwrap_or(rest.len()),
                Some('<') if rest.starts_with("<#") => match rest.find("#>") {
                    Some(end) => self.at += end + 2,
                    None => {
                        let from = self.at;
                        let hole = self.ends(from, Why::Syntax);
                        self.errors.push(hole);
                    }
                },
                _ => return,
            }
        }
    }

    /// Returns the next word, in lower case; empty if no keyword is so long.
    fn keyword(&self) -> String {
        let rest = self.rest();
        let letters = rest.chars().take(KEYWORD_BYTES + 1);
        let letters = letters.take_while(|letter| letter.is_alphanumeric() || "_-".contains(*letter));
        let length = letters.map(char::len_utf8).sum();
        self.pay(length);
        let word = rest.get(..length).filter(|word| word.len() <= KEYWORD_BYTES);
        word.unwrap_or_default().to_ascii_lowercase()
    }

    /// Records that the function being read assigns a name.
    fn declare(&mut self, name: &Rc<str>) {
        if let Some(scope) = self.kept.scopes.last_mut() {
            scope.push(Rc::clone(name));
        }
    }
}

/// PowerShell accepts typographic dashes as `-`.
fn is_dash(letter: char) -> bool {
    matches!(letter, '-' | '\u{2013}' | '\u{2014}' | '\u{2015}')
}

fn is_single_quote(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}')
}

fn is_double_quote(letter: char) -> bool {
    matches!(letter, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}')
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
