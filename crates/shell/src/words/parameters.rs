//! Parameters: the value of `$x`, `${x[1]}`, `$@`, `${!x}`, before any operation. This module must not know operations.

use castellan_event::{Role, Why};

use super::fields::Bit;
use super::got::{At, Expanded, Got};
use crate::scope::Scope;
use crate::state::{Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Index, Operation, Parameter, Span, Substitute, Word};
use crate::walk::Walker;
use crate::walk::past::PARAMETERS;

impl Walker<'_> {
    /// Expands a parameter with its operation.
    pub(super) fn parameter(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
        quoted: bool,
    ) -> Vec<Bit> {
        if let Some(zsh) = &parameter.zsh {
            return self.zsh_parameter(state, scope, parameter, zsh, quoted);
        }
        let written = Self::written(scope, parameter.span, &parameter.name);
        if matches!(parameter.operation, Operation::Names | Operation::Keys) {
            let got = self.names_or_keys(state, parameter);
            return self.bits_of(state, got, quoted, &written);
        }
        if let Operation::Substitute { kind: Substitute::Assign, .. } = parameter.operation {
            self.assigns_table(state, scope, parameter);
        }
        let Some((name, index)) = self.named(state, scope, parameter) else {
            self.may_fail = true;
            let got = Got::Unknown { why: Why::Variable, several: false };
            self.operand_words(state, scope, &parameter.operation);
            return self.bits_of(state, got, quoted, &written);
        };
        // Computed before `look_up` selects one value.
        let is_value = parameter.operation == Operation::Value && index == At::Whole;
        let or_else = is_value.then(|| or_else(state, &name)).flatten();
        let got = self.look_up(state, &name, &index);
        let is_unset = matches!(got, Got::Unknown { why: Why::Variable, .. });
        let written = or_else.filter(|_| is_unset).unwrap_or(written);
        if parameter.operation == Operation::Value && self.is_one_number(state, &name) {
            return self.bits_of(state, got, true, &written);
        }
        let expanded = Expanded { name: &name, index: &index, quoted, written: &written };
        self.operate(state, scope, parameter, expanded, got)
    }

    /// Reports `${functions[f]:=code}`: the element is a definition.
    pub(super) fn assigns_table(&mut self, state: &mut State, scope: &Scope, parameter: &Parameter) {
        if state.is_table(&parameter.name) {
            self.gap(scope, Role::Code, Why::Dynamic, scope.source.written(parameter.span), parameter.span);
            state.forget_most(Why::Dynamic);
        }
    }

    /// `$?` and `$$` are numbers, so each is one word unless `IFS` contains digits.
    fn is_one_number(&mut self, state: &mut State, name: &str) -> bool {
        let has_no_digits = |one: String| !one.contains(|one: char| one.is_ascii_digit());
        matches!(name, "?" | "$") && self.separators(state).is_some_and(has_no_digits)
    }

    /// Resolves the parameter of `${!x}`. Returns `None` if unknown.
    pub(super) fn named(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
    ) -> Option<(String, At)> {
        let index = match &parameter.index {
            None => At::Whole,
            Some(Index::Each) => At::Each,
            Some(Index::Joined) => At::Joined,
            Some(Index::At(word)) => match self.range(state, scope, word) {
                Some((first, last)) => At::Range(first, last),
                None => match self.key(state, scope, &parameter.name, word) {
                    Some(key) => At::Key(key),
                    None => {
                        // An index that the shell cannot evaluate is an error.
                        self.may_fail = true;
                        At::Unknown
                    }
                },
            },
        };
        if !parameter.indirect {
            let element = state.element_meant(&parameter.name).filter(|_| index == At::Whole);
            return match element {
                Some(element) => self.place(state, scope, &element, parameter.span),
                None => Some((parameter.name.clone(), index)),
            };
        }
        // For a name reference, `${!x}` is the referenced name.
        if state.variable(&parameter.name).is_some_and(|variable| variable.attributes.reference) {
            return None;
        }
        let Got::One(text) = self.look_up(state, &parameter.name, &index) else { return None };
        let text = text.as_str()?.to_owned();
        self.place(state, scope, &text, parameter.span)
    }

    /// Resolves the name of a parameter or of an element: `a[1]`.
    pub(super) fn place(
        &mut self,
        state: &State,
        scope: &Scope,
        text: &str,
        span: Span,
    ) -> Option<(String, At)> {
        if text.contains('[') {
            self.reached(state, scope, vec![Text::known(text)], span);
        }
        match text.split_once('[') {
            None if is_parameter(text) => Some((text.to_owned(), At::Whole)),
            None => None,
            Some((name, index)) => {
                let at = match index.strip_suffix(']')? {
                    "@" => At::Each,
                    "*" => At::Joined,
                    number => At::Key(Key::Number(number.parse().ok()?)),
                };
                Some((name.to_owned(), at))
            }
        }
    }

    /// zsh: returns the numbers of `[first,last]`.
    fn range(&mut self, state: &mut State, scope: &Scope, word: &Word) -> Option<(i64, i64)> {
        if state.options.shell != Shell::Zsh || !scope.source.written(word.span).contains(',') {
            return None;
        }
        let text = self.text(state, scope, word);
        let (first, last) = text.as_str()?.split_once(',')?;
        let (first, last) = (first.to_owned(), last.to_owned());
        Some((self.number(state, scope, &first)?, self.number(state, scope, &last)?))
    }

    /// Returns the key of an element: arithmetic for arrays, text for `declare -A`.
    pub(crate) fn key(&mut self, state: &mut State, scope: &Scope, name: &str, word: &Word) -> Option<Key> {
        let meant = state.meant(name)?;
        let keyed = state.is_table(name)
            || (state.options.shell == Shell::Zsh && name == crate::state::DIRECTORIES)
            || state.variable(&meant).is_some_and(|variable| variable.attributes.keyed);
        let text = self.text(state, scope, word);
        let text = text.as_str()?;
        if keyed {
            return Some(Key::Name(text.to_owned()));
        }
        self.subscript(state, scope, text, word.span);
        if state.options.shell == Shell::Zsh && text.contains(',') {
            // A range of elements.
            self.reached(state, scope, vec![Text::known(text)], word.span);
            return None;
        }
        let number = self.number(state, scope, text)?;
        self.element(state, name, number)
    }

    /// Returns the key of an element of an array with numbered ones. zsh counts from 1.
    pub(crate) fn element(&mut self, state: &mut State, name: &str, number: i64) -> Option<Key> {
        let is_zsh = state.has_zsh_arrays();
        if number >= 0 {
            return number.checked_sub(i64::from(is_zsh)).filter(|key| *key >= 0).map(Key::Number);
        }
        // A negative index counts from the end.
        match self.pick(state, name) {
            Value::Array(elements) => match elements.keys().next_back() {
                Some(Key::Number(last)) => Some(Key::Number(last + 1 + number)),
                Some(Key::Name(_)) | None => None,
            },
            Value::Scalar(_) | Value::Unset | Value::Unknown(_) => None,
        }
    }

    pub(super) fn look_up(&mut self, state: &mut State, name: &str, index: &At) -> Got {
        if let Some((assumed, text)) = &self.assumed
            && (state.meant(name).as_ref() == Some(assumed)
                || &**assumed == PARAMETERS && name.starts_with(|one: char| one.is_ascii_digit()))
        {
            return Got::One(text.clone());
        }
        if let Some(got) = self.special(state, name, index) {
            return got;
        }
        let is_zsh = state.has_zsh_arrays();
        let several = *index == At::Each || is_zsh && *index == At::Unknown;
        let value = match (&state.positionals, name) {
            (Some(values), "argv") if is_zsh => Value::array(values.iter().cloned()),
            (None, "argv") if is_zsh => Value::Unknown(Why::Parameter),
            _ => self.pick(state, name),
        };
        match (value, index) {
            (Value::Unknown(why), _) => Got::Unknown { why, several },
            (Value::Unset, At::Each | At::Joined) if is_zsh => Got::Unset,
            (Value::Unset, At::Each | At::Joined) => Got::Many { values: Vec::new(), joined: !several },
            (Value::Unset, _) => Got::Unset,
            (Value::Scalar(text), At::Each | At::Joined) => {
                Got::Many { values: vec![text], joined: !several }
            }
            (Value::Scalar(text), At::Whole) => Got::One(text),
            (Value::Array(elements), At::Each | At::Joined) => {
                self.work.spend(elements.len() as u64);
                if elements.len() > 1 && matches!(elements.keys().next(), Some(Key::Name(_))) {
                    // bash defines the order of keyed elements, so it is unknown.
                    return Got::Unknown { why: Why::Expansion, several };
                }
                Got::Many { values: elements.values().cloned().collect(), joined: !several }
            }
            // zsh: without an index, an array is its elements.
            (Value::Array(elements), At::Whole) if is_zsh => {
                self.work.spend(elements.len() as u64);
                Got::Many { values: elements.values().cloned().collect(), joined: true }
            }
            (Value::Scalar(text), At::Range(first, last)) => match text.as_str() {
                Some(known) if known.is_ascii() => {
                    let chars: Vec<char> = known.chars().collect();
                    Got::One(Text::known(ranged(&chars, *first, *last).iter().collect::<String>()))
                }
                Some(_) | None => Got::Unknown { why: Why::Expansion, several },
            },
            (Value::Array(elements), At::Range(first, last)) => {
                let values: Vec<Text> = elements.values().cloned().collect();
                Got::Many { values: ranged(&values, *first, *last).to_vec(), joined: true }
            }
            (Value::Scalar(text), At::Key(Key::Number(at))) if is_zsh => character(&text, *at),
            (Value::Scalar(text), At::Key(Key::Number(0))) => Got::One(text),
            (Value::Array(elements), At::Whole) => {
                elements.get(&Key::Number(0)).map_or(Got::Unset, |text| Got::One(text.clone()))
            }
            (Value::Array(elements), At::Key(key)) => {
                elements.get(key).map_or(Got::Unset, |text| Got::One(text.clone()))
            }
            (Value::Scalar(_), At::Key(_)) => Got::Unset,
            (Value::Scalar(_) | Value::Array(_), At::Unknown) => {
                Got::Unknown { why: Why::Expansion, several }
            }
        }
    }

    pub(super) fn names_or_keys(&mut self, state: &mut State, parameter: &Parameter) -> Got {
        let joined = parameter.index == Some(Index::Joined);
        if parameter.operation == Operation::Names {
            return Got::Unknown { why: Why::Expansion, several: true };
        }
        match self.pick(state, &parameter.name) {
            Value::Array(elements) => {
                self.work.spend(elements.len() as u64);
                let names = elements.keys().map(|key| match key {
                    Key::Number(number) => Text::known(number.to_string()),
                    Key::Name(name) => Text::known(name.as_str()),
                });
                if elements.len() > 1 && matches!(elements.keys().next(), Some(Key::Name(_))) {
                    return Got::Unknown { why: Why::Expansion, several: !joined };
                }
                Got::Many { values: names.collect(), joined }
            }
            Value::Scalar(_) => Got::Many { values: vec![Text::known("0")], joined },
            Value::Unset => Got::Many { values: Vec::new(), joined },
            Value::Unknown(why) => Got::Unknown { why, several: !joined },
        }
    }

    /// Converts the value into bits.
    pub(super) fn bits_of(&mut self, state: &mut State, got: Got, quoted: bool, written: &str) -> Vec<Bit> {
        match got {
            Got::Unset => Bit::of_text(&Text::default(), quoted),
            Got::One(text) => {
                self.work.spend_bytes(text.len());
                Bit::of_text(&text, quoted)
            }
            Got::Unknown { why, several } => {
                vec![Bit::Unknown { why, written: written.to_owned(), quoted: quoted && !several }]
            }
            // `x$a` may be each element with `x`, and nothing without any.
            Got::Many { joined, .. } if state.options.is_unmodelled => {
                let unknown = Got::Unknown { why: Why::Expansion, several: !(joined && quoted) };
                self.bits_of(state, unknown, quoted, written)
            }
            Got::Many { values, joined } => {
                self.work.spend_bytes(values.iter().map(|text| text.len() + 1).sum());
                if joined && quoted {
                    let separators = self.separators(state);
                    let between = match separators {
                        Some(separators) => separators.chars().next().map(String::from).unwrap_or_default(),
                        None => " ".to_owned(),
                    };
                    let mut all = Text::default();
                    for (at, text) in values.iter().enumerate() {
                        if at > 0 {
                            all.push_str(&between);
                        }
                        all.push(text);
                    }
                    return Bit::of_text(&all, true);
                }
                if values.is_empty() && quoted {
                    return vec![Bit::Nothing];
                }
                let mut bits = Vec::new();
                for (at, text) in values.iter().enumerate() {
                    if at > 0 {
                        bits.push(Bit::Break);
                    }
                    bits.extend(Bit::of_text(text, quoted));
                }
                bits
            }
        }
    }
}

/// Returns the spelling of a variable with an unknown outer value and a fallback from the text:
/// `[ -n "$CC" ] || CC=cc` and `: ${CC:=cc}` become `${CC:-cc}`.
fn or_else(state: &State, name: &str) -> Option<String> {
    let values = &state.variable(name)?.values;
    let own = values.iter().find_map(|value| match value {
        Value::Scalar(text) if text.has_text() => Some(text.written()),
        Value::Scalar(_) | Value::Array(_) | Value::Unset | Value::Unknown(_) => None,
    })?;
    Some(format!("${{{name}:-{own}}}"))
}

/// Returns the elements of `[first,last]` of zsh.
fn ranged<T>(all: &[T], first: i64, last: i64) -> &[T] {
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let place = |number: i64| if number < 0 { count + number } else { number - 1 };
    let begin = usize::try_from(place(first).max(0)).unwrap_or(usize::MAX);
    let end = usize::try_from(place(last).min(count - 1) + 1).unwrap_or(0);
    all.get(begin..end).unwrap_or_default()
}

/// zsh: an index of a text is that of a character.
fn character(text: &Text, at: i64) -> Got {
    let Some(known) = text.as_str().filter(|text| text.is_ascii()) else {
        return Got::Unknown { why: Why::Expansion, several: false };
    };
    let one = usize::try_from(at).ok().and_then(|at| known.chars().nth(at));
    one.map_or(Got::Unset, |one| Got::One(Text::known(one.to_string())))
}

fn is_parameter(text: &str) -> bool {
    matches!(text, "@" | "*" | "#" | "?" | "-" | "$" | "!")
        || (!text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_'))
}
