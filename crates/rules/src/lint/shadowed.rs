//! `CASTELLAN_SHADOWED`: a rule that is useless because an earlier rule matches in all its cases. A condition is seen
//! as a disjunction of sets of conjuncts; a set with all conjuncts of another set matches less. Rules are compared only
//! if they are tested on the same rows and, if all matches are reported, have the same tags and priority.

use std::collections::{BTreeSet, HashMap};

use castellan_event::Level;

use crate::item::Kind;
use crate::limits::SHADOW_COMPARISONS_MAX;
use crate::lint::normal::Normal;
use crate::lint::{Findings, Linted};
use crate::options::Matching;
use crate::priority::Priority;
use crate::problem::Fault;

/// The numbers of the conjuncts.
type Conjuncts = BTreeSet<usize>;

/// Only rules of the same group are compared: same level and, if all matches are reported, same tags and priority.
type Group<'s> = (Level, Option<(&'s [String], Priority)>);

/// The sets of conjuncts of earlier rules, by group and rarest conjunct: positions of rules with their sets.
type Index<'s> = HashMap<(Group<'s>, usize), Vec<(usize, Conjuncts)>>;

pub(super) fn check(rules: &[Linted<'_>], matching: Matching, findings: &mut Findings<'_, '_>) {
    let conditions = number(rules);
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for conjunct in conditions.iter().flatten().flatten() {
        *counts.entry(*conjunct).or_default() += 1;
    }
    let mut earlier: Index<'_> = HashMap::new();
    for (position, (rule, disjuncts)) in rules.iter().zip(conditions).enumerate() {
        let known = rule.rule;
        if !known.enabled {
            continue;
        }
        let same = (matching == Matching::All).then_some((&*known.tags, known.priority));
        let group = (known.level, same);
        if let Some(by) = find(&earlier, group, &disjuncts).and_then(|by| rules.get(by)) {
            warn(rule, by, matching, findings);
            // The earlier rule covers this rule, so this rule need not be stored.
            continue;
        }
        for set in disjuncts {
            let rarest = set.iter().min_by_key(|conjunct| counts.get(conjunct)).copied();
            if let Some(rarest) = rarest {
                earlier.entry((group, rarest)).or_default().push((position, set));
            }
        }
    }
}

/// Returns each rule's condition as sets of conjuncts. Equal conjuncts have the same number in all rules.
fn number(rules: &[Linted<'_>]) -> Vec<Vec<Conjuncts>> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut conjunct = |part: &Normal<'_>| {
        let next = numbers.len();
        *numbers.entry(print(part)).or_insert(next)
    };
    let mut set = |part: &Normal<'_>| match part {
        Normal::All(parts) => parts.iter().map(&mut conjunct).collect(),
        Normal::Any(_) | Normal::Literal(_) => Conjuncts::from([conjunct(part)]),
    };
    let disjuncts = |rule: &Linted<'_>| match &rule.normal {
        // Removes duplicates: a macro that is named twice gives its disjuncts twice.
        Normal::Any(parts) => parts.iter().map(&mut set).collect::<BTreeSet<_>>().into_iter().collect(),
        part @ (Normal::All(_) | Normal::Literal(_)) => vec![set(part)],
    };
    rules.iter().map(disjuncts).collect()
}

fn print(part: &Normal<'_>) -> String {
    let chain = |parts: &[Normal<'_>], word: &str| {
        let printed: Vec<String> = parts.iter().map(print).collect();
        format!("({})", printed.join(word))
    };
    match part {
        Normal::All(parts) => chain(parts, " and "),
        Normal::Any(parts) => chain(parts, " or "),
        Normal::Literal(literal) => literal.print(),
    }
}

/// Returns the first earlier rule that covers every disjunct.
fn find<'s>(earlier: &Index<'s>, group: Group<'s>, disjuncts: &[Conjuncts]) -> Option<usize> {
    let mut rest = disjuncts.iter();
    let mut covering = covering(earlier, group, rest.next()?);
    for set in rest {
        if covering.is_empty() {
            return None;
        }
        let also = self::covering(earlier, group, set);
        covering.retain(|rule| also.contains(rule));
    }
    covering.first().copied()
}

/// Returns the earlier rules with a set that is a subset of `set`.
fn covering<'s>(earlier: &Index<'s>, group: Group<'s>, set: &Conjuncts) -> BTreeSet<usize> {
    let candidates = set.iter().filter_map(|conjunct| earlier.get(&(group, *conjunct))).flatten();
    let candidates = candidates.take(SHADOW_COMPARISONS_MAX);
    candidates.filter(|(_, other)| other.is_subset(set)).map(|(rule, _)| *rule).collect()
}

fn warn(rule: &Linted<'_>, by: &Linted<'_>, matching: Matching, findings: &mut Findings<'_, '_>) {
    let (own, by) = (&rule.subject.definition.name, &by.subject.definition.name);
    let (file, line) = findings.report.position(by.place);
    let (so, help) = match matching {
        Matching::First => ("this rule never fires", "move this rule before that one, or remove it"),
        Matching::All => ("this rule adds nothing", "remove this rule, or give it other tags"),
    };
    let message =
        format!("rule '{}' ({file}:{line}) matches everything that this rule matches: {so}", by.text);
    let fault = Fault::new("CASTELLAN_SHADOWED", own.place, message);
    findings.warn(Kind::Rule, &own.text, fault.help(help));
}
