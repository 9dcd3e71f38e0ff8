//! Tilde expansion: `~`, `~+`, `~-`, `~user`. This module must not know files, so another user's directory is unknown.

use castellan_event::Why;

use super::fields::{Bit, How};
use crate::state::{DIRECTORIES, Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;

/// The positions in a word at which a tilde is expanded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// The text begins the word.
    pub(super) first: bool,
    /// A tilde after `:` is expanded.
    pub(super) colons: bool,
    /// A tilde after the first `=` is expanded.
    pub(super) equals: bool,
    /// The text ends the word.
    pub(super) last: bool,
}

impl Walker<'_> {
    /// Expands tildes in unquoted text.
    pub(super) fn tildes(&mut self, state: &mut State, text: &str, places: Places) -> Vec<Bit> {
        let mut bits = Vec::new();
        let mut plain = String::new();
        let mut may_begin = places.first;
        let mut seen_equals = !places.equals;
        let mut rest = text;
        while let Some(one) = rest.chars().next() {
            let after = rest.get(one.len_utf8()..).unwrap_or_default();
            if one == '~' && may_begin {
                let end = after.find(|end| end == '/' || (places.colons && end == ':'));
                // A user name cannot continue in quotes or in an expansion.
                if end.is_some() || places.last {
                    let (name, tail) =
                        after.split_at_checked(end.unwrap_or(after.len())).unwrap_or((after, ""));
                    // dash knows users only.
                    let is_text = state.options.shell == Shell::Posix && matches!(name, "+" | "-");
                    if let Some(made) = self.tilde(state, name).filter(|_| !is_text) {
                        bits.push(Bit::Text { text: std::mem::take(&mut plain), how: How::Written });
                        bits.extend(made);
                        rest = tail;
                        may_begin = false;
                        continue;
                    }
                }
            }
            may_begin = places.colons && (one == ':' || (one == '=' && !seen_equals));
            seen_equals |= one == '=';
            plain.push(one);
            rest = after;
        }
        bits.push(Bit::Text { text: plain, how: How::Written });
        bits
    }

    /// Returns the directory of `~name` in zsh: one of `hash -d`, or the absolute path in a variable.
    fn named_directory(&mut self, state: &mut State, name: &str) -> Option<Text> {
        if state.options.shell != Shell::Zsh {
            return None;
        }
        if let Value::Array(elements) = self.pick(state, DIRECTORIES)
            && let Some(path) = elements.get(&Key::Name(name.to_owned()))
        {
            return Some(path.clone());
        }
        match self.pick(state, name) {
            Value::Scalar(path) if path.to_arg().prefix().starts_with('/') => Some(path),
            Value::Scalar(_) | Value::Array(_) | Value::Unset | Value::Unknown(_) => None,
        }
    }

    fn tilde(&mut self, state: &mut State, name: &str) -> Option<Vec<Bit>> {
        let variable = match name {
            "" => "HOME",
            "+" => "PWD",
            "-" => "OLDPWD",
            name if name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-' | '.')) => {
                if let Some(directory) = self.named_directory(state, name) {
                    return Some(Bit::of_text(&directory, true));
                }
                let written = format!("~{name}");
                return Some(vec![Bit::Unknown { why: Why::Expansion, written, quoted: true }]);
            }
            _ => return None,
        };
        match self.pick(state, variable) {
            Value::Scalar(text) => Some(Bit::of_text(&text, true)),
            // Without `HOME`, bash reads the user database. `~+` and `~-` stay literal without their variable.
            Value::Unset if variable != "HOME" => None,
            Value::Unset | Value::Unknown(_) | Value::Array(_) => {
                Some(vec![Bit::Unknown { why: Why::Variable, written: format!("~{name}"), quoted: true }])
            }
        }
    }
}
