//! PowerShell 7.4 and Windows PowerShell 5.1, as `about_Language_Keywords`, `about_Parsing` and `about_Operators` tell, to the common
//! tree. A reader of our own: the grammars that there are take `$HOME/x` for an error and `1..3` for a command. It reads once from
//! left to right, as PowerShell does: in expressions, or in words of a command. Names are in small letters, variables begin with `$`,
//! types with `[`. It must not know what a command does.

use std::rc::Rc;

use castellan_event::Why;

use crate::limits::{ERRORS_MAX, READER_BYTES_PER_NODE, TREE_DEPTH_MAX};
use crate::tree::{Kind, Node, Span};
use crate::work::Meter;

mod commands;
mod definitions;
mod expressions;
mod literals;
mod statements;

/// No word of the language is longer.
const KEYWORD_BYTES_MAX: usize = 16;

/// Reads a whole text.
pub(crate) fn read(text: &str, meter: &Meter) -> Node {
    // `-Command -`: the program is what is read from standard input.
    let text = if text.trim() == "-" { "" } else { text };
    let mut reader = Reader {
        text,
        meter,
        at: 0,
        depth: 0,
        scopes: Vec::new(),
        attributes: Vec::new(),
        errors: Vec::new(),
    };
    let mut parts = reader.statements(None);
    parts.append(&mut reader.attributes);
    parts.append(&mut reader.errors);
    Node::new(reader.since(0), Kind::Sequence(parts))
}

/// The name of a type as the tables have it.
pub(crate) fn type_named(name: &str) -> String {
    literals::short(name)
}

struct Reader<'t> {
    text: &'t str,
    meter: &'t Meter,
    at: usize,
    depth: usize,
    /// The names that the functions around give a value, the innermost last.
    scopes: Vec<Vec<Rc<str>>>,
    /// Blocks in attributes, which PowerShell runs by itself: `[ValidateScript({ ... })]`.
    attributes: Vec<Node>,
    /// Parts that cannot be read.
    errors: Vec<Node>,
}

impl<'t> Reader<'t> {
    /// What follows. Who looks further than a few characters pays for it.
    fn rest(&self) -> &'t str {
        self.meter.pay(1);
        if self.meter.is_over() {
            return "";
        }
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Goes over this, if it stands here.
    fn eats(&mut self, what: &str) -> bool {
        let stands = self.rest().starts_with(what);
        if stands {
            self.at += what.len();
        }
        stands
    }

    /// Goes over what fits.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|letter| !fits(letter)).unwrap_or(rest.len());
        self.meter.pay(end);
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn since(&self, from: usize) -> Span {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        (place(from), place(self.at))
    }

    fn node(&self, from: usize, kind: Kind) -> Node {
        self.meter.pay(READER_BYTES_PER_NODE);
        Node::new(self.since(from), kind)
    }

    /// A part that is wrong. The first ones are told, which is enough to say that there are some.
    fn wrong(&mut self, from: usize, why: Why) {
        if self.errors.len() < ERRORS_MAX {
            let hole = self.node(from, Kind::Hole(why));
            self.errors.push(hole);
        }
    }

    /// This must stand here.
    fn expect(&mut self, what: &str) {
        self.blanks(true);
        if !self.eats(what) {
            self.wrong(self.at, Why::Syntax);
        }
    }

    /// Goes one level down. What lies too deep ends the reading.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
        let from = self.at;
        if self.depth >= TREE_DEPTH_MAX {
            return self.ends(from, Why::Nesting);
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// Nothing behind this is read.
    fn ends(&mut self, from: usize, why: Why) -> Node {
        self.at = self.text.len();
        self.node(from, Kind::Hole(why))
    }

    /// Goes over blanks and comments; `lines`: over the ends of lines too.
    fn blanks(&mut self, lines: bool) {
        let from = self.at;
        self.over_blanks(lines);
        self.meter.pay(self.at - from);
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

    /// The word of letters that stands here, in small letters.
    fn keyword(&self) -> String {
        let rest = self.rest();
        let letters = rest.chars().take(KEYWORD_BYTES_MAX + 1);
        let letters = letters.take_while(|letter| letter.is_alphanumeric() || "_-".contains(*letter));
        let length = letters.map(char::len_utf8).sum();
        self.meter.pay(length);
        let word = rest.get(..length).filter(|word| word.len() <= KEYWORD_BYTES_MAX);
        word.unwrap_or_default().to_ascii_lowercase()
    }

    /// A name gets a value in the function that is being read.
    fn declare(&mut self, name: &Rc<str>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Rc::clone(name));
        }
    }

    /// Something of a library that no text can name: the tables have it below `%`.
    fn own(&self, from: usize, name: &str, arguments: Vec<Node>) -> Node {
        let callee = self.node(from, Kind::Name(format!("%{name}").into()));
        self.node(from, Kind::Call(callee.into(), arguments))
    }
}

/// Dashes: PowerShell takes those of typography for the same.
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
