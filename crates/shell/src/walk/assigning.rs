//! Assignments: `x=1`, `a[1]=2`, `a+=(b c)`, and those before a command. This module must not know commands.

use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::Walker;
use crate::found::{Item, Set};
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Key, State, Value, Variable};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{AssignedValue, Assignment, Span, Word};

impl Walker<'_> {
    /// Applies the assignments before a command, which last while the command runs. Returns the previous variables.
    pub(super) fn prefixed(
        &mut self,
        state: &mut State,
        scope: &Scope,
        assignments: &[Assignment],
        call: &mut Call,
    ) -> Vec<(Rc<str>, Option<Rc<Variable>>)> {
        let mut before = Vec::new();
        for assignment in assignments {
            self.work.spend(4 + std::mem::take(&mut state.spent));
            if !self.goes_on(scope, assignment.span) {
                break;
            }
            let name: Rc<str> = assignment.name.as_str().into();
            before.push((Rc::clone(&name), state.variables.get(&name).cloned()));
            self.assign(state, scope, assignment, false);
            state.change(&name, |variable| variable.exported = true);
            let value = match self.pick(state, &name) {
                Value::Scalar(text) => text.to_arg(),
                Value::Array(_) | Value::Unset => Arg::known(""),
                Value::Unknown(why) => Arg::unknown(why, format!("${name}"), false),
            };
            call.env.push((assignment.name.clone(), value));
        }
        before
    }

    /// Applies an assignment. `stays`: the assignment has no command and applies to later commands.
    pub(super) fn assign(&mut self, state: &mut State, scope: &Scope, assignment: &Assignment, stays: bool) {
        let value = self.value(state, scope, assignment);
        let key = self.assigned_key(state, scope, assignment);
        let not_run = std::mem::take(&mut self.may_fail).then(|| self.failed(state));
        if assignment.is_literal() && !state.hidden.is_empty() {
            state.remember(&assignment.name, &value);
        }
        self.evaluated_for(state, scope, &assignment.name, &value, assignment.span);
        self.defines(state, scope, assignment, key.as_ref().and_then(Option::as_ref), &value);
        self.assign_value(state, &assignment.name, key, assignment.append, value);
        if let Some(not_run) = not_run {
            self.joins(state, not_run);
        }
        self.run_by_shell(state, scope, &assignment.name, assignment.span);
        if state.options.shell == Shell::Zsh {
            self.assigned_by_zsh(state, scope, assignment);
        }
        if stays {
            self.report_set(state, scope, &assignment.name, assignment.span);
        }
    }

    /// Returns `Some(None)` for an unknown key.
    #[expect(clippy::option_option, reason = "no key and one that is not known are different things")]
    pub(super) fn assigned_key(
        &mut self,
        state: &mut State,
        scope: &Scope,
        assignment: &Assignment,
    ) -> Option<Option<Key>> {
        let word = assignment.index.as_ref()?;
        Some(self.key(state, scope, &assignment.name, word))
    }

    #[expect(clippy::option_option, reason = "no key and one that is not known are different things")]
    pub(crate) fn assign_value(
        &mut self,
        state: &mut State,
        name: &str,
        key: Option<Option<Key>>,
        append: bool,
        value: Value,
    ) {
        let is_argv = name == "argv" && state.options.shell == Shell::Zsh;
        match (key, value) {
            (Some(Some(Key::Number(at))), value) if is_argv => {
                state.set_parameter(&at.saturating_add(1).to_string(), value);
            }
            (Some(Some(key)), Value::Scalar(text)) => self.set_element(state, name, key, text, append),
            (Some(_), _) => state.set(name, Value::Unknown(Why::Expansion)),
            // `x=()` of ksh is a compound variable; `x+=()` is one if x is no array.
            (None, Value::Array(elements))
                if elements.is_empty()
                    && state.options.shell == Shell::Ksh
                    && !(append && matches!(self.pick(state, name), Value::Array(_))) =>
            {
                state.set(name, Value::Unknown(Why::Expansion));
            }
            (None, value) if append => {
                let before = self.pick(state, name);
                if let Value::Array(elements) = &before {
                    self.work.spend(elements.len() as u64);
                }
                let integer = state.variable(name).is_some_and(|variable| variable.attributes.integer);
                let value = match (&before, value) {
                    // zsh adds an element.
                    (Value::Array(_), Value::Scalar(text)) if state.options.shell == Shell::Zsh => {
                        Value::array([text])
                    }
                    (_, value) => value,
                };
                state.set(name, appended(before, value, integer));
            }
            (None, Value::Scalar(text)) => {
                // `x=1` on an array sets its first element; in zsh, it replaces the array.
                if state.options.shell != Shell::Zsh && matches!(self.pick(state, name), Value::Array(_)) {
                    self.set_element(state, name, Key::Number(0), text, false);
                    return;
                }
                let integer = state.variable(name).is_some_and(|variable| variable.attributes.integer);
                let value = match text.as_str() {
                    Some(known) if integer => {
                        known.trim().parse::<i64>().map_or(Value::Unknown(Why::Arithmetic), |number| {
                            Value::Scalar(Text::known(number.to_string()))
                        })
                    }
                    Some(_) | None => Value::Scalar(text),
                };
                state.set(name, value);
            }
            (None, Value::Array(elements)) if is_argv => {
                state.positionals = Some(Rc::new(elements.values().cloned().collect()));
            }
            (None, value) => state.set(name, value),
        }
    }

    pub(super) fn value(&mut self, state: &mut State, scope: &Scope, assignment: &Assignment) -> Value {
        match &assignment.value {
            AssignedValue::Scalar(word) => Value::Scalar(self.assigned(state, scope, word)),
            AssignedValue::Array(elements) => self.elements(state, scope, &assignment.name, elements),
        }
    }

    fn elements(
        &mut self,
        state: &mut State,
        scope: &Scope,
        name: &str,
        elements: &[(Option<Word>, Word)],
    ) -> Value {
        let mut made = std::collections::BTreeMap::new();
        let mut next = 0i64;
        let mut known = true;
        for (key, word) in elements {
            if let Some(key) = key {
                let key = self.key(state, scope, name, key);
                let text = self.assigned(state, scope, word);
                match key {
                    Some(key) => {
                        if let Key::Number(number) = key {
                            next = number.saturating_add(1);
                        }
                        made.insert(key, text);
                    }
                    None => known = false,
                }
                continue;
            }
            for arg in self.fields(state, scope, word) {
                known &= !arg.splits() || is_pattern(&arg);
                made.insert(Key::Number(next), Text::from(&arg));
                next = next.saturating_add(1);
            }
        }
        let splits = made.values().any(|text| text.why() == Some(Why::Glob));
        let is_keyed = state.variable(name).is_some_and(|variable| variable.attributes.keyed);
        if known && is_keyed && made.keys().all(|key| matches!(key, Key::Number(_))) {
            return paired(made.into_values());
        }
        if known && !splits { Value::Array(Rc::new(made)) } else { Value::Unknown(Why::Expansion) }
    }

    /// Reports an assignment to a variable that later programs receive.
    pub(crate) fn report_set(&mut self, state: &mut State, scope: &Scope, name: &str, span: Span) {
        // A name in capitals is usually an environment variable.
        let capital = name.starts_with(|one: char| one.is_ascii_uppercase());
        let given = state
            .variable(name)
            .is_some_and(|variable| variable.exported || (variable.perhaps_exported && capital));
        if !given {
            return;
        }
        let value = match self.pick(state, name) {
            Value::Scalar(text) => text.to_arg(),
            Value::Unset => return,
            Value::Array(_) => Arg::unknown(Why::Unsupported, format!("${name}"), false),
            Value::Unknown(why) => Arg::unknown(why, format!("${name}"), false),
        };
        let script = scope.source.file.clone();
        let set = Set { name: name.to_owned(), value, exported: true, script, span: scope.span(span) };
        self.item(Item::Set(set));
    }
}

/// Returns the associative array of words that are keys and values in turn: `declare -A a=(k v)`.
fn paired(mut texts: impl Iterator<Item = Text>) -> Value {
    let mut made = std::collections::BTreeMap::new();
    while let Some(key) = texts.next() {
        let Some(known) = key.as_str() else { return Value::Unknown(Why::Expansion) };
        made.insert(Key::Name(known.to_owned()), texts.next().unwrap_or_default());
    }
    Value::Array(Rc::new(made))
}

fn is_pattern(arg: &Arg) -> bool {
    arg.pieces().iter().all(|piece| !matches!(piece, Piece::Unknown { why, .. } if *why != Why::Glob))
}

pub(super) fn assigned_arg(assignment: &Assignment, value: &Value) -> Arg {
    let operator = if assignment.append { "+=" } else { "=" };
    let mut text = Text::known(format!("{}{operator}", assignment.name));
    match value {
        Value::Scalar(value) => text.push(value),
        Value::Array(_) => text.push_str("()"),
        Value::Unset | Value::Unknown(_) => text.push_unknown(Why::Expansion, "(...)"),
    }
    text.to_arg()
}

/// `x+=value`
fn appended(before: Value, value: Value, integer: bool) -> Value {
    match (before, value) {
        (Value::Unset, value) => value,
        (Value::Scalar(first), Value::Scalar(second)) => {
            if integer {
                let numbers = (first.as_str().and_then(|text| text.parse::<i64>().ok()))
                    .zip(second.as_str().and_then(|text| text.parse::<i64>().ok()));
                return match numbers.and_then(|(one, other)| one.checked_add(other)) {
                    Some(sum) => Value::Scalar(Text::known(sum.to_string())),
                    None => Value::Unknown(Why::Arithmetic),
                };
            }
            let mut text = first;
            text.push(&second);
            Value::Scalar(text)
        }
        (Value::Scalar(first), Value::Array(more)) => {
            Value::array(std::iter::once(first).chain(more.values().cloned()))
        }
        (Value::Array(elements), Value::Array(more)) => {
            let mut all = (*elements).clone();
            let mut next = match all.keys().next_back() {
                Some(Key::Number(last)) => last.saturating_add(1),
                Some(Key::Name(_)) | None => 0,
            };
            for (key, text) in more.iter() {
                let key = match key {
                    Key::Name(_) => key.clone(),
                    Key::Number(_) => Key::Number(next),
                };
                next = next.saturating_add(1);
                all.insert(key, text.clone());
            }
            Value::Array(Rc::new(all))
        }
        (Value::Array(elements), Value::Scalar(text)) => {
            let mut all = (*elements).clone();
            all.entry(Key::Number(0)).or_default().push(&text);
            Value::Array(Rc::new(all))
        }
        (Value::Unknown(why), _) | (_, Value::Unknown(why)) => Value::Unknown(why),
        (value @ (Value::Scalar(_) | Value::Array(_)), Value::Unset) => value,
    }
}
