//! Processes for `<( )` and `>( )`: their descriptors and their input. This module must not know commands.

use std::rc::Rc;

use castellan_event::{Role, Why};

use super::Walker;
use crate::found::Origin;
use crate::scope::Scope;
use crate::state::{Descriptor, Process, State};
use crate::text::Text;

/// First descriptor for `<( )`. The numbers count down, as in bash.
pub(super) const FIRST_DESCRIPTOR: u32 = 63;

/// Last descriptor in that range: `exec {name}<` also uses descriptors from 10 on.
const LAST_DESCRIPTOR: u32 = 32;

/// Further descriptors count up from here, so that no open descriptor is reused. No real text names such numbers.
const FURTHER_DESCRIPTORS: u32 = 1 << 20;

/// The progress of the commands of a `>( )`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Not walked until the command that writes to it ends.
    Waiting,
    /// Kept open by `exec`: walked at each write.
    Open,
    /// Already walked.
    Done,
}

impl<'f> Walker<'f> {
    pub(crate) fn next_descriptor(&mut self) -> u32 {
        let number = self.descriptor;
        self.descriptor = match number {
            LAST_DESCRIPTOR => FURTHER_DESCRIPTORS,
            number if number < FURTHER_DESCRIPTORS => number - 1,
            number => number.saturating_add(1),
        };
        number
    }

    /// Writes text to standard output.
    pub(crate) fn deliver(&mut self, state: &mut State, scope: &Scope, text: &Text) {
        if text.pieces().is_empty() {
            return;
        }
        self.work.spend_bytes(text.len());
        match state.descriptor(1) {
            Descriptor::Collected(at) => state.collect(at, text),
            Descriptor::Process(process) => {
                state.collect(process.collected, text);
                let reading = self.processes.get(process.number).map(|(_, reading)| *reading);
                if matches!(reading, Some(Reading::Open)) {
                    self.read_by(state, scope, &process);
                }
            }
            Descriptor::Written(path) => state.written_to(&path, text),
            Descriptor::Inherited
            | Descriptor::Input(_)
            | Descriptor::File(_)
            | Descriptor::Script
            | Descriptor::Unknown => {}
        }
    }

    /// Walks the commands of a `>( )` with their collected input.
    fn read_by(&mut self, state: &State, scope: &Scope, process: &Rc<Process>) {
        if !self.enter() {
            let (span, source) = (process.body.span, Rc::clone(&process.source));
            let written = source.written(span).to_owned();
            self.gap(&Scope { source, ..scope.clone() }, Role::Code, Why::Nesting, &written, span);
            return;
        }
        for text in state.collected_at(process.collected) {
            let text = if text.pieces().is_empty() { Text::unknown(Why::Input, "") } else { text };
            let mut inner = self.fork(state);
            inner.set_descriptor(0, Descriptor::Input(Rc::new(text)));
            inner.set_descriptor(1, Descriptor::Inherited);
            let mut scope = scope.with_origin(Origin::Substitution);
            scope.source = Rc::clone(&process.source);
            scope.redirects = Rc::default();
            self.shell(&mut inner, &scope, &process.body);
        }
        self.leave();
    }

    /// Walks the `>( )` of a command that has ended. `stay`: `exec` keeps them open.
    pub(crate) fn end_processes(&mut self, from: usize, stay: bool, state: &State, scope: &Scope) {
        for at in from..self.processes.len() {
            let Some((process, reading)) = self.processes.get_mut(at) else { continue };
            if *reading != Reading::Waiting {
                continue;
            }
            *reading = if stay { Reading::Open } else { Reading::Done };
            let process = Rc::clone(process);
            if !stay {
                self.read_by(state, scope, &process);
            }
        }
    }

    /// Walks, at the end of the text, each `>( )` that `exec` kept open and that received no known input.
    pub(super) fn open_processes(&mut self, state: &State, scope: &Scope) {
        let open: Vec<Rc<Process>> = self
            .processes
            .iter()
            .filter(|(_, reading)| *reading == Reading::Open)
            .map(|(process, _)| Rc::clone(process))
            .collect();
        for process in open {
            let written = state.collected_at(process.collected);
            if written.iter().all(|text| text.pieces().is_empty()) {
                self.read_by(state, scope, &process);
            }
        }
    }
}
