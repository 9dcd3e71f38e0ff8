//! [`Bound`]: the arguments of a call of a library function, and [`Computation`]: the code of such a function.

use super::Machine;
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
