//! [`Parser`]: a position in a text, and the state that all texts of one call share: work, depth, holes. This module
//! must not know syntax beyond blanks, comments and the escaped newline.

use castellan_event::Why;

use super::partners::Partners;
use super::pending::Heredocs;
use super::source::Source;
use super::{Shell, partners};
use crate::limits::{
    CHEAP_BYTES_PER_WORK, COMMENTS_MAX, PARSER_DEPTH_MAX, REPARSE_DEPTH_MAX, TEXT_BYTES_MAX,
};
use crate::tree::{Hole, Span};

/// A part of the tree, or the reason why the parser stopped.
pub(super) type Parse<T> = Result<T, Why>;

/// State of one call.
#[derive(Debug)]
pub(super) struct State {
    pub(super) shell: Shell,
    pub(super) holes: Vec<Hole>,
    pub(super) background: bool,
    /// The comments of the outermost text.
    pub(super) comments: Vec<Span>,
    pub(super) parens_spare: usize,
    work: usize,
    work_max: usize,
    /// Bytes of the outermost text that the parser read as code.
    code: usize,
    /// Open constructs around the position.
    depth: usize,
    /// Texts around the position that the shell makes of other text.
    texts: u32,
    /// Text that is too deep has no certain end: the rest of the text is a hole.
    pub(super) is_endless: bool,
}

impl State {
    pub(super) fn new(shell: Shell, work_max: usize, bytes: usize) -> State {
        State {
            shell,
            holes: Vec::new(),
            background: false,
            comments: Vec::new(),
            parens_spare: partners::spare(bytes),
            work: 0,
            work_max,
            code: 0,
            depth: 0,
            texts: 0,
            is_endless: false,
        }
    }

    pub(super) fn work(&self) -> usize {
        self.work
    }

    pub(super) fn spend(&mut self, units: usize) -> Parse<()> {
        self.work = self.work.saturating_add(units);
        if self.work > self.work_max { Err(Why::Budget) } else { Ok(()) }
    }
}

/// A position in a text.
#[derive(Debug)]
pub(super) struct Parser<'t, 's> {
    pub(super) source: &'t Source<'t>,
    pub(super) at: usize,
    /// The end of the text for this parser. An expression ends before its text does.
    pub(super) end: usize,
    pub(super) heredocs: Heredocs,
    pub(super) parens: Partners,
    /// Open `$(` around the position, in this text.
    pub(super) substitutions: usize,
    /// In `${ ...; }`: its `}` needs no blank after it.
    pub(super) in_braces: bool,
    /// After `time` of zsh.
    pub(super) in_time: bool,
    pub(super) state: &'s mut State,
    /// The offset up to which the work is counted.
    counted: usize,
    is_root: bool,
}

impl<'t, 's> Parser<'t, 's> {
    pub(super) fn new(source: &'t Source<'t>, state: &'s mut State, is_root: bool) -> Parser<'t, 's> {
        Parser {
            source,
            at: 0,
            end: source.text.len(),
            heredocs: Heredocs::default(),
            parens: Partners::default(),
            substitutions: 0,
            in_braces: false,
            in_time: false,
            state,
            counted: 0,
            is_root,
        }
    }

    /// Reads a text that the shell makes of a part of this one.
    pub(super) fn again<T>(
        &mut self,
        source: &Source<'_>,
        (start, end): (usize, usize),
        read: impl FnOnce(&mut Parser<'_, '_>) -> T,
    ) -> Parse<T> {
        if self.state.texts >= REPARSE_DEPTH_MAX {
            return Err(Why::Nesting);
        }
        self.state.texts += 1;
        let mut parser = Parser::new(source, self.state, false);
        (parser.at, parser.counted, parser.end) = (start, start, end);
        let result = read(&mut parser);
        self.state.texts -= 1;
        self.state.is_endless = false;
        Ok(result)
    }

    /// Counts the bytes up to the position. Every loop over the text calls it in each round.
    pub(super) fn count(&mut self) -> Parse<()> {
        let bytes = self.at.saturating_sub(self.counted);
        self.counted = self.at;
        if self.is_root {
            self.state.code = self.state.code.saturating_add(bytes);
            if self.state.code > TEXT_BYTES_MAX {
                return Err(Why::Size);
            }
        }
        self.state.spend(bytes)
    }

    /// Counts bytes up to the position that are compared and copied, but not parsed.
    pub(super) fn count_cheap(&mut self) -> Parse<()> {
        let bytes = self.at.saturating_sub(self.counted);
        self.counted = self.at;
        self.state.spend(bytes / CHEAP_BYTES_PER_WORK)
    }

    /// Reads a construct that may contain others of its kind.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.state.depth >= PARSER_DEPTH_MAX {
            return Err(Why::Nesting);
        }
        self.state.depth += 1;
        self.count()?;
        self.state.spend(1)?;
        let result = read(self);
        self.state.depth -= 1;
        result
    }

    pub(super) fn is_shell(&self, shells: &[Shell]) -> bool {
        shells.contains(&self.state.shell)
    }

    /// Returns the byte at an offset, as written.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.source.text.as_bytes().get(at).copied() } else { None }
    }

    /// Returns the offset after escaped newlines. Outside of single quotes and comments, every shell takes them away
    /// before it looks for tokens: `i\⏎f` is `if` (POSIX, 2.2.1).
    pub(super) fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// Returns the byte at the position, which moves after escaped newlines.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.at = self.joined(self.at);
        self.byte(self.at)
    }

    /// Returns the byte after the one at the position.
    pub(super) fn second(&self) -> Option<u8> {
        self.byte(self.joined(self.joined(self.at) + 1))
    }

    /// Returns the offset after a token, if it is at the position.
    pub(super) fn after(&self, token: &str) -> Option<usize> {
        let mut at = self.at;
        for byte in token.bytes() {
            at = self.joined(at);
            if self.byte(at) != Some(byte) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// Moves after a token, if it is at the position.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        match self.after(token) {
            Some(at) => {
                self.at = at;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, token: &str) -> Parse<()> {
        if self.eat(token) { Ok(()) } else { Err(Why::Syntax) }
    }

    /// Moves after blanks and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'#') => {
                    let start = self.at;
                    self.find(|byte| byte == b'\n');
                    self.comment(start);
                    // Its bytes are only compared.
                    let bytes = self.at - start;
                    self.counted += bytes - bytes / CHEAP_BYTES_PER_WORK;
                }
                _ => return,
            }
        }
    }

    /// Stores the comment that ends at the position. The parser may pass it again.
    fn comment(&mut self, start: usize) {
        let span = self.source.span(start + 1, self.at);
        let comments = &mut self.state.comments;
        let is_new = comments.last().is_none_or(|last| last.start < span.start);
        if self.is_root && is_new && comments.len() < COMMENTS_MAX {
            comments.push(span);
        }
    }

    /// Moves after blanks, where a `#` begins no comment.
    pub(super) fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Moves after blanks, comments and newlines.
    pub(super) fn lines(&mut self) -> Parse<()> {
        loop {
            self.blanks();
            self.count()?;
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Moves to the next byte for which the test holds; to the end without any.
    pub(super) fn find(&mut self, mut test: impl FnMut(u8) -> bool) -> Option<u8> {
        let rest = self.source.text.as_bytes().get(self.at..self.end).unwrap_or_default();
        let found = rest.iter().position(|byte| test(*byte));
        self.at += found.unwrap_or(rest.len());
        self.byte(self.at)
    }

    pub(super) fn text(&self, start: usize, end: usize) -> &'t str {
        self.source.text.get(start..end).unwrap_or_default()
    }

    /// Returns the text of a range without escaped newlines.
    pub(super) fn joined_text(&self, start: usize, end: usize) -> String {
        let text = self.text(start, end);
        if text.contains('\\') { text.replace("\\\n", "") } else { text.to_owned() }
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        self.source.span(start, self.at)
    }

    pub(super) fn hole(&mut self, why: Why, start: usize) -> Hole {
        self.state.hole(why, self.source.span(start, self.at))
    }
}
