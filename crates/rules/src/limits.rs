//! Limits on every size that a rule file controls. Over a limit is an error with its place, never a silent cut.

/// Bytes of one rule file. Falco's own default rules are 64 KB; 10,000 rules are about 3 MB.
pub(crate) const SOURCE_BYTES_MAX: usize = 8 << 20;

/// Levels of YAML nesting, aliases followed. A rule file needs six (exception values).
pub(crate) const YAML_DEPTH_MAX: usize = 32;

/// Bytes and values of one file with every alias expanded: stops alias bombs.
pub(crate) const YAML_EXPANDED_MAX: usize = 2 * SOURCE_BYTES_MAX;

/// Bytes of a condition after lists are substituted. A list of 10,000 paths is about 300 KB.
pub(crate) const CONDITION_BYTES_MAX: usize = 1 << 20;

/// Bytes that are copied to substitute lists in one condition, the whole condition for each list. Falco's own longest
/// condition names five lists and copies 20 KB.
pub(crate) const SUBSTITUTED_BYTES_MAX: usize = 16 << 20;

/// Bytes that are copied to substitute lists in all conditions of a set. It stops a long list in thousands of rules,
/// which would be compiled for each. A list of 10,000 paths fits 200 times.
pub(crate) const SET_SUBSTITUTED_BYTES_MAX: usize = 64 << 20;

/// Lists whose names are not a word: every condition is searched for each. Real files have none.
pub(crate) const ODD_LISTS_MAX: usize = 1_000;

/// Exceptions of one rule. Falco's own rules have none with more than three.
pub(crate) const EXCEPTIONS_MAX: usize = 1_000;

/// Levels of parentheses in one condition: with the operators between them, it bounds the stack of every walk over the
/// condition. Hand-written rules stay below ten. Falco 0.43 loads any number until it crashes.
pub(crate) const NESTING_MAX: usize = 256;

/// Transformers around one field: bounds the parser's stack. Rules have two at most.
pub(crate) const TRANSFORMERS_MAX: usize = 100;

/// Levels of a condition after macros are expanded: bounds the stack of every walk over the condition.
pub(crate) const EXPANDED_NESTING_MAX: usize = 800;

/// Operators and comparisons of a condition after macros are expanded: stops macros that double at each step.
pub(crate) const EXPANDED_NODES_MAX: usize = 100_000;

/// Operators and comparisons that macros add to all rules of a set: stops a large macro in thousands of rules. 10,000
/// rules with macros of a hundred comparisons fit.
pub(crate) const SET_EXPANDED_NODES_MAX: usize = 2_000_000;

/// Bytes of a string constant (Falco 0.43 rejects longer ones).
pub(crate) const CONSTANT_BYTES_MAX: usize = 255;

/// Bytes of a glob from a field instead of a rule: the length of a path.
pub(crate) const GLOB_BYTES_MAX: usize = 4_096;

/// Bytes of one compiled regular expression.
pub(crate) const REGEX_BYTES_MAX: usize = 1 << 20;

/// Patterns of one set that may be so large that they are compiled at load, each up to the limit above. Real sets have
/// none.
pub(crate) const LARGE_REGEXES_MAX: usize = 100;

/// Levels of groups in a regular expression.
pub(crate) const REGEX_NESTING_MAX: u32 = 50;

/// Bytes of one field, with argument and transformers, in an output: bounds the search for its end.
pub(crate) const OPERAND_BYTES_MAX: usize = 256;

/// Columns of `%123field` in an output.
pub(crate) const OUTPUT_WIDTH_MAX: u16 = 1 << 12;

/// Bytes of a rendered output. A call may have 8 MiB, and thousands of rules may show its input: without a limit the
/// outputs take gigabytes. Escaped for JSON, one output still fits in a reply.
pub(crate) const RENDERED_BYTES_MAX: usize = 32 << 10;

/// Bytes of a list in an output; Falco 0.43 cuts it there, too.
pub(crate) const LIST_TEXT_BYTES_MAX: usize = 1_023;

/// Errors that one load reports; also the limit for warnings.
pub(crate) const PROBLEMS_MAX: usize = 1_000;

/// Bytes of a problem's message, which contains names and words of the file.
pub(crate) const MESSAGE_BYTES_MAX: usize = 500;

/// Bytes of a source line that a rendered problem shows.
pub(crate) const LINE_BYTES_MAX: usize = 10_000;

/// Bytes of a misspelt name for which the nearest name is searched.
pub(crate) const NAME_BYTES_MAX: usize = 64;

/// Names that are compared with a misspelt name: bounds the work for a file full of misspelt names.
pub(crate) const CANDIDATES_MAX: usize = 1_000;

/// Clauses of required texts of one pattern that are searched: the first clauses exclude nearly all texts.
pub(crate) const LITERAL_CLAUSES_MAX: usize = 3;

/// Alternatives of one such clause: with more, a clause excludes few texts.
pub(crate) const LITERALS_MAX: usize = 64;

/// Values times constants that a lint tries for one operand of one chain; the lint skips larger chains.
pub(crate) const CLASH_STEPS_MAX: usize = 10_000;

/// Pairs of comparisons that a lint tests to name the two that exclude each other.
pub(crate) const CLASH_PAIRS_MAX: usize = 1_000;

/// Earlier conditions that a lint compares with a part of a rule's condition: those that share a conjunct.
pub(crate) const SHADOW_COMPARISONS_MAX: usize = 1_000;
