//! Limits of this crate, each with its reason. Over a limit is a hole with its reason, never a silent cut.

/// Bytes of a program that are parsed. Programs on a command line have hundreds, scripts some thousands; time and memory grow
/// with it.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// Brackets that are open at once. Real programs have about ten; what the parser does after an error grows with them.
pub(crate) const BRACKETS_MAX: usize = 150;

/// Calls of the parser's progress callback, one for every hundred of its operations, for each KiB of text. Real programs need
/// seven to twenty.
pub(crate) const PARSER_CALLS_PER_KIB: u64 = 28;

/// Calls that any text may take.
pub(crate) const PARSER_CALLS_MIN: u64 = 100;

/// Units of work for each of these calls, and for what is made of the tree: ten to twenty µs.
pub(crate) const WORK_PER_PARSER_CALL: u64 = 100;

/// The same for Perl and Ruby, whose scanners do more for each of them: up to 32 and 25 µs.
pub(crate) const WORK_PER_PERL_CALL: u64 = 150;
/// See [`WORK_PER_PERL_CALL`].
pub(crate) const WORK_PER_RUBY_CALL: u64 = 125;

/// Levels of the tree that are gone into. Real programs reach about forty. Each takes some hundred bytes of stack when it is read, more
/// when it is run.
pub(crate) const TREE_DEPTH_MAX: usize = 120;

/// Nodes of the tree that are gone into for each byte of the text. Real programs have less than one for each; what changes a value in
/// place is gone into twice, which doubles with each level of it in another.
pub(crate) const NODES_PER_BYTE: usize = 3;

/// Nodes that any text may have.
pub(crate) const NODES_MIN: usize = 1_000;

/// Decorators of one definition, and clauses of one comprehension: each is a level of the tree. Real ones have a few.
pub(crate) const LAYERS_MAX: usize = 20;

/// Here-documents, or what may begin one, in a text of Ruby. Its scanner copies those that are open with each token, and a wrong text
/// opens many: 300 took a third of a second. Real programs have a few.
pub(crate) const HEREDOCS_MAX: usize = 60;

/// Bytes of a line of Perl that are one part for its scanner, which goes back to where the part begins at each token. Real lines
/// have fewer; each part costs the parser a step at each token.
pub(crate) const LINE_PART_BYTES: usize = 160;

/// Beginnings of comments that no end follows. The parser looks for the end of each; a wrong program has one, a pattern of paths some.
pub(crate) const OPEN_COMMENTS_MAX: usize = 100;

/// Bytes that a reader of our own looks at for one unit of work.
pub(crate) const READER_BYTES_PER_WORK: u64 = 16;

/// What a node of the tree costs such a reader, in bytes: what it takes to make and to drop it.
pub(crate) const READER_BYTES_PER_NODE: usize = 16;

/// Parts that do not parse that are told one by one.
pub(crate) const ERRORS_MAX: usize = 20;

/// Levels of evaluation, those of called functions included: bounds the stack.
pub(crate) const RUN_DEPTH_MAX: usize = 220;

/// Units of work for one program besides parsing, about 200 ns each: a step of evaluation, a value that is kept or compared.
pub(crate) const WORK_MIN: u64 = 30_000;

/// Further units for each byte of the program.
pub(crate) const WORK_PER_BYTE: u64 = 2;

/// Units for all programs of one call together, parsing included: about 20 ms. The run never goes beyond it: what is not paid is not
/// done. Parsing does by a call of the parser for each of two grammars, or by one look of a reader of our own at what is left of the text,
/// and the few nodes of each open level, [`TREE_DEPTH_MAX`] of them, that it ends with.
pub(crate) const WORK_MAX: u64 = 100_000;

/// Elements of a list or map that are copied for one unit.
pub(crate) const ENTRIES_COPIED_PER_WORK: u64 = 4;

/// Units for what is spread into the words of a command, besides what it takes to evaluate it.
pub(crate) const SPREAD_WORK: u64 = 3;

/// Bytes of made text that cost one step.
pub(crate) const BYTES_PER_WORK: usize = 64;

/// Acts of one program. Real ones have some tens.
pub(crate) const ACTS_MAX: usize = 2_000;

/// Bytes of a text that is computed. A longer one is not known.
pub(crate) const VALUE_BYTES_MAX: usize = 64 << 10;

/// Pieces of a text that is computed. Longer ones come from loops.
pub(crate) const PIECES_MAX: usize = 64;

/// Values that a name may have at one point. More than a few come from loops, where they say nothing.
pub(crate) const CHOICES_MAX: usize = 8;

/// Functions, classes and modules among them: these are never forgotten, over this limit is a hole.
pub(crate) const CAPABLE_CHOICES_MAX: usize = 32;

/// Elements of a list or dictionary that are told apart.
pub(crate) const ELEMENTS_MAX: usize = 512;

/// Rounds of a loop over what is not known, as long as what may act comes to further places in it; then a hole. The first two are from
/// where it begins, and from any state that it may have come to; real loops need no third.
pub(crate) const LOOP_ROUNDS_MAX: usize = 6;

/// Elements of a known list that a loop is run for, one after the other. For longer ones, once for all.
pub(crate) const ITERATIONS_MAX: usize = 512;

/// Values in values: a member of a member that is not called, a function with first arguments. Real programs have a few; each takes
/// stack when the value is compared or dropped.
pub(crate) const NESTED_VALUES_MAX: usize = 40;

/// How often one function may be inside itself. The last time stands for all further ones; functions that call each other take time
/// that grows with its power.
pub(crate) const RECURSION_MAX: usize = 1;

/// Programs in programs: `eval` in `eval`. Deeper ones exist only to hide.
pub(crate) const TEXT_DEPTH_MAX: usize = 5;

/// Bytes of what is written in a hole, or stands for an unknown part.
pub(crate) const WRITTEN_BYTES_MAX: usize = 80;

/// Marks of HTML's comments in JavaScript that are looked for in the tree, each in time that grows with the text. Few programs have
/// any.
pub(crate) const HTML_MARKS_MAX: usize = 64;

/// Units from which on a reading is kept, some 50 µs: what is read faster than that is not worth its place.
pub(crate) const KEPT_WORK_MIN: u64 = 250;

/// Acts and modules of all readings that one thread keeps, a few hundred bytes each. The tests of a project have some hundred.
pub(crate) const KEPT_ACTS_MAX: usize = 4_000;
