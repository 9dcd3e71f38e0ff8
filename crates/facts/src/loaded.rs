//! Files that test runners and builders load as code because of their names: tests and configurations. Files with a
//! fixed name are always read. Of the others, which may be thousands, only those that the session wrote: they have an
//! `execute` effect with their origin, and are read as if run directly. Must not know languages.

mod fixed;
mod inert;
mod loaders;
pub(crate) mod named;
pub(crate) mod repository;
mod roots;
mod settings;
pub(crate) mod sources;
pub(crate) mod starts;
pub(crate) mod there;
pub(crate) mod unread;

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use castellan_event::{EffectKind, Role, Why, matches_star};
use castellan_programs::{Arg, Attribute, Invocation};

use self::loaders::{
    COMPILED, IN_OWN_DIRECTORY, JS_ENDINGS, JS_RUNNERS, LOADERS, Loader, NX, PACKAGE_SCRIPT, Pattern, SOURCE,
    TEST_DIRECTORIES,
};
use crate::contained;
use crate::limits::{LOADED_FILES_MAX, LOOKED_DIRECTORIES_MAX};
use crate::next::From;
use crate::path;
use crate::sink::Sink;
use castellan_programs::base_name;

/// The module that builds packages of Python.
const BUILD: &str = "build";

/// Every program in one of the tables. Most commands run another program, and then the tables are not searched.
static PROGRAMS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let own = LOADERS.iter().map(|(programs, ..)| *programs);
    own.chain(fixed::programs())
        .chain(sources::programs())
        .chain(repository::programs())
        .chain(settings::programs())
        .chain(roots::programs())
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
    contained::add(name, read, PROGRAMS.contains(name), sink);
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
    roots::add(read, name, sink);
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
