//! A loaded rule set: what is known of each rule, and which rules match a row.

use castellan_event::Row;

use crate::eval::Evaluation;
use crate::format;
use crate::load::Matching;
use crate::priority::Priority;
use crate::program::{Condition, Program, Template};

/// The rules of all files, compiled.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub(crate) rules: Vec<Rule>,
    /// What each rule compiled to, in the same order.
    pub(crate) compiled: Vec<Compiled>,
    pub(crate) program: Program,
    pub(crate) lists: Vec<String>,
    pub(crate) macros: Vec<String>,
    pub(crate) matching: Matching,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Unique name.
    pub name: String,
    /// Description.
    pub desc: String,
    /// Priority.
    pub priority: Priority,
    /// Tags, sorted, each once.
    pub tags: Vec<String>,
    /// Whether it is evaluated.
    pub enabled: bool,
    /// Its event source.
    pub source: String,
    /// File of its first definition that still holds.
    pub file: String,
    /// Line of that definition, from 1.
    pub line: usize,
    /// The condition with lists and macros put in, as `falco -L` prints it.
    pub condition: String,
    /// The output as written.
    pub output: String,
    /// Fields that the condition reads: numbers in the catalogue, ascending.
    pub fields: Vec<usize>,
    /// Fields that the output shows: numbers in the catalogue, ascending.
    pub output_fields: Vec<usize>,
}

/// A rule that matched a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Position in [`RuleSet::rules`].
    pub rule: usize,
    /// The output, rendered.
    pub message: String,
}

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) condition: Condition,
    pub(crate) output: Template,
}

impl RuleSet {
    /// All rules in the order of evaluation, disabled ones too.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The names of the lists.
    pub fn lists(&self) -> &[String] {
        &self.lists
    }

    /// The names of the macros.
    pub fn macros(&self) -> &[String] {
        &self.macros
    }

    /// The enabled rules that match a row, in order: all of them or the first, as the set was loaded.
    pub fn evaluate(&self, row: &dyn Row) -> Vec<Hit> {
        let evaluation = Evaluation::new(&self.program, row);
        let matches =
            self.rules.iter().zip(&self.compiled).enumerate().filter_map(|(rule, (known, compiled))| {
                let matches = known.enabled && evaluation.holds(&compiled.condition);
                let message = || format::render(&compiled.output, |slot| evaluation.value(slot));
                matches.then(|| Hit { rule, message: message() })
            });
        match self.matching {
            Matching::All => matches.collect(),
            Matching::First => matches.take(1).collect(),
        }
    }
}
