//! [`Reader`]: reads a text by hand, from left to right, for languages without a usable grammar. It pays for the bytes
//! that it looks at and reports unreadable parts. Must not know any language.

use castellan_event::Why;

use crate::limits::{ERRORS_MAX, READER_BYTES_PER_NODE, TREE_DEPTH_MAX};
use crate::tree::{Kind, Node, Span};
use crate::work::Meter;

/// A text and the position in it.
pub(crate) struct Reader<'t, K> {
    pub(crate) text: &'t str,
    meter: &'t Meter,
    /// Position of the next byte.
    pub(crate) at: usize,
    /// Nesting depth at this position.
    pub(crate) depth: usize,
    /// Parts that cannot be read.
    pub(crate) errors: Vec<Node>,
    /// State of the language's reader.
    pub(crate) kept: K,
}

impl<'t, K> Reader<'t, K> {
    pub(crate) fn new(text: &'t str, meter: &'t Meter, kept: K) -> Reader<'t, K> {
        Reader { text, meter, at: 0, depth: 0, errors: Vec::new(), kept }
    }

    /// Returns the unread text. A caller that looks further than a few characters pays for it.
    pub(crate) fn rest(&self) -> &'t str {
        self.meter.pay(1);
        if self.meter.is_over() {
            return "";
        }
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Pays for bytes that a caller looked at.
    pub(crate) fn pay(&self, bytes: usize) {
        self.meter.pay(bytes);
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Skips bytes and returns their start.
    pub(crate) fn skip(&mut self, bytes: usize) -> usize {
        let from = self.at;
        self.at += bytes;
        from
    }

    /// Skips a letter if nothing was read since this place, and reports that.
    pub(crate) fn is_stuck(&mut self, since: usize) -> bool {
        let is_stuck = self.at == since;
        if is_stuck {
            self.bump();
        }
        is_stuck
    }

    /// Skips this text if it comes next.
    pub(crate) fn eats(&mut self, what: &str) -> bool {
        let stands = self.rest().starts_with(what);
        if stands {
            self.at += what.len();
        }
        stands
    }

    /// Skips and returns the characters that fit.
    pub(crate) fn take(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|letter| !fits(letter)).unwrap_or(rest.len());
        self.meter.pay(end);
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    pub(crate) fn since(&self, from: usize) -> Span {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        (place(from), place(self.at))
    }

    pub(crate) fn node(&self, from: usize, kind: Kind) -> Node {
        self.meter.pay(READER_BYTES_PER_NODE);
        Node::new(self.since(from), kind)
    }

    /// Records a wrong part. Records only the first ones, which is enough to report that there are errors.
    pub(crate) fn wrong(&mut self, from: usize, why: Why) {
        if self.errors.len() < ERRORS_MAX {
            let hole = self.node(from, Kind::Hole(why));
            self.errors.push(hole);
        }
    }

    /// Reads one level deeper. At the depth limit, reading ends.
    pub(crate) fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
        let from = self.at;
        if self.depth >= TREE_DEPTH_MAX {
            return self.ends(from, Why::Nesting);
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// Ends reading: nothing after this is read.
    pub(crate) fn ends(&mut self, from: usize, why: Why) -> Node {
        self.at = self.text.len();
        self.node(from, Kind::Hole(why))
    }

    /// Calls a library function that no program text can name: the tables have it with the prefix `%`.
    pub(crate) fn own(&self, from: usize, name: &str, arguments: Vec<Node>) -> Node {
        let callee = self.node(from, Kind::Name(format!("%{name}").into()));
        self.node(from, Kind::Call(callee.into(), arguments))
    }
}
