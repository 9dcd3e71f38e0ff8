//! Commands whose name, or whose precious target, is the value of a variable.
//!
//! The walk computes one value, or a few, for each point of a text. Shells have many ways to leave a variable as it
//! was: a redirect that fails, a read-only name, a builtin that rejects its options. So such a name may also be any
//! other text that the variable had. A script gives its arguments new values all the time, so arguments are read in
//! this way only if a program that deletes or overwrites may get a home or the root directory.

use std::collections::BTreeSet;
use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Trait, base_name};

use super::Walker;
use crate::limits::PAST_VALUES_MAX;
use crate::run::Call;
use crate::scope::Scope;
use crate::shells::shells;
use crate::state::{State, Value, Variable};
use crate::text::Text;
use crate::tree::{Index, Operation, Part, Word};

const IFS: &str = "IFS";

/// The name of all positional parameters.
pub(crate) const PARAMETERS: &str = "@";

impl Walker<'_> {
    /// Returns the calls that a command may be if the variables in its name have other values that they had.
    pub(super) fn past_calls(
        &mut self,
        state: &State,
        scope: &Scope,
        words: &[Word],
        fields: &[Vec<Arg>],
        call: &Call,
    ) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        let (leading, end) = leading(words, fields);
        let changes = fields.iter().take(end).flatten().filter_map(Arg::as_str).any(is_changing);
        let targets = if changes { end..words.len() } else { 0..0 };
        let targets = targets.filter(|at| words.get(*at).is_some_and(has_parameter));
        for (at, is_target) in leading.into_iter().map(|at| (at, false)).chain(targets.map(|at| (at, true))) {
            let Some(word) = words.get(at) else { continue };
            for name in self.named_in(state, word) {
                let mut texts = if is_target { state.precious_past(&name) } else { state.past(&name) };
                if &*name == IFS && !texts.is_empty() {
                    texts.push(Text::known(" \t\n"));
                }
                if texts.len() > PAST_VALUES_MAX {
                    let written = scope.source.written(word.span).to_owned();
                    self.gap(scope, Role::Program, Why::Budget, &written, word.span);
                }
                for text in texts {
                    // An unknown value has its report where the command has its usual one.
                    let Some(argv) = self.assuming(state, scope, (&name, text), word, at, fields) else {
                        continue;
                    };
                    if argv != call.argv && calls.iter().all(|one| one.argv != argv) {
                        calls.push(call.with(argv));
                    }
                }
            }
        }
        calls
    }

    /// Returns the arguments of a command if a variable in one of its words has a given text; nothing if they are not
    /// known.
    fn assuming(
        &mut self,
        state: &State,
        scope: &Scope,
        (name, text): (&Rc<str>, Text),
        word: &Word,
        at: usize,
        fields: &[Vec<Arg>],
    ) -> Option<Vec<Arg>> {
        let mut trial = self.fork(state);
        if &**name == IFS {
            trial.set(IFS, Value::Scalar(text.clone()));
        }
        let outer = self.assumed.replace((Rc::clone(name), text));
        let changed = self.fields(&mut trial, scope, word);
        self.assumed = outer;
        let (before, after) = fields.split_at(at);
        let rest = after.iter().skip(1).flatten();
        let is_known = changed.iter().all(|arg| arg.as_str().is_some()) && !self.work.is_over();
        is_known.then(|| before.iter().flatten().chain(&changed).chain(rest).cloned().collect())
    }

    /// Returns the variables in a word, and those that their values name.
    fn named_in(&mut self, state: &State, word: &Word) -> BTreeSet<Rc<str>> {
        let mut names = BTreeSet::from([Rc::from(IFS)]);
        let mut add = |name: &str| {
            let meant = state.meant(name).unwrap_or_else(|| name.into());
            names.insert(meant);
        };
        for part in &word.parts {
            let Part::Parameter { parameter, .. } = part else { continue };
            let has_elements = |variable: &Rc<Variable>| {
                variable.values.iter().any(|value| matches!(value, Value::Array(_)))
            };
            let is_list = state.has_zsh_arrays()
                && parameter.index.is_none()
                && state.variable(&parameter.name).is_some_and(has_elements);
            // `"${a[@]}"` and `"$@"` are whole commands.
            let is_whole = matches!(parameter.index, Some(Index::Each | Index::Joined))
                || matches!(parameter.name.as_str(), "@" | "*")
                || is_list;
            if is_whole && parameter.operation == Operation::Value {
                continue;
            }
            add(&parameter.name);
            if parameter.name.starts_with(|one: char| one.is_ascii_digit()) {
                add(PARAMETERS);
            }
            let nested = parameter.zsh.as_ref().and_then(|zsh| zsh.nested.as_ref());
            let nested = nested.into_iter().flat_map(|word| &word.parts);
            for part in nested {
                if let Part::Parameter { parameter, .. } = part {
                    add(&parameter.name);
                }
            }
            let referred = state.variable(&parameter.name).filter(|variable| variable.attributes.reference);
            let referred = referred.into_iter().flat_map(|variable| &variable.values);
            let referred = referred.filter_map(|value| match value {
                Value::Scalar(text) => Some(text.clone()),
                Value::Array(_) | Value::Unset | Value::Unknown(_) => None,
            });
            let values: Vec<Text> = state.past(&parameter.name).into_iter().chain(referred).collect();
            self.work.spend(1 + values.len() as u64);
            for text in values.iter().filter_map(Text::as_str) {
                let end = text.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(text.len());
                text.get(..end).filter(|name| !name.is_empty()).into_iter().for_each(&mut add);
            }
        }
        names
    }
}

/// Returns the numbers of the words with variables that may name the command, and the number of the word after it. The
/// name is the first word, or one after wrappers, their options, and the values of these.
fn leading(words: &[Word], fields: &[Vec<Arg>]) -> (Vec<usize>, usize) {
    let mut found = Vec::new();
    let mut is_code = false;
    let mut is_value = false;
    let mut is_script = false;
    for (at, (word, args)) in words.iter().zip(fields).enumerate() {
        if has_parameter(word) && !is_script {
            found.push(at);
        }
        let texts: Option<Vec<&str>> = args.iter().map(Arg::as_str).collect();
        let texts = texts.unwrap_or_default();
        is_code |= texts.first() == Some(&"eval");
        let is_option = |text: &&str| text.starts_with('-');
        let leads = |text: &&str| {
            Trait::Leads.is_of(base_name(text)) || is_option(text) || text.contains('=') || is_number(text)
        };
        if !(is_code || is_value && at > 1 || !texts.is_empty() && texts.iter().all(leads) || args.is_empty())
        {
            return (found, at + 1);
        }
        is_value = texts.last().is_some_and(is_option);
        // The file that a shell reads names no command; the text of `-c` does.
        let is_shell = texts.iter().any(|text| !shells(base_name(text)).is_empty());
        let is_text = texts.iter().any(|text| is_option(text) && text.contains('c'));
        is_script = (is_script || is_shell) && !is_text;
    }
    (found, words.len())
}

fn has_parameter(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, Part::Parameter { .. }))
}

/// Reports whether text is a number, a duration or a bound: `nice -n 5`, `timeout 5s`.
fn is_number(text: &str) -> bool {
    text.starts_with(|one: char| one.is_ascii_digit()) && text.chars().all(|one| one.is_ascii_alphanumeric())
}

fn is_changing(text: &str) -> bool {
    Trait::ChangesOperands.is_of(base_name(text))
}
