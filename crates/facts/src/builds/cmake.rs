//! Commands of CMake's language, by CMake 3.31. Every branch of a condition is read.

mod external;
mod text;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::matches_star;

use self::text::calls;
use self::words::{KEYWORDS, LIST, LOADED_BY_CMAKE, RUN_BY_BUILD, STARTING, VARIABLES};
use super::{Commands, Rest, Source, command, quoted, unknown, with_program};
use crate::limits::{BUILD_BLOCKS_MAX, BUILD_COMMANDS_MAX, BUILD_TOKENS_MAX, BUILD_VALUE_BYTES_MAX};

pub(super) const LANGUAGE: &str = "cmake";

#[derive(Default)]
struct File<'t> {
    directory: &'t str,
    values: BTreeMap<String, String>,
    /// Programs that the project builds.
    targets: BTreeSet<String>,
    lines: Vec<String>,
    sources: Vec<Source>,
    /// Files that it downloads, and their addresses.
    downloads: BTreeMap<String, String>,
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
        sources: file.sources,
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
            let found = self.lines.len() + self.sources.len();
            self.is_over |= found > BUILD_COMMANDS_MAX || arguments.len() > BUILD_TOKENS_MAX;
            if self.is_over {
                return;
            }
            self.call(&name.to_ascii_lowercase(), &arguments);
        }
    }

    fn call(&mut self, name: &str, arguments: &[String]) {
        let first = arguments.first().map_or("", String::as_str);
        match name {
            "set" => self.set(first, arguments.get(1..).unwrap_or_default()),
            "include" => self.load(first, ""),
            "add_subdirectory" | "subdirs" => {
                arguments.iter().take(1).for_each(|one| self.load(one, "/CMakeLists.txt"));
            }
            "externalproject_add"
            | "externalproject_add_step"
            | "fetchcontent_declare"
            | "fetchcontent_populate" => {
                self.external(arguments);
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
                let scripts = arguments.iter().zip(arguments.iter().skip(1));
                let scripts = scripts.filter(|(key, _)| *key == "SCRIPT").map(|(_, file)| file);
                scripts.for_each(|file| self.load(file, ""));
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
                let files = arguments.iter().skip_while(|one| !one.starts_with("TEST_INCLUDE_FILE")).skip(1);
                files.for_each(|file| self.load(file, ""));
                self.words(arguments.iter().skip_while(|one| !one.starts_with("RULE_LAUNCH_")).skip(1));
            }
            "configure_file" => self.of_file("COPY_FILE", arguments),
            "write_file" => self.of_file("WRITE", arguments),
            name if STARTING.contains(&name) => self.starting(name, arguments),
            _ => {}
        }
    }

    fn set(&mut self, name: &str, values: &[String]) {
        let values = values.iter().take_while(|one| !matches!(one.as_str(), "CACHE" | "PARENT_SCOPE"));
        let values: Vec<String> = values.map(|one| self.filled(one)).collect();
        if RUN_BY_BUILD.iter().any(|end| name.ends_with(end)) {
            self.words(values.iter());
        }
        if loads(name) {
            values.iter().for_each(|file| self.load(file, ""));
        }
        let value = values.join(LIST);
        let value = if value.len() > BUILD_VALUE_BYTES_MAX { unknown() } else { value };
        self.values.insert(name.to_owned(), value);
    }

    /// Adds a file that CMake runs in turn. `end`: the name of the file in a directory.
    fn load(&mut self, file: &str, end: &str) {
        let file = self.filled(file);
        self.sources.push(match self.downloads.get(&file) {
            Some(address) => Source::Address(LANGUAGE, address.clone()),
            None => Source::File(format!("{file}{end}")),
        });
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
        if let ("DOWNLOAD", [address, file, ..]) = (kind, arguments) {
            self.downloads.insert(self.filled(file), self.filled(address));
        }
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

/// Returns true for a variable with a file that CMake runs.
pub(crate) fn loads(variable: &str) -> bool {
    LOADED_BY_CMAKE.iter().any(|pattern| matches_star(pattern, variable))
}

fn quoted_part(text: &str) -> String {
    if text.is_empty() { String::new() } else { quoted(text) }
}

fn is_no_keyword(word: &&String) -> bool {
    !KEYWORDS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_project_are_found() {
        let check = |text: &str, expected: &str, rest: Rest| {
            let found = read(text, "/w");
            assert_eq!((found.shell.as_str(), found.rest), (expected, rest), "{text}");
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

    #[test]
    fn files_and_addresses_of_other_code_are_found() {
        let file = |path: &str| Source::File(path.to_owned());
        let address = |url: &str| Source::Address(LANGUAGE, url.to_owned());
        let check =
            |text: &str, expected: &[Source]| assert_eq!(read(text, "/w").sources, expected, "{text}");
        check(
            "include(a.txt)\ninclude(${CMAKE_CURRENT_LIST_DIR}/b OPTIONAL)",
            &[file("a.txt"), file("/w/b")],
        );
        check("add_subdirectory(d EXCLUDE_FROM_ALL)", &[file("d/CMakeLists.txt")]);
        check("set(CMAKE_TOOLCHAIN_FILE t.txt CACHE FILEPATH x)", &[file("t.txt")]);
        check("set(CMAKE_PROJECT_x_INCLUDE p)", &[file("p")]);
        check("install(SCRIPT s.txt)", &[file("s.txt")]);
        check("file(DOWNLOAD https://h/x y)\ninclude(y)", &[address("https://h/x")]);
        check(
            "FetchContent_Declare(x GIT_REPOSITORY https://h/x.git GIT_TAG v1)",
            &[address("https://h/x.git")],
        );
        check("ExternalProject_Add(x URL ${CMAKE_SOURCE_DIR}/x.tgz)", &[]);
        let commands =
            "ExternalProject_Add(x CONFIGURE_COMMAND \"\" BUILD_COMMAND a -b COMMAND c BUILD_IN_SOURCE 1)";
        assert_eq!(read(commands, "/w").shell, "'a' '-b'\n'c'");
    }
}
