//! [`PlanError`]: the reason why a plan cannot be used, for its author. Each message has the remedy.

use thiserror::Error;

use crate::limits::{
    CONDITION_BYTES_MAX, ENTRIES_MAX, PLAN_BYTES_MAX, STEPS_MAX, TEXT_BYTES_MAX, YAML_DEPTH_MAX,
    YAML_VALUES_MAX,
};
use crate::pattern::PatternError;

/// A fault of a plan with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct PlanError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The fault.
    pub fault: Fault,
}

/// The reason why a plan cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// The file is too long.
    #[error("the plan has {0} bytes: write at most {PLAN_BYTES_MAX}")]
    Size(usize),
    /// The file is not UTF-8.
    #[error("the plan is not UTF-8: save it as UTF-8 text")]
    Encoding,
    /// The file is no YAML.
    #[error("the plan is no YAML ({0}): correct this place")]
    Syntax(String),
    /// The file has no value.
    #[error("the plan is empty: write `castellan_plan: 1` and the lists of the plan")]
    Empty,
    /// A second document.
    #[error("the plan has a second document: keep one, without `---` between")]
    Documents,
    /// An anchor or alias.
    #[error(
        "a plan has no anchors (`&name`) and no aliases (`*name`): write the value itself, or put it in quotes"
    )]
    Anchor,
    /// A tag.
    #[error("a plan has no tags (`!name`): write the value alone, or put it in quotes")]
    Tag,
    /// A key that is no text.
    #[error("a key of a map is no text: write a word before the `:`")]
    Key,
    /// A key twice in one map.
    #[error("the map has the key `{0}` twice: keep one of them")]
    Twice(String),
    /// A key that the format does not have.
    #[error("the key `{key}` is unknown here: write one of {known}")]
    Unknown {
        /// The key.
        key: String,
        /// The known keys.
        known: String,
    },
    /// A value of another type.
    #[error("`{at}` is {found}: write {wanted}")]
    Type {
        /// The key or entry.
        at: String,
        /// The type of the value.
        found: &'static str,
        /// The required type.
        wanted: &'static str,
    },
    /// Neither format.
    #[error("the plan has neither `castellan_plan` nor `arms`: begin it with `castellan_plan: 1`")]
    Format,
    /// A version of castellan's format that this castellan does not know.
    #[error("`castellan_plan: {0}` is no known version: write `castellan_plan: 1`")]
    Version(String),
    /// The expiry is no time.
    #[error("`{0}` is no time: write one such as `2026-12-31T18:00:00Z`")]
    Time(String),
    /// A pattern is wrong.
    #[error("`{text}`: {why}")]
    Pattern {
        /// The pattern.
        text: String,
        /// The reason.
        why: PatternError,
    },
    /// A condition whose command has no head.
    #[error("castellan finds no program in the command `{0}`: correct the command")]
    NoHead(String),
    /// A text is too long.
    #[error("`{at}` has {bytes} bytes: write at most {max}", max = text_max(.at))]
    Long {
        /// The key or entry.
        at: String,
        /// Its length.
        bytes: usize,
    },
    /// Nested too deep.
    #[error("the plan has more than {YAML_DEPTH_MAX} levels of nesting: write it with fewer")]
    Depth,
    /// Too many values.
    #[error("the plan has more than {YAML_VALUES_MAX} values: divide the work into several plans")]
    Values,
    /// Too many entries of one kind.
    #[error("the plan has more than {ENTRIES_MAX} entries in all lists of `{0}`: use patterns with `*`")]
    Entries(&'static str),
    /// Too many steps.
    #[error("the plan has more than {STEPS_MAX} steps: divide the work into several plans")]
    Steps,
}

fn text_max(at: &str) -> usize {
    if at == "command" || at == "cmd" { CONDITION_BYTES_MAX } else { TEXT_BYTES_MAX }
}
