//! Substitutions and processes in a word: their commands and output. This module must not know the word around them.

use std::rc::Rc;

use castellan_event::Why;

use crate::found::Origin;
use crate::scope::Scope;
use crate::state::{Descriptor, Process, State};
use crate::text::Text;
use crate::tree::Script;
use crate::walk::{Leave, Walker};

impl Walker<'_> {
    /// Returns the output of commands, without trailing newlines.
    pub(super) fn substitution(&mut self, state: &mut State, scope: &Scope, body: &Script) -> Text {
        let written = || crate::text::cut(&format!("$({})", scope.source.written(body.span).trim()));
        let texts = self.output_of(state, scope, body);
        let text = match self.choices.choose(texts.len()) {
            Some(at) => texts.into_iter().nth(at).unwrap_or_default().without_last_newlines(),
            None => return Text::unknown(Why::Budget, written()),
        };
        // A glob pattern and an expansion are more precise than the source of the substitution.
        let is_precise = |why: Why, written: &str| {
            let is_expansion = matches!(why, Why::Arithmetic | Why::Parameter | Why::Variable);
            why == Why::Glob || is_expansion && written.starts_with('$')
        };
        match text.pieces() {
            [castellan_programs::Piece::Unknown { why, written: inner }] if !is_precise(*why, inner) => {
                Text::unknown(*why, written())
            }
            _ => text,
        }
    }

    /// Walks commands in a copy of the shell and returns their possible outputs.
    fn output_of(&mut self, state: &mut State, scope: &Scope, body: &Script) -> Vec<Text> {
        let mut inner = self.fork(state);
        inner.traps = Rc::default();
        let at = inner.begin_collecting();
        inner.set_descriptor(1, Descriptor::Collected(at));
        let mut scope = scope.with_origin(Origin::Substitution);
        scope.redirects = Rc::default();
        scope.pipe_from = None;
        scope.background = false;
        self.leaving(Leave::Shell, &mut inner, |walker, inner| walker.script(inner, &scope, body));
        self.run_traps(&mut inner, &scope);
        state.status = inner.status;
        self.substituted += 1;
        inner.collected_at(at)
    }

    /// Walks `<( )` or `>( )` and returns its descriptor.
    pub(super) fn process(&mut self, state: &mut State, scope: &Scope, body: &Script, written: bool) -> u32 {
        let number = self.next_descriptor();
        let descriptor = if written {
            let collected = state.begin_collecting();
            let process = Rc::new(Process {
                body: body.clone(),
                source: Rc::clone(&scope.source),
                collected,
                number: self.processes.len(),
            });
            self.work.spend_bytes(scope.source.written(body.span).len());
            self.processes.push((Rc::clone(&process), crate::walk::Reading::Waiting));
            Descriptor::Process(process)
        } else {
            let status = state.status;
            let texts = self.output_of(state, scope, body);
            state.status = status;
            match self.choices.choose(texts.len()) {
                Some(at) => Descriptor::Input(Rc::new(texts.into_iter().nth(at).unwrap_or_default())),
                None => Descriptor::Input(Rc::new(Text::unknown(Why::Budget, ""))),
            }
        };
        state.set_descriptor(number, descriptor);
        number
    }
}
