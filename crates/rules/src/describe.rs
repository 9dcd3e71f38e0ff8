//! [`Description`]: the output of `falco -L` for rules, macros and lists, and the condition for export to a real Falco.

mod collect;

pub(crate) use collect::Describer;

use castellan_event::Level;

/// The description of loaded files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// One for each of [`crate::RuleSet::rules`], in its order.
    pub rules: Vec<RuleDescription>,
    /// The macros in the order of their definition.
    pub macros: Vec<MacroDescription>,
    /// The lists in the order of their definition.
    pub lists: Vec<ListDescription>,
}

/// One rule. Names are sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleDescription {
    /// The condition as written, without exceptions.
    pub condition: String,
    /// The expanded condition, in a form that loads as the same condition. Falco's own print
    /// ([`crate::Rule::condition`]) does not always do so.
    pub reparsable: String,
    /// The condition for a real Falco, in which a row is an event. It is in negation normal form. The level of a
    /// literal's row guards the literal, and the levels of the rule's rows guard the whole. It equals `reparsable` if
    /// the field table has no `row.level`.
    pub exported: String,
    /// The finest level in the condition.
    pub level: Level,
    /// Macros that the condition itself names, without macros inside macros (as in Falco).
    pub macros: Vec<String>,
    /// Lists that the condition itself names.
    pub lists: Vec<String>,
    /// The output as written.
    pub output: String,
    /// Operators of the expanded condition.
    pub operators: Vec<String>,
    /// Fields of the expanded condition, with arguments as written.
    pub condition_fields: Vec<String>,
    /// Fields of the output, with arguments as written.
    pub output_fields: Vec<String>,
    /// Names of the exceptions.
    pub exceptions: Vec<String>,
    /// Operators of the exceptions.
    pub exception_operators: Vec<String>,
    /// Fields of the exceptions.
    pub exception_fields: Vec<String>,
}

/// One macro.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MacroDescription {
    /// Its name.
    pub name: String,
    /// Its condition as written.
    pub condition: String,
    /// Its condition with lists and macros expanded, as Falco prints it; empty if it does not compile.
    pub compiled: String,
}

/// One list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListDescription {
    /// Its name.
    pub name: String,
    /// Its items, with nested lists expanded.
    pub items: Vec<String>,
}
