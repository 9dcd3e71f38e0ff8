//! Limits of the analysis. A part above a limit is Opaque with its reason; no part is skipped.

/// Units of work for the effects of one call's shell text, in addition to those that the walk of the text leaves. A
/// unit is about 200 ns: one step, one parsed argument, a few stored bytes. Ordinary commands take about fifty.
pub(crate) const WORK_MIN: u64 = 15_000;

/// Additional units for each byte of the text.
pub(crate) const WORK_PER_BYTE: u64 = 2;

/// Additional units that no call may exceed: about 12 ms. A tool's other effects have the same limit again.
pub(crate) const WORK_MAX: u64 = 60_000;

/// Bytes, stored or sent in a query to the world, that cost one unit.
pub(crate) const BYTES_PER_WORK: usize = 16;

/// Units for matching one argument with the model.
pub(crate) const WORK_OF_ARGUMENT: u64 = 2;

/// Units for one effect.
pub(crate) const WORK_OF_EFFECT: u64 = 3;

/// Units for one path: castellan resolves it, and compares it with known paths.
pub(crate) const WORK_OF_PATH: u64 = 10;

/// Units for each unknown component of a path: castellan compares it with every known name.
pub(crate) const WORK_OF_UNSURE: u64 = 60;

/// Factor for paths with `**`, which matches several numbers of directories.
pub(crate) const WORK_OF_DESCENT: u64 = 4;

/// Units for following one link that the call has made; few paths follow more than one.
pub(crate) const WORK_OF_LINK: u64 = 20;

/// Units for looking for a program in one directory of `PATH`: one access to the file system.
pub(crate) const WORK_OF_LOOK: u64 = 5;

/// Units for looking for other names of a file in some three hundred directories of a home, which are listed once.
pub(crate) const WORK_OF_NAMES: u64 = 200;

/// Units for one byte of SQL: parsing short statements takes some 300 ns a byte.
pub(crate) const WORK_OF_SQL_BYTE: u64 = 1;

/// Bytes of a request's body that cost one unit: a search for operations takes some 20 ns a byte.
pub(crate) const BODY_BYTES_PER_WORK: usize = 10;

/// Bytes of one request's body that are searched for operations. Documents have some hundreds; longer bodies carry data.
pub(crate) const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// Fields of a request's mutations that are classified, some 10 µs each. Real documents call up to ten.
pub(crate) const FIELDS_MAX: usize = 200;

/// Bytes of the name of one operation of a service, with the way to it. Real names have up to a hundred.
pub(crate) const OPERATION_BYTES_MAX: usize = 1024;

/// Bytes of a `PATH` in which programs are looked up. A hundred directories take some thousands.
pub(crate) const SEARCH_BYTES_MAX: usize = 32 * 1024;

/// Components of one path, including those of its working directory. Real paths have tens. A path of
/// [`castellan_event::PATH_BYTES_MAX`] bytes could have two thousand, each with a lookup.
pub(crate) const COMPONENTS_MAX: usize = 128;

/// Components of one path that are not fully known. Real paths have up to four; each is compared with every known name.
pub(crate) const UNSURE_COMPONENTS_MAX: usize = 16;

/// Links made by the same call that are followed in one path, as in Linux.
pub(crate) const LINKS_MAX: usize = 40;

/// Bytes of one URL. Browsers and servers stop between 2 and 8 KiB; longer URLs carry data, not addresses.
pub(crate) const URL_BYTES_MAX: usize = 8 * 1024;

/// Bytes of a host: DNS names have at most 253. The rest is room for percent signs and wide characters.
pub(crate) const HOST_BYTES_MAX: usize = 1024;

/// Texts of an MCP call's input, or of a prompt to a web tool, that are searched for paths, URLs and commands. Real
/// calls have tens; each path costs an access to the file system.
pub(crate) const MCP_VALUES_MAX: usize = 256;

/// Bytes of all code files read for one call. Each is read and walked; a project's scripts have some kilobytes.
pub(crate) const SCRIPT_BYTES_MAX: usize = 512 * 1024;

/// Programs in other languages read for one call, including those that they load. They share an amount of work; each
/// also costs an access to the file system.
pub(crate) const PROGRAMS_MAX: usize = 32;

/// Depth of programs that load or run each other. The limit ends circles.
pub(crate) const PROGRAM_DEPTH_MAX: usize = 6;

/// Directories above a command's own that are searched for a manifest. Projects nest a few deep.
pub(crate) const PARENTS_MAX: usize = 8;

/// Bytes of SQL read in one text. Statements written by people and agents end within a few hundred.
pub(crate) const SQL_BYTES_MAX: usize = 64 * 1024;

/// Tokens of a statement for the parser. `1+1+1...` makes a tree as deep as the text is long, and dropping the tree
/// recurses through each level. A stack of 2 MiB holds 2,000 levels many times.
pub(crate) const SQL_TOKENS_MAX: usize = 2_000;

/// Depth of parentheses and other nesting for the parser. The parser tries several readings of some openers, each to
/// the end, so the time doubles with each level.
pub(crate) const SQL_DEPTH_MAX: usize = 12;

/// Joins in a statement. For joins without a condition, the parser recurses without its own limit; people write ten.
pub(crate) const SQL_JOINS_MAX: usize = 40;

/// Statements of one text that are examined one by one.
pub(crate) const SQL_STATEMENTS_MAX: usize = 200;

/// Code files written by a call that are analysed as if they ran. A call writes one or a few.
pub(crate) const WRITTEN_MAX: usize = 16;

/// Tasks of one written file that are analysed as if they ran. Each reads the file again.
pub(crate) const WRITTEN_TASKS_MAX: usize = 24;

/// Files that one makefile, or the settings of one repository, include.
pub(crate) const INCLUDES_MAX: usize = 16;

/// Targets that are made for one target. Makefiles of this size are generated.
pub(crate) const MAKE_TARGETS_MAX: usize = 200;

/// Recipes that run for one recipe.
pub(crate) const JUST_RECIPES_MAX: usize = 100;

/// Tasks and scripts of other runners (Task, Deno, Composer) that run for one. Real ones name about ten.
pub(crate) const TASKS_MAX: usize = 100;

/// Patterns among the session's written paths with which each run or read file is compared. Sessions write a few; above
/// the limit any file may match.
pub(crate) const WRITTEN_PATTERNS_MAX: usize = 64;

/// Unread files of the session of which castellan asks whether they are still there. One is enough for the answer.
pub(crate) const UNREAD_FILES_MAX: usize = 64;

/// Files written by the session that a test runner or builder loads. Agents write a few tests between two runs.
pub(crate) const LOADED_FILES_MAX: usize = 16;

/// Directories searched, for each command, for files that a tool loads by a fixed name. Each costs an access to the
/// file system. A test named by its path lies some ten deep, and a workspace has some hundred packages. Above the
/// limit, loaded files are unknown.
pub(crate) const LOOKED_DIRECTORIES_MAX: usize = 256;

/// Nesting of containers in a YAML file. Files of tasks have about six.
pub(crate) const YAML_DEPTH_MAX: usize = 32;

/// Scalars, containers and their ends in a YAML file. A file of a thousand lines has about five thousand.
pub(crate) const YAML_EVENTS_MAX: usize = 20_000;

/// Commands that read secrets and are remembered. Each is compared with unknown code; real calls read one or two.
pub(crate) const SECRET_READS_MAX: usize = 32;

/// Files of one call that hold what it read from a secret. Each is compared with the paths that later commands send. Calls
/// copy a few.
pub(crate) const SECRET_COPIES_MAX: usize = 256;

/// Parts of a makefile's text that are reported as not expanded.
pub(crate) const MAKEFILE_HOLES_MAX: usize = 32;

/// Nesting of variables and functions. Real makefiles have a few levels; deeper ones are circular.
pub(crate) const MAKE_DEPTH_MAX: usize = 24;

/// Bytes of one expanded text. A command line of Linux has 128 KiB at most.
pub(crate) const MAKE_BYTES_MAX: usize = 64 * 1024;

/// References expanded for one makefile. A variable that names another twice, which names a third twice, doubles the
/// work with each level. Makefiles written by people have some thousands.
pub(crate) const MAKE_STEPS_MAX: usize = 20_000;

/// Possible values of a makefile's variable. Conditions written by people have some branches.
pub(crate) const MAKE_CHOICES_MAX: usize = 8;

/// Possible texts of one makefile line, by the values of its variables. Above the limit the values are unknown.
pub(crate) const MAKE_ALTERNATIVES_MAX: usize = 16;

/// Command outputs in one line of a recipe. The command of each is found again; lines have one or two.
pub(crate) const MAKE_OUTPUTS_MAX: usize = 8;

/// Parts of one text that are reported as not expanded. One is enough; the others help the reader.
pub(crate) const MAKE_HOLES_MAX: usize = 8;

/// Bytes of one parsed manifest in the cache, and of all in the cache of a thread. Real ones have some 3 KiB; parsed
/// they take up to sixteen times as much.
pub(crate) const KEPT_TEXT_BYTES_MAX: usize = 16 * 1024;
pub(crate) const KEPT_TEXTS_BYTES_MAX: usize = 64 * 1024;

/// Files changed by a patch. Patches of whole trees have more; the facts then record that not all are known.
pub(crate) const PATCHED_FILES_MAX: usize = 200;

/// Lines read of a file with a program's options or commands. Real ones have tens.
pub(crate) const LINES_MAX: usize = 200;

/// Git aliases that expand to each other. Git follows any number without a circle; people write one.
pub(crate) const GIT_ALIASES_MAX: usize = 8;

/// Words before the verb in a cloud client's command: services and their groups. After more words the verb is unknown,
/// and an unknown verb changes its target.
pub(crate) const CLOUD_WORDS_MAX: usize = 6;

/// Targets of one cloud client command that its effects name. People name a few.
pub(crate) const CLOUD_TARGETS_MAX: usize = 20;

/// Words that may classify a command whose verbs have no model.
pub(crate) const TOLD_WORDS_MAX: usize = 4;

/// Manifest tables that are searched for packages. Real manifests have tens; a package in a later table is undeclared.
pub(crate) const MANIFEST_TABLES_MAX: usize = 2_000;

/// Words that a makefile loop iterates over. Longer lists are in generated makefiles.
pub(crate) const MAKE_LOOP_MAX: usize = 64;

/// Commands of one build file. Files written by people start some ten programs.
pub(crate) const BUILD_COMMANDS_MAX: usize = 200;

/// Tokens of one command of a build file, and of the head of the block around it. Real ones have some ten. A longer one
/// may hold the rest of the file, as often as the file begins a command.
pub(crate) const BUILD_TOKENS_MAX: usize = 1_000;

/// Bytes of one value in a build file. Values that hold each other double in each line.
pub(crate) const BUILD_VALUE_BYTES_MAX: usize = 4 * 1024;

/// Blocks around a command of a build file whose heads are compared. Two name what runs it.
pub(crate) const BUILD_BLOCKS_MAX: usize = 8;

/// Bytes of the names on the way to one setting. Each text in a file of settings holds them again.
pub(crate) const SETTING_NAME_BYTES_MAX: usize = 512;

/// Paths of the session with which one unit of work compares the name of a module.
pub(crate) const PATHS_PER_WORK: usize = 4;

/// Files of contained commands that a call reports if it runs or loads them. One is enough to stop the call.
pub(crate) const CONTAINED_FILES_REPORTED_MAX: usize = 8;
