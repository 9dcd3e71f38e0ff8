//! The values that a text gave its variables, at any point of it. This module must not know words.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{State, Value};
use crate::limits::PAST_VALUES_MAX;
use crate::text::Text;

/// The texts that each variable had, elements of arrays included. Branches and subshells share them.
#[derive(Debug, Default)]
pub(crate) struct Past(BTreeMap<Rc<str>, Vec<Text>>);

impl Past {
    fn add(&mut self, name: &str, text: &Text) {
        let texts = match self.0.get_mut(name) {
            Some(texts) => texts,
            None => self.0.entry(name.into()).or_default(),
        };
        // A further text marks the list as incomplete.
        if texts.len() <= PAST_VALUES_MAX && !texts.contains(text) {
            texts.push(text.clone());
        }
    }
}

impl State {
    /// Records the texts of a value. Values that functions compute are not recorded: each call has its own.
    pub(crate) fn remember(&self, name: &str, value: &Value) {
        let mut past = self.past.borrow_mut();
        match value {
            Value::Scalar(text) => past.add(name, text),
            Value::Array(elements) => {
                elements.values().take(PAST_VALUES_MAX + 1).for_each(|text| past.add(name, text));
            }
            Value::Unset | Value::Unknown(_) => {}
        }
    }

    /// Returns the texts that a variable had. Over the limit, the last one is missing.
    pub(crate) fn past(&self, name: &str) -> Vec<Text> {
        self.past.borrow().0.get(name).cloned().unwrap_or_default()
    }
}
