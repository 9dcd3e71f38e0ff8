//! Limits on what shell text can make large. Over a limit is a [`crate::tree::Hole`] with its reason, never a silent cut.

/// Bytes of text that are parsed at once. Agents' longest commands (a file in a heredoc) are shorter; time and memory of
/// the parser grow with it. Of longer text as many statements are
/// parsed as [`PARSER_STEPS_MAX`] allows.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes that are parsed at once of text that is too long, or too much work as a whole. What is cut off at their end is parsed again with the next ones; little is
/// lost where the budget ends.
pub(crate) const WINDOW_BYTES: usize = 2 << 10;

/// Bytes of text of which at most [`TEXT_BYTES_MAX`] lie outside of quoted heredocs: those are copied, not parsed. Agents
/// write files with them; a call is at most this large.
pub(crate) const CUT_TEXT_BYTES_MAX: usize = 1 << 20;

/// Levels of nesting that the parser is let into: bounds its stack, and that of everything that walks the tree.
pub(crate) const PARSER_DEPTH_MAX: usize = 40;

/// Levels of text in text that is parsed again (backquotes in backquotes, `<<-` bodies, arithmetic): each level has a
/// parser of its own on the stack.
pub(crate) const REPARSE_DEPTH_MAX: u32 = 6;

/// Bytes that are parsed again, all levels together, for each byte of the text, and at least [`REPARSE_BYTES_MIN`].
pub(crate) const REPARSE_FACTOR_MAX: usize = 4;

/// See [`REPARSE_FACTOR_MAX`].
pub(crate) const REPARSE_BYTES_MIN: usize = 4 << 10;

/// Steps of the parser for each byte of text: of 8,700 real texts none of more than 200 bytes needs 0.9, none of more than
/// 4 KiB 0.6. It is work that doubles with each level of nesting, or grows with the square of the text, which is bounded here.
pub(crate) const PARSER_STEPS_PER_BYTE: usize = 1;

/// Steps that any text may take: short ones have room for what is written densely.
pub(crate) const PARSER_STEPS_MIN: usize = 3_000;

/// Steps that no text may exceed: a step takes about 0.5 µs. Real texts of nearly [`TEXT_BYTES_MAX`] take 17,000.
pub(crate) const PARSER_STEPS_MAX: usize = 24_000;

// Walking

/// Units of work for one text, its parsing included. A unit is a step of the walk, a copied variable or a few bytes of made
/// text: about 200 ns, so that a short hostile text costs some milliseconds. Ordinary commands take about thirty units.
pub(crate) const WORK_MIN: u64 = 50_000;

/// Further units for each byte of the text: a long script has more to do.
pub(crate) const WORK_PER_BYTE: u64 = 4;

/// Units that no text may exceed: about 24 ms. Of 8,700 real texts 110 need more, most of them without end: loops and
/// functions that multiply each other.
pub(crate) const WORK_MAX: u64 = 120_000;

/// Further units for all files with code that a text runs, about 20 ms: a few long scripts.
pub(crate) const WORK_FOR_FILES_MAX: u64 = 100_000;

/// Files that the text wrote which are looked for in the arguments of one command, and arguments that are looked at as paths.
/// Scripts are the first ones, and calls write a few files.
pub(crate) const MADE_FILES_MAX: usize = 16;

/// Texts of files that are told of what one text writes. Calls write a few files; the contents of more count as not known.
pub(crate) const WRITTEN_FILES_MAX: usize = 64;

/// Units that parsing a text costs before its first byte.
pub(crate) const WORK_OF_PARSING: u64 = 50;

/// Units that a step of the parser costs.
pub(crate) const WORK_PER_STEP: u64 = 2;

/// Bytes of made text that cost one unit of work: what makes it looks at each character.
pub(crate) const BYTES_PER_WORK: u64 = 32;

/// Bytes that cost one unit where they are only copied.
pub(crate) const COPIED_PER_WORK: u64 = 256;

/// Entries of a table or list that cost one unit where it is copied: each counts a reference.
pub(crate) const ENTRIES_PER_WORK: u64 = 4;

/// Comparisons of a character with a step of a pattern that cost one unit.
pub(crate) const COMPARISONS_PER_WORK: usize = 128;

/// Bytes of arithmetic that cost one unit: each level of operators looks at the same place.
pub(crate) const ARITHMETIC_BYTES_PER_WORK: usize = 1;

/// Arguments of one command; one more stands for the others. Real lists have hundreds, and of each path the world is asked.
pub(crate) const ARGUMENTS_MAX: usize = 2_000;

/// Traps of one shell. Real scripts set a few; each is compared with the others, and runs at the end.
pub(crate) const TRAPS_MAX: usize = 32;

/// Characters of a set of `tr`. Real ones have at most the letters and digits.
pub(crate) const SET_CHARS_MAX: usize = 4096;

/// Ranges in the list of `cut`: each is compared with every field. Real lists have a few.
pub(crate) const RANGES_MAX: usize = 32;

/// Things that are found in one text. Scripts of a thousand lines have about as many commands.
pub(crate) const ITEMS_MAX: usize = 3_000;

/// Statements, substitutions and calls inside each other, those of texts that are run in turn included. Real scripts reach
/// about fifteen. Each level takes some kilobytes of stack.
pub(crate) const DEPTH_MAX: usize = 80;

/// Texts run by texts: `eval`, `bash -c`, aliases, functions. Deeper ones exist only to hide.
pub(crate) const TEXT_DEPTH_MAX: usize = 16;

/// Values that a variable may have at one point of the text. More than a few come from loops, where they say nothing.
pub(crate) const VALUES_MAX: usize = 8;

/// Ways in which one command may be read, when several of its variables have several values.
pub(crate) const CHOICES_MAX: usize = 16;

/// Rounds of a loop over literal words or lines that are walked one by one.
pub(crate) const ROUNDS_MAX: usize = 64;

/// Rounds of a loop whose end is not known, after which everything is unknown: one with what was known, one with what the first
/// changed, one to see that nothing else changes.
pub(crate) const REPEATS_MAX: usize = 4;

/// Words that the braces of one word may become.
pub(crate) const BRACES_MAX: usize = 256;

/// Characters that are copied to expand the braces of one word, those of words on the way to the last ones too.
pub(crate) const BRACE_COPIES_MAX: usize = 32 * 1024;

/// Copied characters of brace expansion that cost one unit.
pub(crate) const BRACE_COPIES_PER_WORK: usize = 8;

/// Bytes of a directory that the shell is in: the kernel's `PATH_MAX`.
pub(crate) const DIRECTORY_BYTES_MAX: usize = 4096;

/// Bytes of one value. Longer ones are no arguments: Linux refuses them (`MAX_ARG_STRLEN` is 128 KiB).
pub(crate) const VALUE_BYTES_MAX: usize = 128 * 1024;

/// Bytes of a command as it would be typed. Rules compare with this text, so one whole argument of Linux fits into it. A longer
/// command leaves a hole.
pub(crate) const LINE_BYTES_MAX: usize = VALUE_BYTES_MAX;

/// Bytes of source text that are shown for a part that is not known.
pub(crate) const WRITTEN_BYTES_MAX: usize = 200;

/// Variables whose value names a further one, followed in turn; bash itself warns of circles.
pub(crate) const NAMES_FOLLOWED_MAX: usize = 8;

/// Levels of an arithmetic expression, and of variables whose value is one.
pub(crate) const ARITHMETIC_DEPTH_MAX: usize = 24;

/// Digits in one field of `printf`: a width of a million would make a text of a million blanks.
pub(crate) const PRINTF_WIDTH_MAX: usize = 1024;

/// Wrappers around one command. Real ones have up to five; each reads all the arguments that are left.
pub(crate) const WRAPPERS_MAX: usize = 16;

/// Bytes of a compiled pattern of `sed`. Those of command lines take some kilobytes.
pub(crate) const REGEX_BYTES_MAX: usize = 64 * 1024;

/// Units that a script of `sed` costs before its first byte: patterns are compiled, each in up to 100 µs.
pub(crate) const WORK_OF_SED: u64 = 500;

/// Parts of what a program of `awk` prints: each is made for each line. Those of command lines have a few.
pub(crate) const AWK_PARTS_MAX: usize = 64;

/// Components of one word that are patterns and may stand for hidden names. Each doubles the arguments that the word becomes; real ones
/// have one or two.
pub(crate) const HIDDEN_PATTERNS_MAX: usize = 3;

/// Characters of one pattern of names (`[...]`, `@(...)`) that its end is looked for in. Of a longer one the rest of the name is
/// part of the pattern. Real ones have tens; the look at each bracket in a word begins anew.
pub(crate) const PATTERN_CHARS_MAX: usize = 64;

/// Calls of a function inside itself that are walked with what is known. One more is walked with nothing known, and what would
/// come after that is a gap: a function that calls itself may do so for ever.
pub(crate) const RECURSION_MAX: usize = 2;

/// Commands that one list is walked with; the rest is one more with an argument that is not known.
pub(crate) const LISTED_CALLS_MAX: usize = 16;

/// Start paths that are walked one by one. One path that is not known replaces all further ones.
pub(crate) const SEARCH_STARTS_MAX: usize = 8;

/// Rounds that `printf` uses its format again for further arguments. The output of further rounds is not known.
pub(crate) const PRINTF_ROUNDS_MAX: usize = 256;

/// Numbers that `seq` writes at most. A longer output is not known.
pub(crate) const NUMBERS_MAX: u64 = 1000;

/// Characters between brackets. No real set is longer, and the limit keeps the search for the end linear. A pattern with a longer
/// set is not known.
pub(crate) const PATTERN_SET_MAX: usize = 256;

/// Comparisons of a character with a step of a pattern, for one operation. The result of more work is not known.
pub(crate) const COMPARISONS_MAX: usize = 1 << 18;

/// Braces inside each other that are still followed. A deeper word is not known.
pub(crate) const BRACES_DEPTH_MAX: usize = 24;

/// Characters between the braces of a range. A word with a longer range is not known.
pub(crate) const BRACES_RANGE_MAX: usize = 64;
