//! `CASTELLAN_UNKNOWN_WORD`: a comparison of a field of a fixed vocabulary with a word outside it. The comparison is
//! never true, and a deny rule with it never fires.

use crate::ast::{Op, OperandKind, Right, Word};
use crate::lint::Linted;
use crate::problem::Fault;
use crate::suggest::did_you_mean;

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for literal in rule.normal.literals() {
        let check = literal.check;
        let OperandKind::Field { name, .. } = &check.left.kind else { continue };
        let field = rule.catalogue.index(name).and_then(|index| rule.catalogue.get(index));
        let Some(field) = field.filter(|field| !field.words.is_empty()) else { continue };
        let words: &[Word] = match (check.op, &check.right) {
            (Op::Equal | Op::NotEqual, Right::Value(word)) => std::slice::from_ref(word),
            (Op::In | Op::Intersects, Right::List(words)) => words,
            _ => continue,
        };
        for word in words.iter().filter(|word| !field.words.contains(&word.text.as_str())) {
            let message = format!("`{name}` is never `{}`", word.text);
            let help = did_you_mean(&word.text, field.words.iter().copied())
                .unwrap_or_else(|| format!("use one of {}", field.words.join(", ")));
            faults.push(Fault::new("CASTELLAN_UNKNOWN_WORD", literal.place(), message).help(help));
        }
    }
    faults
}
