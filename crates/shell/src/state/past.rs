//! The values that a text gave its variables, at any point of it. This module must not know words.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{State, Value};
use crate::limits::PAST_VALUES_MAX;
use crate::text::Text;

/// The texts that each variable had, elements of arrays included. Branches and subshells share them.
#[derive(Debug, Default)]
pub(crate) struct Past(BTreeMap<Rc<str>, Texts>);

/// The texts of a variable. One more than the limit marks a list as incomplete.
#[derive(Debug, Default)]
struct Texts {
    all: Vec<Text>,
    /// Homes and directories above them. A long loop over other names does not fill this list.
    precious: Vec<Text>,
}

impl Past {
    fn add(&mut self, name: &str, text: &Text, home: &str) {
        let texts = match self.0.get_mut(name) {
            Some(texts) => texts,
            None => self.0.entry(name.into()).or_default(),
        };
        add(&mut texts.all, text);
        if is_precious(home, text) {
            add(&mut texts.precious, text);
        }
    }
}

fn add(texts: &mut Vec<Text>, text: &Text) {
    if texts.len() <= PAST_VALUES_MAX && !texts.contains(text) {
        texts.push(text.clone());
    }
}

/// Reports whether a text is a home or the root directory, one above a home, or all files of one.
fn is_precious(home: &str, text: &Text) -> bool {
    let Some(path) = text.as_str().filter(|path| path.starts_with(['/', '~'])) else { return false };
    let path = path.strip_suffix('*').unwrap_or(path).trim_end_matches('/');
    matches!(path, "~" | "/home" | "/root")
        || home.starts_with(path)
            && (path.is_empty() || home.len() == path.len() || home.as_bytes().get(path.len()) == Some(&b'/'))
}

impl State {
    /// Records the texts of a value. Values that functions compute are not recorded: each call has its own.
    pub(crate) fn remember(&self, name: &str, value: &Value) {
        let mut past = self.past.borrow_mut();
        let home = self.home.as_deref().unwrap_or_default();
        match value {
            Value::Scalar(text) => past.add(name, text, home),
            Value::Array(elements) => elements.values().for_each(|text| past.add(name, text, home)),
            Value::Unset | Value::Unknown(_) => {}
        }
    }

    /// Returns the texts that a variable had. More than the limit: some are missing.
    pub(crate) fn past(&self, name: &str) -> Vec<Text> {
        self.past.borrow().0.get(name).map(|texts| texts.all.clone()).unwrap_or_default()
    }

    /// Returns the homes, and directories above them, that a variable had; with the same limit.
    pub(crate) fn precious_past(&self, name: &str) -> Vec<Text> {
        self.past.borrow().0.get(name).map(|texts| texts.precious.clone()).unwrap_or_default()
    }
}
