//! `CASTELLAN_ROW_LEVEL`: a test for rows of a level on which the rule is never tested, because it names no field of
//! that level: `row.level = written` without `fx.when`. The test is never true, and a deny rule with it never fires.

use castellan_event::Level;

use crate::ast::{Op, OperandKind, Right, Word};
use crate::catalogue::ROW_LEVEL;
use crate::lint::Linted;
use crate::problem::Fault;

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let own = rule.rule.level;
    let mut faults = Vec::new();
    for literal in rule.normal.literals().into_iter().filter(|literal| literal.positive) {
        let check = literal.check;
        if !matches!(&check.left.kind, OperandKind::Field { name, .. } if name == ROW_LEVEL) {
            continue;
        }
        let words: &[Word] = match (check.op, &check.right) {
            (Op::Equal, Right::Value(word)) => std::slice::from_ref(word),
            (Op::In, Right::List(words)) => words,
            _ => continue,
        };
        let level = |word: &Word| Level::ALL.into_iter().find(|level| level.as_str() == word.text);
        for finer in words.iter().filter_map(level).filter(|level| *level > own) {
            let (finer, own) = (finer.as_str(), own.as_str());
            let message =
                format!("castellan tests no row of level {finer}, because the condition has level {own}");
            let help = match finer {
                "written" => "use `fx.when` in the condition".to_owned(),
                _ => format!("use a field of level {finer} in the condition"),
            };
            faults.push(Fault::new("CASTELLAN_ROW_LEVEL", literal.place(), message).help(help));
        }
    }
    faults
}
