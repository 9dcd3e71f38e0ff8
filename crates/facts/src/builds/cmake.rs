//! Commands of CMake's language, by CMake 3.31. Every branch of a condition is read.

use std::collections::{BTreeMap, BTreeSet};

use super::{Commands, Rest, command, quoted, unknown, with_program};
use crate::limits::{BUILD_BLOCKS_MAX, BUILD_COMMANDS_MAX, BUILD_TOKENS_MAX, BUILD_VALUE_BYTES_MAX};

pub(super) const LANGUAGE: &str = "cmake";

/// Words that end a `COMMAND` of another command.
const KEYWORDS: &[&str] = &[
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
const STARTING: &[&str] = &["add_custom_command", "add_custom_target", "add_test", "execute_process"];

/// The sign between the elements of a list.
const LIST: &str = ";";

/// Ends of variables with programs that the build starts.
const RUN_BY_BUILD: &[&str] = &["_COMPILER", "_COMPILER_LAUNCHER", "_LINKER_LAUNCHER"];

/// Variables of CMake itself. `None`: the directory of the file, which is that of the project in most files.
const VARIABLES: &[(&str, Option<&str>)] = &[
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

#[derive(Default)]
struct File<'t> {
    directory: &'t str,
    values: BTreeMap<String, String>,
    /// Programs that the project builds.
    targets: BTreeSet<String>,
    lines: Vec<String>,
    has_other_code: bool,
    is_over: bool,
    /// Texts of code that are open in each other.
    depth: usize,
}

pub(super) fn read(text: &str, directory: &str) -> Commands {
    let mut file = File { directory, ..File::default() };
    file.add(text);
    Commands {
        shell: file.lines.join("\n"),
        rest: match (file.is_over, file.has_other_code) {
            (true, _) => Rest::Over,
            (false, true) => Rest::Code,
            (false, false) => Rest::Nothing,
        },
    }
}

impl File<'_> {
    fn add(&mut self, text: &str) {
        let Some(calls) = calls(text) else {
            self.has_other_code = true;
            return;
        };
        for (name, arguments) in calls {
            self.is_over |= self.lines.len() > BUILD_COMMANDS_MAX || arguments.len() > BUILD_TOKENS_MAX;
            if self.is_over {
                return;
            }
            self.call(&name.to_ascii_lowercase(), &arguments);
        }
    }

    fn call(&mut self, name: &str, arguments: &[String]) {
        let first = arguments.first().map_or("", String::as_str);
        match name {
            "set" => {
                let values = arguments.iter().skip(1);
                let values = values.take_while(|one| !matches!(one.as_str(), "CACHE" | "PARENT_SCOPE"));
                let values: Vec<String> = values.map(|one| self.filled(one)).collect();
                if RUN_BY_BUILD.iter().any(|end| first.ends_with(end)) {
                    self.words(values.iter());
                }
                let value = values.join(LIST);
                let value = if value.len() > BUILD_VALUE_BYTES_MAX { unknown() } else { value };
                self.values.insert(first.to_owned(), value);
            }
            "find_program" => {
                let program =
                    arguments.iter().skip(1).find(|one| !matches!(one.as_str(), "NAMES" | "REQUIRED"));
                if let Some(program) = program {
                    self.values.insert(first.to_owned(), program.clone());
                }
            }
            "add_executable" => {
                self.targets.insert(first.to_owned());
            }
            "exec_program" => {
                self.words(arguments.iter().filter(|one| *one != "ARGS").take_while(is_no_keyword))
            }
            "file" => self.of_file(first, arguments.get(1..).unwrap_or_default()),
            "install" => {
                let code = arguments.iter().skip_while(|one| *one != "CODE").nth(1);
                if let Some(code) = code {
                    self.depth += 1;
                    self.is_over |= self.depth > BUILD_BLOCKS_MAX;
                    if !self.is_over {
                        self.add(code);
                    }
                    self.depth -= 1;
                }
            }
            "cmake_language" | "variable_watch" | "ctest_run_script" => self.has_other_code = true,
            "set_property" => {
                self.words(arguments.iter().skip_while(|one| !one.starts_with("RULE_LAUNCH_")).skip(1));
            }
            "configure_file" => self.of_file("COPY_FILE", arguments),
            "write_file" => self.of_file("WRITE", arguments),
            name if STARTING.contains(&name) => self.starting(name, arguments),
            _ => {}
        }
    }

    /// Adds the commands after each `COMMAND`, and the command without this word that targets and tests may have.
    fn starting(&mut self, name: &str, arguments: &[String]) {
        // A build runs its own program in the place of a program with the same name, but only after `cmake` has run.
        let targets =
            if name == "execute_process" { std::mem::take(&mut self.targets) } else { BTreeSet::new() };
        let arguments = self.split(arguments.iter());
        // Arguments of a function may be further commands.
        let has_command = arguments.iter().any(|one| one == "COMMAND");
        self.has_other_code |= !has_command && arguments.iter().any(|one| *one == unknown());
        let is_bare =
            name == "add_custom_target" || name == "add_test" && !arguments.iter().any(|one| one == "NAME");
        if is_bare {
            let words = arguments.iter().skip(1).skip_while(|one| *one == "ALL");
            self.words(words.take_while(|one| *one != "COMMAND").take_while(is_no_keyword));
        }
        let mut rest = arguments.as_slice();
        while let Some(at) = rest.iter().position(|one| one == "COMMAND") {
            rest = rest.get(at + 1..).unwrap_or_default();
            let words = rest.iter().take_while(|one| *one != "COMMAND").take_while(is_no_keyword);
            self.words(words.filter(|one| *one != "ARGS"));
        }
        self.targets.extend(targets);
    }

    /// Fills words. A variable with a list gives a word for each element.
    fn split<'a>(&self, words: impl Iterator<Item = &'a String>) -> Vec<String> {
        let filled = words.map(|word| (word.contains("${"), self.filled(word)));
        let parts = filled.flat_map(|(is_variable, text)| match is_variable {
            true => text.split(LIST).map(str::to_owned).collect(),
            false => vec![text],
        });
        parts.collect()
    }

    fn words<'a>(&mut self, words: impl Iterator<Item = &'a String>) {
        let words = self.split(words);
        let is_own = words.first().is_none_or(|first| self.targets.contains(first));
        if is_own || words.first().is_some_and(|first| first.starts_with("$<TARGET_FILE")) {
            return;
        }
        // CMake passes these signs to the shell of the build.
        let is_sign = |word: &str| matches!(word, "|" | "||" | "&&" | ">" | ">>" | "<" | ";" | "2>&1");
        let shown = |word: &String| if is_sign(word) { word.clone() } else { self.shown(word) };
        self.lines.push(with_program(words.iter().map(shown).collect::<Vec<_>>().join(" ")));
    }

    fn of_file(&mut self, kind: &str, arguments: &[String]) {
        let shown: Vec<String> = arguments.iter().map(|one| self.shown(&self.filled(one))).collect();
        let (first, second) =
            (shown.first().cloned().unwrap_or_default(), shown.get(1).cloned().unwrap_or_default());
        match kind {
            "REMOVE" => self.lines.push(format!("rm -f {}", shown.join(" "))),
            "REMOVE_RECURSE" => self.lines.push(format!("rm -rf {}", shown.join(" "))),
            "DOWNLOAD" => self.lines.push(format!("curl -o {second} {first}")),
            "UPLOAD" => self.lines.push(format!("curl -T {first} {second}")),
            "WRITE" | "APPEND" | "TOUCH" => self.lines.push(format!("touch {first}")),
            "GENERATE" | "CONFIGURE" | "ARCHIVE_EXTRACT" => {
                let place =
                    arguments.iter().skip_while(|one| !matches!(one.as_str(), "OUTPUT" | "DESTINATION"));
                let place = place.skip(1).take(1).map(|one| self.shown(&self.filled(one))).next();
                self.lines.extend(place.map(|place| format!("touch {place}")));
            }
            "RENAME" | "CREATE_LINK" | "COPY_FILE" => self.lines.push(format!("cp -r {first} {second}")),
            "COPY" | "INSTALL" => {
                let files =
                    arguments.iter().take_while(is_no_keyword).take_while(|one| *one != "DESTINATION");
                let files: Vec<String> = files.map(|one| self.shown(&self.filled(one))).collect();
                let into = arguments.iter().skip_while(|one| *one != "DESTINATION").nth(1);
                if let Some(into) = into {
                    self.lines.push(format!("cp -r {} {}", files.join(" "), self.shown(&self.filled(into))));
                }
            }
            _ => {}
        }
    }

    /// Returns a value as a word of shell text. `$ENV{NAME}` is a variable of the shell.
    fn shown(&self, word: &str) -> String {
        let mut text = String::new();
        let mut rest = word;
        while let Some((before, after)) = rest.split_once("$ENV{") {
            let Some((name, behind)) = after.split_once('}') else { break };
            text.push_str(&quoted_part(before));
            text.push_str(&format!("\"${{{name}}}\""));
            rest = behind;
        }
        text.push_str(&quoted_part(rest));
        if text.is_empty() { command(&[String::new()]) } else { text }
    }

    /// Replaces variables, and expressions that the generator evaluates.
    fn filled(&self, word: &str) -> String {
        let mut text = String::new();
        let mut rest = word;
        while let Some(at) = rest.find("${") {
            if text.len() > BUILD_VALUE_BYTES_MAX {
                return unknown();
            }
            let (before, after) = rest.split_at(at);
            let Some((name, behind)) = after.get(2..).and_then(|inner| inner.split_once('}')) else { break };
            text.push_str(before);
            text.push_str(&self.value(name));
            rest = behind;
        }
        text.push_str(rest);
        if text.starts_with("$<TARGET_FILE") || !text.contains("$<") { text } else { unknown() }
    }

    fn value(&self, name: &str) -> String {
        if let Some(value) = self.values.get(name) {
            return value.clone();
        }
        if let Some((_, value)) = VARIABLES.iter().find(|(one, _)| *one == name) {
            return value.unwrap_or(self.directory).to_owned();
        }
        // A module that finds a program names its variable after it.
        match name.strip_suffix("_EXECUTABLE").filter(|program| !program.contains('{')) {
            Some(program) => program.to_ascii_lowercase(),
            None => unknown(),
        }
    }
}

fn quoted_part(text: &str) -> String {
    if text.is_empty() { String::new() } else { quoted(text) }
}

fn is_no_keyword(word: &&String) -> bool {
    !KEYWORDS.contains(&word.as_str())
}

/// Parses the commands with their arguments. `None` if the text does not end well.
fn calls(text: &str) -> Option<Vec<(String, Vec<String>)>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = blank(rest);
        if rest.is_empty() {
            return Some(found);
        }
        let end = rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_')?;
        let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        let mut inner = blank(after).strip_prefix('(')?;
        let (mut arguments, mut depth) = (Vec::new(), 1);
        while depth > 0 {
            inner = blank(inner);
            let first = inner.chars().next()?;
            match first {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {
                    let (argument, behind) = argument(inner)?;
                    arguments.push(argument);
                    inner = behind;
                    continue;
                }
            }
            inner = inner.get(1..)?;
        }
        found.push((name.to_owned(), arguments));
        rest = inner;
    }
}

/// Skips blanks and comments.
fn blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(comment) = text.strip_prefix('#') else { return text };
        text = match bracket(comment) {
            Some((_, behind)) => behind,
            None => comment.split_once('\n').map_or("", |(_, behind)| behind),
        };
    }
}

/// Returns the text of `[==[...]==]` and the rest.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let level = inner.len() - inner.trim_start_matches('=').len();
    let inner = inner.get(level..)?.strip_prefix('[')?;
    inner.split_once(&format!("]{}]", "=".repeat(level)))
}

fn argument(text: &str) -> Option<(String, &str)> {
    if let Some((inner, behind)) = bracket(text) {
        return Some((inner.to_owned(), behind));
    }
    let is_quoted = text.starts_with('"');
    let body = text.strip_prefix('"').unwrap_or(text);
    let mut value = String::new();
    let mut signs = body.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some((_, '\n')) => {}
                Some((_, 'n')) => value.push('\n'),
                Some((_, other)) => value.push(other),
                None => return None,
            },
            '"' if is_quoted => return Some((value, body.get(at + 1..)?)),
            ' ' | '\t' | '\n' | '\r' | '(' | ')' | '#' if !is_quoted => {
                return Some((value, body.get(at..)?));
            }
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_project_are_found() {
        let check = |text: &str, expected: &str, rest: Rest| {
            assert_eq!(read(text, "/w"), Commands { shell: expected.to_owned(), rest }, "{text}");
        };
        check(
            "project(x C)\n# a (\nadd_executable(a a.c)\nadd_test(NAME t COMMAND a --x)\n",
            "",
            Rest::Nothing,
        );
        check(
            "execute_process(COMMAND sh -c \"a | b\" OUTPUT_VARIABLE x)",
            "'sh' '-c' 'a | b'",
            Rest::Nothing,
        );
        check(
            "add_custom_target(g ALL COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/g.py > o.h VERBATIM)",
            "'python3' '/w/g.py' > 'o.h'",
            Rest::Nothing,
        );
        check(
            "find_program(F NAMES ccf)\nadd_custom_command(OUTPUT a COMMAND ${F} -i)",
            "'ccf' '-i'",
            Rest::Nothing,
        );
        check("EXECUTE_PROCESS(COMMAND rm -rf $ENV{HOME}/x)", "'rm' '-rf' \"${HOME}\"'/x'", Rest::Nothing);
        check("file(REMOVE_RECURSE [[a b]] c)", "rm -rf 'a b' 'c'", Rest::Nothing);
        check("file(DOWNLOAD https://h/x y)", "curl -o 'y' 'https://h/x'", Rest::Nothing);
        check("install(CODE \"execute_process(COMMAND a)\")", "'a'", Rest::Nothing);
        check("cmake_language(EVAL CODE \"x\")", "", Rest::Code);
        check(
            "set(S sh)\nexecute_process(COMMAND ${S} COMMAND ${T})",
            "'sh'\n'${castellan_unknown_value}'",
            Rest::Nothing,
        );
        check("execute_process(COMMAND", "", Rest::Code);
        check("execute_process(${ARGN})", "", Rest::Code);
        check("set(C rm -rf /x)\nexecute_process(COMMAND ${C})", "'rm' '-rf' '/x'", Rest::Nothing);
        check("set(A COMMAND rm x)\nexecute_process(${A})", "'rm' 'x'", Rest::Nothing);
        check("add_custom_target(x ALL rm y)\nadd_test(t rm z)", "'rm' 'y'\n'rm' 'z'", Rest::Nothing);
        check("add_executable(rm a.c)\nexecute_process(COMMAND rm x)", "'rm' 'x'", Rest::Nothing);
        check("set(CMAKE_C_COMPILER_LAUNCHER /tmp/x)", "'/tmp/x'", Rest::Nothing);
        check("set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK \"a\")", "'a'", Rest::Nothing);
        check("configure_file(a $ENV{HOME}/b)", "cp -r 'a' \"${HOME}\"'/b'", Rest::Nothing);
        check("file(GENERATE OUTPUT o CONTENT x)", "touch 'o'", Rest::Nothing);
    }
}
