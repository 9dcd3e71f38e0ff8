//! Pipes: each stage runs in a subshell with the output of the stage before. This module must not know commands.

use std::rc::Rc;

use castellan_event::Why;

use super::{Leave, Walker};
use crate::limits::VALUES_MAX;
use crate::scope::Scope;
use crate::state::{Descriptor, State};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{FdWord, Redirect, RedirectKind, Statement};

impl Walker<'_> {
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
        let own = state.descriptors.get(&0).cloned();
        self.absorb(state, inner);
        match own {
            Some(own) => state.set_descriptor(0, own),
            None => drop(Rc::make_mut(&mut state.descriptors).remove(&0)),
        }
    }
}

/// Returns true if a redirect writes the standard output to a file.
fn writes_output(redirect: &Redirect) -> bool {
    let is_output = matches!(redirect.fd, None | Some(FdWord::Number(1)));
    is_output && matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
}
