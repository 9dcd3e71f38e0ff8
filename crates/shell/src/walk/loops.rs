//! Loops: rounds that are walked one by one, and states that change from round to round. This module must not know
//! commands.

use std::rc::Rc;

use castellan_event::Why;

use super::{Leave, Walker};
use crate::limits::{REPEATS_MAX, ROUNDS_MAX};
use crate::scope::Scope;
use crate::state::{Descriptor, Held, State, Value};
use crate::text::Text;
use crate::tree::{Script, Span, Word};

impl Walker<'_> {
    /// `for`: walks literal words one by one.
    pub(super) fn for_each(
        &mut self,
        state: &mut State,
        scope: &Scope,
        names: &[String],
        words: Option<&[Word]>,
        body: &Script,
        span: Span,
    ) {
        let mut lists: Vec<(Option<Vec<castellan_programs::Arg>>, State)> = Vec::new();
        self.readings(state, |walker, state| {
            let list = match words {
                Some(words) => {
                    Some(words.iter().flat_map(|word| walker.fields(state, scope, word)).collect())
                }
                None => state
                    .positionals
                    .as_ref()
                    .map(|values| values.iter().map(Text::to_arg).collect::<Vec<_>>()),
            };
            let copy = walker.fork(state);
            lists.push((list, copy));
        });
        let mut after: Option<State> = None;
        for (list, mut state) in lists {
            self.rounds(&mut state, scope, names, list, body, span);
            match &mut after {
                None => after = Some(state),
                Some(joined) => self.joins(joined, state),
            }
        }
        if let Some(after) = after {
            *state = after;
        }
    }

    fn rounds(
        &mut self,
        state: &mut State,
        scope: &Scope,
        names: &[String],
        list: Option<Vec<castellan_programs::Arg>>,
        body: &Script,
        span: Span,
    ) {
        let set_all = |state: &mut State, value: Value| {
            names.iter().for_each(|name| state.set_parameter(name, value.clone()));
        };
        // With several names, a number of words that is unknown moves all words after them.
        let is_moved = names.len() > 1 && list.iter().flatten().any(castellan_programs::Arg::splits);
        let Some(list) = list.filter(|_| !is_moved) else {
            let any = Text::unknown(Why::Parameter, "$@");
            self.repeated(state, |walker, state| {
                set_all(state, Value::Scalar(any.clone()));
                names.iter().for_each(|name| walker.report_set(state, scope, name, span));
                walker.script(state, scope, body);
            });
            return;
        };
        if list.is_empty() {
            self.unreached(state, |walker, state| {
                set_all(state, Value::Unknown(Why::Parameter));
                walker.script(state, scope, body);
            });
            return;
        }
        let mut ends = None;
        for (number, args) in list.chunks(names.len().max(1)).enumerate() {
            if !self.goes_on(scope, span) {
                break;
            }
            if number >= ROUNDS_MAX {
                self.repeated(state, |walker, state| {
                    for name in names {
                        let any = Text::unknown(Why::Budget, format!("${name}"));
                        state.set_parameter(name, Value::Scalar(any));
                        walker.report_set(state, scope, name, span);
                    }
                    walker.script(state, scope, body);
                });
                break;
            }
            let walk = |walker: &mut Self, state: &mut State| {
                for (number, name) in names.iter().enumerate() {
                    let value = Value::Scalar(args.get(number).map(Text::from).unwrap_or_default());
                    walker.evaluated_for(state, scope, name, &value, span);
                    state.set_parameter(name, value);
                    // `for PATH in dir`: programs receive it.
                    walker.report_set(state, scope, name, span);
                }
                walker.script(state, scope, body);
            };
            if args.iter().any(castellan_programs::Arg::splits) {
                self.repeated(state, walk);
            } else {
                self.round(state, &mut ends, walk);
            }
        }
        self.end_rounds(state, ends);
    }

    /// Walks the body of a loop without rounds: its commands are reported like code after `exit`.
    pub(super) fn unreached(&mut self, state: &State, walk: impl FnOnce(&mut Self, &mut State)) {
        let mut inner = self.fork(state);
        self.leaving(Leave::Loop, &mut inner, walk);
    }

    /// Walks code that runs any number of times until the state is stable. Changing values become unknown.
    pub(super) fn repeated(&mut self, state: &mut State, mut walk: impl FnMut(&mut Self, &mut State)) {
        for round in 0..REPEATS_MAX {
            let before = self.fork(state);
            let mut inner = self.fork(state);
            self.leaving(Leave::Loop, &mut inner, |walker, inner| walk(walker, inner));
            let mut after = self.fork(&before);
            self.joins(&mut after, inner);
            after.ended = before.ended;
            let changed = changed(&before, &after);
            let written = written(&before, &after);
            let moved = before.directories != after.directories;
            let settled = before.means_the_same(&after);
            let wrote = before.collected != after.collected;
            *state = after;
            if wrote {
                state.collect_unknown();
            }
            if (changed.is_empty() && written.is_empty() && !moved && settled) || self.work.is_over() {
                return;
            }
            if round > 0 {
                for name in &changed {
                    state.change(name, |variable| variable.values = vec![Value::Unknown(Why::Dynamic)]);
                }
                for path in written {
                    let unknown = Some(Rc::new(Text::unknown(Why::Dynamic, &*path)));
                    state.files.insert(path, vec![unknown]);
                }
                if moved {
                    state.directories = vec![None];
                    state.set("PWD", Value::Unknown(Why::Dynamic));
                }
            }
        }
        state.forget_all(Why::Dynamic);
        state.forget_inputs();
        state.directories = vec![None];
        state.positionals = None;
        self.leaving(Leave::Loop, state, |walker, state| walk(walker, state));
        state.forget_all(Why::Dynamic);
        state.directories = vec![None];
        state.collect_unknown();
    }

    /// `while`: walks known input line by line, and other loops until the state no longer changes.
    pub(super) fn while_loop(
        &mut self,
        state: &mut State,
        scope: &Scope,
        until: bool,
        condition: &Script,
        body: &Script,
    ) {
        let mut ends = None;
        for number in 0..ROUNDS_MAX {
            let Descriptor::Input(before) = state.descriptor(0) else { break };
            if before.as_str().is_none() || !self.goes_on(scope, condition.span) {
                break;
            }
            let mut trial = self.fork(state);
            let mark = self.item_count();
            self.script(&mut trial, scope, condition);
            let Descriptor::Input(rest) = trial.descriptor(0) else { break };
            let goes_on = trial.status.map(|status| status != until);
            if rest == before && mark == self.item_count() && goes_on != Some(false) {
                break;
            }
            match goes_on {
                Some(true) if rest != before => {}
                // `read` reached the end of the text.
                Some(false) => {
                    *state = trial;
                    if number == 0 {
                        self.unreached(state, |walker, state| walker.script(state, scope, body));
                    }
                    state.status = Some(true);
                    self.end_rounds(state, ends);
                    return;
                }
                Some(true) | None => break,
            }
            self.round(&mut trial, &mut ends, |walker, state| walker.script(state, scope, body));
            *state = trial;
        }
        self.repeated(state, |walker, state| {
            walker.script(state, scope, condition);
            walker.script(state, scope, body);
        });
        self.end_rounds(state, ends);
        state.status = None;
    }
}

/// Returns the variables that have new possible values at the second point.
fn changed(before: &State, after: &State) -> Vec<Rc<str>> {
    let mut names = Vec::new();
    if !before.variables.is(&after.variables) {
        for (name, variable) in after.variables.iter() {
            let covered = before.variables.get(name).is_some_and(|other| {
                Rc::ptr_eq(other, variable)
                    || **other == **variable
                    || other.values.iter().any(|value| matches!(value, Value::Unknown(_)))
            });
            if !covered {
                names.push(Rc::clone(name));
            }
        }
    }
    names
}

/// Returns the files that have new possible contents at the second point.
fn written(before: &State, after: &State) -> Vec<Rc<str>> {
    if before.files.is(&after.files) {
        return Vec::new();
    }
    let is_open = |held: &Held| held.iter().flatten().any(|text| text.as_str().is_none());
    let is_new = |path: &str, held: &Held| {
        let other = before.files.get(path);
        other.is_none_or(|other| other != held && !is_open(other))
    };
    let new = after.files.iter().filter(|(path, held)| is_new(path, held));
    new.map(|(path, _)| Rc::clone(path)).collect()
}
