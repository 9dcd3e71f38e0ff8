//! Batch files and the text of `cmd /c`, as `cmd /?`, `for /?`, `set /?` and `if /?` of Windows 11 tell, to the common tree. A reader
//! of our own: what a line means depends on blanks, carets and percent signs that no grammar keeps. Variables are names in small
//! letters between percent signs; jumps are not followed: any line may run after any other. It must not know what a command does.

use castellan_event::Why;

use crate::limits::{ERRORS_MAX, READER_BYTES_PER_NODE, TREE_DEPTH_MAX};
use crate::tree::{Invoked, Kind, Loop, Node, Span, Way};
use crate::work::Meter;

mod statements;
mod words;

/// Reads a whole text.
pub(crate) fn read(text: &str, meter: &Meter) -> Node {
    let mut reader = Reader { text, meter, at: 0, depth: 0, jumps: false, errors: Vec::new() };
    let mut parts = reader.lines(false);
    parts.append(&mut reader.errors);
    let at = reader.since(0);
    let body = Node::new(at, Kind::Sequence(parts));
    if !reader.jumps {
        return body;
    }
    // Lines may run again, after those behind them.
    Node::new(at, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })))
}

struct Reader<'t> {
    text: &'t str,
    meter: &'t Meter,
    at: usize,
    depth: usize,
    /// It goes from one line to another.
    jumps: bool,
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

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eats(&mut self, what: &str) -> bool {
        let stands = self.rest().starts_with(what);
        if stands {
            self.at += what.len();
        }
        stands
    }

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

    fn wrong(&mut self, from: usize, why: Why) {
        if self.errors.len() < ERRORS_MAX {
            let hole = self.node(from, Kind::Hole(why));
            self.errors.push(hole);
        }
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
        if self.depth >= TREE_DEPTH_MAX {
            let from = self.at;
            self.at = self.text.len();
            return self.node(from, Kind::Hole(Why::Nesting));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// Goes over blanks of a line, and what separates words as they do.
    fn blanks(&mut self) {
        loop {
            self.take(|letter| matches!(letter, ' ' | '\t' | ',' | ';' | '='));
            if !(self.eats("^\r\n") || self.eats("^\n")) {
                return;
            }
        }
    }

    fn line_rest(&mut self) -> &'t str {
        self.take(|letter| letter != '\n')
    }

    /// The word of letters that stands here, in small letters.
    fn keyword(&self) -> String {
        let rest = self.rest();
        let end = rest.bytes().take(16).take_while(u8::is_ascii_alphanumeric).count();
        self.meter.pay(end);
        rest.get(..end).unwrap_or_default().to_ascii_lowercase()
    }

    fn own(&self, from: usize, name: &str, arguments: Vec<Node>) -> Node {
        let callee = self.node(from, Kind::Name(format!("%{name}").into()));
        self.node(from, Kind::Call(callee.into(), arguments))
    }

    fn invoked(&self, from: usize, name: Node, words: Vec<Node>) -> Node {
        self.node(from, Kind::Command(Box::new(Invoked { name, words, way: Way::Plain })))
    }
}
