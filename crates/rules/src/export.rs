//! Conditions for a real Falco, in which a row is an ordinary event: Falco has neither levels nor unknown values. The
//! condition is converted to negation normal form. The level of its row guards each literal, so that an unknown literal
//! is false in Falco. The levels of the rule's rows guard the whole.

use std::rc::Rc;

use castellan_event::Level;

use crate::ast::{Check, Expr, Op, Operand, OperandKind, Right, Word};
use crate::catalogue::{Catalogue, ROW_LEVEL};
use crate::print;
use crate::text::Place;

/// Returns the condition of a rule for a real Falco. Without a field for the level, every row is a call.
pub(crate) fn condition(expr: &Rc<Expr>, level: Level, catalogue: &Catalogue<'_>) -> String {
    if level == Level::Call && catalogue.index(ROW_LEVEL).is_none() {
        return print::readable(expr);
    }
    let finest = catalogue.finest().max(Level::Effect);
    let guarded = guarded(expr, false, (catalogue, finest));
    let tested = if level == finest { guarded } else { within(Level::Call, level, guarded) };
    print::readable(&tested)
}

/// Returns the negation normal form with guards. `finest`: the finest level of all rows.
fn guarded(expr: &Rc<Expr>, negated: bool, (catalogue, finest): (&Catalogue<'_>, Level)) -> Rc<Expr> {
    let each =
        |all: &[Rc<Expr>]| all.iter().map(|expr| guarded(expr, negated, (catalogue, finest))).collect();
    match (&**expr, negated) {
        (Expr::Not(inner), _) => guarded(inner, !negated, (catalogue, finest)),
        (Expr::And(all), false) | (Expr::Or(all), true) => Rc::new(Expr::And(each(all))),
        (Expr::Or(all), false) | (Expr::And(all), true) => Rc::new(Expr::Or(each(all))),
        (Expr::Macro(_), _) => Rc::clone(expr),
        (Expr::Check(check), _) => {
            let literal = if negated { Rc::new(Expr::Not(Rc::clone(expr))) } else { Rc::clone(expr) };
            match catalogue.level_of(check) {
                Level::Call => literal,
                level @ (Level::Command | Level::Effect | Level::Written) => within(level, finest, literal),
            }
        }
    }
}

/// Restricts a condition to rows from one level to another.
fn within(coarsest: Level, finest: Level, expr: Rc<Expr>) -> Rc<Expr> {
    let levels: Vec<Level> =
        Level::ALL.into_iter().filter(|level| (coarsest..=finest).contains(level)).collect();
    let place = Place::NOWHERE;
    let word = |level: &Level| Word { text: level.as_str().to_owned(), place };
    let kind = OperandKind::Field { name: ROW_LEVEL.to_owned(), arg: None };
    let (op, right) = match levels.as_slice() {
        [only] => (Op::Equal, Right::Value(word(only))),
        levels => (Op::In, Right::List(levels.iter().map(word).collect())),
    };
    let guard = Rc::new(Expr::Check(Check { left: Operand { kind, place }, op, right }));
    Rc::new(Expr::And(vec![guard, expr]))
}
