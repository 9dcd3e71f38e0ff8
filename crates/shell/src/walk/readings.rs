//! A text for each shell that may read it: parsing, holes, and the join of the readings. This module must not know
//! commands.

use std::rc::Rc;

use castellan_event::{Role, Why};

use super::Walker;
use crate::limits::{PARSED_PER_WORK, WORK_OF_PARSING};
use crate::scope::Scope;
use crate::state::State;
use crate::syntax::{Shell, parse};
use crate::tree::{Node, Parsed, Script};

impl<'f> Walker<'f> {
    /// Parses text as the current shell; adds a `Gap` for each part that the parser did not understand.
    pub(crate) fn parsed(&mut self, scope: &Scope, shell: Shell, text: &str) -> Script {
        let parsed = self.tree(shell, text);
        self.holes(scope, &parsed, |_| true);
        parsed.script
    }

    /// Walks the text of a scope once for each shell that reads it differently, and joins the states.
    pub(crate) fn each_shell(
        &mut self,
        state: &mut State,
        scope: &Scope,
        shells: &[Shell],
        mut walk: impl FnMut(&mut Self, &mut State, &Script),
    ) {
        let text = Rc::clone(&scope.source.text);
        let mut readings: Vec<(Shell, Parsed)> = Vec::with_capacity(shells.len());
        for shell in shells {
            let parsed = self.tree(*shell, &text);
            let is_like =
                |(other, read): &(Shell, Parsed)| *read == parsed && acts_alike(*other, *shell, &text);
            if !readings.iter().any(is_like) {
                readings.push((*shell, parsed));
            }
        }
        let is_whole = |parsed: &Parsed| parsed.holes.iter().all(|hole| hole.why != Why::Syntax);
        let any_whole = readings.iter().any(|(_, parsed)| is_whole(parsed));
        let before = (readings.len() > 1).then(|| self.fork(state));
        let outer = state.options.is_other;
        let mut after: Option<State> = None;
        for (shell, parsed) in readings {
            let is_other = any_whole && !is_whole(&parsed);
            self.holes(scope, &parsed, |why| why != Why::Syntax || !is_other);
            state.start_as(shell);
            state.options.is_other = is_other;
            walk(self, state, &parsed.script);
            if let Some(before) = &before {
                let next = self.fork(before);
                let done = std::mem::replace(state, next);
                match &mut after {
                    Some(after) => self.joins(after, done),
                    None => after = Some(done),
                }
            }
        }
        if let Some(after) = after {
            *state = after;
        }
        state.options.is_other = outer;
    }

    fn tree(&mut self, shell: Shell, text: &str) -> Parsed {
        let units = usize::try_from(self.work.left()).unwrap_or(usize::MAX);
        let (parsed, parsed_units) = parse(text, shell, units.saturating_mul(PARSED_PER_WORK));
        self.work.spend(WORK_OF_PARSING + (parsed_units / PARSED_PER_WORK) as u64);
        self.items.background |= parsed.background;
        parsed
    }

    /// Adds a `Gap` for each hole of a tree whose reason `reports` accepts. An error of syntax at the end of the text is
    /// reported where the walk reaches it: after `exec` or `exit`, the shell does not read on.
    fn holes(&mut self, scope: &Scope, parsed: &Parsed, reports: impl Fn(Why) -> bool) {
        let last = match parsed.script.statements.last().map(|statement| &statement.node) {
            Some(Node::Hole(hole)) if hole.why == Why::Syntax => Some(*hole),
            Some(_) | None => None,
        };
        for hole in parsed.holes.iter().filter(|hole| Some(**hole) != last && reports(hole.why)) {
            let written = scope.source.written(hole.span).to_owned();
            self.gap(scope, Role::Code, hole.why, &written, hole.span);
        }
    }
}

/// Reports whether two shells that read a text equally also run it equally.
///
/// * zsh has its own rules for values, patterns and `=` at the beginning of a word.
/// * dash has no braces, but escapes in `echo`. Assignments before `:` last.
fn acts_alike(one: Shell, other: Shell, text: &str) -> bool {
    let is_zsh = [one, other].contains(&Shell::Zsh) && one != other;
    let is_posix = [one, other].contains(&Shell::Posix) && one != other;
    let has_braces = || text.contains('{') && (text.contains(',') || text.contains(".."));
    let has_escapes = || text.contains('\\') && text.contains("echo");
    let has_tilde = || {
        text.contains('~') && text.contains(['=', '+', '-']) || text.contains("${@") || text.contains("${*")
    };
    let lasts = || text.contains('=') && [":", "eval", "exec", "."].iter().any(|name| has_word(text, name));
    !(is_zsh && text.contains(['$', '`', '=', '*', '?', '[', '(', '~']))
        && !(is_posix && (has_braces() || has_escapes() || has_tilde() || lasts()))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split([' ', '\t', '\n', ';', '&', '|', '(']).any(|one| one == word)
}
