//! Functions of the program: a call runs the body with its arguments. Uncalled functions run at the end, with unknown
//! arguments.

use std::rc::Rc;

use castellan_event::Why;

use super::{Argument, Closure, Frame, Machine};
use crate::language::Language;
use crate::limits::RECURSION_MAX;
use crate::state::Cell;
use crate::tree::{Function, Kind, Node, Parameter, Rest};
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn function(&mut self, function: &Rc<Function>) -> Value {
        let defaults = function
            .parameters
            .iter()
            .map(|one| one.default.as_ref().map(|value| self.eval(value)))
            .collect();
        self.functions.push(Closure {
            function: Rc::clone(function),
            scope: self.state.seen_from(self.scope),
            source: self.source,
            defaults,
            class: None,
            why: Why::Parameter,
            is_implicit: false,
            is_called: false,
            is_covered: false,
        });
        Value::Function(self.functions.len() - 1)
    }

    /// Runs a function of the program.
    pub(super) fn inline(
        &mut self,
        node: &Node,
        id: usize,
        this: Option<Value>,
        mut arguments: Vec<Argument>,
    ) -> Value {
        let Some(closure) = self.functions.get_mut(id) else { return Value::Constant };
        closure.is_called = true;
        let closure = closure.clone();
        let inside = self.active.iter().filter(|(active, _)| *active == id).count();
        if inside > RECURSION_MAX {
            if arguments.iter().any(|argument| self.is_capable(&argument.value)) {
                return self.lost(node, Why::Budget);
            }
            return self.unknown(node, Why::Dynamic);
        }
        if inside == RECURSION_MAX {
            // This level represents all deeper levels.
            for argument in &mut arguments {
                if !argument.value.is_callable() {
                    let deeper = self.unknown(node, Why::Dynamic);
                    argument.value = self.any(node, [argument.value.clone(), deeper]);
                }
            }
            let first = self.active.iter().find(|(active, _)| *active == id).map(|(_, mark)| *mark);
            self.rejoin(node, first.unwrap_or(usize::MAX), true);
        }
        self.enter(node, id, &closure, this, arguments)
    }

    fn enter(
        &mut self,
        node: &Node,
        id: usize,
        closure: &Closure,
        this: Option<Value>,
        arguments: Vec<Argument>,
    ) -> Value {
        let function = &closure.function;
        let mark = self.state.mark();
        let scope = self.state.scope(Some(closure.scope), &function.locals, false);
        let outer =
            (std::mem::replace(&mut self.scope, scope), std::mem::replace(&mut self.source, closure.source));
        let mut arguments = arguments;
        if function.takes_self {
            arguments.splice(0..0, this.map(Argument::plain));
        } else if function.has_this {
            let this = this.unwrap_or_else(|| Value::unknown(Why::Parameter, "this"));
            self.state.set_own(scope, &"this".into(), this);
            let entries = arguments.iter().map(|one| (None, one.value.clone())).collect();
            let is_open = arguments.iter().any(|one| one.is_spread);
            let all = Value::List(self.state.new_cell(Cell { entries, is_open, class: None }));
            self.state.set_own(scope, &"arguments".into(), all);
        }
        self.frames.push(Frame::default());
        self.active.push((id, mark));
        self.bind(node, closure, arguments);
        let value = self.eval(&function.body);
        self.active.pop();
        let frame = self.frames.pop().unwrap_or_default();
        (self.scope, self.source) = outer;
        let returns_at_end = frame.returns.len() == 1 && ends_in_return(&function.body);
        if !(frame.returns.is_empty() || returns_at_end) {
            self.rejoin(node, mark, false);
        }
        if let Some(yields) = frame.yields {
            return self.listed(yields.into_iter().chain(frame.returns), true);
        }
        if frame.returns.is_empty() && matches!(value, Value::Constant) {
            return Value::Constant;
        }
        let gives_last = matches!(self.language, Language::Perl | Language::Ruby);
        let last = (gives_last && !ends_in_return(&function.body)).then_some(value);
        self.any(node, frame.returns.into_iter().chain(last))
    }

    fn bind(&mut self, node: &Node, closure: &Closure, arguments: Vec<Argument>) {
        let (named, plain): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|one| one.name.is_some());
        let mut named: Vec<Argument> = named;
        let rest: Vec<Value> =
            plain.iter().filter(|one| one.is_spread).map(|one| one.value.clone()).collect();
        let mut plain = plain.into_iter().filter(|one| !one.is_spread);
        for (parameter, default) in closure.function.parameters.iter().zip(closure.defaults.iter()) {
            let value = match parameter.rest {
                Rest::List => {
                    let entries = plain.by_ref().map(|one| one.value).chain(rest.iter().cloned());
                    let entries = entries.map(|value| (None, value)).collect();
                    let is_open = !rest.is_empty();
                    Value::List(self.state.new_cell(Cell { entries, is_open, class: None }))
                }
                Rest::Map => {
                    let entries = named.drain(..).map(|one| (one.name, one.value)).collect();
                    let is_open = !rest.is_empty();
                    Value::Map(self.state.new_cell(Cell { entries, is_open, class: None }))
                }
                Rest::Named => {
                    let own = named.iter().position(|one| is_for(one, parameter));
                    let unknown = || rest.first().cloned().unwrap_or(Value::Constant);
                    own.map_or_else(unknown, |at| named.remove(at).value)
                }
                Rest::One => {
                    let own = named.iter().position(|one| is_for(one, parameter));
                    match own.map(|at| named.remove(at)).or_else(|| plain.next()) {
                        Some(argument) => match default {
                            // An `undefined` argument equals an absent one.
                            Some(default) if argument.value == Value::Constant => {
                                self.any(node, [argument.value, default.clone()])
                            }
                            Some(_) | None => argument.value,
                        },
                        None if rest.is_empty() => default.clone().unwrap_or(Value::Constant),
                        None => self.any(node, rest.iter().cloned().chain(default.clone())),
                    }
                }
            };
            self.assign(&parameter.target, value);
        }
    }

    /// Runs a function with unknown arguments.
    pub(super) fn cover(&mut self, node: &Node, id: usize, this: Option<Value>, why: Why) {
        let Some(closure) = self.functions.get_mut(id) else { return };
        if std::mem::replace(&mut closure.is_covered, true) {
            return;
        }
        let mark = self.state.mark();
        let value = self.inline(node, id, this, vec![Argument::unknown(why)]);
        // The result goes to code that is not followed.
        if self.is_capable(&value) {
            self.hand(node, &value);
        }
        // The call may never happen, and its time is unknown.
        self.rejoin(node, mark, false);
    }

    /// Runs the functions that the program never calls: other code may call them with any arguments.
    pub(super) fn rest(&mut self) {
        let node = Node::new((0, 0), Kind::Constant);
        let mut at = 0;
        while let Some(closure) = self.functions.get(at) {
            // A function that was passed on runs again: the state may have changed since.
            if (!closure.is_called || closure.is_covered || closure.is_implicit)
                && !self.state.purse.is_over()
            {
                let why = closure.why;
                let this = self.owner(at);
                if let Some(closure) = self.functions.get_mut(at) {
                    closure.is_covered = false;
                }
                self.cover(&node, at, this, why);
            }
            at += 1;
        }
    }
}

/// Reports whether an argument has the parameter's name, with or without the sign of a variable.
fn is_for(argument: &Argument, parameter: &Parameter) -> bool {
    argument.name.as_deref().map(|name| name.trim_start_matches('$')) == own_name(parameter)
}

fn own_name(parameter: &Parameter) -> Option<&str> {
    match &parameter.target.kind {
        Kind::Name(name) => Some(name.trim_start_matches('$')),
        _ => None,
    }
}

fn ends_in_return(body: &Node) -> bool {
    match &body.kind {
        Kind::Return(_) => true,
        Kind::Sequence(parts) => parts.last().is_some_and(ends_in_return),
        _ => false,
    }
}
