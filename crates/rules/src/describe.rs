//! [`Description`]: what `falco -L` tells of rules, macros and lists, and the condition as it is exported to a real Falco.

mod collect;

pub(crate) use collect::Describer;

use castellan_event::Level;

/// What was loaded, described.
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
    /// The condition as it is written, exceptions not put in.
    pub condition: String,
    /// The expanded condition, printed so that it loads again as the same condition, which Falco's own print
    /// ([`crate::Rule::condition`]) does not always.
    pub reparsable: String,
    /// The condition for a real Falco, in which a row is an event: negation normal form, each literal guarded by the level
    /// of its row, and the whole by the levels of the rows that the rule is tested on. The same as `reparsable` where the
    /// field table has no `row.level`.
    pub exported: String,
    /// The finest level that the condition names.
    pub level: Level,
    /// Macros that its condition names itself, not those in its macros (as Falco tells).
    pub macros: Vec<String>,
    /// Lists that its condition names itself.
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
    /// Its condition as it is written.
    pub condition: String,
    /// Its condition with lists and macros put in, as Falco prints it; empty when it does not compile.
    pub compiled: String,
}

/// One list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListDescription {
    /// Its name.
    pub name: String,
    /// Its items, those of lists in it put in.
    pub items: Vec<String>,
}
