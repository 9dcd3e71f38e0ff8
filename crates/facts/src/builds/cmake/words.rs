//! The words of CMake 3.31 that start programs, end their arguments or name files.

/// Words that end a `COMMAND` of another command.
pub(super) const KEYWORDS: &[&str] = &[
    "ALL",
    "APPEND",
    "BYPRODUCTS",
    "COMMAND_ECHO",
    "COMMAND_ERROR_IS_FATAL",
    "COMMAND_EXPAND_LISTS",
    "COMMENT",
    "CONFIGURATIONS",
    "DEPENDS",
    "DEPENDS_EXPLICIT_ONLY",
    "DEPFILE",
    "ECHO_ERROR_VARIABLE",
    "ECHO_OUTPUT_VARIABLE",
    "ENCODING",
    "ERROR_FILE",
    "ERROR_QUIET",
    "ERROR_STRIP_TRAILING_WHITESPACE",
    "ERROR_VARIABLE",
    "IMPLICIT_DEPENDS",
    "INPUT_FILE",
    "JOB_POOL",
    "JOB_SERVER_AWARE",
    "MAIN_DEPENDENCY",
    "OUTPUT",
    "OUTPUT_FILE",
    "OUTPUT_QUIET",
    "OUTPUT_STRIP_TRAILING_WHITESPACE",
    "OUTPUT_VARIABLE",
    "POST_BUILD",
    "PRE_BUILD",
    "PRE_LINK",
    "RESULTS_VARIABLE",
    "RESULT_VARIABLE",
    "SOURCES",
    "TIMEOUT",
    "USES_TERMINAL",
    "VERBATIM",
    "WORKING_DIRECTORY",
];

/// Commands with `COMMAND` parts.
pub(super) const STARTING: &[&str] =
    &["add_custom_command", "add_custom_target", "add_test", "execute_process"];

/// The sign between the elements of a list.
pub(super) const LIST: &str = ";";

/// Ends of variables with programs that the build starts.
pub(super) const RUN_BY_BUILD: &[&str] = &["_COMPILER", "_COMPILER_LAUNCHER", "_LINKER_LAUNCHER"];

/// Variables of CMake itself. `None`: the directory of the file, which is that of the project in most files.
pub(super) const VARIABLES: &[(&str, Option<&str>)] = &[
    ("CMAKE_BINARY_DIR", Some("build")),
    ("CMAKE_COMMAND", Some("cmake")),
    ("CMAKE_CTEST_COMMAND", Some("ctest")),
    ("CMAKE_CURRENT_BINARY_DIR", Some("build")),
    ("CMAKE_CURRENT_LIST_DIR", None),
    ("CMAKE_CURRENT_SOURCE_DIR", None),
    ("CMAKE_CXX_COMPILER", Some("c++")),
    ("CMAKE_C_COMPILER", Some("cc")),
    ("CMAKE_MAKE_PROGRAM", Some("make")),
    ("CMAKE_SOURCE_DIR", None),
    ("PROJECT_BINARY_DIR", Some("build")),
    ("PROJECT_SOURCE_DIR", None),
    ("PYTHON_EXECUTABLE", Some("python3")),
    ("Python3_EXECUTABLE", Some("python3")),
    ("Python_EXECUTABLE", Some("python3")),
];

/// Variables with files that CMake runs.
pub(super) const LOADED_BY_CMAKE: &[&str] = &[
    "CMAKE_*_INCLUDE",
    "CMAKE_*_INCLUDE_BEFORE",
    "CMAKE_PROJECT_INCLUDE",
    "CMAKE_TOOLCHAIN_FILE",
    "CMAKE_USER_MAKE_RULES_OVERRIDE*",
];
