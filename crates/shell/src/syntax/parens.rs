//! Whether `((` begins an expression or two subshells. This module must not build nodes.
//!
//! bash, ksh and zsh look for the `)` of the second `(`. The text between is an expression if another `)` follows,
//! and commands otherwise (bash `parse.y`, `parse_dparen`). The search reads ahead. It remembers the partner of each
//! `(` that it passes in [`Partners`](super::partners::Partners), so that an inner `((` needs no search of its own:
//! nesting does not multiply the work.

use super::cursor::{Parse, Parser};
use super::keywords::ends_word;

/// An open construct of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren(usize),
    /// `$(`, `<(`, and parentheses in them: commands, which may have comments.
    Commands(usize),
    Quote,
    Brace,
}

impl Parser<'_, '_> {
    /// Returns the end of the expression that begins at `start`, directly after `((`: the offset of its `))`.
    pub(super) fn expression_end(&mut self, start: usize) -> Parse<Option<usize>> {
        let open = start.saturating_sub(1);
        let (from, to) = self.parens.read;
        if !(from..to).contains(&open) {
            self.search(open)?;
        }
        let close = self.parens.partners.get(&open).copied().filter(|close| *close < self.end);
        Ok(close.filter(|close| self.byte(self.joined(close + 1)) == Some(b')')))
    }

    /// Looks for the partner of the `(` at `open`, and remembers those on the way.
    fn search(&mut self, open: usize) -> Parse<()> {
        let mut stack = vec![Open::Paren(open)];
        let mut at = open + 1;
        let limit = self.end.min(at.saturating_add(self.state.parens_spare));
        while let Some(top) = stack.last().copied() {
            if at >= limit {
                break;
            }
            let Some(byte) = self.byte(at) else { break };
            let next = self.byte(at + 1);
            match (byte, top) {
                (b'\\', _) => at += 1,
                (b'`', _) => at = self.skipped(at, b'`', true),
                (b'"', Open::Quote) => drop(stack.pop()),
                (b'"', _) => stack.push(Open::Quote),
                (b'$', _) if next == Some(b'(') => {
                    at += 1;
                    let is_double = self.byte(at + 1) == Some(b'(');
                    stack.push(if is_double { Open::Paren(at) } else { Open::Commands(at) });
                }
                (b'<' | b'>', Open::Paren(_) | Open::Commands(_)) if next == Some(b'(') => {
                    at += 1;
                    stack.push(Open::Commands(at));
                }
                (b'#', Open::Commands(_)) if ends_word(at.checked_sub(1).and_then(|at| self.byte(at))) => {
                    while !matches!(self.byte(at), None | Some(b'\n')) {
                        at += 1;
                    }
                }
                // Their parentheses have no partners.
                (b'<', Open::Commands(_)) if next == Some(b'<') => break,
                (b'c', Open::Commands(_)) if self.text(at, self.end).starts_with("case") => break,
                (b'$', _) if next == Some(b'{') => {
                    at += 1;
                    stack.push(Open::Brace);
                }
                (b'$', Open::Paren(_) | Open::Commands(_) | Open::Brace) if next == Some(b'\'') => {
                    at = self.skipped(at + 1, b'\'', true);
                }
                (b'\'', Open::Paren(_) | Open::Commands(_) | Open::Brace) => {
                    at = self.skipped(at, b'\'', false)
                }
                (b'}', Open::Brace) => drop(stack.pop()),
                (b'(', Open::Paren(_)) => stack.push(Open::Paren(at)),
                (b'(', Open::Commands(_)) => stack.push(Open::Commands(at)),
                (b')', Open::Paren(open) | Open::Commands(open)) => {
                    stack.pop();
                    if open.checked_sub(1).and_then(|before| self.byte(before)) == Some(b'(') {
                        self.parens.partners.insert(open, at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // Without the partner, nothing is known about the parentheses after a misleading quote: they are searched
        // again.
        let end = if stack.is_empty() { at } else { open + 1 };
        self.parens.read = (open, end);
        self.state.parens_spare = self.state.parens_spare.saturating_sub(at - open);
        self.state.spend(at - open)
    }

    /// Returns the offset of the next such byte after the one at `at`.
    fn skipped(&self, mut at: usize, closer: u8, has_escapes: bool) -> usize {
        loop {
            at += 1;
            match self.byte(at) {
                None => return at,
                Some(byte) if byte == closer => return at,
                Some(b'\\') if has_escapes => at += 1,
                Some(_) => {}
            }
        }
    }
}
