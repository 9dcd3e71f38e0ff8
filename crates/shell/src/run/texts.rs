//! Text that the shell runs in turn: parses and walks it. This module must not know the command that runs the text.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use crate::found::Origin;
use crate::limits::TEXT_DEPTH_MAX;
use crate::scope::{Scope, Source};
use crate::state::{State, Table, Value, Variable};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Script, Span};
use crate::walk::Walker;

#[derive(Debug, Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) text: &'a Text,
    /// The shells that may run it; `None` for the current one.
    pub(super) shells: Option<&'static [Shell]>,
    pub(super) origin: Origin,
    /// The span of the command that runs it.
    pub(super) span: Span,
    /// The source file of the text, if it differs from the command's file.
    pub(super) file: Option<&'a Rc<str>>,
}

impl Walker<'_> {
    /// Parses code and passes it to `walk`.
    pub(super) fn walked_text(
        &mut self,
        state: &mut State,
        scope: &Scope,
        code: Code<'_>,
        mut walk: impl FnMut(&mut Self, &mut State, &Scope, &Script),
    ) {
        let Code { text, shells, origin, span, file } = code;
        let Some(known) = text.as_str() else {
            self.gap(scope, Role::Code, text.why().unwrap_or_default(), &text.written(), span);
            state.forget_most(Why::Dynamic);
            return;
        };
        if known.trim().is_empty() {
            return;
        }
        if scope.texts >= TEXT_DEPTH_MAX || !self.enter() {
            self.gap(scope, Role::Code, Why::Nesting, known, span);
            state.forget_most(Why::Dynamic);
            return;
        }
        let mut inner = scope.clone();
        let file = file.or(scope.source.file.as_ref()).cloned();
        inner.source = Rc::new(Source { text: known.into(), place: Some(scope.span(span)), file });
        inner.origin = origin;
        inner.texts += 1;
        if origin != Origin::Alias {
            // The shell parses this text again, so the alias that it came from is active in it.
            inner.aliases = Rc::default();
        }
        let current = [state.options.shell];
        self.each_shell(state, &inner, shells.unwrap_or(&current), |walker, state, script| {
            walk(walker, state, &inner, script);
        });
        self.leave();
    }

    /// Walks code in a new shell with the exported variables: `bash -c CODE NAME ARGUMENTS`.
    pub(crate) fn shell_text(
        &mut self,
        state: &mut State,
        scope: &Scope,
        shells: &'static [Shell],
        code: &Text,
        rest: &[Arg],
        span: Span,
    ) {
        let mut child = self.child(state);
        if let Some(name) = rest.first() {
            child.name = Rc::new(Text::from(name));
        }
        let certain = !rest.iter().any(Arg::splits);
        child.positionals = certain.then(|| Rc::new(rest.iter().skip(1).map(Text::from).collect()));
        let code = Code { text: code, shells: Some(shells), origin: Origin::Argument, span, file: None };
        self.as_shell(state, child, scope, code);
    }

    /// Walks code in a new shell and takes over its output.
    pub(super) fn as_shell(&mut self, state: &mut State, mut child: State, scope: &Scope, code: Code<'_>) {
        self.walked_text(&mut child, scope, code, |walker, child, scope, script| {
            walker.shell(child, scope, script);
        });
        self.absorb(state, child);
        state.status = None;
    }

    /// Returns the state of a child shell: exported variables, no options, and functions only after `export -f`.
    pub(super) fn child(&mut self, state: &State) -> State {
        let mut child = self.fork(state);
        let mut variables = Table::default();
        for (name, variable) in state.variables.iter() {
            self.work.spend(1);
            if variable.exported {
                variables.insert(Rc::clone(name), Rc::clone(variable));
            } else if variable.perhaps_exported {
                let mut either = (**variable).clone();
                either.exported = true;
                either.values.push(Value::Unset);
                variables.insert(Rc::clone(name), Rc::new(either));
            } else {
                variables.insert(Rc::clone(name), Rc::new(Variable::of(Value::Unset)));
            }
        }
        child.variables = variables;
        child.set("IFS", Value::Scalar(Text::known(" \t\n")));
        if !state.options.functions_exported {
            child.functions = Table::default();
        }
        child.aliases = Table::default();
        child.hashed = Table::default();
        child.traps = Rc::default();
        child.passing = None;
        child.hidden = Rc::default();
        child.options.literal_patterns = false;
        child.options.literal_braces = state.options.shell == Shell::Posix || state.options.starts_literal;
        child.options.splits = child.options.shell != Shell::Zsh || child.options.starts_splitting;
        child.options.aliases = None;
        child.positionals = Some(Rc::default());
        child
    }
}
