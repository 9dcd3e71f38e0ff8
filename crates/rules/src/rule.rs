//! [`Rule`]: the properties of one rule, and its match.

use std::ops::Range;
use std::sync::Arc;

use castellan_event::Level;

use crate::priority::Priority;
use crate::program::{Condition, Template};

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
    pub tags: Arc<[String]>,
    /// Whether it is evaluated.
    pub enabled: bool,
    /// Its event source.
    pub source: Arc<str>,
    /// File of its first definition that is still in force.
    pub file: Arc<str>,
    /// Line of that definition, from 1.
    pub line: usize,
    /// The condition with lists and macros expanded, as `falco -L` prints it.
    pub condition: String,
    /// Fields that the condition reads: numbers in the catalogue, ascending.
    pub fields: Arc<[usize]>,
    /// The finest level in the condition: the rule is tested on rows up to this level.
    pub level: Level,
    /// Fields that the output shows: numbers in the catalogue, ascending.
    pub output_fields: Arc<[usize]>,
}

/// A rule that matched a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Position in [`crate::RuleSet::rules`].
    pub rule: usize,
    /// The output, rendered.
    pub message: String,
    /// The byte of the message at which its remedy starts, after [`crate::REMEDY_MARK`] in the rule's own text.
    pub remedy_at: Option<usize>,
    /// The bytes of the message that are values of fields, ascending.
    pub values: Vec<Range<usize>>,
}

/// A rendered output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) remedy_at: Option<usize>,
    pub(crate) values: Vec<Range<usize>>,
}

/// A rule that matched some of several rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsHit {
    /// The hit on the first of them.
    pub hit: Hit,
    /// Positions of the rows, ascending.
    pub rows: Vec<usize>,
}

/// The part of a rule in an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The rule takes part as loaded.
    In,
    /// The rule is reported, but does not hide later rules under [`Matching::First`].
    Aside,
    /// The rule is not tested.
    Out,
}

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) condition: Condition,
    pub(crate) output: Template,
}
