//! Limits of plans. A plan over a limit is an error with its place; a call over one departs from its plan.

/// Bytes of a plan. A plan of a hundred steps has about 20 KB, and an experiment's plan with its texts about 100 KB.
pub const PLAN_BYTES_MAX: usize = 1 << 20;

/// Levels of YAML nesting. castellan's format needs five; an experiment's plan with its other parts has about ten.
pub(crate) const YAML_DEPTH_MAX: usize = 32;

/// Values of one YAML file, keys included. Each takes about a hundred bytes of memory.
pub(crate) const YAML_VALUES_MAX: usize = 50_000;

/// Entries of one kind (commands, paths, hosts, branches), with those of all steps. Each path of a call is compared
/// with each entry.
pub(crate) const ENTRIES_MAX: usize = 2_000;

/// Steps or arms of one plan. A person reads them.
pub(crate) const STEPS_MAX: usize = 500;

/// Bytes of one text in a plan: a path (`PATH_MAX`) and more than any command that a person reads.
pub(crate) const TEXT_BYTES_MAX: usize = 4_096;

/// Bytes of the command of a condition in an experiment's plan: the caller analyses it as shell text.
pub(crate) const CONDITION_BYTES_MAX: usize = 64 << 10;

/// Departures of one call that are returned; a last one has the number of the others. A person reads the first few,
/// and a call may have thousands of commands.
pub const DEPARTURES_MAX: usize = 64;

/// Bytes of a departure's subject. A command has up to 8 MiB, and a record holds every departure.
pub(crate) const SUBJECT_BYTES_MAX: usize = 500;

/// Programs of a plan that are compared with an unplanned one: bounds the search for the nearest. Plans name tens.
pub(crate) const CANDIDATES_MAX: usize = 64;

/// Bytes of a head for which the nearest one is searched.
pub(crate) const HEAD_BYTES_MAX: usize = 64;

/// Bytes of Markdown of a proposed plan. Claude Code's plans have about 10 KB.
pub(crate) const MARKDOWN_BYTES_MAX: usize = 1 << 20;

/// Snippets of one Markdown text: the caller analyses each, and a person reads them.
pub(crate) const SNIPPETS_MAX: usize = 500;

/// Bytes of all entries of a proposed plan. A person reads them; with every letter escaped, the plan is still below the
/// limit of a plan. The number of entries is below its limit, too.
pub(crate) const SCOPE_BYTES_MAX: usize = 64 << 10;

/// Branches that one call may check out. A call with more has an unknown branch, because each commit is compared with
/// each of them.
pub(crate) const CHECKED_OUT_MAX: usize = 16;
