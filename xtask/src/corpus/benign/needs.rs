//! The files of a package that a command needs to be judged as in the project: manifests of its tasks, code for an
//! interpreter, and the files that this code loads. Works on words only; must not depend on shell syntax.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Limit of the bytes of all files of a command.
const BYTES_MAX: usize = 64 << 10;
/// Limit of their number.
const FILES_MAX: usize = 30;

/// Programs that run their file argument.
const INTERPRETERS: &[&str] = &[
    "node",
    "ts-node",
    "tsx",
    "bash",
    "sh",
    "zsh",
    "dash",
    "python",
    "python3",
    "python2",
    "perl",
    "ruby",
    "php",
    "lua",
    "bun",
    "deno",
    "source",
    ".",
    "babel-node",
    "esno",
    "jiti",
    "coffee",
    "lsc",
    "nodemon",
    "node-dev",
    "supervisor",
    "sucrase-node",
    "ts-node-dev",
    "ts-node-esm",
    "ts-node-script",
    "tsnd",
    "vite-node",
];

/// Programs that read their code from a file after `-f`.
const WITH_FILE: &[&str] = &["awk", "gawk", "mawk", "nawk", "sed", "gsed"];

/// Interpreter flags that load a file with code.
const WITH_CODE: &[&str] = &["-r", "--require", "--import"];

/// Extensions of files with code for interpreters.
const CODE: &[&str] = &[
    "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "sh", "bash", "py", "pl", "rb", "php", "lua",
    "coffee", "ls",
];

/// Interpreter flags that take the next word.
const WITH_VALUE: &[&str] = &[
    "-r",
    "--require",
    "--loader",
    "--import",
    "--project",
    "-P",
    "-O",
    "--env-file",
    "-I",
    "-W",
    "-X",
    "--allow",
    "--transpiler",
    "--test-reporter",
    "--conditions",
    "--config",
    "--delay",
    "--ext",
    "--ignore",
    "--signal",
    "--watch",
    "-w",
];

/// Flags after which there is no file argument.
const INLINE: &[&str] =
    &["-e", "-c", "-p", "-pe", "-m", "-lc", "-ec", "-ne", "-i", "-v", "--eval", "--print", "--version", "-s"];

/// Programs that run tasks of a file, with the file's name.
const RUNNERS: &[(&str, &str)] = &[
    ("npm", "package.json"),
    ("yarn", "package.json"),
    ("pnpm", "package.json"),
    ("npx", "package.json"),
    ("run-s", "package.json"),
    ("run-p", "package.json"),
    ("npm-run-all", "package.json"),
    ("make", "Makefile"),
];

#[derive(Debug)]
pub(super) struct Needs {
    root: PathBuf,
    files: BTreeMap<String, String>,
    missing: Option<&'static str>,
}

impl Needs {
    pub(super) fn new(root: &Path) -> Needs {
        Needs { root: root.to_owned(), files: BTreeMap::new(), missing: None }
    }

    /// Returns the files, or the reason why the command cannot be judged without the whole project.
    pub(super) fn files(self) -> Result<BTreeMap<String, String>, &'static str> {
        let bytes: usize = self.files.values().map(String::len).sum();
        match self.missing {
            Some(why) => Err(why),
            None if bytes > BYTES_MAX || self.files.len() > FILES_MAX => {
                Err("runs more than 64 KiB of the project's code")
            }
            None => Ok(self.files),
        }
    }

    /// Adds a required file, and the files that it loads.
    pub(super) fn file(&mut self, name: &str) {
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let name = self.module(&name).unwrap_or_else(|| flat(&name));
            if self.files.contains_key(&name) || self.missing.is_some() {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(self.root.join(&name)) else {
                self.missing = Some("runs a file that the package does not ship");
                return;
            };
            let text = if name.ends_with("package.json") { manifest(&text) } else { text };
            if text.len() > BYTES_MAX || self.files.len() > FILES_MAX {
                self.missing = Some("runs more than 64 KiB of the project's code");
                return;
            }
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            for loaded in loads(&name, &text) {
                let from = if folder.is_empty() { loaded } else { format!("{folder}/{loaded}") };
                if leads_out(&from) {
                    self.missing = Some("loads code from outside of its package");
                    return;
                }
                if let Some(file) = self.module(&from) {
                    open.push(file);
                }
            }
            let is_shell = name.ends_with(".sh") || name.ends_with(".bash");
            self.files.insert(name, text.clone());
            if is_shell {
                open.extend(code_of(&text));
            }
        }
    }

    /// Adds the files that the words of a command name.
    pub(super) fn of_command(&mut self, text: &str) {
        if runs_installed(text) {
            self.missing = Some("runs a file of an installed package by its path");
            return;
        }
        for file in code_of(text) {
            self.file(&file);
        }
        for pattern in patterns_of(text) {
            self.matched(&pattern);
        }
        // Code in the command itself.
        let loaded = if INTERPRETERS.iter().take(3).any(|one| words(text).any(|word| word == *one)) {
            loads("command.js", &text.replace('\\', ""))
        } else {
            Vec::new()
        };
        for from in loaded.iter().filter(|from| !leads_out(from)) {
            match self.module(from) {
                Some(file) => self.file(&file),
                None => self.missing = Some("runs a file that the package does not ship"),
            }
        }
        for word in words(text) {
            let named = RUNNERS.iter().find(|(program, _)| *program == word);
            if let Some((_, file)) = named.filter(|(_, file)| self.root.join(file).is_file()) {
                self.file(file);
            }
        }
    }

    /// Adds the files that a pattern matches. At least one must match.
    fn matched(&mut self, pattern: &str) {
        let Some(matcher) = matcher(pattern) else { return };
        let files = crate::corpus::tree::files(&self.root);
        let names = files.iter().filter_map(|file| file.strip_prefix(&self.root).ok()?.to_str());
        let own = names.filter(|name| !name.contains("node_modules/"));
        let mut fitting = own.filter(|name| matcher.is_match(name)).peekable();
        if fitting.peek().is_none() {
            self.missing = Some("runs a file that the package does not ship");
        }
        fitting.map(str::to_owned).collect::<Vec<_>>().iter().for_each(|file| self.file(file));
    }

    /// Returns the file of a module that is loaded by a path with or without its extension.
    fn module(&self, from: &str) -> Option<String> {
        const ENDINGS: &[&str] = &["", ".js", ".mjs", ".cjs", ".json", ".ts", "/index.js", "/index.ts"];
        let mut names = ENDINGS.iter().map(|ending| flat(&format!("{from}{ending}")));
        names.find(|name| self.root.join(name).is_file())
    }
}

/// Returns the files with code for interpreters: the first word that is no flag, and the files that flags load.
fn code_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut interpreter, mut before) = (None, "");
    for word in words(text) {
        let is_code =
            word.rsplit_once('.').is_some_and(|(name, ending)| !name.is_empty() && CODE.contains(&ending));
        let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./@+".contains(c));
        let is_flag = word.starts_with('-');
        let is_outside = word.starts_with('/') || word.contains("node_modules/");
        let is_script = word.starts_with("./") && (word.ends_with(".sh") || word.ends_with(".bash"));
        // These interpreters add a missing extension, and shells run a file of any name.
        let is_module =
            matches!(interpreter, Some("node" | "ts-node" | "tsx" | "babel-node" | "jiti" | "bash" | "sh"));
        let is_given = interpreter.is_some() && !is_flag && (is_code || is_module || word.contains('/'));
        let is_loaded = interpreter.is_some() && WITH_CODE.contains(&before) && word.starts_with("./");
        let is_first = (is_script || is_given) && !WITH_VALUE.contains(&before);
        if (is_first || is_loaded) && is_plain && !is_outside {
            found.push(word.to_owned());
        }
        let goes_on = is_flag || word == "run" || WITH_VALUE.contains(&before);
        let program = word.rsplit('/').next().unwrap_or_default();
        // `npx node@12`: a program with a version.
        let program = program.split_once('@').map_or(program, |(program, _)| program);
        interpreter = if INTERPRETERS.contains(&program) && !is_given {
            Some(program)
        } else {
            interpreter.filter(|_| goes_on && !INLINE.contains(&word))
        };
        before = word;
    }
    found.extend(behind_f(text));
    found
}

/// Returns the files with code after `-f`.
fn behind_f(text: &str) -> Vec<String> {
    let mut program = false;
    let mut before = "";
    let mut found = Vec::new();
    for word in words(text) {
        let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./@+".contains(c));
        if program && before == "-f" && is_plain && !word.starts_with('/') {
            found.push(word.to_owned());
        }
        program = WITH_FILE.contains(&word) || program && (word.starts_with('-') || before.starts_with('-'));
        before = word;
    }
    found
}

/// Returns the patterns of files with code that an interpreter receives, directly or from a loop.
fn patterns_of(text: &str) -> Vec<String> {
    let is_pattern = |word: &str| word.contains('*') && !word.contains(['$', '{', '[', '?', '!']);
    let (mut interpreter, mut is_loop, mut is_each) = (false, false, false);
    let (mut looped, mut found) = (Vec::new(), Vec::new());
    for word in words(text) {
        let is_outside = word.starts_with('/') || word.contains("node_modules/");
        let is_plain = is_pattern(word) && !is_outside;
        if is_loop && is_plain {
            looped.push(word.to_owned());
        }
        if interpreter && is_plain {
            found.push(word.to_owned());
        }
        is_each |= interpreter && word.starts_with('$');
        is_loop = word == "in" || is_loop && word != "do";
        let program = word.rsplit('/').next().unwrap_or_default();
        interpreter = INTERPRETERS.contains(&program)
            || interpreter && !INLINE.contains(&word) && (word.starts_with('-') || word.contains('*'));
    }
    if is_each {
        found.append(&mut looped);
    }
    found
}

/// Compiles a pattern of files.
fn matcher(pattern: &str) -> Option<regex::Regex> {
    let mut text = String::from("^");
    let flat = flat(pattern);
    let mut rest = flat.as_str();
    while !rest.is_empty() {
        let (sign, more) = match rest {
            _ if rest.starts_with("**/") => ("(?:.*/)?", 3),
            _ if rest.starts_with("**") => (".*", 2),
            _ if rest.starts_with('*') => ("[^/]*", 1),
            _ => ("", 0),
        };
        if more > 0 {
            text.push_str(sign);
            rest = rest.get(more..).unwrap_or_default();
            continue;
        }
        let end = rest.find('*').unwrap_or(rest.len());
        text.push_str(&regex::escape(rest.get(..end)?));
        rest = rest.get(end..)?;
    }
    text.push('$');
    regex::Regex::new(&text).ok()
}

/// Returns true if an interpreter runs a file of an installed package, which exists in working copies but not here.
fn runs_installed(text: &str) -> bool {
    let mut interpreter = false;
    words(text).any(|word| {
        let is_given = interpreter && word.contains("node_modules/");
        interpreter = INTERPRETERS.contains(&word) || interpreter && word.starts_with('-');
        is_given
    })
}

/// Returns true if a path leads out of its folder.
fn leads_out(path: &str) -> bool {
    let mut depth = 0usize;
    path.split('/').any(|part| match part {
        "" | "." => false,
        ".." => match depth.checked_sub(1) {
            Some(less) => {
                depth = less;
                false
            }
            None => true,
        },
        _ => {
            depth += 1;
            false
        }
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || ";&|()`\"'".contains(c)).filter(|word| !word.is_empty())
}

/// Returns the neighbouring files that a JavaScript or TypeScript file loads.
fn loads(name: &str, text: &str) -> Vec<String> {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if !CODE.iter().take(8).any(|code| *code == ending) {
        return Vec::new();
    }
    let quoted = text.split(['"', '\'']).collect::<Vec<_>>();
    let pairs = quoted.windows(2).filter_map(|pair| match pair {
        [before, path] => Some((before.trim_end(), *path)),
        _ => None,
    });
    let loaded = pairs.filter(|(before, path)| {
        let is_load = ["require(", "from", "import", "import("].iter().any(|word| before.ends_with(word));
        is_load && (path.starts_with("./") || path.starts_with("../")) && !path.contains('\n')
    });
    loaded.map(|(_, path)| path.to_owned()).collect()
}

/// Returns the relevant keys of a manifest. Most others are about publishing.
fn manifest(text: &str) -> String {
    const KEYS: &[&str] = &[
        "name",
        "version",
        "type",
        "bin",
        "config",
        "scripts",
        "dependencies",
        "devDependencies",
        "workspaces",
    ];
    let Ok(serde_json::Value::Object(mut all)) = serde_json::from_str(text) else { return text.to_owned() };
    all.retain(|key, _| KEYS.contains(&key.as_str()));
    serde_json::Value::Object(all).to_string()
}

/// Returns a path without `.` and `..`. Leading `..` are dropped.
fn flat(path: &str) -> String {
    castellan_event::lexical_path("", path).trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_an_interpreter_is_given() {
        for (text, expected) in [
            ("node --trace scripts/build.js --x a.js", vec!["scripts/build.js"]),
            ("eslint src/index.js", vec![]),
            ("FOO=1 bash ci/test.sh && ./ci/more.sh", vec!["ci/test.sh", "./ci/more.sh"]),
            ("node $X.js", vec![]),
            ("node --test --x test.js", vec!["test.js"]),
            ("node -r esm test.js", vec!["test.js"]),
            ("node -r ./a/b.js test.js", vec!["./a/b.js", "test.js"]),
            ("./x/bin/node test.js && /bin/bash ./configure", vec!["test.js", "./configure"]),
            ("bash run-all", vec!["run-all"]),
            ("sed -n -f a/b.sed x | awk '{print}' -f c.awk", vec!["a/b.sed"]),
            ("node tools/lint && node -e x && bash -c 'a/b'", vec!["tools/lint"]),
            ("node_modules/.bin/mocha test.js", vec![]),
        ] {
            assert_eq!(code_of(text), expected, "{text}");
        }
    }

    #[test]
    fn patterns_are_what_an_interpreter_is_given() {
        for (text, expected) in [
            ("node --test 'test/**/*.js'", vec!["test/**/*.js"]),
            ("for f in tests/*.js; do node $f; done", vec!["tests/*.js"]),
            ("for f in tests/*.js; do wc $f; done", vec![]),
            ("eslint src/*.js && node -e 'a*b'", vec![]),
            ("mocha test/*.js", vec![]),
        ] {
            assert_eq!(patterns_of(text), expected, "{text}");
        }
        for (pattern, name, expected) in [
            ("test/*.js", "test/a.js", true),
            ("./test/*.js", "test/a.js", true),
            ("test/*.js", "test/a/b.js", false),
            ("test/**/*.js", "test/a/b.js", true),
            ("test/**/*.js", "test/b.js", true),
            ("test/*.js", "test/axjs", false),
        ] {
            assert_eq!(matcher(pattern).is_some_and(|one| one.is_match(name)), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn installed_packages_are_not_there() {
        for (text, expected) in [
            ("node --x node_modules/.bin/mocha", true),
            ("node_modules/.bin/mocha test.js", false),
            ("node test.js node_modules/x", false),
            ("bash ./node_modules/x/y.sh", true),
        ] {
            assert_eq!(runs_installed(text), expected, "{text}");
        }
        for (path, expected) in [("a/../b", false), ("a/../../b", true), ("..", true), ("a/b/../..", false)] {
            assert_eq!(leads_out(path), expected, "{path}");
        }
    }

    #[test]
    fn modules_beside_are_loaded() {
        let text = "import a from './a';\nconst b = require(\"../b.js\"); import 'react'; x = './no'";
        assert_eq!(loads("x.js", text), ["./a", "../b.js"]);
        assert_eq!(loads("x.py", text), Vec::<String>::new());
        assert_eq!(flat("a/../b/./c"), "b/c");
    }
}
