//! Limits of this crate, each with its reason. Exceeding a limit gives a `Hole` with its reason, never a silent cut.

/// Bytes of a parsed program. Command lines have hundreds, scripts some thousands. Time and memory grow with the size.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of a text for a parser of others in the daemon itself. A longer one goes to the helper process.
pub(crate) const HERE_BYTES_MAX: usize = 4 << 10;

/// Brackets, `<` and backticks in a text for the parsers of Python, Ruby and PHP in the daemon itself. Real programs of that size have up to a hundred. Any such text took at most 13 ms, of Prism.
pub(crate) const HERE_OPENINGS_MAX: usize = 256;

/// The same limits for oxc's parser, whose time grows faster: any such text took at most 25 ms in all modes.
/// Three of four real texts of that size are below it.
pub(crate) const JAVASCRIPT_HERE_BYTES_MAX: usize = 2 << 10;
/// See [`JAVASCRIPT_HERE_BYTES_MAX`].
pub(crate) const JAVASCRIPT_HERE_OPENINGS_MAX: usize = 64;

/// Stack for oxc's parser, per byte of text. The deepest text (`(` in a row) takes 1 KiB in a
/// build for tests.
pub(crate) const JAVASCRIPT_STACK_PER_BYTE: usize = 2 << 10;

/// Stack for the other parsers and their trees, per byte of text. The deepest texts (`-` or `!` in a row) take 128
/// and 400 bytes. Prism ends at 10,000 levels.
pub(crate) const PARSER_STACK_PER_BYTE: usize = 512;

/// Further stack for any text: the parser's own calls (512 levels of PHP take 2 MiB), and the levels of lowering
/// ([`TREE_DEPTH_MAX`]).
pub(crate) const PARSER_STACK_MIN: usize = 4 << 20;

/// Units of work of these parsers per whole KiB of text: 10 to 15 µs, including lowering. The run pays for less.
pub(crate) const PARSER_WORK_PER_KIB: u64 = 64;

/// Stack of the thread that reads a program in the helper process. Only used pages take memory.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// Brackets that are open at once. Real programs have about ten. The parser's work after an error grows with them.
pub(crate) const BRACKETS_MAX: usize = 150;

/// Callback calls of tree-sitter per KiB of text, one for every hundred steps. A step that recovers from an error may take
/// longer as the text grows; the helper process bounds that.
pub(crate) const PARSER_CALLS_PER_KIB: u64 = 28;

/// Callback calls that any text may use.
pub(crate) const PARSER_CALLS_MIN: u64 = 100;

/// Units of work per callback call, including lowering the tree: ten to twenty µs in correct text.
pub(crate) const WORK_PER_PARSER_CALL: u64 = 100;

/// The same for Perl, whose scanner does more per call: up to 32 µs in correct text.
pub(crate) const WORK_PER_PERL_CALL: u64 = 150;

/// Levels of the tree that are read. Real programs reach about forty. Each takes some hundred bytes of stack, more in a
/// run.
pub(crate) const TREE_DEPTH_MAX: usize = 120;

/// Levels of a PHP program in which the names that it declares are looked for. The parser nests 512 levels, but prefixes
/// (`!!!`) without an end.
pub(crate) const SURVEY_DEPTH_MAX: usize = 600;

/// Visited nodes of the tree per byte of text. Real programs have less than one per byte. An expression that changes a
/// value in place is visited twice, which doubles with each nesting level.
pub(crate) const NODES_PER_BYTE: usize = 3;

/// Visited nodes that any text may have.
pub(crate) const NODES_MIN: usize = 1_000;

/// Decorators of one definition, and clauses of one comprehension: each is a level of the tree. Real ones have a few.
pub(crate) const LAYERS_MAX: usize = 20;

/// Bytes of a Perl line that form one range for the scanner, which returns to the start of the range at each token.
/// Real lines are shorter. Each range costs the parser a step at each token.
pub(crate) const LINE_PART_BYTES: usize = 160;

/// Unclosed comment starts; the parser searches each end. A wrong program has one, a pattern of paths some.
pub(crate) const OPEN_COMMENTS_MAX: usize = 100;

/// Bytes that a hand-written reader looks at for one unit of work.
pub(crate) const READER_BYTES_PER_WORK: u64 = 16;

/// Cost of a tree node in such a reader, in bytes: making and dropping it.
pub(crate) const READER_BYTES_PER_NODE: usize = 16;

/// Syntax errors that are reported one by one.
pub(crate) const ERRORS_MAX: usize = 20;

/// Levels of evaluation, including called functions: bounds the stack.
pub(crate) const RUN_DEPTH_MAX: usize = 220;

/// Units of work for one program besides parsing, about 200 ns each: a step, or a value that is stored or compared.
pub(crate) const WORK_MIN: u64 = 30_000;

/// Further units per byte of the program.
pub(crate) const WORK_PER_BYTE: u64 = 2;

/// Units for all programs of one call together, including parsing: about 20 ms. An unpaid step of a run is not done, so
/// the run never exceeds the limit. Parsing may exceed it by one callback call. A hand-written
/// reader may exceed it by one look at the rest of the text, and by the few nodes of each open level
/// ([`TREE_DEPTH_MAX`]).
pub(crate) const WORK_MAX: u64 = 100_000;

/// Elements of a list or map that are copied for one unit.
pub(crate) const ENTRIES_COPIED_PER_WORK: u64 = 4;

/// Units for spreading a value into the words of a command, in addition to its evaluation.
pub(crate) const SPREAD_WORK: u64 = 3;

/// Bytes of built text that cost one step.
pub(crate) const BYTES_PER_WORK: usize = 64;

/// Acts of one program. Real ones have some tens.
pub(crate) const ACTS_MAX: usize = 2_000;

/// Bytes of a computed text. A longer one is unknown.
pub(crate) const VALUE_BYTES_MAX: usize = 64 << 10;

/// Pieces of a computed text. Longer ones come from loops.
pub(crate) const PIECES_MAX: usize = 64;

/// Possible values of a name at one point. More than a few come from loops and carry no information.
pub(crate) const CHOICES_MAX: usize = 8;

/// Functions, classes and modules among them. These are never dropped; exceeding this limit gives a `Hole`.
pub(crate) const CAPABLE_CHOICES_MAX: usize = 32;

/// Elements of a list or dictionary that are tracked separately.
pub(crate) const ELEMENTS_MAX: usize = 512;

/// Rounds of a loop over unknown elements, while values that can act reach new places; then a `Hole`. The first round
/// starts from the state before the loop, the second from any state that it may reach. Real loops need no third.
pub(crate) const LOOP_ROUNDS_MAX: usize = 6;

/// Elements of a known list for which a loop runs one by one. A longer list runs once for all.
pub(crate) const ITERATIONS_MAX: usize = 512;

/// Nested values: a member of a member that is not called, a function with first arguments. Real programs have a few.
/// Each level takes stack when the value is compared or dropped.
pub(crate) const NESTED_VALUES_MAX: usize = 40;

/// Recursive entries of one function. The last one represents all deeper ones. The time of functions that call each
/// other grows as a power of this number.
pub(crate) const RECURSION_MAX: usize = 1;

/// Nested programs: `eval` in `eval`. Deeper ones exist only to hide something.
pub(crate) const TEXT_DEPTH_MAX: usize = 5;

/// Nesting levels of a value that is sent. Bodies of requests have three or four; deeper parts are left out.
pub(crate) const SENT_DEPTH_MAX: usize = 8;

/// Bytes of the way to a member of a service's library, with the service's address. The way is for people: a longer one
/// begins again at its last member.
pub(crate) const SERVICE_PATH_BYTES_MAX: usize = 512;

/// Bytes of the text shown for a `Hole` or an unknown part.
pub(crate) const WRITTEN_BYTES_MAX: usize = 80;

/// Minimum cost of a cached reading, some 50 µs: faster readings are not worth the space.
pub(crate) const KEPT_WORK_MIN: u64 = 250;

/// Acts and modules of all readings in a thread's cache, a few hundred bytes each. A project's tests have some hundred.
pub(crate) const KEPT_ACTS_MAX: usize = 4_000;
