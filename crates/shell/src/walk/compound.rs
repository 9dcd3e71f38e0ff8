//! Groups, loops, conditions and functions as statements, with their redirects. This module must not know commands.

use std::rc::Rc;

use castellan_event::{Role, Why};

use super::{Definition, Leave, Walker, jobs};
use crate::found::Origin;
use crate::limits::{RECURSION_MAX, ROUNDS_MAX, TEXT_DEPTH_MAX};
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Body, Descriptor, Function, Options, State, Table, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Arithmetic, Node, Script, Statement};

/// Parts of the state outside of a function, which it has again when the function ends.
struct Outside {
    aliases: Table<Vec<Option<Text>>>,
    inner_aliases: Table<Vec<Option<Text>>>,
    name: Rc<Text>,
    options: Options,
}

impl Outside {
    fn end(self, state: &mut State) {
        state.name = self.name;
        // The body itself may define aliases.
        if state.aliases.is(&self.inner_aliases) {
            state.aliases = self.aliases;
        }
        if state.options.is_local {
            state.options = self.options;
        }
        state.options.is_local = self.options.is_local;
    }
}

/// Operators of `[[ ]]` with an operand that the shell evaluates.
const EVALUATING: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];

impl Walker<'_> {
    /// Walks any statement except a simple command.
    pub(super) fn compound(&mut self, state: &mut State, scope: &Scope, statement: &Statement) {
        if statement.redirects.is_empty() {
            self.kind(state, scope, statement);
            return;
        }
        self.readings(state, |walker, state| {
            let first_process = walker.processes.len();
            let (redirects, saved) = walker.redirects(state, scope, &statement.redirects);
            let scope = scope.redirected(redirects);
            walker.work.spend(scope.redirects.len() as u64);
            let before = walker.item_count();
            walker.kind(state, &scope, statement);
            if walker.item_count() == before {
                // No item inside contains the redirects, so they are reported on their own.
                let mut bare = Call::new(Vec::new(), statement.span);
                bare.redirects = Vec::new();
                walker.emit(state, &scope, &bare);
            }
            Self::restore(state, saved);
            walker.end_processes(first_process, false, state, &scope);
        });
    }

    fn kind(&mut self, state: &mut State, scope: &Scope, statement: &Statement) {
        if jobs::are_without_end(statement, &scope.source) {
            self.gap(scope, Role::Code, Why::Nesting, jobs::JOBS_WITHOUT_END, statement.span);
        }
        match &statement.node {
            // The caller handles these nodes.
            Node::Simple { .. } | Node::Declare { .. } | Node::Hole(_) => {}
            Node::Pipe(stages) => self.pipe(state, scope, stages),
            Node::Chain { all, connectors } => self.chain(state, scope, all, connectors),
            Node::Subshell(script) => {
                self.subshell(state, scope, |walker, inner| walker.script(inner, scope, script));
            }
            Node::Group(script) => self.script(state, scope, script),
            Node::If { branches, otherwise } => self.branches(state, scope, branches, otherwise.as_ref()),
            Node::For { names, words, body } => {
                self.for_each(state, scope, names, words.as_deref(), body, statement.span);
            }
            Node::ArithmeticFor { first, condition, step, body } => {
                self.arithmetic_for(state, scope, [first, condition, step], body);
            }
            Node::While { until, condition, body } => {
                self.while_loop(state, scope, *until, condition, body);
            }
            Node::Case { word, arms } => self.case(state, scope, word, arms),
            Node::Function { names, body } => self.define(state, scope, names, body),
            Node::Coproc(inner) => {
                let mut scope = scope.clone();
                scope.background = true;
                self.subshell(state, &scope, |walker, state| {
                    // Later writes of the shell to the coprocess are not followed.
                    state.set_descriptor(0, Descriptor::Unknown);
                    walker.statement(state, &scope, inner);
                });
                state.set("COPROC", Value::Unknown(Why::Dynamic));
            }
            Node::Time(inner) => {
                if let Some(inner) = inner {
                    self.statement(state, scope, inner);
                }
                // The times go to the error output.
                let output = state.descriptor(1);
                state.set_descriptor(1, state.descriptor(2));
                let times = Text::unknown(Why::Substitution, scope.source.written(statement.span));
                self.deliver(state, scope, &times);
                state.set_descriptor(1, output);
            }
            Node::Test(words) => {
                // The tree has no operators. Such an operand may be any of them.
                let written = scope.source.written(statement.span);
                let evaluates = EVALUATING.iter().any(|operator| written.contains(operator));
                self.readings(state, |walker, state| {
                    for word in words {
                        if state.options.shell == Shell::Zsh {
                            walker.qualifiers(state, scope, word);
                        }
                        let text = walker.text(state, scope, word);
                        if evaluates {
                            walker.evaluated(state, scope, &text, word.span);
                        }
                    }
                    state.set("BASH_REMATCH", Value::Unknown(Why::Dynamic));
                    state.status = None;
                });
            }
            Node::Arithmetic(expression) => self.readings(state, |walker, state| {
                let value = walker.arithmetic(state, scope, expression);
                state.status = value.map(|value| value != 0);
            }),
        }
    }

    /// `for ((...; ...; ...))`: walks rounds one by one while the numbers are known.
    fn arithmetic_for(
        &mut self,
        state: &mut State,
        scope: &Scope,
        [first, condition, step]: [&Arithmetic; 3],
        body: &Script,
    ) {
        self.readings(state, |walker, state| {
            walker.arithmetic(state, scope, first);
        });
        let goes_on = |walker: &mut Self, state: &mut State| match condition.text.trim() {
            "" => Some(true),
            _ => walker.arithmetic(state, scope, condition).map(|value| value != 0),
        };
        let mut ends = None;
        for round in 0..ROUNDS_MAX {
            let mut trial = self.fork(state);
            let mut answers = Vec::new();
            self.readings(&mut trial, |walker, state| answers.push(goes_on(walker, state)));
            match answers.as_slice() {
                [Some(false)] => {
                    *state = trial;
                    if round == 0 {
                        self.unreached(state, |walker, state| walker.script(state, scope, body));
                    }
                    self.end_rounds(state, ends);
                    return;
                }
                [Some(true)] => *state = trial,
                _ => break,
            }
            self.round(state, &mut ends, |walker, state| walker.script(state, scope, body));
            self.readings(state, |walker, state| {
                walker.arithmetic(state, scope, step);
            });
        }
        self.repeated(state, |walker, state| {
            walker.readings(state, |walker, state| {
                goes_on(walker, state);
            });
            walker.script(state, scope, body);
            walker.readings(state, |walker, state| {
                walker.arithmetic(state, scope, step);
            });
        });
        self.end_rounds(state, ends);
    }

    fn define(&mut self, state: &mut State, scope: &Scope, names: &[String], body: &Statement) {
        let known = self.functions.iter().position(|definition| {
            definition.span == body.span && Rc::ptr_eq(&definition.function.source, &scope.source)
        });
        let function = match known {
            Some(at) => self.functions.get(at).map(|definition| Rc::clone(&definition.function)),
            None => None,
        };
        let function = function.unwrap_or_else(|| {
            self.work.spend_bytes(scope.source.written(body.span).len().saturating_mul(4));
            let function = Rc::new(Function {
                body: Body::Statement(Box::new(body.clone())),
                source: Rc::clone(&scope.source),
                number: self.functions.len(),
            });
            self.functions.push(Definition {
                function: Rc::clone(&function),
                state: state.clone(),
                scope: scope.clone(),
                span: body.span,
                line: self.line,
                called: false,
            });
            function
        });
        // ksh: a discipline gives a variable another value when it is read.
        for (variable, _) in names.iter().filter_map(|name| name.rsplit_once('.')) {
            if state.options.shell == Shell::Ksh {
                state.set(variable, Value::Unknown(Why::Dynamic));
                state.change(variable, |variable| variable.attributes.changes = true);
            }
        }
        self.work.spend(self.functions.len() as u64 / 16);
        for name in names {
            state.functions.insert(name.as_str().into(), vec![Some(Rc::clone(&function))]);
            if let Some(signal) = name.strip_prefix("TRAP").filter(|_| state.options.shell == Shell::Zsh) {
                self.set_trap(state, scope, Text::known(name.as_str()), &[signal], body.span);
            }
        }
        state.status = Some(true);
    }

    /// Walks functions without a call once, with unknown arguments.
    pub(super) fn uncalled(&mut self) {
        let mut at = 0;
        // The walk of a function may add definitions.
        while let Some(definition) = self.functions.get(at) {
            if !definition.called {
                let function = Rc::clone(&definition.function);
                let mut state = definition.state.clone();
                let scope = definition.scope.clone();
                state.positionals = None;
                let call = Call::new(Vec::new(), definition.span);
                self.call_function(&mut state, &scope, &function, &call, None);
            }
            at += 1;
        }
    }

    /// Walks the body of a function. `arguments` is `None` if even their count is unknown.
    pub(crate) fn call_function(
        &mut self,
        state: &mut State,
        scope: &Scope,
        function: &Rc<Function>,
        call: &Call,
        arguments: Option<Vec<Text>>,
    ) {
        if let Some(definition) = self.functions.get_mut(function.number) {
            definition.called = true;
        }
        if let Body::Unknown(why) = &function.body {
            let written = scope.source.written(call.span).to_owned();
            self.gap(scope, Role::Code, *why, &written, call.span);
            state.forget_most(Why::Dynamic);
            state.status = None;
            return;
        }
        let active = self.active.iter().filter(|number| **number == function.number).count();
        if active > RECURSION_MAX {
            let written = scope.source.written(call.span).to_owned();
            self.gap(scope, Role::Code, Why::Nesting, &written, call.span);
            state.forget_all(Why::Dynamic);
            state.status = None;
            return;
        }
        if scope.texts >= TEXT_DEPTH_MAX || !self.enter() {
            let written = scope.source.written(call.span).to_owned();
            self.gap(scope, Role::Code, Why::Nesting, &written, call.span);
            return;
        }
        let mut inner = scope.redirected(call.redirects.clone());
        inner.source = Rc::clone(&function.source);
        inner.origin = Origin::Function;
        inner.texts += 1;
        let positionals = std::mem::replace(&mut state.positionals, arguments.map(Rc::new));
        let outside = self.function_start(state, function, call);
        if active == RECURSION_MAX {
            state.positionals = None;
            state.forget_all(Why::Dynamic);
        }
        Rc::make_mut(&mut state.hidden).push(Table::default());
        let line = self.functions.get(function.number).map_or(self.line, |definition| definition.line);
        let outer_line = std::mem::replace(&mut self.line, line);
        self.active.push(function.number);
        self.leaving(Leave::Function, state, |walker, state| match &function.body {
            // Reported above.
            Body::Unknown(_) => {}
            Body::Statement(body) => walker.statement(state, &inner, body),
            Body::Text(text) => {
                let script = walker.parsed(&inner, state.options.shell, text);
                walker.script(state, &inner, &script);
            }
        });
        self.active.pop();
        self.line = outer_line;
        if let Some(hidden) = Rc::make_mut(&mut state.hidden).pop() {
            for (name, before) in hidden.iter() {
                self.work.spend(1);
                match before {
                    Some(variable) => state.variables.insert(Rc::clone(name), Rc::clone(variable)),
                    None => state.variables.remove(name),
                }
            }
        }
        state.positionals = positionals;
        outside.end(state);
        self.leave();
    }

    /// Makes the state that of a function's body. The shell expands the aliases in the body when it reads the body.
    fn function_start(&self, state: &mut State, function: &Function, call: &Call) -> Outside {
        let definition = self.functions.get(function.number);
        let aliases = definition.map_or(&state.aliases, |definition| &definition.state.aliases).clone();
        let outside = Outside {
            aliases: std::mem::replace(&mut state.aliases, aliases.clone()),
            inner_aliases: aliases,
            name: Rc::clone(&state.name),
            options: state.options,
        };
        state.options.is_local = false;
        match (state.options.shell, call.argv.first()) {
            (Shell::Zsh, Some(name)) => state.name = Rc::new(Text::from(name)),
            // The form of the definition decides.
            (Shell::Ksh, Some(_)) => state.name = Rc::new(Text::unknown(Why::Parameter, "$0")),
            _ => {}
        }
        outside
    }
}
