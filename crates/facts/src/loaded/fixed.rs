//! Files with fixed names that tools load automatically, searched where the tool looks. Their effects are effects of
//! the tool, no matter who wrote them. Must not know languages.

use std::collections::BTreeSet;

use castellan_event::{Answer, FileKind, Query, Role, Why};
use castellan_programs::{Arg, Invocation};
use toml::Value;

use super::is_loading;
use super::loaders::Pattern;
use crate::language::{CARGO, TOX};
use crate::limits::{LOADED_FILES_MAX, LOOKED_DIRECTORIES_MAX, WORK_OF_PATH};
use crate::next::From;
use crate::overlay::Way;
use crate::path;
use crate::sink::Sink;

/// Location of such a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    /// The working directory of the tool.
    Here,
    /// The working directory, and each directory down to those of the operands.
    Towards,
    /// The directories that are operands.
    Named,
    /// The working directory, and each directory above it in the workspace.
    Above,
    /// The directory of the package's manifest, and those of the packages that its workspace lists.
    Packages,
}

/// Programs, the subcommands or options with which they load files (empty: always), the files, and their location.
type Fixed = (&'static [&'static str], &'static [&'static str], &'static [Pattern], Lies);

const FILES: &[Fixed] = &[
    (&["pytest", "py.test"], &[], &[("conftest.py", "python")], Lies::Towards),
    (&["pytest", "py.test"], &[], &[("conftest.py", "python")], Lies::Above),
    (
        &["pytest", "py.test"],
        &[],
        &[("tests/conftest.py", "python"), ("test/conftest.py", "python")],
        Lies::Here,
    ),
    (&["tox"], &[], &[("tox.ini", TOX), ("setup.py", "python"), ("conftest.py", "python")], Lies::Here),
    (&["waf"], &[], &[("wscript", "python")], Lies::Here),
    (&["doit"], &[], &[("dodo.py", "python")], Lies::Here),
    (&["nox"], &[], &[("noxfile.py", "python"), ("conftest.py", "python")], Lies::Here),
    (&["invoke", "inv"], &[], &[("tasks.py", "python")], Lies::Here),
    (&["fab"], &[], &[("fabfile.py", "python")], Lies::Here),
    (&["pip", "pip3", "uv"], &["install", "wheel", "sync"], &[("setup.py", "python")], Lies::Named),
    (&["build"], &[], &[("setup.py", "python")], Lies::Here),
    (&["sphinx-build", "sphinx-autobuild"], &[], &[("conf.py", "python")], Lies::Named),
    (
        &["rake"],
        &[],
        &[("Rakefile", "ruby"), ("rakefile", "ruby"), ("Rakefile.rb", "ruby"), ("rakefile.rb", "ruby")],
        Lies::Here,
    ),
    (&["thor"], &[], &[("Thorfile", "ruby")], Lies::Here),
    (&["bundle"], &[], &[("Gemfile", "ruby")], Lies::Above),
    (&["rspec"], &[], &[("spec/spec_helper.rb", "ruby"), ("spec/rails_helper.rb", "ruby")], Lies::Here),
    (&["phpunit", "pest", "paratest"], &[], &[("tests/bootstrap.php", "php")], Lies::Here),
    (
        &["grunt"],
        &[],
        &[("Gruntfile.js", "javascript"), ("Gruntfile.cjs", "javascript"), ("gruntfile.js", "javascript")],
        Lies::Here,
    ),
    (
        &["gulp"],
        &[],
        &[
            ("gulpfile.js", "javascript"),
            ("gulpfile.cjs", "javascript"),
            ("gulpfile.mjs", "javascript"),
            ("gulpfile.ts", "javascript"),
            ("gulpfile.babel.js", "javascript"),
        ],
        Lies::Here,
    ),
    (
        &["vagrant"],
        &["up", "reload", "provision", "status", "validate", "ssh"],
        &[("Vagrantfile", "ruby")],
        Lies::Above,
    ),
    (&["karma"], &[], &[("karma.conf.js", "javascript"), ("karma.conf.cjs", "javascript")], Lies::Here),
    (&["cargo"], CARGO_BUILDS, &[("build.rs", "rust")], Lies::Packages),
    (&["cargo"], CARGO_BUILDS, &[(".cargo/config.toml", CARGO), (".cargo/config", CARGO)], Lies::Above),
];

const CARGO_BUILDS: &[&str] = &[
    "bench", "build", "check", "clippy", "doc", "fix", "install", "nextest", "package", "publish", "run",
    "rustc", "test",
];

/// JavaScript tools, and the names of their configuration before `.config.js`, or between `.` and `rc.js`.
const CONFIGURED: &[(&[&str], &[&str])] = &[
    (&["astro"], &["astro"]),
    (&["ava"], &["ava"]),
    (&["babel"], &["babel"]),
    (&["cypress"], &["cypress"]),
    (&["eslint"], &["eslint"]),
    (&["jest"], &["jest", "babel"]),
    (&["mocha", "_mocha"], &["mocha"]),
    (&["next"], &["next", "postcss", "tailwind"]),
    (&["nuxt", "nuxi"], &["nuxt"]),
    (&["commitlint"], &["commitlint"]),
    (&["lint-staged"], &["lint-staged"]),
    (&["postcss"], &["postcss", "tailwind"]),
    (&["svelte-kit", "svelte-check"], &["svelte"]),
    (&["playwright"], &["playwright"]),
    (&["prettier"], &["prettier"]),
    (&["rollup"], &["rollup"]),
    (&["stylelint"], &["stylelint"]),
    (&["tailwindcss"], &["tailwind", "postcss"]),
    (&["tsup"], &["tsup"]),
    (&["vite"], &["vite", "postcss", "tailwind", "svelte"]),
    (&["vitest"], &["vitest", "vite"]),
    (&["webpack", "webpack-cli"], &["webpack"]),
];

/// Returns the languages of the files that a program loads.
pub(super) fn languages(read: &Invocation, name: &str) -> impl Iterator<Item = &'static str> {
    let files = FILES.iter().filter(|row| is_loading(row.0, row.1, name, read)).flat_map(|row| row.2);
    let is_script = is_javascript(name) && is_loading(&[name], &[], name, read);
    files.map(|(_, language)| *language).chain(is_script.then_some("javascript"))
}

/// Returns the programs of both tables.
pub(super) fn programs() -> impl Iterator<Item = &'static [&'static str]> {
    FILES.iter().map(|(programs, ..)| *programs).chain(CONFIGURED.iter().map(|(programs, _)| *programs))
}

/// Returns true if a program is a tool in JavaScript that loads code files.
pub(super) fn is_javascript(program: &str) -> bool {
    CONFIGURED.iter().any(|(programs, _)| programs.contains(&program))
}

/// Tools whose configuration may also be a hidden code file.
const HIDDEN: &[&str] = &["babel", "eslint", "mocha", "prettier", "stylelint"];

/// Languages that castellan does not read: only the execution of their files is known.
const UNREAD: &[&str] = &["rust"];

/// Adds the effects of the files that the program loads at its location. `known`: the files found before.
pub(super) fn add(read: &Invocation, name: &str, known: &BTreeSet<String>, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(cwd) = sink.cwd.clone() else { return };
    let mut wanted: Vec<(String, &'static str)> = Vec::new();
    for (_, _, files, lies) in FILES.iter().filter(|row| is_loading(row.0, row.1, name, read)) {
        let directories = directories(*lies, read, &cwd, sink);
        if directories.len() > LOOKED_DIRECTORIES_MAX {
            sink.opaque(Role::Code, Why::Budget, name);
        }
        for directory in directories.into_iter().take(LOOKED_DIRECTORIES_MAX) {
            let paths = files.iter().map(|(file, language)| (below(&directory, file), *language));
            wanted.extend(paths);
        }
        if *lies == Lies::Packages {
            wanted.extend(named_builds(&cwd, sink).into_iter().map(|file| (file, "rust")));
        }
    }
    for (_, stems) in CONFIGURED.iter().filter(|(programs, _)| is_loading(programs, &[], name, read)) {
        wanted.extend(
            stems.iter().flat_map(|stem| configurations(stem)).map(|file| (below(&cwd, &file), "javascript")),
        );
    }
    let mut found = 0;
    for (path, language) in wanted {
        if !sink.spend(WORK_OF_PATH) {
            return;
        }
        if known.contains(&path) {
            continue;
        }
        match is_there(&path, sink) {
            Some(true) => {}
            Some(false) => continue,
            None => return sink.opaque(Role::Code, Why::Unreadable, name),
        }
        if found == LOADED_FILES_MAX {
            return sink.opaque(Role::Code, Why::Budget, name);
        }
        found += 1;
        let is_own =
            |sink: &Sink<'_, '_, '_, '_>| !sink.scene.written_where("", |one| one == path).is_empty();
        let unread = if UNREAD.contains(&language) && !is_own(sink) {
            Some(Why::Language)
        } else {
            is_changed(&path, sink).then_some(Why::Shadowed)
        };
        let file = Arg::known(path);
        match unread {
            Some(why) => {
                sink.unread(why, &file);
            }
            None => sink.program(language, From::File(file)),
        }
    }
}

/// Returns true if the file existed before the call: most files that a tool looks for do not. `None`: no answer,
/// because the call has asked too much.
fn is_there(path: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<bool> {
    let kind = sink.scene.world.ask(Query::FileKind { path: path.to_owned() })?;
    Some(matches!(kind, Answer::FileKind(FileKind::File)))
}

/// Returns true if the call may have changed the file. Formatters change all files of a kind, git all tracked files.
fn is_changed(path: &str, sink: &Sink<'_, '_, '_, '_>) -> bool {
    let overlay = &sink.scene.overlay;
    overlay.has_written(path) || overlay.follow(path, true) != Way::Same
}

/// Returns the names of a tool's configuration in JavaScript.
fn configurations(stem: &str) -> Vec<String> {
    let plain = ["js", "cjs", "mjs", "ts", "mts"].map(|end| format!("{stem}.config.{end}"));
    let hidden = ["js", "cjs", "mjs"].map(|end| format!(".{stem}rc.{end}"));
    let is_hidden = HIDDEN.contains(&stem);
    plain.into_iter().chain(hidden.into_iter().filter(|_| is_hidden)).collect()
}

/// Returns the directories in which a tool looks. One more than the limit shows that there are more.
fn directories(lies: Lies, read: &Invocation, cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Vec<String> {
    match lies {
        Lies::Here => vec![cwd.to_owned()],
        Lies::Above => above(cwd, &sink.scene.session.setting.workspace),
        Lies::Named => named(read, cwd),
        Lies::Towards => {
            let begin = format!("{}/", cwd.trim_end_matches('/'));
            let mut all = BTreeSet::from([cwd.to_owned()]);
            for path in named(read, cwd) {
                let rest = path.strip_prefix(&begin).unwrap_or_default();
                let ends = rest.match_indices('/').filter_map(|(at, _)| rest.get(..at));
                all.extend(ends.take(LOOKED_DIRECTORIES_MAX + 1).map(|end| below(cwd, end)));
                // The operand may be a file or a directory.
                all.insert(path);
            }
            all.into_iter().collect()
        }
        Lies::Packages => packages(cwd, sink),
    }
}

/// Returns the files and directories that the operands name, as absolute paths.
fn named(read: &Invocation, cwd: &str) -> Vec<String> {
    let operands = read.operands.iter().map(|operand| &operand.arg);
    // `pip install -e .`
    let words = operands.chain(read.values("-e")).filter_map(Arg::as_str);
    let words = words.map(|word| word.split("::").next().unwrap_or(word));
    // `.[test]` names the directory and one of its sets of dependencies.
    let words = words.map(|word| word.split('[').next().unwrap_or(word)).filter(|word| !word.is_empty());
    let paths: BTreeSet<String> = words.filter_map(|word| path::collapse(Some(cwd), word)).collect();
    paths.into_iter().take(LOOKED_DIRECTORIES_MAX + 1).collect()
}

/// Returns a directory and those above it, up to the workspace.
pub(super) fn above(cwd: &str, workspace: &str) -> Vec<String> {
    let workspace = workspace.trim_end_matches('/');
    let mut all = vec![cwd.to_owned()];
    let mut here = cwd;
    while here != workspace && all.len() <= LOOKED_DIRECTORIES_MAX {
        let Some((above, _)) = here.rsplit_once('/') else { break };
        let rest = above.strip_prefix(workspace).filter(|_| !workspace.is_empty());
        if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            break;
        }
        all.push(above.to_owned());
        here = above;
    }
    all
}

/// Returns the directory of the package around `cwd`, and those of the members that its workspace lists by their names.
fn packages(cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Vec<String> {
    let Some((directory, manifest)) = manifest(cwd, sink) else { return vec![cwd.to_owned()] };
    let members = manifest.get("workspace").and_then(|table| table.get("members")).and_then(Value::as_array);
    let names = members.into_iter().flatten().filter_map(Value::as_str);
    let inner = names.filter_map(|name| path::collapse(Some(&directory), name));
    let inner: BTreeSet<String> = inner.collect();
    std::iter::once(directory).chain(inner).take(LOOKED_DIRECTORIES_MAX + 1).collect()
}

/// Returns the build script that the manifest of a package names.
fn named_builds(cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let (directory, manifest) = manifest(cwd, sink)?;
    let build = manifest.get("package")?.get("build")?.as_str()?;
    path::collapse(Some(&directory), build)
}

/// Returns the innermost `Cargo.toml` from a directory up, and its directory. Cargo stops at an unreadable one.
fn manifest(cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<(String, toml::Table)> {
    let above = above(cwd, &sink.scene.session.setting.workspace);
    let mut read = above.into_iter().filter_map(|directory| {
        let path = below(&directory, "Cargo.toml");
        let Some(Answer::Contents(Some(bytes))) = sink.scene.world.ask(Query::Contents { path }) else {
            return None;
        };
        Some((directory, String::from_utf8_lossy(&bytes).parse().unwrap_or_default()))
    });
    read.next()
}

pub(super) fn below(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}
