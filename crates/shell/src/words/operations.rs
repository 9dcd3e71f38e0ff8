//! Operations on a parameter's value: `${x:-word}`, `${x#pattern}`, `${x/a/b}` and similar. This module must not know
//! the source of the value.

use castellan_event::{Why, single_quoted};

use super::fields::Bit;
use super::parameters::{At, Got};
use crate::limits::{COMPARISONS_MAX, COMPARISONS_PER_WORK, VALUE_BYTES_MAX};
use crate::literals::ansi_quoted;
use crate::patterns::Pattern;
use crate::scope::Scope;
use crate::state::{Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Operation, Parameter, Part, ReplaceAt, Substitute, Word};
use crate::walk::Walker;

/// Variables for standard directories of every machine. If the text sets none, `${x:-word}` uses its default.
const USUAL: &[&str] =
    &["TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];

impl Walker<'_> {
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a different thing, and nothing else holds them together"
    )]
    pub(super) fn operate(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
        (name, index): (&str, &At),
        got: Got,
        quoted: bool,
        written: &str,
    ) -> Vec<Bit> {
        let made = match &parameter.operation {
            Operation::Value | Operation::Keys | Operation::Names => got,
            Operation::Length => length_of(&got),
            Operation::Substitute { kind, colon, word } => {
                return self.substitute(
                    state,
                    scope,
                    (name, index),
                    got,
                    (*kind, *colon, word),
                    quoted,
                    written,
                );
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
                let got = if is_odd { unknown_from(got) } else { got };
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
                let offset = self.text(state, scope, offset);
                let offset = offset.as_str().and_then(|text| self.number(state, scope, text));
                let length = length.as_ref().map(|word| self.text(state, scope, word));
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

    /// Applies `${x-word}`, `${x:=word}`, `${x+word}`, `${x?word}`.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a different thing, and nothing else holds them together"
    )]
    fn substitute(
        &mut self,
        state: &mut State,
        scope: &Scope,
        (name, index): (&str, &At),
        got: Got,
        (kind, colon, word): (Substitute, bool, &Word),
        quoted: bool,
        written: &str,
    ) -> Vec<Bit> {
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
        if let Some(bit) = self.odd_word(state, scope, name, (kind, word), there, quoted, written) {
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
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a different thing, and nothing else holds them together"
    )]
    fn odd_word(
        &mut self,
        state: &mut State,
        scope: &Scope,
        name: &str,
        (kind, word): (Substitute, &Word),
        there: bool,
        quoted: bool,
        written: &str,
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
            Some(known) => Got::One(Text::known(known.chars().count().to_string())),
            None => Got::Unknown { why: Why::Expansion, several: false },
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

/// Returns the range of `offset:length` in a list of `count` elements.
fn bounds(count: usize, offset: i64, length: Option<i64>) -> Option<(usize, usize)> {
    let count = i64::try_from(count).ok()?;
    let begin = if offset < 0 { count.checked_add(offset)? } else { offset };
    if begin < 0 || begin > count {
        return None;
    }
    let end = match length {
        None => count,
        Some(length) if length < 0 => count.checked_add(length)?,
        Some(length) => begin.saturating_add(length).min(count),
    };
    Some((usize::try_from(begin).ok()?, usize::try_from(end.max(begin)).ok()?))
}

fn too_much(text: &[char], pattern: &Pattern) -> bool {
    text.len().saturating_mul(text.len()).saturating_mul(pattern.len().max(1)) > COMPARISONS_MAX
}

fn removed(text: &str, pattern: &Pattern, suffix: bool, longest: bool) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    if too_much(&chars, pattern) {
        return None;
    }
    let rest = if suffix {
        pattern.suffix(&chars, longest).map_or(chars.as_slice(), |at| chars.get(..at).unwrap_or_default())
    } else {
        pattern.prefix(&chars, longest).map_or(chars.as_slice(), |at| chars.get(at..).unwrap_or_default())
    };
    Some(rest.iter().collect())
}

fn replaced(text: &str, pattern: &Pattern, replacement: &str, at: ReplaceAt) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    if too_much(&chars, pattern) || replacement.contains('&') {
        return None;
    }
    // bash versions differ on matches in an empty text.
    if chars.is_empty() && pattern.len() > 0 {
        return None;
    }
    match at {
        ReplaceAt::Start => Some(match pattern.prefix(&chars, true) {
            Some(end) => replacement.chars().chain(chars.into_iter().skip(end)).collect(),
            None => text.to_owned(),
        }),
        ReplaceAt::End => Some(match pattern.suffix(&chars, true) {
            Some(begin) => chars.into_iter().take(begin).chain(replacement.chars()).collect(),
            None => text.to_owned(),
        }),
        ReplaceAt::First | ReplaceAt::All => {
            let mut made = String::new();
            let mut from = 0;
            let mut done = false;
            while from < chars.len() {
                let rest = chars.get(from..).unwrap_or_default();
                match pattern.prefix(rest, true) {
                    Some(length) if length > 0 && !done => {
                        made.push_str(replacement);
                        if made.len() > VALUE_BYTES_MAX {
                            return None;
                        }
                        from += length;
                        done = at == ReplaceAt::First;
                    }
                    Some(_) | None => {
                        made.extend(rest.first());
                        from += 1;
                    }
                }
            }
            Some(made)
        }
    }
}

fn cased(text: &str, upper: bool, all: bool, only: Option<&Pattern>) -> String {
    let mut made = String::with_capacity(text.len());
    for (at, one) in text.chars().enumerate() {
        let changes = (all || at == 0) && only.is_none_or(|pattern| pattern.fits(&[one]));
        match (changes, upper) {
            (false, _) => made.push(one),
            (true, true) => made.extend(one.to_uppercase()),
            (true, false) => made.extend(one.to_lowercase()),
        }
    }
    made
}
/// Returns the reason that a changed text is unknown. A pattern for names in the working directory stays `Glob`. A
/// changed name of another directory may be any path.
fn why_of_changed(text: &Text) -> Why {
    let leads_away =
        || text.has_text() && text.written().starts_with(['/', '~']) || text.written().contains("..");
    match text.why_of_parts() {
        Some(Why::Glob) if leads_away() => Why::Expansion,
        why => why.unwrap_or(Why::Expansion),
    }
}
