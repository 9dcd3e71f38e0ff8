//! [`Tree`]: a condition as written, for the plain evaluator.

use castellan_event::{Level, Value};

use crate::ast::{Function, Modifier, Op, Transformer};
use crate::networks::Networks;
use crate::pattern::{Glob, PathSet, Regex};

/// A condition as written.
#[derive(Debug)]
pub(crate) enum Tree {
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
    Check { left: Side, op: Op, right: Against },
}

/// A field, perhaps transformed.
#[derive(Debug)]
pub(crate) enum Side {
    Field { field: usize, arg: Option<String>, level: Level },
    Transformed { by: Transformer, of: Box<Side> },
    Called { by: Function, args: Vec<Side>, option: Option<String> },
    Constant(Value<'static>),
}

/// The right side of a comparison.
#[derive(Debug)]
pub(crate) enum Against {
    Nothing,
    Number(u64),
    Numbers(Vec<u64>),
    Bools(Vec<bool>),
    Text(Vec<u8>),
    Texts(Vec<Vec<u8>>),
    Glob(Glob),
    /// `None` for a pattern that loads and never matches.
    Regex(Option<Box<Regex>>),
    Paths(PathSet),
    Networks(Networks),
    Each(Modifier, Vec<Against>),
    Side(Side),
}
