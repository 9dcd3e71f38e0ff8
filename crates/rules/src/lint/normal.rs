//! Conditions in negation normal form: `not` applies to comparisons only, and a chain holds no chain of its own kind.
//! It knows nothing of the lints.

use castellan_event::{FieldDef, Level};

use crate::ast::{Check, Expr, Operand, OperandKind, Transformer};
use crate::catalogue::Catalogue;
use crate::print;
use crate::text::Place;

/// A condition, or a part of one. Its depth is limited, like the depth of the written condition.
#[derive(Debug)]
pub(super) enum Normal<'e> {
    All(Vec<Normal<'e>>),
    Any(Vec<Normal<'e>>),
    Literal(Literal<'e>),
}

/// A comparison, perhaps negated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal<'e> {
    pub(super) check: &'e Check,
    pub(super) positive: bool,
}

impl<'e> Normal<'e> {
    pub(super) fn new(expr: &'e Expr) -> Self {
        Self::signed(expr, true)
    }

    /// Returns every literal, from left to right.
    pub(super) fn literals(&self) -> Vec<Literal<'e>> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    /// Returns the finest level of its fields.
    pub(super) fn level(&self, catalogue: &Catalogue<'_>) -> Level {
        let levels = self.literals().into_iter().map(|literal| catalogue.level_of(literal.check));
        levels.max().unwrap_or_default()
    }

    fn signed(expr: &'e Expr, positive: bool) -> Self {
        match expr {
            Expr::And(all) => Self::chain(all, positive, positive),
            Expr::Or(all) => Self::chain(all, positive, !positive),
            Expr::Not(inner) => Self::signed(inner, !positive),
            Expr::Check(check) => Self::Literal(Literal { check, positive }),
            // Lints run on expanded conditions, without macros. An empty chain matches no lint.
            Expr::Macro(_) => Self::All(Vec::new()),
        }
    }

    fn chain(all: &'e [std::rc::Rc<Expr>], positive: bool, conjunction: bool) -> Self {
        let mut parts = Vec::with_capacity(all.len());
        for expr in all {
            match (Self::signed(expr, positive), conjunction) {
                (Self::All(inner), true) | (Self::Any(inner), false) => parts.extend(inner),
                (part, _) => parts.push(part),
            }
        }
        if conjunction { Self::All(parts) } else { Self::Any(parts) }
    }

    fn collect(&self, found: &mut Vec<Literal<'e>>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.collect(found)),
            Self::Literal(literal) => found.push(*literal),
        }
    }
}

impl<'e> Literal<'e> {
    pub(super) fn negated(self) -> Self {
        Self { positive: !self.positive, ..self }
    }

    /// Returns the text of the canonical form.
    pub(super) fn print(self) -> String {
        let check = print::check(self.check);
        if self.positive { check } else { format!("not {check}") }
    }

    pub(super) fn place(self) -> Place {
        self.check.left.place
    }

    /// Returns the field on the left side; `None` for a function of several operands.
    pub(super) fn field<'t>(self, catalogue: &Catalogue<'t>) -> Option<&'t FieldDef<'t>> {
        field_name(&self.check.left).and_then(|name| catalogue.get(catalogue.index(name)?))
    }
}

/// Returns the field within an operand; `None` for a function of several operands.
pub(super) fn field_name(operand: &Operand) -> Option<&str> {
    match &operand.kind {
        OperandKind::Field { name, .. } => Some(name),
        OperandKind::Transformed { inner, .. } => field_name(inner),
        OperandKind::Function { .. } => None,
    }
}

/// Returns the words of a field's last component: `file`, `path` of `tool.file_path`.
pub(super) fn words(field: &str) -> impl DoubleEndedIterator<Item = &str> {
    field.rsplit('.').next().unwrap_or_default().split('_')
}

/// Reports whether an operand is the last component of a path.
pub(super) fn is_basename(operand: &Operand) -> bool {
    match &operand.kind {
        OperandKind::Field { .. } | OperandKind::Function { .. } => false,
        OperandKind::Transformed { by, inner } => *by == Transformer::Basename || is_basename(inner),
    }
}
