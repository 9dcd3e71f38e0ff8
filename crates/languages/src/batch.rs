//! Batch files and the text of `cmd /c`, as `cmd /?`, `for /?`, `set /?` and `if /?` of Windows 11 tell, to the common tree. A reader
//! of our own: what a line means depends on blanks, carets and percent signs that no grammar keeps. Variables are names in small
//! letters between percent signs; jumps are not followed: any line may run after any other. It must not know what a command does.

use crate::reader;
use crate::tree::{Invoked, Kind, Loop, Node, Way};
use crate::work::Meter;

mod statements;
mod words;

/// Reads a whole text.
pub(crate) fn read(text: &str, meter: &Meter) -> Node {
    let mut reader = Reader::new(text, meter, Kept::default());
    let mut parts = reader.lines(false);
    parts.append(&mut reader.errors);
    let at = reader.since(0);
    let body = Node::new(at, Kind::Sequence(parts));
    if !reader.kept.jumps {
        return body;
    }
    // Lines may run again, after those behind them.
    Node::new(at, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })))
}

/// What is kept of what was read.
#[derive(Default)]
struct Kept {
    /// It goes from one line to another.
    jumps: bool,
}

type Reader<'t> = reader::Reader<'t, Kept>;

impl<'t> Reader<'t> {
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
        self.pay(end);
        rest.get(..end).unwrap_or_default().to_ascii_lowercase()
    }

    fn invoked(&self, from: usize, name: Node, words: Vec<Node>) -> Node {
        self.node(from, Kind::Command(Box::new(Invoked { name, words, way: Way::Plain })))
    }
}
