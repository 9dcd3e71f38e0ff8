//! Lists, pipes and branches: the order of execution and the resulting states. This module must not know commands.

use std::rc::Rc;

use castellan_event::{Role, Why};

use super::{Leave, Walker};
use crate::limits::{REPEATS_MAX, ROUNDS_MAX, TRAPS_MAX, VALUES_MAX};
use crate::scope::Scope;
use crate::state::{Descriptor, Held, State, Trap, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Connector, FdWord, Node, Redirect, RedirectKind, Script, Span, Statement, Word};

impl Walker<'_> {
    pub(crate) fn script(&mut self, state: &mut State, scope: &Scope, script: &Script) {
        for statement in &script.statements {
            self.statement(state, scope, statement);
        }
    }

    pub(crate) fn statement(&mut self, state: &mut State, scope: &Scope, statement: &Statement) {
        self.work.spend(2 + std::mem::take(&mut state.spent));
        if !self.goes_on(scope, statement.span) {
            return;
        }
        if !self.enter() {
            let written = scope.source.written(statement.span).to_owned();
            self.gap(scope, Role::Code, Why::Nesting, &written, statement.span);
            return;
        }
        let is_zsh = state.options.shell == Shell::Zsh;
        if let (true, true, Node::Chain { .. }) = (is_zsh, statement.background, &statement.node) {
            // zsh runs only the last command of a list in the background.
            let mut last_only = statement.clone();
            last_only.background = false;
            if let Node::Chain { all, .. } = &mut last_only.node
                && let Some(last) = all.last_mut()
            {
                last.background = true;
            }
            self.node(state, scope, &last_only);
        } else if statement.background {
            let mut scope = scope.clone();
            scope.background = true;
            self.subshell(state, &scope, |walker, inner| walker.node(inner, &scope, statement));
            state.status = Some(true);
        } else {
            self.node(state, scope, statement);
        }
        if statement.negated {
            state.status = state.status.map(|status| !status);
        }
        self.work.spend(std::mem::take(&mut state.spent));
        self.leave();
    }

    fn node(&mut self, state: &mut State, scope: &Scope, statement: &Statement) {
        match &statement.node {
            Node::Simple { assignments, words } => {
                self.readings(state, |walker, state| {
                    walker.simple(state, scope, statement, assignments, words);
                });
            }
            Node::Declare { assignments, builtin, operands } => {
                self.readings(state, |walker, state| {
                    walker.declaration(state, scope, statement, assignments, builtin, operands);
                });
            }
            // Any other hole is already reported.
            Node::Hole(hole) => {
                if hole.why == Why::Syntax && !state.ended && !state.options.is_other {
                    let written = scope.source.written(hole.span).to_owned();
                    self.gap(scope, Role::Code, hole.why, &written, hole.span);
                }
                state.forget_all(Why::Dynamic);
                state.positionals = None;
            }
            Node::Pipe(_)
            | Node::Chain { .. }
            | Node::Subshell(_)
            | Node::Group(_)
            | Node::If { .. }
            | Node::For { .. }
            | Node::ArithmeticFor { .. }
            | Node::While { .. }
            | Node::Case { .. }
            | Node::Function { .. }
            | Node::Coproc(_)
            | Node::Time(_)
            | Node::Test(_)
            | Node::Arithmetic(_) => self.compound(state, scope, statement),
        }
    }

    /// Walks code in a copy of the shell. The output and the exit status go to the original shell.
    pub(crate) fn subshell(
        &mut self,
        state: &mut State,
        scope: &Scope,
        walk: impl FnOnce(&mut Self, &mut State),
    ) {
        let mut inner = self.fork(state);
        inner.traps = Rc::default();
        self.leaving(Leave::Shell, &mut inner, |walker, inner| walk(walker, inner));
        self.run_traps(&mut inner, scope);
        self.absorb(state, inner);
    }

    /// Traps of a subshell run in it. The walk adds them to the traps of the outer shell, which run at its end.
    pub(crate) fn take_traps(&mut self, state: &mut State, inner: &State) {
        for trap in inner.traps.iter() {
            self.add_trap(state, trap.clone());
        }
    }

    /// Sets a trap. A trap over the limit is not walked and is reported like an exhausted budget.
    pub(crate) fn add_trap(&mut self, state: &mut State, trap: Trap) {
        self.work.spend(state.traps.len() as u64 / 8);
        if state.traps.contains(&trap) {
            return;
        }
        if state.traps.len() >= TRAPS_MAX {
            self.over.get_or_insert(trap.source.span(trap.span));
            return;
        }
        Rc::make_mut(&mut state.traps).push(trap);
    }

    /// Copies from a subshell the state shared with the shell: output, consumed input, written files and status.
    pub(crate) fn absorb(&mut self, state: &mut State, inner: State) {
        self.take_traps(state, &inner);
        let count = state.collected.len();
        if !Rc::ptr_eq(&state.collected, &inner.collected) {
            let mut collected = inner.collected;
            Rc::make_mut(&mut collected).truncate(count);
            state.collected = collected;
        }
        if let (Descriptor::Input(_), Some(Descriptor::Input(rest))) =
            (state.descriptor(0), inner.descriptors.get(&0))
        {
            let rest = Rc::clone(rest);
            state.set_descriptor(0, Descriptor::Input(rest));
        }
        state.files = inner.files;
        state.status = inner.status;
    }

    /// `a && b || c`: tracks the state in which all commands succeeded and the state in which a command failed.
    pub(super) fn chain(
        &mut self,
        state: &mut State,
        scope: &Scope,
        all: &[Statement],
        connectors: &[Connector],
    ) {
        let Some((first, rest)) = all.split_first() else { return };
        let mut failed = self.tried(state, scope, first);
        for (statement, connector) in rest.iter().zip(connectors) {
            if *connector == Connector::And {
                state.status = Some(true);
                let more = self.tried(state, scope, statement);
                failed = match (failed, more) {
                    (Some(mut failed), Some(more)) => {
                        self.joins(&mut failed, more);
                        Some(failed)
                    }
                    (failed, more) => failed.or(more),
                };
            }
            if *connector == Connector::Or {
                // Walked even if no failure seems possible: a command that seems certain may be a function.
                let certain = failed.is_none();
                let mut other = failed.take().unwrap_or_else(|| state.clone());
                if let Some(directories) = other.directories_before.take() {
                    other.directories = directories;
                    let here = other.directory_value();
                    other.set("PWD", here);
                }
                other.status = Some(false);
                failed = self.tried(&mut other, scope, statement);
                if certain {
                    failed = None;
                } else {
                    self.joins(state, other);
                }
            }
        }
        if let Some(failed) = failed {
            self.joins(state, failed);
        }
        state.directories_before = None;
    }

    /// Walks a statement into its success state. Returns the failure state, if the statement may fail.
    fn tried(&mut self, state: &mut State, scope: &Scope, statement: &Statement) -> Option<State> {
        state.directories_before = None;
        self.statement(state, scope, statement);
        match state.status {
            Some(true) => None,
            Some(false) | None => Some(self.fork(state)),
        }
    }

    /// `a | b`
    pub(super) fn pipe(&mut self, state: &mut State, scope: &Scope, stages: &[Statement]) {
        let mut inputs: Option<Vec<Text>> = None;
        let mut scope = scope.clone();
        let count = stages.len();
        for (number, stage) in stages.iter().enumerate() {
            let last = number + 1 == count;
            let mut outputs: Vec<Text> = Vec::new();
            let alternatives: Vec<Option<Text>> = match inputs.take() {
                None => vec![None],
                Some(texts) => texts.into_iter().map(Some).collect(),
            };
            let mut after: Option<State> = None;
            for input in alternatives {
                let mut inner = self.fork(state);
                inner.traps = Rc::default();
                if let Some(text) = input {
                    inner.set_descriptor(0, Descriptor::Input(Rc::new(text)));
                }
                let at = (!last).then(|| {
                    let at = inner.begin_collecting();
                    inner.set_descriptor(1, Descriptor::Collected(at));
                    at
                });
                self.leaving(Leave::Shell, &mut inner, |walker, inner| {
                    walker.statement(inner, &scope, stage)
                });
                if !(last && state.options.last_pipe) {
                    self.run_traps(&mut inner, &scope);
                }
                for text in at.map(|at| inner.collected_at(at)).unwrap_or_default() {
                    if !outputs.contains(&text) {
                        outputs.push(text);
                    }
                }
                match &mut after {
                    None => after = Some(inner),
                    Some(joined) => self.joins(joined, inner),
                }
            }
            if let Some(mut inner) = after {
                let keeps = last && state.options.last_pipe;
                let traps = std::mem::take(&mut inner.traps);
                if keeps {
                    inner.descriptors = Rc::clone(&state.descriptors);
                    inner.traps = Rc::clone(&state.traps);
                    *state = inner;
                } else {
                    self.absorb_output(state, inner);
                }
                for trap in traps.iter() {
                    self.add_trap(state, trap.clone());
                }
            }
            // zsh writes to the pipe and to the file.
            if state.options.shell == Shell::Zsh && stage.redirects.iter().any(writes_output) {
                outputs = vec![Text::unknown(Why::Substitution, scope.source.written(stage.span))];
            }
            if outputs.len() > VALUES_MAX {
                outputs = vec![Text::unknown(Why::Budget, "")];
            }
            inputs = Some(outputs);
            scope.pipe_from = self.last_command();
        }
    }

    /// Like [`Walker::absorb`], but the consumed input came from a separate pipe.
    fn absorb_output(&mut self, state: &mut State, inner: State) {
        let descriptors = Rc::clone(&state.descriptors);
        self.absorb(state, inner);
        state.descriptors = descriptors;
    }

    pub(super) fn branches(
        &mut self,
        state: &mut State,
        scope: &Scope,
        branches: &[(Script, Script)],
        otherwise: Option<&Script>,
    ) {
        let mut after: Option<State> = None;
        for (condition, body) in branches {
            self.script(state, scope, condition);
            let mut taken = self.fork(state);
            self.script(&mut taken, scope, body);
            match &mut after {
                None => after = Some(taken),
                Some(joined) => self.joins(joined, taken),
            }
        }
        if let Some(body) = otherwise {
            self.script(state, scope, body);
        }
        if let Some(after) = after {
            self.joins(state, after);
        }
    }

    pub(super) fn case(
        &mut self,
        state: &mut State,
        scope: &Scope,
        word: &Word,
        arms: &[(Vec<Word>, Script)],
    ) {
        self.readings(state, |walker, state| {
            walker.text(state, scope, word);
        });
        let before = self.fork(state);
        let mut falls: Option<State> = None;
        for (patterns, body) in arms {
            let mut taken = self.fork(&before);
            self.readings(&mut taken, |walker, state| {
                for pattern in patterns {
                    walker.text(state, scope, pattern);
                }
            });
            // `;&` continues with the next arm, and `;;&` with any later one.
            let earlier = falls.take();
            if let Some(earlier) = &earlier {
                let earlier = self.fork(earlier);
                self.joins(&mut taken, earlier);
            }
            self.script(&mut taken, scope, body);
            let mut after = self.fork(&taken);
            if let Some(earlier) = earlier {
                self.joins(&mut after, earlier);
            }
            falls = Some(after);
            self.joins(state, taken);
        }
    }

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

/// Returns true if a redirect writes the standard output to a file.
fn writes_output(redirect: &Redirect) -> bool {
    let is_output = matches!(redirect.fd, None | Some(FdWord::Number(1)));
    is_output && matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
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
