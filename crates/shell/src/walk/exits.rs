//! Early exits of loops, functions and shells, with the states at those exits. This module must not know commands.

use super::Walker;
use crate::state::State;

/// A construct that can be left early, with the states at those exits.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Leave,
    left: Vec<State>,
}

/// The kind of construct that is left early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// A loop: `break`, `continue`.
    Loop,
    /// A function or a sourced text: `return`.
    Function,
    /// A shell: `exit`.
    Shell,
}

impl<'f> Walker<'f> {
    /// Walks a construct that can be left early, and joins the states of its exits. Returns true if there were any.
    pub(crate) fn leaving(
        &mut self,
        kind: Leave,
        state: &mut State,
        walk: impl FnOnce(&mut Self, &mut State),
    ) -> bool {
        self.frames.push(Frame { kind, left: Vec::new() });
        walk(self, state);
        let Some(frame) = self.frames.pop() else { return false };
        let was_left = !frame.left.is_empty();
        for left in frame.left {
            self.joins(state, left);
        }
        was_left
    }

    /// Walks one round of a loop. After an early exit the round may have been the last; adds that state to `ends`.
    pub(crate) fn round(
        &mut self,
        state: &mut State,
        ends: &mut Option<State>,
        walk: impl FnOnce(&mut Self, &mut State),
    ) {
        if !self.leaving(Leave::Loop, state, walk) {
            return;
        }
        let end = self.fork(state);
        match ends {
            Some(ends) => self.joins(ends, end),
            None => *ends = Some(end),
        }
    }

    /// Joins the early exits of a loop whose rounds were walked one by one.
    pub(crate) fn end_rounds(&mut self, state: &mut State, ends: Option<State>) {
        if let Some(ends) = ends {
            self.joins(state, ends);
        }
    }

    /// `exit`, `return`, `break`: later code does not run. `every`: possibly all enclosing loops end (`break 2`).
    pub(crate) fn left(&mut self, kind: Leave, state: &mut State, every: bool) {
        let floor = match kind {
            Leave::Loop | Leave::Function => {
                self.frames.iter().rposition(|frame| frame.kind == Leave::Shell).unwrap_or(0)
            }
            Leave::Shell => 0,
        };
        let Some(at) = self.frames.iter().rposition(|frame| frame.kind == kind) else { return };
        if at < floor || state.ended {
            return;
        }
        self.work.spend(8);
        let mut copy = state.clone();
        copy.status = None;
        let outer = if every { floor } else { at };
        for frame in self.frames.iter_mut().take(at + 1).skip(outer) {
            if frame.kind == kind {
                frame.left.push(copy.clone());
            }
        }
        state.ended = true;
    }
}
