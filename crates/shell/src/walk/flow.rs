//! Lists, pipes and branches: the order of execution and the resulting states. This module must not know commands.

use std::rc::Rc;

use castellan_event::{Role, Why};

use super::{Leave, Walker};
use crate::limits::TRAPS_MAX;
use crate::scope::Scope;
use crate::state::{State, Trap};
use crate::syntax::Shell;
use crate::tree::{Connector, Node, Script, Statement, Word};

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
        state.share_inputs(&inner);
        let count = state.collected.len();
        if !Rc::ptr_eq(&state.collected, &inner.collected) {
            let mut collected = inner.collected;
            Rc::make_mut(&mut collected).truncate(count);
            state.collected = collected;
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
}
