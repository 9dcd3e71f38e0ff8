//! Files that test runners and builders load as code because of their names: tests and configurations. Files with a
//! fixed name are always read. Of the others, which may be thousands, only those that the session wrote: they have an
//! `execute` effect with their origin, and are read as if run directly. Must not know languages.

mod fixed;
mod inert;
pub(crate) mod named;
pub(crate) mod repository;
mod settings;
pub(crate) mod sources;
pub(crate) mod starts;
pub(crate) mod unread;

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use castellan_event::{EffectKind, Role, Why, matches_star};
use castellan_programs::{Arg, Attribute, Invocation};

use crate::language::GENERATED;
use crate::limits::{LOADED_FILES_MAX, LOOKED_DIRECTORIES_MAX};
use crate::next::From;
use crate::path;
use crate::sink::Sink;
use castellan_programs::base_name;

/// A pattern for names, in which `*` matches any text, and the language of such files.
type Pattern = (&'static str, &'static str);

/// Programs, the subcommands or options with which they load files (empty: always), and the files.
type Loader = (&'static [&'static str], &'static [&'static str], &'static [&'static [Pattern]]);

const LOADERS: &[Loader] = &[
    (&["pytest", "py.test", "nose2", "unittest", "coverage"], &[], &[PYTHON_TESTS]),
    (
        &["tox", "nox"],
        &[],
        &[PYTHON_TESTS, &[("noxfile.py", "python"), ("setup.py", "python"), ("tox.ini", "tox")]],
    ),
    (&["pip", "pip3", "uv", "build"], &[], &[&[("setup.py", "python")]]),
    (
        &["jest", "vitest", "mocha", "_mocha", "ava", "jasmine", "karma", "cypress", "playwright"],
        &[],
        &[JS_TESTS, JS_CONFIGURATIONS],
    ),
    (
        &[
            "vite",
            "webpack",
            "webpack-cli",
            "rollup",
            "esbuild",
            "next",
            "nuxt",
            "astro",
            "eslint",
            "prettier",
            "stylelint",
            "babel",
            "storybook",
            "tsup",
            "gulp",
            "grunt",
            "parcel",
            "tailwindcss",
        ],
        &[],
        &[JS_CONFIGURATIONS],
    ),
    (&["sphinx-build", "sphinx-autobuild", "mkdocs"], &[], &[&[("conf.py", "python")]]),
    (&["tap", "typedoc"], &[], &[JS_TESTS, JS_CONFIGURATIONS]),
    (
        &["nightwatch", "wdio", "testcafe", "codeceptjs", "cucumber-js", "stryker", "c8", "nyc", "ts-mocha"],
        &[],
        &[JS_TESTS, JS_CONFIGURATIONS],
    ),
    (&["behave"], &[], &[&[("environment.py", "python")]]),
    (&["conan"], &[], &[&[("conanfile.py", "python")]]),
    (&["vcpkg"], &[], &[&[("*.cmake", "cmake")]]),
    (&["gem"], &["build", "install"], &[&[("*.gemspec", "ruby")]]),
    (&["pod"], &[], &[&[("*.podspec", "commands")]]),
    (&["luarocks"], &["build", "install", "make"], &[&[("*.rockspec", "rockspec")]]),
    (&["opam", "dune"], &[], &[&[("*.opam", "opam"), ("opam", "opam")]]),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &["add", "ci", "i", "install", "rebuild"],
        &[&[("package.json", "lifecycle")]],
    ),
    (&["rspec", "minitest"], &[], &[&[("*_spec.rb", "ruby"), ("*_helper.rb", "ruby")]]),
    (
        &["rake", "thor"],
        &[],
        &[&[("Rakefile", "ruby"), ("*.rake", "ruby"), ("Thorfile", "ruby"), ("*_test.rb", "ruby")]],
    ),
    (&["bundle"], &[], &[&[("Gemfile", "ruby"), ("*.gemspec", "ruby")]]),
    (
        &["phpunit", "pest", "paratest"],
        &[],
        &[&[("*Test.php", "php"), ("bootstrap.php", "php"), ("Pest.php", "php")]],
    ),
    (
        &["cargo"],
        &["build", "check", "test", "run", "clippy", "bench", "doc", "install"],
        &[&[("build.rs", "rust")]],
    ),
    (&["cargo"], &["test", "bench", "run"], &[&[("*.rs", SOURCE)]]),
    (&["go"], &["test", "run"], &[&[("*.go", SOURCE)]]),
    (&["go"], &["generate"], &[&[("*.go", GENERATED)]]),
    (&["node"], &["--test"], &[JS_TESTS, JS_TESTS_OF_NODE]),
    (&["bun", "deno"], &["test", "bench"], &[JS_TESTS, JS_TESTS_OF_DENO]),
    (&["gradle", "gradlew"], &[], &[&[("*.gradle", "groovy"), ("*.gradle.kts", "kotlin")]]),
    (&["mvn", "mvnw", "mvnd"], &[], &[&[("pom.xml", "maven")]]),
    (&["ant"], &[], &[&[("build.xml", "ant")]]),
    (&["dotnet", "msbuild"], MSBUILD_BUILDS, &[MSBUILD_FILES]),
    (&["cmake", "ctest", "ninja"], &[], &[&[("CMakeLists.txt", "cmake"), ("*.cmake", "cmake")]]),
    (&["meson", "ninja"], &[], &[&[("meson.build", "meson")]]),
    (&["dune"], &[], &[&[("dune", "dune"), ("dune.inc", "dune")]]),
    (&["bazel", "bazelisk"], &[], &[BAZEL_FILES]),
    (&["terraform", "tofu", "terragrunt"], TERRAFORM_CHANGES, &[&[("*.tf", "terraform")]]),
    (&["terraform", "tofu", "terragrunt"], TERRAFORM_READS, &[&[("*.tf", "terraform-data")]]),
    (&["mix", "iex"], &[], &[&[("mix.exs", "mix"), ("config.exs", "mix"), (".formatter.exs", "mix")]]),
    (&["mix", "iex"], &[], &[&[("dev.exs", "mix"), ("test.exs", "mix"), ("runtime.exs", "mix")]]),
    (&["mix"], &["test"], &[&[("test_helper.exs", "mix"), ("*_test.exs", "mix")]]),
    (&["sbt"], &[], &[&[("*.sbt", "sbt")]]),
    (&["rebar3"], &[], &[&[("rebar.config", "rebar")]]),
    (&["nx"], &[], &[&[("project.json", NX)]]),
    (&["lerna", "nx", "rush", "turbo"], &[], &[&[("package.json", PACKAGE_SCRIPT)]]),
    (&["ninja"], &[], &[&[("build.ninja", SOURCE)]]),
    (
        &["pulumi"],
        &["pre", "preview", "refresh", "up", "update"],
        &[&[("index.ts", "javascript"), ("__main__.py", "python")]],
    ),
    (
        &["npm", "pnpm", "yarn"],
        &["build", "ci", "configure", "i", "install", "rebuild"],
        &[&[("binding.gyp", "gyp")]],
    ),
    (
        &["autoconf", "autoreconf", "aclocal"],
        &[],
        &[&[("configure.ac", "autoconf"), ("aclocal.m4", "autoconf"), ("configure.in", "autoconf")]],
    ),
    (&["swift"], &[], &[&[("Package.swift", "swift-package")]]),
    (&["node-gyp"], &[], &[&[("binding.gyp", "gyp")]]),
    (&["scons"], &[], &[&[("SConstruct", "scons"), ("SConscript", "scons")]]),
    (&["zig"], &[], &[&[("build.zig", "zig-build")]]),
    (
        &["nix", "nix-shell"],
        &[],
        &[&[("flake.nix", "nix-file"), ("shell.nix", "nix-file"), ("default.nix", "nix-file")]],
    ),
];

const BAZEL_FILES: &[Pattern] = &[
    ("BUILD", "bazel"),
    ("BUILD.bazel", "bazel"),
    ("MODULE.bazel", "bazel"),
    ("WORKSPACE", "bazel"),
    ("WORKSPACE.bazel", "bazel"),
    ("*.bzl", "bazel"),
];

const MSBUILD_BUILDS: &[&str] = &["build", "msbuild", "pack", "publish", "restore", "run", "test", "watch"];

const MSBUILD_FILES: &[Pattern] = &[
    ("*.*proj", "msbuild"),
    ("Directory.Build.*", "msbuild"),
    ("*.targets", "msbuild"),
    ("*.props", "msbuild"),
];

const TERRAFORM_CHANGES: &[&str] = &["apply", "destroy", "run-all", "test"];

const TERRAFORM_READS: &[&str] = &["console", "import", "plan", "refresh"];

const PYTHON_TESTS: &[Pattern] =
    &[("conftest.py", "python"), ("test_*.py", "python"), ("*_test.py", "python")];

const JS_TESTS: &[Pattern] = &[
    ("*.test.*s", "javascript"),
    ("*.spec.*s", "javascript"),
    ("*.test.*sx", "javascript"),
    ("*.cy.*s", "javascript"),
];

const JS_TESTS_OF_NODE: &[Pattern] = &[
    ("*-test.*js", "javascript"),
    ("*_test.*js", "javascript"),
    ("test-*.*js", "javascript"),
    ("test.*js", "javascript"),
];

const JS_TESTS_OF_DENO: &[Pattern] = &[
    ("*_test.*s", "javascript"),
    ("*_spec.*s", "javascript"),
    ("*_bench.*s", "javascript"),
    ("*.bench.*s", "javascript"),
    ("test.*s", "javascript"),
];

/// Language of a program's own sources. The effects only record their execution and origin: agents write and test such
/// programs all day, and the agent's own permissions decide about them.
const SOURCE: &str = "";

/// Languages whose files are compiled into one program: a requested test is built with all others.
const COMPILED: &[&str] = &[SOURCE, "rust", GENERATED];

const JS_CONFIGURATIONS: &[Pattern] = &[
    ("*.config.js", "javascript"),
    ("*.config.cjs", "javascript"),
    ("*.config.mjs", "javascript"),
    ("*.config.ts", "javascript"),
    ("*.config.mts", "javascript"),
    ("*.conf.*js", "javascript"),
    ("*.conf.ts", "javascript"),
    (".*rc.js", "javascript"),
    (".*rc.cjs", "javascript"),
    (".*rc.mjs", "javascript"),
    ("*.setup.*s", "javascript"),
    ("Gruntfile.js", "javascript"),
    ("gulpfile.*", "javascript"),
];

/// Programs that build in another directory than that of the sources, so all of the workspace may be loaded.
const IN_OWN_DIRECTORY: &[&str] = &["cmake", "ctest", "meson", "ninja"];

/// The module that builds packages of Python.
const BUILD: &str = "build";

/// Every program in one of the tables. Most commands run another program, and then the tables are not searched.
static PROGRAMS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let own = LOADERS.iter().map(|(programs, ..)| *programs);
    own.chain(fixed::programs())
        .chain(sources::programs())
        .chain(repository::programs())
        .chain(settings::programs())
        .flatten()
        .copied()
        .collect()
});

/// Adds the files that the session wrote and that the program loads, in its directory and below.
pub(crate) fn add(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let name = argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
    // `python -m build`: other modules that load files are programs, too.
    let is_module =
        |name: &str| name.starts_with("python") && read.values("-m").any(|one| one.as_str() == Some(BUILD));
    let name = if is_module(name) { BUILD } else { name };
    if !sink.setup.remote && !sink.mode.dry {
        unread::add(name, read, sink);
    }
    if sink.setup.remote || !PROGRAMS.contains(name) {
        return;
    }
    let patterns: Vec<&Pattern> = LOADERS
        .iter()
        .filter(|loader| is_of(loader, name, read))
        .flat_map(|(_, _, patterns)| patterns.iter().copied().flatten())
        .collect();
    // A repository's settings apply even to a dry run.
    repository::add(read, name, sink);
    settings::add(read, name, sink);
    if sink.mode.dry {
        return;
    }
    if name == "cargo" {
        named::settings(read, sink);
    }
    if patterns.is_empty() && !sources::runs(name) {
        return fixed::add(read, name, &BTreeSet::new(), sink);
    }
    let Some(cwd) = sink.cwd.clone() else { return };
    let workspace = sink.scene.session.setting.workspace.clone();
    let mut found =
        sink.scene.written_below(if IN_OWN_DIRECTORY.contains(&name) { &workspace } else { &cwd });
    let elsewhere = beyond(read, &cwd);
    if elsewhere.len() > LOOKED_DIRECTORIES_MAX {
        sink.opaque(Role::Code, Why::Budget, name);
    }
    let elsewhere = elsewhere.iter().take(LOOKED_DIRECTORIES_MAX);
    found.extend(elsewhere.flat_map(|directory| sink.scene.written_below(directory)));
    if !sink.spend(found.len() as u64) {
        return;
    }
    let found_all: BTreeSet<String> = found.iter().cloned().collect();
    let mut loaded: BTreeSet<(String, &str)> = BTreeSet::new();
    for file in found {
        let pattern = patterns.iter().find(|(pattern, _)| matches_star(pattern, base_name(&file)));
        if let Some((pattern, language)) = pattern
            && (COMPILED.contains(language) || is_asked_for(&file, pattern, read, &cwd))
        {
            loaded.insert((file, language));
        } else if let Some(language) = named_otherwise(&file, name, argv, &cwd) {
            loaded.insert((file, language));
        }
    }
    let before: BTreeSet<String> =
        found_all.into_iter().filter(|file| !sink.has_itself_written(file)).collect();
    sink.left.sources.extend(sources::all((name, read), &before, &loaded, &patterns));
    if loaded.len() > LOADED_FILES_MAX || sink.scene.session.setting.written_is_full {
        sink.opaque(Role::Code, Why::Budget, name);
    }
    let known = loaded.iter().map(|(file, _)| file.clone()).collect();
    for (file, language) in loaded.into_iter().take(LOADED_FILES_MAX) {
        let file = Arg::known(file);
        sink.path(EffectKind::Execute, &file);
        match language {
            SOURCE => {}
            NX | PACKAGE_SCRIPT => tasks(language, &file, argv, &cwd, sink),
            _ => sink.program(language, From::File(file)),
        }
    }
    fixed::add(read, name, &known, sink);
}

/// Adds the scripts of a package that the arguments name, except those of the directory that runs the others.
fn tasks(language: &str, file: &Arg, argv: &[Arg], cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if file.as_str().and_then(|file| file.strip_suffix("/package.json")) == Some(cwd) {
        return;
    }
    let words = argv.iter().skip(1).filter_map(Arg::as_str).flat_map(|word| word.split([':', ',', '=']));
    let names: BTreeSet<&str> = words.filter(|word| !word.is_empty() && !word.starts_with('-')).collect();
    for name in names {
        sink.program(&format!("{language}.{}", name.to_ascii_lowercase()), From::File(file.clone()));
    }
}

/// Settings with the tasks of a project of Nx, and the scripts of a package; the name of one follows.
const NX: &str = "nx#targets";
const PACKAGE_SCRIPT: &str = "script#scripts";

/// Returns the language of a file that a runner loads by its directory of tests, or because an argument names it.
fn named_otherwise(file: &str, program: &str, argv: &[Arg], cwd: &str) -> Option<&'static str> {
    let is_script = JS_ENDINGS.iter().any(|end| file.ends_with(end));
    let mut above = file.rsplit('/').skip(1);
    if !is_script || !JS_RUNNERS.contains(&program) {
        return None;
    }
    let lies_with_tests = above.any(|name| TEST_DIRECTORIES.contains(&name));
    let is_named = |arg: &Arg| {
        let word = arg.as_str().unwrap_or_default();
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        [word, value].iter().any(|path| path::collapse(Some(cwd), path).as_deref() == Some(file))
    };
    (lies_with_tests || argv.iter().skip(1).any(is_named)).then_some("javascript")
}

const JS_RUNNERS: &[&str] =
    &["mocha", "_mocha", "ava", "jasmine", "jest", "vitest", "karma", "cypress", "playwright", "node"];

const TEST_DIRECTORIES: &[&str] = &["__tests__", "spec", "specs", "test", "tests"];

const JS_ENDINGS: &[&str] = &[".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"];

/// Returns the directories outside `cwd` of files that the operands name.
fn beyond(read: &Invocation, cwd: &str) -> BTreeSet<String> {
    let paths = read.operands.iter().filter_map(|operand| operand.arg.as_str());
    let paths = paths.filter(|path| path.starts_with(['/', '.']));
    let files = paths.filter_map(|path| path::collapse(Some(cwd), path));
    let directories = files.filter_map(|file| Some(file.rsplit_once('/')?.0.to_owned()));
    let below = format!("{}/", cwd.trim_end_matches('/'));
    directories.filter(|one| !one.is_empty() && one != cwd && !one.starts_with(&below)).collect()
}

fn is_of((programs, subcommands, _): &Loader, name: &str, read: &Invocation) -> bool {
    is_loading(programs, subcommands, name, read)
}

/// Returns true if a program is one of these, with one of these subcommands or options.
fn is_loading(programs: &[&str], subcommands: &[&str], name: &str, read: &Invocation) -> bool {
    let is_program = programs.contains(&name);
    let is_given =
        |one: &&str| read.subcommand.first() == Some(one) || one.starts_with('-') && read.given(one);
    let named = || subcommands.iter().any(&is_given);
    is_program && (subcommands.is_empty() || named()) && !read.is(Attribute::Inert)
}

/// Returns true if the operands name a test, or name no files. Every other file is always loaded.
fn is_asked_for(file: &str, pattern: &str, read: &Invocation, cwd: &str) -> bool {
    let names = |arg: &Arg| {
        let path =
            arg.as_str().map(|text| text.split("::").next().unwrap_or_default().trim_end_matches("/..."));
        path.and_then(|path| path::collapse(Some(cwd), path))
    };
    let is_path = |arg: &&Arg| arg.as_str().is_some_and(|text| text.contains(['/', '.']));
    let mut named = read.operands.iter().map(|operand| &operand.arg).filter(is_path).peekable();
    // Other files with open names are configurations, which every run loads.
    let is_test = pattern.contains('*')
        && ["bench", ".cy.", ".spec", "_spec", "test"].iter().any(|word| pattern.contains(word));
    !is_test
        || named.peek().is_none()
        || named
            .filter_map(names)
            .any(|path| file.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}
