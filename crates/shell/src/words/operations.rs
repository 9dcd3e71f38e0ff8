//! Operations on a parameter's value: `${x:-word}`, `${x#pattern}`, `${x/a/b}` and similar. This module must not know
//! the source of the value.

use castellan_event::{Why, single_quoted};

use super::edits::{bounds, cased, removed, replaced, why_of_changed};
use super::fields::Bit;
use super::got::{At, Expanded, Got};
use crate::limits::{COMPARISONS_MAX, COMPARISONS_PER_WORK};
use crate::literals::ansi_quoted;
use crate::patterns::Pattern;
use crate::scope::Scope;
use crate::state::{Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Operation, Parameter, Word};
use crate::walk::Walker;

impl Walker<'_> {
    pub(super) fn operate(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
        expanded: Expanded<'_>,
        got: Got,
    ) -> Vec<Bit> {
        let Expanded { name, quoted, written, .. } = expanded;
        // One element of a list is assumed: any part of the list may be that element.
        let is_list = matches!(expanded.index, At::Each | At::Joined);
        if is_list && self.assumed.as_ref().is_some_and(|(assumed, _)| **assumed == *name) {
            return self.bits_of(state, got, quoted, written);
        }
        let made = match &parameter.operation {
            Operation::Value | Operation::Keys | Operation::Names => got,
            Operation::Length => length_of(&got),
            Operation::Substitute { kind, colon, word } => {
                return self.substitute(state, scope, expanded, got, (*kind, *colon, word));
            }
            Operation::Remove { suffix, longest, pattern } => {
                let pattern = self.pattern(state, scope, pattern);
                self.charge_comparisons(&got, pattern.as_ref());
                self.each(got, written, |text| removed(text, pattern.as_ref()?, *suffix, *longest))
            }
            Operation::Replace { at, pattern, replacement } => {
                let pattern = self.pattern(state, scope, pattern);
                let replacement = replacement.as_ref().map(|word| self.text(state, scope, word));
                let replacement = replacement.unwrap_or_default();
                // An empty value matches some patterns of zsh and ksh.
                let is_odd = matches!(state.options.shell, Shell::Zsh | Shell::Ksh) && is_empty(&got);
                let got = if is_odd || state.options.is_unmodelled { unknown_from(got) } else { got };
                self.charge_comparisons(&got, pattern.as_ref());
                self.each(got, written, |text| replaced(text, pattern.as_ref()?, replacement.as_str()?, *at))
            }
            Operation::Case { upper, all, pattern } => {
                let only = pattern.as_ref().map(|word| self.pattern(state, scope, word));
                self.each(got, written, |text| match &only {
                    Some(None) => None,
                    Some(Some(pattern)) => Some(cased(text, *upper, *all, Some(pattern))),
                    None => Some(cased(text, *upper, *all, None)),
                })
            }
            Operation::Slice { offset, length } => {
                let offset = self.subscripted(state, scope, offset);
                let offset = offset.as_str().and_then(|text| self.number(state, scope, text));
                let length = length.as_ref().map(|word| self.subscripted(state, scope, word));
                let length = match &length {
                    None => Some(None),
                    Some(text) => text.as_str().and_then(|text| self.number(state, scope, text)).map(Some),
                };
                // ksh takes parts of the expression: `${x:1: -1}` of an empty x is `1:`.
                let is_odd = matches!(state.options.shell, Shell::Ksh | Shell::Zsh) && is_empty(&got);
                let got = if is_odd { unknown_from(got) } else { got };
                let name_of_shell = matches!(name, "@" | "*").then(|| (*state.name).clone());
                match (offset, length) {
                    (Some(offset), Some(length)) => self.sliced(got, written, offset, length, name_of_shell),
                    _ => unknown_from(got),
                }
            }
            Operation::Transform(letter) => {
                self.transformed(state, scope, got, *letter, written, parameter.span)
            }
        };
        self.bits_of(state, made, quoted, written)
    }

    /// Expands a word that the shell evaluates, and walks the commands that its quotes did not hide.
    fn subscripted(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Text {
        let text = self.text(state, scope, word);
        if let Some(known) = text.as_str() {
            self.subscript(state, scope, known, word.span);
        }
        text
    }

    /// Expands the words of an operation, because their commands run even if the result is unknown.
    pub(super) fn operand_words(&mut self, state: &mut State, scope: &Scope, operation: &Operation) {
        let words: Vec<&Word> = match operation {
            Operation::Value
            | Operation::Length
            | Operation::Keys
            | Operation::Names
            | Operation::Transform(_) => Vec::new(),
            Operation::Substitute { word, .. } => vec![word],
            Operation::Remove { pattern, .. } => vec![pattern],
            Operation::Replace { pattern, replacement, .. } => {
                std::iter::once(pattern).chain(replacement).collect()
            }
            Operation::Case { pattern, .. } => pattern.iter().collect(),
            Operation::Slice { offset, length } => std::iter::once(offset).chain(length).collect(),
        };
        for word in words {
            self.text(state, scope, word);
        }
    }

    /// Charges the budget for comparing every value with a pattern.
    fn charge_comparisons(&mut self, got: &Got, pattern: Option<&Pattern>) {
        let steps = pattern.map_or(0, |pattern| pattern.len().max(1));
        let of =
            |text: &Text| text.len().saturating_mul(text.len()).saturating_mul(steps).min(COMPARISONS_MAX);
        let comparisons = match got {
            Got::One(text) => of(text),
            Got::Many { values, .. } => values.iter().map(of).sum(),
            Got::Unset | Got::Unknown { .. } => 0,
        };
        self.work.spend((comparisons / COMPARISONS_PER_WORK) as u64);
    }

    /// Changes every known value; unknown values remain unknown.
    fn each(&mut self, got: Got, written: &str, change: impl Fn(&str) -> Option<String>) -> Got {
        let mut changed = |text: &Text| match text.as_str() {
            Some(known) => {
                self.work.spend_bytes(known.len().saturating_mul(4));
                change(known).map_or_else(|| Text::unknown(Why::Expansion, written), Text::known)
            }
            None => Text::unknown(why_of_changed(text), written),
        };
        match got {
            // An unset value stays unset, even if the pattern matches the empty text.
            Got::Unset => Got::Unset,
            Got::One(text) => Got::One(changed(&text)),
            Got::Many { values, joined } => {
                Got::Many { values: values.iter().map(changed).collect(), joined }
            }
            Got::Unknown { .. } => got,
        }
    }

    fn sliced(
        &mut self,
        got: Got,
        written: &str,
        offset: i64,
        length: Option<i64>,
        name_of_shell: Option<Text>,
    ) -> Got {
        match got {
            Got::Many { mut values, joined } => {
                // `${@:0}` includes the shell's name, and `${@: -1}` counts it.
                let offset = match name_of_shell {
                    Some(name) if offset <= 0 => {
                        values.insert(0, name);
                        offset
                    }
                    Some(_) if offset > 0 => offset - 1,
                    Some(_) | None => offset,
                };
                let Some((begin, end)) = bounds(values.len(), offset, length) else {
                    return Got::Many { values: Vec::new(), joined };
                };
                Got::Many { values: values.get(begin..end).unwrap_or_default().to_vec(), joined }
            }
            Got::Unset | Got::One(_) | Got::Unknown { .. } => self.each(got, written, |text| {
                // The locale decides what a character is.
                if !text.is_ascii() {
                    return None;
                }
                let count = text.chars().count();
                let Some((begin, end)) = bounds(count, offset, length) else { return Some(String::new()) };
                Some(text.chars().take(end).skip(begin).collect())
            }),
        }
    }

    fn transformed(
        &mut self,
        state: &mut State,
        scope: &Scope,
        got: Got,
        letter: char,
        written: &str,
        span: crate::tree::Span,
    ) -> Got {
        if letter == 'P' {
            for text in got.texts() {
                self.prompt(state, scope, &text, span);
            }
            return unknown_from(got);
        }
        if matches!(got, Got::Unset) {
            return got;
        }
        self.each(got, written, |text| match letter {
            'Q' => Some(single_quoted(text)),
            'E' => ansi_quoted(text),
            'U' => Some(text.to_uppercase()),
            'L' => Some(text.to_lowercase()),
            'u' => Some(cased(text, true, false, None)),
            _ => None,
        })
    }

    /// Sets one element of an array.
    pub(crate) fn set_element(&mut self, state: &mut State, name: &str, key: Key, text: Text, append: bool) {
        let mut elements = match self.pick(state, name) {
            Value::Array(elements) => (*elements).clone(),
            // zsh replaces a character.
            Value::Scalar(_) if state.options.shell == Shell::Zsh => {
                state.set(name, Value::Unknown(Why::Expansion));
                return;
            }
            Value::Scalar(text) => std::iter::once((Key::Number(0), text)).collect(),
            Value::Unset => std::collections::BTreeMap::default(),
            // The environment has no arrays, and none of these.
            Value::Unknown(Why::Variable) if name == crate::state::DIRECTORIES => {
                std::collections::BTreeMap::default()
            }
            Value::Unknown(why) => {
                state.set(name, Value::Unknown(why));
                return;
            }
        };
        self.work.spend(elements.len() as u64);
        // zsh fills the elements before it.
        if let Key::Number(number) = key
            && state.has_zsh_arrays()
            && number > elements.len() as i64
        {
            state.set(name, Value::Unknown(Why::Expansion));
            return;
        }
        let element = elements.entry(key).or_default();
        if append {
            element.push(&text);
        } else {
            *element = text;
        }
        state.set(name, Value::Array(std::rc::Rc::new(elements)));
    }
}

/// Returns the length of a text, or the number of several values.
fn length_of(got: &Got) -> Got {
    match got {
        Got::Unset => Got::One(Text::known("0")),
        Got::Many { values, .. } => Got::One(Text::known(values.len().to_string())),
        Got::One(text) => match text.as_str() {
            Some(known) if known.is_ascii() => Got::One(Text::known(known.len().to_string())),
            Some(_) | None => Got::Unknown { why: Why::Expansion, several: false },
        },
        Got::Unknown { why, .. } => Got::Unknown { why: *why, several: false },
    }
}

fn is_empty(got: &Got) -> bool {
    match got {
        Got::Unset => true,
        Got::One(text) => text.as_str() == Some(""),
        Got::Many { values, .. } => values.is_empty(),
        Got::Unknown { .. } => false,
    }
}

fn unknown_from(got: Got) -> Got {
    match got {
        Got::Unknown { .. } => got,
        Got::Many { joined, .. } => Got::Unknown { why: Why::Expansion, several: !joined },
        Got::Unset | Got::One(_) => Got::Unknown { why: Why::Expansion, several: false },
    }
}
