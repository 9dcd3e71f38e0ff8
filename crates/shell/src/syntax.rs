//! Shell text to a tree: a parser of bash 3.2 to 5.3, zsh 5.9, POSIX sh (dash) and ksh93u+m. It must not know what a
//! command means, nor any value.
//!
//! One pass over the bytes, by recursive descent. The sources are the manuals of the shells ("bash", "POSIX" and so on
//! in comments name their sections). The laws, for every text:
//!
//! * No panic. The depth of recursion is at most [`PARSER_DEPTH_MAX`](crate::limits::PARSER_DEPTH_MAX).
//! * Work is linear. A byte is read once where it is written, and once more for each text that the shell itself makes
//!   of other text: backquotes and here-documents (`heredoc`, `substitution`). Only `parens` reads ahead, with a
//!   memory.
//! * A part that the parser cannot read is a [`Hole`], never a guess.
//! * A shell runs the complete lines before a syntax error. So the tree has the statements of these lines, and one hole
//!   from the line with the error to the end. Parentheses that are too deep are a hole of their own, if their end is
//!   certain (`nesting`).

mod ansi;
mod arithmetic;
mod assignment;
mod case;
mod compound;
mod context;
mod cursor;
mod delimiter;
mod expansion;
mod expressions;
mod fill;
mod function;
mod heredoc;
mod keywords;
mod ksh;
mod loops;
mod nesting;
mod parens;
mod partners;
mod pending;
mod quotes;
mod redirect;
mod script;
mod simple;
mod source;
mod substitution;
mod test;
mod word;
mod zsh;
mod zsh_commands;

pub(crate) use arithmetic::assigned;
use castellan_event::Why;
use cursor::{Parser, State};
use source::Source;

use crate::limits::CUT_TEXT_BYTES_MAX;
use crate::tree::{Arithmetic, Hole, Node, Parsed, Script, Span, Statement};

/// The shell that reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shell {
    /// bash 3.2 to 5.3.
    Bash,
    /// zsh 5.9.
    Zsh,
    /// dash, and other shells with little more than POSIX.
    Posix,
    /// ksh93u+m.
    Ksh,
}

/// Parses text as the shell would, with at most `work_max` units of work: about a unit for each byte. Also returns the
/// units that it took.
pub fn parse(text: &str, shell: Shell, work_max: usize) -> (Parsed, usize) {
    let mut state = State::new(shell, work_max, text.len());
    let script = match unreadable(text) {
        Some(why) => {
            let span = Span { start: 0, end: text.len().try_into().unwrap_or(u32::MAX) };
            Script { statements: vec![state.hole_statement(why, span)], span }
        }
        None => Parser::new(&Source::root(text), &mut state, true).whole(),
    };
    let work = state.work();
    (Parsed { script, holes: state.holes, background: state.background, comments: state.comments }, work)
}

/// Parses text that the shell evaluates: the value of a variable, an operand of `let`. Returns `None` if a shell would
/// reject it, and if it has no structure.
pub(crate) fn expression(text: &str, shell: Shell) -> Option<Arithmetic> {
    if unreadable(text).is_some() {
        return None;
    }
    let mut state = State::new(shell, usize::MAX, text.len());
    let read = Parser::new(&Source::root(text), &mut state, true).expression(context::Context::Body);
    read.ok().filter(|read| read.tree.is_some() && state.holes.is_empty())
}

/// Returns the reason not to parse a text at all.
fn unreadable(text: &str) -> Option<Why> {
    // An argument cannot contain NUL: the text that a shell receives depends on the program that starts the shell.
    let has_nul = text.as_bytes().contains(&0);
    let is_too_long = text.len() > CUT_TEXT_BYTES_MAX;
    has_nul.then_some(Why::Encoding).or(is_too_long.then_some(Why::Size))
}

impl State {
    fn hole(&mut self, why: Why, span: Span) -> Hole {
        let hole = Hole { why, span };
        self.holes.push(hole);
        hole
    }

    fn hole_statement(&mut self, why: Why, span: Span) -> Statement {
        let node = Node::Hole(self.hole(why, span));
        Statement { node, redirects: Vec::new(), background: false, negated: false, span }
    }
}
