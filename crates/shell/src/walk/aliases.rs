//! Aliases in front of a command. This module must not know functions.

use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Piece;

use super::Walker;
use super::simple::plain;
use crate::found::Origin;
use crate::scope::Scope;
use crate::state::State;
use crate::text::Text;
use crate::tree::{Statement, Word};

impl Walker<'_> {
    /// Walks the expansion of an alias. Returns true if the expansion replaces the whole command.
    pub(super) fn alias(
        &mut self,
        state: &mut State,
        scope: &Scope,
        statement: &Statement,
        words: &[Word],
    ) -> bool {
        if state.options.aliases == Some(false) {
            return false;
        }
        let Some(name) = words.first().and_then(plain) else { return false };
        if scope.aliases.iter().any(|active| **active == *name) {
            return false;
        }
        let Some(mut text) = self.alias_body(state, name) else { return false };
        if text.as_str().is_some_and(|text| text.trim().is_empty()) && words.len() == 1 {
            return false;
        }
        // After an alias body that ends with a blank, the next word may also be an alias.
        let mut goes_on = ends_blank(&text);
        for word in words.iter().skip(1) {
            text.push_str(" ");
            let next = plain(word).filter(|_| goes_on).and_then(|name| self.alias_body(state, name));
            goes_on = next.as_ref().is_some_and(ends_blank);
            match next {
                Some(next) => text.push(&next),
                None => text.push_str(scope.source.written(word.span)),
            }
        }
        self.work.spend_bytes(text.len());
        let mut inner = scope.clone();
        let mut aliases = (*scope.aliases).clone();
        aliases.push(name.into());
        inner.aliases = Rc::new(aliases);
        let (redirects, saved) = self.redirects(state, scope, &statement.redirects);
        let inner = inner.redirected(redirects);
        let is_new = self.alias_lines.get(name).is_some_and(|line| *line == self.line);
        let certain = state.options.aliases == Some(true) && !is_new;
        if certain {
            self.run_text(state, &inner, &text, Origin::Alias, statement.span);
        } else {
            let mut other = self.fork(state);
            self.run_text(&mut other, &inner, &text, Origin::Alias, statement.span);
            self.joins(state, other);
        }
        Self::restore(state, saved);
        certain
    }

    /// Returns the alias body of a name in the current reading of the command. Returns `None` if the name has no alias.
    fn alias_body(&mut self, state: &State, name: &str) -> Option<Text> {
        let bodies = state.aliases.get(name)?;
        match self.choices.choose(bodies.len()) {
            Some(at) => bodies.get(at).cloned().flatten(),
            None => Some(Text::unknown(Why::Budget, name)),
        }
    }
}

/// Returns true if a text certainly ends with a blank.
fn ends_blank(text: &Text) -> bool {
    matches!(text.pieces().last(), Some(Piece::Text(last)) if last.ends_with([' ', '\t']))
}
