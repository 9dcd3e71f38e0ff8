//! [`Operators`]: the short rules of every layer, kept apart, because a lower layer's rules exempt no finding of a
//! higher one. Does not depend on the meaning of a pattern.

use castellan_event::{Answers, Call, CallRow, Layer};

use crate::operator::{Operator, OperatorError, ShortMatch};

/// Short rules by layer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Operators(Vec<(Layer, Operator)>);

impl Operators {
    /// Combines the rules of some layers, each given at most once.
    pub fn new(layers: impl IntoIterator<Item = (Layer, Operator)>) -> Operators {
        let mut layers: Vec<_> = layers.into_iter().collect();
        layers.sort_by_key(|(layer, _)| *layer);
        Operators(layers)
    }

    /// Adds an allow pattern of the user.
    pub fn allowing_also(&self, pattern: &str) -> Result<Operators, OperatorError> {
        let added = Operator::parse(&[], &[], &[pattern.to_owned()])?;
        let mut layers = self.0.clone();
        match layers.iter_mut().find(|(layer, _)| *layer == Layer::User) {
            Some((_, operator)) => operator.allow_also(added),
            None => layers.push((Layer::User, added)),
        }
        Ok(Operators::new(layers))
    }

    /// The texts of every layer's three lists: deny, ask, allow.
    pub(crate) fn texts(&self) -> Vec<(Layer, [Vec<&str>; 3])> {
        self.0.iter().map(|(layer, operator)| (*layer, operator.texts())).collect()
    }

    pub(crate) fn denies<'o>(
        &'o self,
        call: &'o Call,
        rows: &'o [CallRow<'_>],
        answers: &'o Answers,
    ) -> impl Iterator<Item = (Layer, Vec<ShortMatch<'o>>)> {
        self.0.iter().map(move |(layer, operator)| (*layer, operator.denies(call, rows, answers)))
    }

    pub(crate) fn asks<'o>(
        &'o self,
        call: &'o Call,
        rows: &'o [CallRow<'_>],
        answers: &'o Answers,
    ) -> impl Iterator<Item = (Layer, Vec<ShortMatch<'o>>)> {
        self.0.iter().map(move |(layer, operator)| (*layer, operator.asks(call, rows, answers)))
    }

    pub(crate) fn allowing(&self) -> impl Iterator<Item = Layer> {
        self.0.iter().filter(|(_, operator)| operator.allows()).map(|(layer, _)| *layer)
    }

    /// Reports whether an allow pattern of this layer covers the row and nothing else in it happens. Allow patterns of
    /// other layers do not add up, because then an additional layer would loosen. Exception: a project, which a person
    /// trusts, includes the user's patterns.
    pub(crate) fn cover(&self, layer: Layer, call: &Call, row: &CallRow<'_>, answers: &Answers) -> bool {
        let is_meant = |of: Layer| of == layer || (of == Layer::User && layer == Layer::Project);
        self.0.iter().filter(|(of, _)| is_meant(*of)).any(|(_, operator)| operator.covers(call, row, answers))
    }
}

/// Rules of the user only.
impl From<Operator> for Operators {
    fn from(operator: Operator) -> Operators {
        Operators(vec![(Layer::User, operator)])
    }
}
