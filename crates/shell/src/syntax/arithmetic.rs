//! Expressions: `$((...))`, `((...))`, `for ((...))`, `$[...]` (bash 6.5). This module must not know values.

use super::context::Context;
use super::cursor::{Parse, Parser};
use super::expressions;
use super::word::Parts;
use crate::tree::{Arithmetic, Part, Word};

impl Parser<'_, '_> {
    /// Reads the expression up to its `))`, the first of which is at `close`, and moves after them.
    pub(super) fn expression_to(&mut self, close: usize) -> Parse<Arithmetic> {
        let end = std::mem::replace(&mut self.end, close);
        let expression = self.expression(Context::Body);
        self.end = end;
        let expression = expression?;
        self.expect("))")?;
        Ok(expression)
    }

    /// Reads an expression up to the end of the text in its surroundings.
    pub(super) fn expression(&mut self, context: Context) -> Parse<Arithmetic> {
        let start = self.at;
        let mut parts = Parts::default();
        self.parts(context, &mut parts)?;
        let text = self.text(start, self.at).to_owned();
        let span = self.span_from(start);
        let tree = expressions::read(&parts.parts).map(Box::new);
        let active = parts.parts.into_iter().filter(|part| !matches!(part, Part::Text { .. }));
        let words = active.map(|part| Word { parts: vec![part], span }).collect();
        let assigns = assigned(&text);
        Ok(Arithmetic { text, words, assigns, tree })
    }
}

/// The operators that change the variable before them.
const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];

/// Returns the names before an assignment or beside `++` and `--`. One name too many does no harm.
pub(crate) fn assigned(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    let mut before = "";
    while let Some(start) = rest.find(|character: char| character == '_' || character.is_ascii_alphabetic()) {
        let (gap, from) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let is_part = |character: char| character == '_' || character.is_ascii_alphanumeric();
        let length = from.find(|character| !is_part(character)).unwrap_or(from.len());
        let (name, after) = from.split_at_checked(length).unwrap_or((from, ""));
        let tight = if gap.is_empty() { before } else { gap };
        let number = tight.ends_with(|character: char| character.is_ascii_digit() || character == '#');
        if !number && (steps(tight.trim_end(), str::ends_with) || changes(after)) {
            names.push(name.to_owned());
        }
        before = name;
        rest = after;
    }
    names
}

fn changes(after: &str) -> bool {
    let after = after.trim_start();
    // An index is not followed to its end: any assignment after it is taken for one of the name.
    let operator =
        after.strip_prefix('[').and_then(|inner| inner.split_once(']')).map_or(after, |(_, tail)| tail);
    let operator = operator.trim_start();
    steps(operator, str::starts_with)
        || ASSIGNMENTS.iter().any(|sign| {
            operator.strip_prefix(sign).is_some_and(|tail| !tail.starts_with('='))
                && !operator.starts_with("==")
        })
}

fn steps(text: &str, has: fn(&str, &'static str) -> bool) -> bool {
    has(text, "++") || has(text, "--")
}
