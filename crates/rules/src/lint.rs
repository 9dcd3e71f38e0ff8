//! castellan's own warnings (`CASTELLAN_*`), beyond Falco's: rules that load, but probably do not mean what their
//! author thinks. Each lint is a module, and works on expanded conditions and the field table. In doubt, a lint reports
//! nothing. A lint never changes the matches of a rule.

mod boundary;
mod clash;
mod levels;
mod list_in;
mod negated_path;
mod normal;
mod one_line;
mod redefined;
mod row_level;
mod shadowed;
mod truth;
mod unknown_word;

use std::collections::HashSet;
use std::rc::Rc;

use crate::ast::Expr;
use crate::catalogue::Catalogue;
use crate::definitions::{Definition, Definitions, Scope};
use crate::item::{Kind, RuleText};
use crate::problem::{Fault, Report};
use crate::rule::Rule;
use crate::text::Place;
use normal::Normal;

/// A compiled rule with its source.
#[derive(Debug)]
pub(crate) struct Subject<'d> {
    pub(crate) definition: &'d Definition<RuleText>,
    /// Its condition with exceptions, lists and macros expanded.
    pub(crate) expr: Rc<Expr>,
}

/// Lints rules, given as written and, in the same order, as compiled; and the names that the files define.
pub(crate) fn run(
    subjects: &[Subject<'_>],
    compiled: &[Rule],
    definitions: &Definitions,
    scope: &Scope<'_>,
    report: &mut Report<'_>,
) {
    let mut findings = Findings { report, known: HashSet::new() };
    redefined::check(definitions, &scope.fields, &mut findings);
    let lint = |(subject, rule)| Linted::new(subject, rule, &scope.fields);
    let rules: Vec<Linted<'_>> = subjects.iter().zip(compiled).map(lint).collect();
    for rule in &rules {
        findings.add(rule, one_line::check);
        findings.add(rule, boundary::check);
        findings.add(rule, truth::check);
        findings.add(rule, levels::check);
        findings.add(rule, row_level::check);
        findings.add(rule, negated_path::check);
        findings.add(rule, list_in::check);
        findings.add(rule, unknown_word::check);
    }
    shadowed::check(&rules, scope.options.matching, &mut findings);
}

/// A rule with its condition in normal form.
struct Linted<'s> {
    subject: &'s Subject<'s>,
    rule: &'s Rule,
    catalogue: &'s Catalogue<'s>,
    normal: Normal<'s>,
}

impl<'s> Linted<'s> {
    fn new(subject: &'s Subject<'_>, rule: &'s Rule, catalogue: &'s Catalogue<'_>) -> Self {
        Self { subject, rule, catalogue, normal: Normal::new(&subject.expr) }
    }
}

/// The findings. A literal of a macro is reported once, not for each rule that names the macro.
struct Findings<'r, 'a> {
    report: &'r mut Report<'a>,
    known: HashSet<(&'static str, Place, String)>,
}

impl Findings<'_, '_> {
    fn add(&mut self, rule: &Linted<'_>, lint: fn(&Linted<'_>) -> Vec<Fault>) {
        for fault in lint(rule) {
            self.warn(Kind::Rule, &rule.rule.name, fault);
        }
    }

    fn warn(&mut self, kind: Kind, name: &str, fault: Fault) {
        if self.known.insert((fault.code, fault.place, fault.message.clone())) {
            self.report.warning(&kind.label(name), fault);
        }
    }
}
