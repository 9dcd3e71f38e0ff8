//! [`RuleSet`]: the loaded rules, and those that match a row.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use castellan_event::{Level, Row, Value};

use crate::eval::Evaluation;
use crate::format;
use crate::index::Index;
use crate::options::Matching;
use crate::program::{Predicate, Program};
use crate::rule::{Compiled, Hit, Message, Part, RowsHit, Rule};

/// The rules of all files, compiled.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub(crate) rules: Vec<Rule>,
    /// The compiled rules, in the same order.
    pub(crate) compiled: Vec<Compiled>,
    pub(crate) program: Program,
    pub(crate) index: Index,
    /// Trees for the plain evaluator; only in described sets.
    #[cfg(feature = "plain")]
    pub(crate) trees: Vec<crate::plain_tree::Tree>,
    pub(crate) lists: Vec<String>,
    pub(crate) macros: Vec<String>,
    pub(crate) matching: Matching,
}

impl RuleSet {
    /// Returns all rules in the order of evaluation, disabled rules too.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the names of the lists.
    pub fn lists(&self) -> &[String] {
        &self.lists
    }

    /// Returns the names of the macros.
    pub fn macros(&self) -> &[String] {
        &self.macros
    }

    /// Returns the output fields of a rule on a row, for Falco's JSON, sorted by key, each once, absent ones too. They
    /// are the fields in the output (without `%` and width; the inner field of a transformed one) and the extra fields.
    pub fn output_fields<'r>(&'r self, row: &'r dyn Row, rule: usize) -> Vec<(String, Value<'r>)> {
        let Some(compiled) = self.compiled.get(rule) else { return Vec::new() };
        let evaluation = Evaluation::new(&self.program, &self.index, row);
        format::fields(&compiled.output, |slot| evaluation.value(slot))
    }

    /// Returns a rule's match of a row that another engine found, with its output on the row.
    pub fn hit(&self, rule: usize, row: &dyn Row) -> Option<Hit> {
        let compiled = self.compiled.get(rule)?;
        let evaluation = Evaluation::new(&self.program, &self.index, row);
        Some(hit(rule, format::render(&compiled.output, |slot| evaluation.value(slot))))
    }

    /// Returns the matching rules of a row that are reported.
    pub fn matching(&self) -> Matching {
        self.matching
    }

    /// Returns the enabled rules that match a row, in order: all or the first, depending on [`Matching`].
    pub fn evaluate(&self, row: &dyn Row) -> Vec<Hit> {
        let mut evaluation = Evaluation::new(&self.program, &self.index, row);
        let mut hits = Vec::new();
        self.on_row(&mut evaluation, row.level(), &|_| Part::In, &mut |rule, message| {
            hits.push(hit(rule, message()));
        });
        hits
    }

    /// Like [`RuleSet::evaluate`] on several rows of one kind, with a part for each rule. Returns each matching rule
    /// with its rows, in order. `part_of` gets positions in [`RuleSet::rules`].
    pub fn evaluate_rows<R: Row>(&self, rows: &[R], part_of: impl Fn(usize) -> Part) -> Vec<RowsHit> {
        let mut hits: BTreeMap<usize, RowsHit> = BTreeMap::new();
        let Some(first) = rows.first() else { return Vec::new() };
        let mut evaluation = Evaluation::new(&self.program, &self.index, first);
        for (position, row) in rows.iter().enumerate() {
            if position > 0 {
                evaluation.turn_to(row);
            }
            self.on_row(&mut evaluation, row.level(), &part_of, &mut |rule, message| {
                let new = || RowsHit { hit: hit(rule, message()), rows: Vec::new() };
                hits.entry(rule).or_insert_with(new).rows.push(position);
            });
        }
        hits.into_values().collect()
    }

    /// Calls `tell` for each rule that matches the row, with a function that renders its output.
    fn on_row(
        &self,
        evaluation: &mut Evaluation<'_>,
        level: Level,
        part_of: &dyn Fn(usize) -> Part,
        tell: &mut dyn FnMut(usize, &dyn Fn() -> Message),
    ) {
        let candidates = evaluation.candidates();
        for rule in candidates.iter() {
            let (Some(known), Some(compiled)) = (self.rules.get(rule), self.compiled.get(rule)) else {
                continue;
            };
            let part = part_of(rule);
            let takes_part = known.enabled && part != Part::Out;
            if takes_part && level <= known.level && evaluation.holds(&compiled.condition) {
                tell(rule, &|| format::render(&compiled.output, |slot| evaluation.value(slot)));
                if self.matching == Matching::First && part == Part::In {
                    break;
                }
            }
        }
    }

    /// Returns the set with its index, in minimal memory. Before that, nothing matches.
    pub(crate) fn indexed(mut self) -> Self {
        self.program.note_levels();
        self.index = Index::new(&self.program, &self.rules, &self.compiled);
        self.program.slots.shrink_to_fit();
        self.program.predicates.shrink_to_fit();
        self.rules.shrink_to_fit();
        self.compiled.shrink_to_fit();
        self.program.predicates.iter_mut().for_each(Predicate::forget_literals);
        let (mut texts, mut tags) = (Shared::default(), Shared::default());
        let (mut numbers, mut named) = (Shared::default(), Shared::default());
        for (rule, compiled) in self.rules.iter_mut().zip(&mut self.compiled) {
            rule.condition.shrink_to_fit();
            compiled.output.parts.shrink_to_fit();
            share(&mut texts, &mut rule.file);
            share(&mut texts, &mut rule.source);
            share(&mut tags, &mut rule.tags);
            share(&mut numbers, &mut rule.fields);
            share(&mut numbers, &mut rule.output_fields);
            share(&mut named, &mut compiled.output.named);
        }
        self
    }
}

fn hit(rule: usize, message: Message) -> Hit {
    let Message { text, remedy_at, values } = message;
    Hit { rule, message: text, remedy_at, values }
}

/// Values that many rules share, each stored once.
type Shared<T> = HashSet<Arc<T>>;

/// Replaces a value by a known equal one.
fn share<T: ?Sized + Eq + Hash>(known: &mut Shared<T>, own: &mut Arc<T>) {
    match known.get(own) {
        Some(same) => *own = Arc::clone(same),
        None => {
            known.insert(Arc::clone(own));
        }
    }
}
