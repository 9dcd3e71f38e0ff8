//! [`Bound`]: the arguments of a call of a library function, and [`Computation`]: the code of such a function.

use castellan_event::Why;

use super::{Argument, Machine};
use crate::table::{Parameter, Part, Takes};
use crate::tree::Node;
use crate::value::Value;

/// The arguments of a call, each with its parameter.
#[derive(Debug, Default)]
pub(super) struct Bound {
    pub(super) given: Vec<(&'static Parameter, Value)>,
    /// Arguments without a parameter.
    pub(super) others: Vec<Value>,
    /// There may be more arguments.
    pub(super) is_open: bool,
}

impl Bound {
    /// Returns the argument with this use.
    pub(super) fn part(&self, part: Part) -> Option<&Value> {
        self.given.iter().find(|(parameter, _)| parameter.parts.contains(&part)).map(|(_, value)| value)
    }

    pub(super) fn at(&self, at: usize) -> Option<&Value> {
        self.given.get(at).map(|(_, value)| value)
    }

    /// Returns the first argument.
    pub(super) fn first(&self) -> Value {
        self.at(0).or(self.others.first()).cloned().unwrap_or(Value::Constant)
    }

    /// Returns the argument at this position, or a constant.
    pub(super) fn value(&self, at: usize) -> Value {
        self.at(at).cloned().unwrap_or(Value::Constant)
    }

    /// Returns the argument of this name, or a constant.
    pub(super) fn value_of(&self, name: &str) -> Value {
        self.named(name).cloned().unwrap_or(Value::Constant)
    }

    /// Returns the first argument without the receiver, or a constant.
    pub(super) fn first_plain(&self) -> Value {
        self.plain().next().cloned().unwrap_or(Value::Constant)
    }

    /// Returns the argument whose parameter has names with this beginning.
    pub(super) fn begun(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|(parameter, _)| parameter.name.starts_with(name)).map(|(_, value)| value)
    }

    pub(super) fn text(&self, at: usize) -> Option<&str> {
        self.at(at).and_then(Value::as_str)
    }

    /// Returns the arguments after the first `count`.
    pub(super) fn values(&self, count: usize) -> Vec<Value> {
        self.given.iter().skip(count).map(|(_, value)| value.clone()).collect()
    }

    /// Returns the arguments after the first `count`, for another call.
    pub(super) fn plain_arguments(&self, count: usize) -> Vec<Argument> {
        self.values(count).into_iter().map(Argument::plain).collect()
    }

    /// Like [`Bound::plain_arguments`], with any number of unknown ones if there may be more.
    pub(super) fn arguments(&self, count: usize) -> Vec<Argument> {
        let mut arguments = self.plain_arguments(count);
        if self.is_open {
            arguments.push(Argument::unknown(Why::Parameter));
        }
        arguments
    }

    /// Returns all arguments but the first `count`.
    pub(super) fn without(&self, count: usize) -> Bound {
        let given = self.given.iter().skip(count).cloned().collect();
        Bound { given, others: self.others.clone(), is_open: self.is_open }
    }

    /// Returns the arguments without the receiver.
    pub(super) fn plain(&self) -> impl Iterator<Item = &Value> {
        self.given.iter().filter(|(parameter, _)| parameter.takes != Takes::Receiver).map(|(_, value)| value)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|(parameter, _)| parameter.is_called(name)).map(|(_, value)| value)
    }
}

/// Computes the value of a call.
pub(super) type Computation = fn(&mut Machine<'_>, &Node, &Bound) -> Value;

/// Reports whether a value may be true.
pub(super) fn is_true(value: &Value) -> bool {
    value.choices().iter().any(|one| match one {
        Value::Number(0) | Value::Constant => false,
        other => other.as_str() != Some(""),
    })
}

/// Returns the value from which an object was made.
pub(super) fn inner(value: &Value) -> Value {
    match value {
        Value::Object(_, inner) => (**inner).clone(),
        other => other.clone(),
    }
}
