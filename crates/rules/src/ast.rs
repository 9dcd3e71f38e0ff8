//! The syntax tree of a condition, as written: names are not resolved yet. Every part knows its place.

use std::rc::Rc;

use crate::text::Place;

#[derive(Debug)]
pub(crate) enum Expr {
    And(Vec<Rc<Expr>>),
    Or(Vec<Rc<Expr>>),
    Not(Rc<Expr>),
    /// The name of a macro, until it is expanded.
    Macro(Word),
    Check(Check),
}

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
    Field {
        name: String,
        arg: Option<String>,
    },
    Transformed {
        by: Transformer,
        inner: Box<Operand>,
    },
    /// A function of several arguments; `option` is the text in brackets after it.
    Function {
        by: Function,
        args: Vec<Argument>,
        option: Option<String>,
    },
}

#[derive(Debug)]
pub(crate) enum Argument {
    Operand(Operand),
    Constant(Word),
    List(Vec<Word>),
}

#[derive(Debug)]
pub(crate) enum Right {
    /// `exists` has none.
    Nothing,
    Value(Word),
    List(Vec<Word>),
    /// An operator for one string, applied to each string of a list (Falco 0.44).
    Each(Modifier, Vec<Word>),
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

/// The right side that an operator takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Number,
    /// After a symbol; a blank is optional.
    String,
    /// After a word; a blank is required.
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

/// The number of strings in a list for which an operator must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Modifier {
    One,
    Any,
    All,
}

pub(crate) const MODIFIERS: [(&str, Modifier); 3] =
    [("oneof", Modifier::One), ("anyof", Modifier::Any), ("allof", Modifier::All)];

impl Modifier {
    pub(crate) fn as_str(self) -> &'static str {
        MODIFIERS.iter().find(|(_, modifier)| *modifier == self).map_or("", |(name, _)| name)
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

/// Functions of several arguments (Falco 0.44).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// `join(separator, list)`
    Join,
    /// `concat(a, b, ...)`
    Concat,
    /// `getopt(arguments, options)[c]`
    GetOpt,
}

pub(crate) const FUNCTIONS: [(&str, Function); 3] =
    [("join", Function::Join), ("concat", Function::Concat), ("getopt", Function::GetOpt)];

impl Function {
    pub(crate) fn as_str(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

impl Expr {
    /// Visits every comparison, from left to right. Does not expand macros.
    pub(crate) fn checks<'e>(&'e self, visit: &mut impl FnMut(&'e Check)) {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().for_each(|expr| expr.checks(visit)),
            Self::Not(inner) => inner.checks(visit),
            Self::Macro(_) => {}
            Self::Check(check) => visit(check),
        }
    }

    /// Visits every macro name, from left to right.
    pub(crate) fn macros<'e>(&'e self, visit: &mut impl FnMut(&'e Word)) {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().for_each(|expr| expr.macros(visit)),
            Self::Not(inner) => inner.macros(visit),
            Self::Macro(name) => visit(name),
            Self::Check(_) => {}
        }
    }
}

impl Check {
    /// Returns the number of constants in the list.
    pub(crate) fn words(&self) -> usize {
        match &self.right {
            Right::List(words) | Right::Each(_, words) => words.len(),
            Right::Nothing | Right::Value(_) | Right::Val(_) | Right::Transformed(_) => 0,
        }
    }

    /// Visits every field, without the transformers around it.
    pub(crate) fn fields<'e>(&'e self, visit: &mut impl FnMut(&'e Operand)) {
        self.left.fields(visit);
        match &self.right {
            Right::Val(operand) | Right::Transformed(operand) => operand.fields(visit),
            Right::Nothing | Right::Value(_) | Right::List(_) | Right::Each(..) => {}
        }
    }
}

impl Operand {
    /// Visits every field in the operand.
    pub(crate) fn fields<'e>(&'e self, visit: &mut impl FnMut(&'e Self)) {
        match &self.kind {
            OperandKind::Field { .. } => visit(self),
            OperandKind::Transformed { inner, .. } => inner.fields(visit),
            OperandKind::Function { args, .. } => {
                for arg in args {
                    match arg {
                        Argument::Operand(operand) => operand.fields(visit),
                        Argument::Constant(_) | Argument::List(_) => {}
                    }
                }
            }
        }
    }
}
