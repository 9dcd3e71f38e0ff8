//! Differences of zsh for words that parse as in bash: a path in `=rm`, splitting in `$=x`, code in glob qualifiers.
//! This module must not know statements.

use castellan_event::{Role, Why};

use super::Walker;
use crate::builtins::DOTGLOB;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::State;
use crate::syntax::Shell;
use crate::tree::{Part, Word};

impl Walker<'_> {
    /// Applies the zsh meaning of a command's words. Adds a `Gap` for unsupported syntax.
    pub(super) fn as_zsh(&mut self, state: &State, scope: &Scope, words: &[Word], call: &mut Call) {
        if state.options.shell != Shell::Zsh {
            return;
        }
        for word in words {
            let other = word.parts.iter().any(|part| match part {
                Part::Text { text, quoted: false } => has_flagged_parameter(text) || may_have_code(text),
                Part::Text { .. } | Part::Parameter { .. } | Part::Command { .. } => false,
                Part::Process { .. } | Part::Arithmetic { .. } | Part::Hole(_) => false,
            });
            if other {
                let written = crate::text::cut(scope.source.written(word.span));
                self.gap(scope, Role::Code, Why::Unsupported, &written, word.span);
            }
        }
        // `=rm` expands to the path of `rm`.
        if let Some(Part::Text { text, quoted: false }) = words.first().and_then(|word| word.parts.first())
            && text.starts_with('=')
            && let Some(first) = call.argv.first_mut()
            && let Some(name) = first.strip_prefix("=")
        {
            *first = name;
        }
    }

    /// `setopt`: from now on values may be split at blanks, as in bash, or patterns may match hidden names.
    pub(crate) fn setopt(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let sets = |names: &[&str]| {
            call.arguments().iter().any(|arg| {
                let is_one =
                    |text: &str| names.iter().any(|name| text.replace('_', "").eq_ignore_ascii_case(name));
                arg.as_str().is_none_or(is_one)
            })
        };
        state.options.hidden_names |= sets(&["globdots", DOTGLOB]);
        state.options.splits |= sets(&["shwordsplit"]);
        state.status = None;
    }
}

/// `$=x`, `$~x`, `$^x`, `$+x`.
fn has_flagged_parameter(text: &str) -> bool {
    text.split('$').skip(1).any(|after| after.starts_with(['=', '~', '^', '+']))
}

/// `*(e:code:)`, `*(+function)`: parentheses with `|` contain alternatives instead.
fn may_have_code(text: &str) -> bool {
    text.split('(').skip(1).any(|inner| {
        let inner = inner.split(')').next().unwrap_or_default();
        !inner.contains('|') && inner.contains(['e', '+'])
    })
}
