//! The syntax tree of a condition, as written: names are not looked up yet. Every part knows its place.

use std::rc::Rc;

use crate::text::Place;

/// A condition.
#[derive(Debug)]
pub(crate) enum Expr {
    And(Vec<Rc<Expr>>),
    Or(Vec<Rc<Expr>>),
    Not(Rc<Expr>),
    /// The name of a macro, until it is expanded.
    Macro(Word),
    Check(Check),
}

/// One comparison.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) left: Operand,
    pub(crate) op: Op,
    pub(crate) right: Right,
}

/// A field, or transformers around one.
#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) kind: OperandKind,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum OperandKind {
    Field { name: String, arg: Option<String> },
    Transformed { by: Transformer, inner: Box<Operand> },
}

/// The right side of a comparison.
#[derive(Debug)]
pub(crate) enum Right {
    /// `exists` has none.
    Nothing,
    Value(Word),
    List(Vec<Word>),
    /// `val(field)`.
    Val(Operand),
    /// A transformed field.
    Transformed(Operand),
}

/// A name or constant.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// Operators of Falco 0.43.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Exists,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
    Equal,
    NotEqual,
    Glob,
    IGlob,
    Contains,
    IContains,
    BContains,
    StartsWith,
    BStartsWith,
    EndsWith,
    Regex,
    Intersects,
    In,
    PMatch,
}

/// What stands on the right of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Number,
    /// After a symbol; a blank may be left out.
    String,
    /// After a word; a blank must stand between.
    SpacedString,
    List,
}

/// Every operator as written, in the order in which Falco's lexer tries them.
pub(crate) const OPERATORS: [(&str, Op, Takes); 20] = [
    ("exists", Op::Exists, Takes::Nothing),
    ("<=", Op::LessEqual, Takes::Number),
    ("<", Op::Less, Takes::Number),
    (">=", Op::GreaterEqual, Takes::Number),
    (">", Op::Greater, Takes::Number),
    ("==", Op::Equal, Takes::String),
    ("=", Op::Equal, Takes::String),
    ("!=", Op::NotEqual, Takes::String),
    ("glob", Op::Glob, Takes::SpacedString),
    ("iglob", Op::IGlob, Takes::SpacedString),
    ("contains", Op::Contains, Takes::SpacedString),
    ("icontains", Op::IContains, Takes::SpacedString),
    ("bcontains", Op::BContains, Takes::SpacedString),
    ("startswith", Op::StartsWith, Takes::SpacedString),
    ("bstartswith", Op::BStartsWith, Takes::SpacedString),
    ("endswith", Op::EndsWith, Takes::SpacedString),
    ("regex", Op::Regex, Takes::SpacedString),
    ("intersects", Op::Intersects, Takes::List),
    ("in", Op::In, Takes::List),
    ("pmatch", Op::PMatch, Takes::List),
];

impl Op {
    pub(crate) fn as_str(self) -> &'static str {
        // `==` and `=` are one operator, which Falco prints as `=`.
        let mut names = OPERATORS.iter().rev().filter(|(_, op, _)| *op == self);
        names.next().map_or("", |(name, _, _)| name)
    }
}

/// Functions of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Transformer {
    ToLower,
    ToUpper,
    /// Decodes base64.
    B64,
    Basename,
    Len,
}

/// Every transformer as written.
pub(crate) const TRANSFORMERS: [(&str, Transformer); 5] = [
    ("tolower", Transformer::ToLower),
    ("toupper", Transformer::ToUpper),
    ("b64", Transformer::B64),
    ("basename", Transformer::Basename),
    ("len", Transformer::Len),
];

impl Transformer {
    pub(crate) fn as_str(self) -> &'static str {
        TRANSFORMERS.iter().find(|(_, transformer)| *transformer == self).map_or("", |(name, _)| name)
    }
}
