//! Reads batch files and the text of `cmd /c` into the common tree. Source: `cmd /?`, `for /?`, `set /?` and `if /?` of
//! Windows 11. Hand-written, because no grammar keeps blanks, carets and percent signs, on which a line's meaning
//! depends. Variables are lower-case names between percent signs. Jumps are not followed: any line may run after any
//! other. Must not know what a command does.

use crate::reader;
use crate::tree::{Invoked, Kind, Node, Way};
use crate::work::Meter;

mod statements;
mod words;

pub(crate) fn read(text: &str, meter: &Meter) -> Node {
    let mut reader = Reader::new(text, meter, Kept::default());
    let mut parts = reader.lines(false);
    parts.append(&mut reader.errors);
    let at = reader.since(0);
    let body = Node::sequence(at, parts);
    if !reader.kept.jumps {
        return body;
    }
    // After a jump, earlier lines may run again.
    Node::repeated(at, body)
}

#[derive(Default)]
struct Kept {
    /// The text jumps from one line to another.
    jumps: bool,
}

type Reader<'t> = reader::Reader<'t, Kept>;

impl<'t> Reader<'t> {
    /// Skips blanks and the other separators of words.
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

    /// Returns the next word of letters and digits, in lower case.
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
