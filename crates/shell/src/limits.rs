//! Limits on the cost of shell text. A part over a limit becomes a [`crate::tree::Hole`] with its reason.

/// Bytes of text parsed as code. Agents' longest commands (a file in a heredoc) are shorter. The parser's time and
/// memory grow with this limit. The lines over it are a hole.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of a text with at most [`TEXT_BYTES_MAX`] bytes outside quoted heredocs. Quoted heredocs are copied, not
/// parsed; agents write files with them. This is also the maximum size of a call.
pub(crate) const CUT_TEXT_BYTES_MAX: usize = 1 << 20;

/// Nesting levels for the parser. Bounds the stack of the parser and of all code that walks the tree.
pub(crate) const PARSER_DEPTH_MAX: usize = 40;

/// Levels of text that is parsed again (backquotes in backquotes, `<<-` bodies, arithmetic), each with its own parser
/// on the stack.
pub(crate) const REPARSE_DEPTH_MAX: u32 = 6;

/// Bytes of a comment or a quoted here-document per unit of the parser's work: the parser only compares and copies
/// them.
pub(crate) const CHEAP_BYTES_PER_WORK: usize = 16;

/// Comments of a text that are stored. A marker for castellan is in the first ones; any further comment is without
/// meaning.
pub(crate) const COMMENTS_MAX: usize = 64;

/// Bytes read ahead to tell `((` expressions from subshells, per byte of the text. Ordinary text needs less than one:
/// only a search that finds no end is repeated. At least [`PARENS_BYTES_MIN`].
pub(crate) const PARENS_FACTOR_MAX: usize = 2;

/// See [`PARENS_FACTOR_MAX`].
pub(crate) const PARENS_BYTES_MIN: usize = 4 << 10;

// Walking

/// Units of work for one text, including parsing. A unit is a step of the walk, a copied variable or a few bytes of
/// built text: about 200 ns. A short hostile text costs some milliseconds; ordinary commands take about thirty units.
pub(crate) const WORK_MIN: u64 = 50_000;

/// Additional units per byte of the text, for long scripts.
pub(crate) const WORK_PER_BYTE: u64 = 4;

/// Maximum units for any text: about 24 ms. 110 of 8,700 real texts need more. Most of those never finish, because
/// loops and functions multiply each other.
pub(crate) const WORK_MAX: u64 = 120_000;

/// Additional units for all code files that a text runs: about 20 ms, enough for a few long scripts.
pub(crate) const WORK_FOR_FILES_MAX: u64 = 100_000;

/// Limits two counts for one command: written files searched for in its arguments, and arguments treated as paths.
/// Scripts come first among the arguments, and calls write only a few files.
pub(crate) const MADE_FILES_MAX: usize = 16;

/// Written files whose contents are reported for one text. Calls write a few; further contents are unknown.
pub(crate) const WRITTEN_FILES_MAX: usize = 64;

/// Fixed cost in units of parsing a text.
pub(crate) const WORK_OF_PARSING: u64 = 50;

/// Units of the parser's work, of about a byte each, per unit: a byte takes about 50 ns.
pub(crate) const PARSED_PER_WORK: usize = 4;

/// Bytes of built text per unit of work: building a text examines each character.
pub(crate) const BYTES_PER_WORK: u64 = 32;

/// Copied bytes per unit.
pub(crate) const COPIED_PER_WORK: u64 = 256;

/// Table or list entries per unit when copied: each copy increments a reference count.
pub(crate) const ENTRIES_PER_WORK: u64 = 4;

/// Comparisons of a character with a pattern step, per unit.
pub(crate) const COMPARISONS_PER_WORK: usize = 128;

/// Bytes of arithmetic per unit: each level of operators examines the same position.
pub(crate) const ARITHMETIC_BYTES_PER_WORK: usize = 1;

/// Arguments of one command; an unknown argument replaces the rest. Real lists have hundreds. Each path is looked up.
pub(crate) const ARGUMENTS_MAX: usize = 2_000;

/// Traps of one shell. Real scripts set a few. Each trap is compared with the others and runs at the end.
pub(crate) const TRAPS_MAX: usize = 32;

/// Characters in a set of `tr`. Real sets contain at most the letters and digits.
pub(crate) const SET_CHARS_MAX: usize = 4096;

/// Ranges in the list of `cut`: each range is compared with every field. Real lists have a few.
pub(crate) const RANGES_MAX: usize = 32;

/// Items found in one text. A script of a thousand lines has about a thousand commands.
pub(crate) const ITEMS_MAX: usize = 3_000;

/// Depth of nested statements, substitutions and calls, including texts run in turn. Real scripts reach about fifteen.
/// Each level takes some kilobytes of stack.
pub(crate) const DEPTH_MAX: usize = 80;

/// Depth of texts run by texts: `eval`, `bash -c`, aliases, functions. Deeper nesting occurs only in obfuscated text.
pub(crate) const TEXT_DEPTH_MAX: usize = 16;

/// Possible values of a variable at one point of the text. More come from loops, and carry no information.
pub(crate) const VALUES_MAX: usize = 8;

/// Texts of a variable that a command's name may be. Few variables are commands, and few of these have several values.
pub(crate) const PAST_VALUES_MAX: usize = 32;

/// Readings of one command whose variables have several values.
pub(crate) const CHOICES_MAX: usize = 16;

/// Rounds walked one by one in a loop over literal words or lines.
pub(crate) const ROUNDS_MAX: usize = 64;

/// Rounds of a loop with unknown end; after them everything is unknown. The first round uses the known values, the
/// second uses the changes of the first, and a third checks that nothing else changes.
pub(crate) const REPEATS_MAX: usize = 4;

/// Words from brace expansion of one word.
pub(crate) const BRACES_MAX: usize = 256;

/// Characters copied to expand the braces of one word, including intermediate words.
pub(crate) const BRACE_COPIES_MAX: usize = 32 * 1024;

/// Characters copied in brace expansion, per unit.
pub(crate) const BRACE_COPIES_PER_WORK: usize = 8;

/// Bytes of the shell's working directory: the kernel's `PATH_MAX`.
pub(crate) const DIRECTORY_BYTES_MAX: usize = 4096;

/// Bytes of one value. Linux rejects longer arguments (`MAX_ARG_STRLEN` is 128 KiB).
pub(crate) const VALUE_BYTES_MAX: usize = 128 * 1024;

/// Bytes of a command line as a user would type it. Rules compare with this text, so one argument of maximum Linux size
/// fits. A longer command adds a `Gap`.
pub(crate) const LINE_BYTES_MAX: usize = VALUE_BYTES_MAX;

/// Bytes of source text reported for an unknown part.
pub(crate) const WRITTEN_BYTES_MAX: usize = 200;

/// Length of a chain of variables that name each other. bash itself warns about cycles.
pub(crate) const NAMES_FOLLOWED_MAX: usize = 8;

/// Nesting levels of an arithmetic expression, including variables whose value is an expression.
pub(crate) const ARITHMETIC_DEPTH_MAX: usize = 24;

/// Digits in one field of `printf`: a width of a million would create a million blanks.
pub(crate) const PRINTF_WIDTH_MAX: usize = 1024;

/// Wrappers around one command. Real commands have up to five. Each wrapper reads all remaining arguments.
pub(crate) const WRAPPERS_MAX: usize = 16;

/// Bytes of a compiled `sed` pattern. Patterns of real commands take some kilobytes.
pub(crate) const REGEX_BYTES_MAX: usize = 64 * 1024;

/// Commands of a `sed` script that are computed; the output of a longer script is unknown. Real scripts of only
/// substitutions have up to ten. Each command compiles a pattern and reads the whole text.
pub(crate) const SED_COMMANDS_MAX: usize = 32;

/// Fixed cost in units of a `sed` script: compiling each pattern takes up to 100 µs.
pub(crate) const WORK_OF_SED: u64 = 500;

/// Parts of a `print` in an `awk` program: each part is computed for each line. Real programs have a few.
pub(crate) const AWK_PARTS_MAX: usize = 64;

/// Pattern components of one word that may match hidden names. Each component doubles the arguments that the word
/// expands to. Real words have one or two.
pub(crate) const HIDDEN_PATTERNS_MAX: usize = 3;

/// Characters of a name pattern (`[...]`, `@(...)`) in which its end is searched. In a longer pattern, the rest of the
/// name is part of the pattern. Real patterns have tens of characters. The search restarts at each bracket in a word.
pub(crate) const PATTERN_CHARS_MAX: usize = 64;

/// Nested calls of one function, the outermost included, that are walked with known state. The next call is walked with
/// everything unknown; deeper calls are a `Gap`, because recursion may be endless.
pub(crate) const RECURSION_MAX: usize = 2;

/// Commands walked for one list. The remaining commands become one command with an unknown argument.
pub(crate) const LISTED_CALLS_MAX: usize = 16;

/// Start paths walked one by one. One unknown path replaces the remaining ones.
pub(crate) const SEARCH_STARTS_MAX: usize = 8;

/// Rounds in which `printf` reuses its format for further arguments. The output of later rounds is unknown.
pub(crate) const PRINTF_ROUNDS_MAX: usize = 256;

/// Numbers in the output of `seq`. Longer output is unknown.
pub(crate) const NUMBERS_MAX: u64 = 1000;

/// Characters between brackets. Real sets are shorter, and the limit keeps the search for the end linear. A pattern
/// with a longer set is unknown.
pub(crate) const PATTERN_SET_MAX: usize = 256;

/// Comparisons of a character with a pattern step in one operation. The result of a longer operation is unknown.
pub(crate) const COMPARISONS_MAX: usize = 1 << 18;

/// Nesting depth of the values that a filter of jq makes. Requests have three or four levels; a deeper one is unknown.
pub(crate) const NESTED_VALUES_MAX: usize = 24;

/// Nesting depth of braces. A deeper word is unknown.
pub(crate) const BRACES_DEPTH_MAX: usize = 24;

/// Characters in a brace range. A word with a longer range is unknown.
pub(crate) const BRACES_RANGE_MAX: usize = 64;

/// Background jobs that a loop may start without waiting for them. People start some tens; thousands stop the machine.
pub(crate) const JOBS_MAX: u64 = 1_000;
