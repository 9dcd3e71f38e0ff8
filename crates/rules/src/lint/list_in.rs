//! `CASTELLAN_LIST_IN`: `in` on a list-typed field, which is true only when all elements are in the list. A rule that
//! searches for an element needs `intersects`. The lint skips a negated `in` ("another element exists"), and rules with
//! a tag that ends in `_allow`, because an allow rule needs all elements.

use crate::ast::{Op, Right};
use crate::lint::Linted;
use crate::print;
use crate::problem::Fault;

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    if rule.rule.tags.iter().any(|tag| tag.ends_with("_allow")) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for literal in rule.normal.literals() {
        let check = literal.check;
        let constants = matches!(&check.right, Right::List(words) if !words.is_empty());
        let list = rule.catalogue.type_of(&check.left).is_ok_and(|ty| ty.list);
        if check.op != Op::In || !literal.positive || !constants || !list {
            continue;
        }
        let left = print::operand(&check.left);
        let message = format!("`{left}` is a list: `in` is true only if it names all elements");
        let help = format!("to match any element, write `{left} intersects (...)`");
        faults.push(Fault::new("CASTELLAN_LIST_IN", literal.place(), message).help(help));
    }
    faults
}
