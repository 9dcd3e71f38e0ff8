//! [`Variable`]: a variable of a makefile.

use std::collections::BTreeSet;

use crate::limits::MAKE_CHOICES_MAX;

/// A variable's value, not expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variable {
    /// The value, or all possible values in one text.
    pub(super) value: String,
    /// It may have other values: a condition sets it, or its value is unknown.
    pub(super) is_unsure: bool,
    /// Its possible values then; empty if unknown.
    pub(super) choices: Vec<String>,
    /// It may be unset.
    pub(super) may_be_unset: bool,
}

impl Variable {
    pub(super) fn known(value: &str) -> Variable {
        Variable { value: value.to_owned(), ..Variable::default() }
    }

    /// Returns a variable that has one of several values; above the limit its value is unknown.
    pub(super) fn one_of(mut choices: Vec<String>) -> Variable {
        let mut seen = BTreeSet::new();
        choices.retain(|one| seen.insert(one.clone()));
        match choices.as_slice() {
            [only] => Variable::known(only),
            all => {
                let value = all.join(" ");
                let is_over = all.len() > MAKE_CHOICES_MAX;
                let choices = if is_over { Vec::new() } else { choices };
                Variable { value, is_unsure: true, choices, may_be_unset: false }
            }
        }
    }

    /// Returns its possible values; empty if unknown.
    pub(super) fn values(&self) -> Vec<String> {
        if self.is_unsure { self.choices.clone() } else { vec![self.value.clone()] }
    }

    pub(super) fn add(&mut self, value: &str) {
        self.value.push(' ');
        self.value.push_str(value);
        self.choices.iter_mut().for_each(|one| one.push_str(&format!(" {value}")));
    }

    /// Adds a possible value.
    pub(super) fn or(&mut self, value: &str) {
        let is_open = self.is_unsure && self.choices.is_empty();
        let mut values = self.values();
        values.push(value.to_owned());
        let all = format!("{} {value}", self.value);
        *self = Variable::one_of(if is_open { Vec::new() } else { values });
        if is_open {
            self.value = all;
        }
    }
}
