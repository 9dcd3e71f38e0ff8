//! Limits of the analysis. Over a limit is Opaque with its reason, never a part left out.

/// Units of work for the effects of one call's shell text, besides those that walking it has left. A unit is about 200 ns: a step, an argument that is read, a few
/// bytes that are kept. Ordinary commands take about fifty.
pub(crate) const WORK_MIN: u64 = 15_000;

/// Further units for each byte of the text.
pub(crate) const WORK_PER_BYTE: u64 = 2;

/// Units of its own that no call may exceed: about 12 ms. What a tool does besides shell text has as many again.
pub(crate) const WORK_MAX: u64 = 60_000;

/// Bytes that are kept, or asked the world about, that cost one unit.
pub(crate) const BYTES_PER_WORK: usize = 16;

/// Units that an argument costs of which the model is asked what it is.
pub(crate) const WORK_OF_ARGUMENT: u64 = 2;

/// Units that an effect costs.
pub(crate) const WORK_OF_EFFECT: u64 = 3;

/// Units that a path costs: it is resolved, and compared with what castellan knows.
pub(crate) const WORK_OF_PATH: u64 = 10;

/// Units that each part of a path costs that is not known: it is compared with every name that castellan knows.
pub(crate) const WORK_OF_UNSURE: u64 = 60;

/// So many times as much where `**` is among them: it stands for several numbers of directories.
pub(crate) const WORK_OF_DESCENT: u64 = 4;

/// Units that it costs to follow a link that the call has made; few follow more than one.
pub(crate) const WORK_OF_LINK: u64 = 20;

/// Units that it costs to look for a program in one directory of `PATH`: the world looks at a file for it.
pub(crate) const WORK_OF_LOOK: u64 = 5;

/// Units that a byte of SQL costs: short statements are parsed at some 300 ns a byte.
pub(crate) const WORK_OF_SQL_BYTE: u64 = 1;

/// Bytes of a `PATH` in which programs are looked up. Those of a hundred directories have some thousands.
pub(crate) const SEARCH_BYTES_MAX: usize = 32 * 1024;

/// Components of one path, those of the directory that it is seen from with it. Real ones have tens; a path of
/// [`castellan_event::PATH_BYTES_MAX`] bytes could have two thousand, each of which is looked up.
pub(crate) const COMPONENTS_MAX: usize = 128;

/// Components of one path that are not wholly known. Real ones have up to four; each is compared with every name that
/// castellan knows.
pub(crate) const UNSURE_COMPONENTS_MAX: usize = 16;

/// Links that are followed in one path of those that the same call makes, as in Linux.
pub(crate) const LINKS_MAX: usize = 40;

/// Bytes of one URL. Browsers and servers stop between 2 and 8 KiB; longer ones carry data, not addresses.
pub(crate) const URL_BYTES_MAX: usize = 8 * 1024;

/// Bytes of a host: DNS names have at most 253. The rest is room for percent signs and wide characters.
pub(crate) const HOST_BYTES_MAX: usize = 1024;

/// Texts of an MCP call's input, or of a prompt to a web tool, that are looked at for paths, URLs and commands. Real calls have tens; each path costs a
/// look at the file system.
pub(crate) const MCP_VALUES_MAX: usize = 256;

/// Bytes of all files with code that are read for one call. Each is read and walked; a project's scripts have some kilobytes.
pub(crate) const SCRIPT_BYTES_MAX: usize = 512 * 1024;

/// Programs in other languages that are read for one call, those that load each other included. They share an amount of work; each
/// costs a look at the file system besides.
pub(crate) const PROGRAMS_MAX: usize = 32;

/// Programs that load or run each other in turn. Circles end here.
pub(crate) const PROGRAM_DEPTH_MAX: usize = 6;

/// Directories above a command's own in which a manifest is looked for. Projects nest a few deep.
pub(crate) const PARENTS_MAX: usize = 8;

/// Bytes of SQL in one text that are read. Statements that people and agents write by hand end within a few hundred.
pub(crate) const SQL_BYTES_MAX: usize = 64 * 1024;

/// Tokens of a statement that the parser is given. It makes a tree as deep as `1+1+1...` is long, which is taken down level
/// by level: 2,000 fit into a stack of 2 MiB many times.
pub(crate) const SQL_TOKENS_MAX: usize = 2_000;

/// Depth of parentheses, and of what else nests, that the parser follows. It tries several readings of some openers, each
/// time down to the end: the time doubles with each level.
pub(crate) const SQL_DEPTH_MAX: usize = 12;

/// Joins in a statement that the parser is given. One without a condition makes it call itself for the next, which nothing
/// in it bounds; people write ten.
pub(crate) const SQL_JOINS_MAX: usize = 40;

/// Statements of one text that are looked at one by one.
pub(crate) const SQL_STATEMENTS_MAX: usize = 200;

/// Files with code that a call writes and that are looked at as if they were run. A call writes one or a few.
pub(crate) const WRITTEN_MAX: usize = 16;

/// Tasks of one file that is written and that are looked at as if they were run. Each has the file read again.
pub(crate) const WRITTEN_TASKS_MAX: usize = 24;

/// Files that one makefile includes.
pub(crate) const INCLUDES_MAX: usize = 16;

/// Targets that are made for one. Makefiles of this size are generated.
pub(crate) const MAKE_TARGETS_MAX: usize = 200;

/// Recipes that run for one.
pub(crate) const JUST_RECIPES_MAX: usize = 100;

/// Tasks and scripts of other runners (Task, Deno, Composer) that run for one. Real ones name about ten.
pub(crate) const TASKS_MAX: usize = 100;

/// Patterns among the paths that a session wrote that a file is compared with, each time one is run or read. Sessions write by a few;
/// with more, any file may be meant.
pub(crate) const WRITTEN_PATTERNS_MAX: usize = 64;

/// Files that a test runner or builder loads and that the session wrote. Each is read; agents write a few tests between two runs.
pub(crate) const LOADED_FILES_MAX: usize = 16;

/// Directories in which files are looked for that a tool loads by a fixed name, for each command. Each costs a look; a test that is named by
/// its path lies some ten deep, and a workspace has some hundred packages. With more, what is loaded is not known.
pub(crate) const LOOKED_DIRECTORIES_MAX: usize = 256;

/// Containers in each other in a file of YAML. Files of tasks have about six.
pub(crate) const YAML_DEPTH_MAX: usize = 32;

/// Scalars, containers and their ends in a file of YAML. A file of a thousand lines has about five thousand.
pub(crate) const YAML_EVENTS_MAX: usize = 20_000;

/// Commands that read secrets and are remembered: each is compared with code that is not known. Real calls read one or two.
pub(crate) const SECRET_READS_MAX: usize = 32;

/// Parts of a makefile's text that are said to be left out of its expansion.
pub(crate) const MAKEFILE_HOLES_MAX: usize = 32;

/// Levels of variables and functions in each other. Real makefiles have a few; deeper ones go round in circles.
pub(crate) const MAKE_DEPTH_MAX: usize = 24;

/// Bytes of one expanded text. A command line of Linux has 128 KiB at most.
pub(crate) const MAKE_BYTES_MAX: usize = 64 * 1024;

/// References that are expanded for one makefile. A variable that names another twice, and that one a third twice, doubles the
/// work with each level; makefiles that people write have some thousands.
pub(crate) const MAKE_STEPS_MAX: usize = 20_000;

/// Values that a makefile's variable is known to have one of. Conditions that people write have some branches.
pub(crate) const MAKE_CHOICES_MAX: usize = 8;

/// Texts that one line of a makefile may be, by the values of its variables. With more of them it is not known which values count.
pub(crate) const MAKE_ALTERNATIVES_MAX: usize = 16;

/// Outputs of code in one line of a recipe. Each has its code found again; lines have one or two.
pub(crate) const MAKE_OUTPUTS_MAX: usize = 8;

/// Parts of one text that are said to be left out. One is enough to say it; the others help the reader.
pub(crate) const MAKE_HOLES_MAX: usize = 8;

/// Bytes of a manifest that is kept as it was parsed, and of all that are, for each thread. Real ones have some 3 KiB; parsed they take
/// up to sixteen times as much.
pub(crate) const KEPT_TEXT_BYTES_MAX: usize = 16 * 1024;
pub(crate) const KEPT_TEXTS_BYTES_MAX: usize = 64 * 1024;

/// Files that a patch is taken to change. Patches of whole trees have more; then it is said that not all are known.
pub(crate) const PATCHED_FILES_MAX: usize = 200;

/// Lines of a file with options or commands of a program that are read. Real ones have tens.
pub(crate) const LINES_MAX: usize = 200;

/// Aliases of git that stand for each other in turn. git follows any number that does not go round; people write one.
pub(crate) const GIT_ALIASES_MAX: usize = 8;

/// Words of a cloud client's command before its verb: services and groups of them. A verb that follows more words is not
/// known, and an unknown verb changes its target.
pub(crate) const CLOUD_WORDS_MAX: usize = 6;

/// Targets of one command of a cloud client, which its effects name. People name a few.
pub(crate) const CLOUD_TARGETS_MAX: usize = 20;

/// Words of a command that has no model of its verbs which may say what the command is about.
pub(crate) const TOLD_WORDS_MAX: usize = 4;

/// Tables of a manifest in which packages are looked for. Real ones have tens; a package that stands in a later one is
/// not declared.
pub(crate) const MANIFEST_TABLES_MAX: usize = 2_000;

/// Words that a loop of a makefile goes over. Longer lists are of generated makefiles.
pub(crate) const MAKE_LOOP_MAX: usize = 64;
