//! `${x-word}`, `${x:=word}`, `${x+word}`, `${x?word}`: the value or the word. This module must not know the source
//! of the value.

use castellan_event::Why;

use super::fields::Bit;
use super::got::{At, Expanded, Got};
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Part, Substitute, Word};
use crate::walk::Walker;

/// Variables for standard directories of every machine. If the text sets none, `${x:-word}` uses its default.
const USUAL: &[&str] =
    &["TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];

impl Walker<'_> {
    /// Applies `${x-word}`, `${x:=word}`, `${x+word}`, `${x?word}`.
    pub(super) fn substitute(
        &mut self,
        state: &mut State,
        scope: &Scope,
        expanded: Expanded<'_>,
        got: Got,
        (kind, colon, word): (Substitute, bool, &Word),
    ) -> Vec<Bit> {
        let Expanded { name, index, quoted, written } = expanded;
        // `Some(true)`: there is a value; `None`: undecided.
        let is_usual = USUAL.contains(&name) && state.variable(name).is_none();
        let there = match &got {
            Got::Unknown { why: Why::Variable, .. } if is_usual && kind == Substitute::Default => Some(false),
            Got::Unset => Some(false),
            Got::One(text) if colon && text.as_str() == Some("") => Some(false),
            Got::One(text) if colon && !text.has_text() => None,
            Got::One(_) => Some(true),
            Got::Many { values, .. } => Some(match values.as_slice() {
                // zsh and dash: `$@` is set without parameters, too.
                [] if matches!(name, "@" | "*") && !colon => {
                    matches!(state.options.shell, Shell::Zsh | Shell::Posix)
                }
                [] => false,
                [one] if colon => one.as_str() != Some(""),
                _ => true,
            }),
            Got::Unknown { .. } => None,
        };
        let there = match there {
            Some(there) => there,
            // Both are possible; each is a separate reading.
            None => match self.choices.choose(2) {
                Some(choice) => choice == 1,
                None => {
                    self.text(state, scope, word);
                    let got = Got::Unknown { why: Why::Budget, several: !quoted };
                    return self.bits_of(state, got, quoted, written);
                }
            },
        };
        if let Some(bit) = self.odd_word(state, scope, expanded, (kind, word), there) {
            return vec![bit];
        }
        match (kind, there) {
            (Substitute::Default | Substitute::Assign | Substitute::Error, true) => {
                self.bits_of(state, got, quoted, written)
            }
            (Substitute::Alternative, false) => Bit::of_text(&Text::default(), quoted),
            (Substitute::Error, false) => {
                self.text(state, scope, word);
                self.may_fail = true;
                vec![Bit::Unknown { why: Why::Variable, written: written.to_owned(), quoted }]
            }
            (Substitute::Default, false) | (Substitute::Alternative, true) => {
                let mut bits = self.word_bits(state, scope, word, super::Tilde::First);
                if quoted && bits.is_empty() {
                    bits = Bit::of_text(&Text::default(), true);
                }
                // zsh does not split the word, and takes it for a pattern.
                let is_kept = state.options.shell == Shell::Zsh && !state.options.splits;
                let changed = |bit: Bit| match (quoted, is_kept) {
                    (true, _) => bit.quoted(),
                    (false, true) => bit,
                    (false, false) => bit.expanded(),
                };
                bits.into_iter().map(changed).collect()
            }
            (Substitute::Assign, false) => {
                let text = self.text(state, scope, word);
                self.evaluated_for(state, scope, name, &Value::Scalar(text.clone()), word.span);
                match index {
                    At::Whole => state.set(name, Value::Scalar(text.clone())),
                    At::Key(key) => self.set_element(state, name, key.clone(), text.clone(), false),
                    At::Each | At::Joined | At::Range(..) | At::Unknown => {
                        state.set(name, Value::Unknown(Why::Expansion));
                    }
                }
                Bit::of_text(&text, quoted)
            }
        }
    }

    /// Returns an unknown value where the shell expands the word in a way that is not modelled, or rejects it.
    fn odd_word(
        &mut self,
        state: &mut State,
        scope: &Scope,
        Expanded { name, quoted, written, .. }: Expanded<'_>,
        (kind, word): (Substitute, &Word),
        there: bool,
    ) -> Option<Bit> {
        let is_quoted = |part: &Part| matches!(part, Part::Text { quoted: true, .. });
        let is_odd = match state.options.shell {
            // zsh expands braces after parameters.
            Shell::Zsh => !quoted && super::braces::has_brace(word),
            // ksh: quotes in a quoted word end its quotes.
            Shell::Ksh => quoted && word.parts.iter().any(is_quoted),
            Shell::Bash | Shell::Posix => false,
        };
        // Only variables can be assigned.
        let is_wrong = kind == Substitute::Assign && !crate::literals::is_name(name);
        let is_taken = there == (kind == Substitute::Alternative);
        (is_taken && (is_odd || is_wrong)).then(|| {
            self.text(state, scope, word);
            self.may_fail |= is_wrong;
            if kind == Substitute::Assign && !is_wrong {
                state.set(name, Value::Unknown(Why::Expansion));
            }
            Bit::Unknown { why: Why::Expansion, written: written.to_owned(), quoted: is_wrong && quoted }
        })
    }
}
