//! [`Value`]: what an expression may give, as far as it is known before the program runs. An unknown value is data: the
//! run reports a `Hole` wherever a value that can act might get lost. Must not know grammars.

use std::ops::Deref;
use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use crate::limits::{CAPABLE_CHOICES_MAX, CHOICES_MAX, PIECES_MAX, VALUE_BYTES_MAX, WRITTEN_BYTES_MAX};
use crate::table::{Entry, Space};

/// Position of a list, map or object in the heap.
pub(crate) type CellId = usize;
/// Position of a scope.
pub(crate) type ScopeId = usize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Rc<Arg>),
    Number(i64),
    /// A known value without parts: `None`, `1.5`.
    Constant,
    List(CellId),
    Map(CellId),
    Instance(CellId),
    /// A function of the program, by its position.
    Function(usize),
    /// A class of the program, by its position.
    Class(usize),
    Module(Ref<Space>),
    /// A module without effects of its own, or a member of one. Loading it may have loaded other modules.
    Package(Rc<str>),
    /// A function of a library.
    Library(Ref<Space>, Ref<Entry>),
    /// An object of a library's type, and the value from which it was made.
    Object(Ref<Space>, Inner),
    /// A member of a value, not called yet.
    Method(Inner, Rc<str>),
    /// A function with some of its arguments.
    Partial(Inner, Rc<[Given]>),
    /// The names of a scope, as a map.
    Names(ScopeId),
    /// Exactly one of these values, but it is unknown which.
    Any(Rc<[Value]>),
    /// Data that is not known.
    Unknown(Why, Rc<str>),
}

/// An argument that is given before the call, by name or by position.
pub(crate) type Given = (Option<Rc<str>>, Value);

/// A value inside another one, with the number of nested levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inner(Rc<(usize, Value)>);

impl From<Value> for Inner {
    fn from(value: Value) -> Inner {
        Inner(Rc::new((1 + value.depth(), value)))
    }
}

impl Deref for Inner {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.1
    }
}

/// A reference into a table; compared by address.
#[derive(Debug)]
pub(crate) struct Ref<T: 'static>(pub(crate) &'static T);

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Ref<T> {
        *self
    }
}

impl<T> Copy for Ref<T> {}

impl<T> PartialEq for Ref<T> {
    fn eq(&self, other: &Ref<T>) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl<T> Eq for Ref<T> {}

/// Too many values that can act and must not be dropped.
#[derive(Debug)]
pub(crate) struct TooMany;

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Text(Rc::new(Arg::known(text)))
    }

    pub(crate) fn arg(arg: Arg) -> Value {
        Value::Text(Rc::new(arg))
    }

    pub(crate) fn unknown(why: Why, written: &str) -> Value {
        Value::Unknown(why, shortened(written).into())
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(arg) => arg.as_str(),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the text under which a map stores this key.
    pub(crate) fn key(&self) -> Option<Rc<str>> {
        self.to_arg().and_then(|arg| arg.as_str().map(Into::into))
    }

    /// Reports whether the value is an object of this library type.
    pub(crate) fn is_of(&self, kind: &str) -> bool {
        matches!(self, Value::Object(space, _) if space.0.name() == kind)
    }

    pub(crate) fn partial(of: Value, first: Vec<Value>) -> Value {
        Value::partial_named(of, first.into_iter().map(|value| (None, value)).collect())
    }

    pub(crate) fn partial_named(of: Value, first: Vec<Given>) -> Value {
        let values = first.iter().map(|(_, value)| value);
        let depth = values.chain([&of]).map(Value::depth).max().unwrap_or_default();
        Value::Partial(Inner(Rc::new((1 + depth, of))), first.into())
    }

    /// Returns the number of nested values; values in the heap do not add levels.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Value::Object(_, inner) | Value::Method(inner, _) | Value::Partial(inner, _) => inner.0.0,
            Value::Any(values) => values.iter().map(Value::depth).max().unwrap_or_default(),
            _ => 0,
        }
    }

    /// Returns the possible values; more than one only for [`Value::Any`].
    pub(crate) fn choices(&self) -> &[Value] {
        match self {
            Value::Any(values) => values,
            one => std::slice::from_ref(one),
        }
    }

    /// Reports whether the value may act, or give access to a value that acts. Does not look at elements.
    pub(crate) fn is_callable(&self) -> bool {
        let is_data = |one: &Value| {
            matches!(one, Value::Text(_) | Value::Number(_) | Value::Constant | Value::Unknown(..))
        };
        match self {
            Value::Any(values) => values.iter().any(Value::is_callable),
            one => !is_data(one),
        }
    }

    /// Joins possible values. Data beyond the limit becomes one unknown value; values that can act are never dropped.
    pub(crate) fn any(values: impl IntoIterator<Item = Value>) -> Result<Value, TooMany> {
        let mut joined: Vec<Value> = Vec::new();
        let mut is_many = false;
        for value in values {
            for one in value.choices() {
                if (is_many && !one.is_callable()) || joined.contains(one) {
                    continue;
                }
                joined.push(one.clone());
                if joined.len() > CHOICES_MAX && !is_many {
                    is_many = true;
                    joined.retain(Value::is_callable);
                }
                if joined.len() >= CAPABLE_CHOICES_MAX {
                    return Err(TooMany);
                }
            }
        }
        if is_many {
            joined.push(Value::unknown(Why::Dynamic, "one of many"));
        }
        Ok(match joined.len() {
            0 => Value::Constant,
            1 => joined.pop().unwrap_or(Value::Constant),
            _ => Value::Any(joined.into()),
        })
    }

    /// Returns the value as one argument; `None` for a value that is no text.
    pub(crate) fn to_arg(&self) -> Option<Rc<Arg>> {
        match self {
            Value::Text(arg) => Some(Rc::clone(arg)),
            Value::Number(number) => Some(Rc::new(Arg::known(number.to_string()))),
            Value::Object(_, inner) => inner.to_arg(),
            Value::Unknown(why, written) => Some(Rc::new(Arg::unknown(*why, &**written, false))),
            // A member of an unknown value is unknown for the same reason.
            Value::Method(of, name) => {
                let of = of.to_arg()?;
                let written = format!("{}.{name}", of.written());
                Some(Rc::new(Arg::unknown(of.why()?, shortened(&written), false)))
            }
            Value::Constant
            | Value::Package(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Instance(_)
            | Value::Function(_)
            | Value::Class(_)
            | Value::Module(_)
            | Value::Library(..)
            | Value::Partial(..)
            | Value::Names(_)
            | Value::Any(_) => None,
        }
    }
}

/// Concatenates texts. A prefix beyond the limit becomes unknown; the texts after it are kept.
pub(crate) fn concat<'a>(args: impl IntoIterator<Item = &'a Arg>) -> Arg {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut bytes = 0;
    for arg in args {
        bytes += written_bytes(arg);
        if bytes > VALUE_BYTES_MAX || pieces.len() > PIECES_MAX {
            let long = Arg::unknown(Why::Size, "a long text", false);
            bytes = written_bytes(&long);
            pieces = long.pieces().to_vec();
            continue;
        }
        for piece in arg.pieces() {
            match (pieces.last_mut(), piece) {
                (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
                (_, piece) => pieces.push(piece.clone()),
            }
        }
    }
    Arg::from_pieces(pieces, false)
}

/// Returns the number of bytes of the argument as it is written.
pub(crate) fn written_bytes(arg: &Arg) -> usize {
    arg.pieces().iter().map(|piece| piece.written().len()).sum()
}

/// Returns the beginning of a piece of source, for people to read.
pub(crate) fn shortened(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at > WRITTEN_BYTES_MAX);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}
