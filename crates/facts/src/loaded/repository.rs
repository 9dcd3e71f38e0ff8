//! Git repositories that a command works in: their location, and those of their files that the session has written. The
//! command runs the programs that these files start. Must not know the format of the files.

use std::collections::BTreeSet;

use castellan_event::{Answer, Query, Role, Why};
use castellan_programs::{Arg, Invocation};

use super::fixed::below;
use super::is_loading;
use super::there::{is_directory, is_file, is_of_session};
use crate::Setting;
use crate::changed::ChangedPath;
use crate::language::{GIT, GIT_COMMON, GIT_HOOK, GIT_LINK};
use crate::limits::{COMPONENTS_MAX, INCLUDES_MAX, LOADED_FILES_MAX};
use crate::next::From;
use crate::path;
use crate::scripts;
use crate::settings::Starts;
use crate::settings::{git_includes, git_starts_unasked, git_text};
use crate::sink::Sink;

/// Programs that are git or start git in their directory, with the subcommands that do so (empty: all).
const CALLERS: &[(&[&str], &[&str])] = &[
    (
        &[
            "git", "hub", "gh", "glab", "git-lfs", "tig", "gitk", "git-gui", "lazygit", "gitui", "got",
            "scalar",
        ],
        &[],
    ),
    (&["pre-commit", "lefthook", "lint-staged", "husky", "commitizen", "cz", "gitlint", "git-cliff"], &[]),
    (&["lerna", "changeset", "release-it", "np", "semantic-release", "standard-version", "goreleaser"], &[]),
    (&["bump2version", "bumpversion", "bump-my-version", "tbump", "setuptools_scm", "jj"], &[]),
    (&["go"], &["build", "install", "list", "vet", "get", "mod", "version"]),
    (&["cargo"], &["install", "package", "publish", "release", "update", "fetch", "build"]),
    (&["npm", "pnpm", "yarn", "bun"], &["version", "publish", "install", "add", "pack"]),
    (
        &["pip", "pip3", "uv", "poetry", "hatch", "pdm", "build"],
        &["install", "build", "wheel", "version", "publish", "sync"],
    ),
    (&["starship"], &["prompt"]),
];

/// Returns the programs of the table.
pub(super) fn programs() -> impl Iterator<Item = &'static [&'static str]> {
    CALLERS.iter().map(|(programs, _)| *programs)
}

/// Subcommands that also start git in another repository.
const TRANSFERS: &[&str] = &["clone", "fetch", "ls-remote", "pull", "push", "submodule"];

/// The hooks of Git 2.47.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// The verb of a transfer with a remote whose address the session has set, and with one whose address it may have set.
const NEW_REMOTE: &str = "new-remote";
const UNCLEAR_REMOTE: &str = "unclear-remote";

/// Settings files in the directory of a repository.
const SETTINGS: &[&str] = &["config", "config.worktree"];

/// Result of looking for a repository in a directory.
enum Found {
    /// The directory of a repository. `is_hidden`: it is in a work tree, and its name does not show what it is.
    Repository { directory: String, is_hidden: bool },
    /// A file that names the repository's directory.
    Link(String),
    /// The call may have created a repository there, unread.
    Unknown,
}

/// Adds the programs that a command's repository starts, as far as the session has written its files.
pub(super) fn add(read: &Invocation, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if !CALLERS.iter().any(|(programs, subcommands)| is_loading(programs, subcommands, name, read)) {
        return;
    }
    let subcommand = read.subcommand.first().copied().unwrap_or_default();
    // They only change the settings for the next command.
    let is_settings = match read.subcommand.as_slice() {
        ["config", ..] => true,
        ["remote", "add", ..] => !read.given("-f"),
        ["remote", "rename" | "remove" | "rm" | "set-url", ..] => true,
        _ => false,
    };
    if name == "git" && is_settings {
        return;
    }
    if name == "git" && TRANSFERS.contains(&subcommand) {
        others(read, sink);
    }
    match read.values("--git-dir").last().filter(|_| name == "git") {
        Some(named) => at(&named.clone(), sink),
        None => around(sink),
    }
}

/// Adds repositories on this machine that git fetches from or pushes to: git runs there, too.
fn others(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let words: Vec<String> =
        read.operands.iter().filter_map(|operand| operand.arg.as_str()).take(2).map(str::to_owned).collect();
    for word in words {
        let url = of_files("remote", &word, "url", sink).unwrap_or(word);
        let path = url.strip_prefix("file://").unwrap_or(&url);
        let Some(path) = path::collapse(sink.cwd.as_deref(), path).filter(|_| !path.contains("://")) else {
            continue;
        };
        match of_git(&path, sink).or_else(|| of_itself(&path, false, sink)) {
            Some(Found::Repository { directory, is_hidden }) => repository(&directory, is_hidden, sink),
            Some(Found::Link(path)) => link(&path, sink),
            Some(Found::Unknown) | None => {}
        }
    }
}

/// Adds the repository that an option or a variable names.
pub(crate) fn at(named: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    match named.as_str().and_then(|text| path::collapse(sink.cwd.as_deref(), text)) {
        Some(path) if is_file(&path, sink) => link(&path, sink),
        Some(path) => {
            let is_hidden = is_hidden(&path, sink);
            repository(&path, is_hidden, sink);
        }
        None => built(None, sink),
    }
}

/// Adds the repository that git finds from the command's directory upwards, and those in its work tree that git enters.
fn around(sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(cwd) = sink.cwd.clone() else { return built(None, sink) };
    let is_changed = sink.scene.has_changes();
    let seen = format!("{} {cwd}", sink.scene.overlay.changes());
    if !sink.scene.files.repositories.insert(seen) {
        return;
    }
    if !is_changed && top(&cwd, sink).as_deref() == Some(&cwd) {
        let config = below(&cwd, ".git/config");
        if starts_commands(&config, &mut { INCLUDES_MAX }, sink) {
            program(GIT, &config, sink);
        }
        return;
    }
    let Some((directory, found)) = find(&cwd, sink) else { return };
    match found {
        Found::Repository { directory, is_hidden } => repository(&directory, is_hidden, sink),
        Found::Link(path) => link(&path, sink),
        Found::Unknown => sink.opaque(Role::Code, Why::Shadowed, &directory),
    }
    built(Some(&directory), sink);
}

/// Returns true if a named directory is among the files of the project, where users keep no repositories.
fn is_hidden(path: &str, sink: &Sink<'_, '_, '_, '_>) -> bool {
    let inside =
        path.strip_prefix(sink.scene.session.setting.workspace.as_str()).filter(|rest| rest.starts_with('/'));
    inside.is_some_and(|rest| !rest.split('/').any(|name| name == ".git"))
}

/// Returns the settings file of the repository in which the command works.
pub(crate) fn config_file(sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let cwd = sink.cwd.clone()?;
    let directory = match find(&cwd, sink)?.1 {
        Found::Repository { directory, .. } => directory,
        Found::Link(path) => {
            let text = scripts::text(&path, sink.scene).ok()?;
            target(&text, Some(&path))?
        }
        Found::Unknown => return None,
    };
    Some(below(&directory, "config"))
}

/// Returns the verb of a transfer with a remote of the settings: `None` if they are older than the session. A write to the
/// whole work tree, or to an unknown path, may have changed them.
pub(crate) fn verb_of_transfer(sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let verb = match config_file(sink) {
        Some(config) if has_new_remotes(&config, sink) => NEW_REMOTE,
        Some(config) if is_of_session(&config, sink) => UNCLEAR_REMOTE,
        None if sink.scene.has_changes() => UNCLEAR_REMOTE,
        Some(_) | None => return None,
    };
    Some(verb.to_owned())
}

/// Returns true if the session has set the address of a remote, or written the settings by their name.
fn has_new_remotes(config: &str, sink: &Sink<'_, '_, '_, '_>) -> bool {
    let Setting { written, downloaded, .. } = sink.scene.session.setting;
    let directory = config.rsplit_once('/').map_or("", |(directory, _)| directory);
    let is_named = |paths: &BTreeSet<String>| paths.contains(config) || paths.contains(directory);
    sink.has_set_remote(config)
        || sink.scene.overlay.has_put(config)
        || ChangedPath::Remotes(config).is_in(written)
        || is_named(written)
        || is_named(downloaded)
}

/// Returns the branch of the work tree; `None` if the call may have switched to another before, or a setting pushes
/// other branches.
pub(crate) fn branch(sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let config = config_file(sink)?;
    let head = format!("{}HEAD", config.strip_suffix("config")?);
    let is_changed =
        !sink.scene.changed_trees.is_empty() || sink.has_configured_git() || is_of_session(&head, sink);
    let kind = of_files("push", "", "default", sink);
    let is_other = kind.is_some_and(|kind| !matches!(kind.as_str(), "simple" | "current" | "nothing"));
    if is_changed || is_other || of_files("remote", "origin", "push", sink).is_some() {
        return None;
    }
    let Some(Answer::Contents(Some(text))) = sink.scene.world.ask(Query::Contents { path: head }) else {
        return None;
    };
    let text = String::from_utf8(text).ok()?;
    Some(text.trim().strip_prefix("ref: refs/heads/")?.to_owned())
}

/// A setting in the repository's or the user's file.
pub(crate) fn of_files(
    section: &str,
    sub: &str,
    name: &str,
    sink: &mut Sink<'_, '_, '_, '_>,
) -> Option<String> {
    let own = config_file(sink);
    let home = format!("{}/.gitconfig", sink.scene.session.places.home());
    own.into_iter().chain([home]).find_map(|path| {
        let Some(Answer::Contents(Some(bytes))) = sink.scene.world.ask(Query::Contents { path }) else {
            return None;
        };
        git_text(&String::from_utf8_lossy(&bytes), section, sub, name)
    })
}

/// Returns the first directory, from `cwd` upwards, in which git finds a repository.
fn find(cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<(String, Found)> {
    let top = top(cwd, sink);
    let is_changed = sink.scene.has_changes();
    for directory in upwards(cwd) {
        let is_top = top.as_deref() == Some(directory);
        // Without changes, the answer of the world shows that no `.git` exists further down.
        let named = if is_top || is_changed { of_git(directory, sink) } else { None };
        let is_asked = is_changed || top.is_some();
        let found = named.or_else(|| is_asked.then(|| of_itself(directory, top.is_some(), sink)).flatten());
        if let Some(found) = found {
            return Some((directory.to_owned(), found));
        }
        if is_top {
            break;
        }
    }
    None
}

/// Returns the first directory, from `cwd` upwards, that has a `.git`.
fn top(cwd: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    match sink.scene.world.ask(Query::Repository { of: cwd.to_owned() }) {
        Some(Answer::Repository(top)) => top,
        _ => None,
    }
}

/// Returns a directory and those above it.
fn upwards(directory: &str) -> impl Iterator<Item = &str> {
    let above = |one: &'_ str| one.rfind('/').filter(|at| *at > 0);
    std::iter::successors(Some(directory), move |one| one.get(..above(one)?)).take(COMPONENTS_MAX)
}

/// Returns the repository that `.git` in a directory is or names.
fn of_git(directory: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<Found> {
    let git = below(directory, ".git");
    if is_directory(&git, sink) {
        return Some(Found::Repository { directory: git, is_hidden: false });
    }
    if is_file(&git, sink) {
        return Some(Found::Link(git));
    }
    sink.scene.overlay.has_strange(&git).then_some(Found::Unknown)
}

/// Returns the repository if the directory itself is one, such as a bare repository.
fn of_itself(directory: &str, is_inside: bool, sink: &mut Sink<'_, '_, '_, '_>) -> Option<Found> {
    let is_one = has_head(directory, sink)
        && (is_file(&below(directory, "config"), sink) || is_file(&below(directory, "commondir"), sink));
    is_one.then(|| Found::Repository { directory: directory.to_owned(), is_hidden: is_inside })
}

/// Returns true if there is a `HEAD`. In a directory made by the call, `git init` or `git clone` may have put one.
fn has_head(directory: &str, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    is_file(&below(directory, "HEAD"), sink) || sink.scene.overlay.has_named(directory)
}

/// Adds repositories that the session has built: below a directory those that git enters, else all.
fn built(inside: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) {
    let is_one = |path: &str| {
        let (directory, name) = path.rsplit_once('/').unwrap_or_default();
        let is_of_git = directory.ends_with(".git") || directory.contains("/.git/");
        name == ".git" || SETTINGS.contains(&name) && (inside.is_none() || is_of_git)
    };
    let found = sink.scene.written_where(inside.unwrap_or_default(), is_one);
    if found.len() > LOADED_FILES_MAX {
        sink.opaque(Role::Code, Why::Budget, "git");
    }
    for path in found.into_iter().take(LOADED_FILES_MAX) {
        let (directory, name) = path.rsplit_once('/').unwrap_or_default();
        if name == ".git" {
            link(&path, sink);
        } else if has_head(directory, sink) {
            repository(directory, false, sink);
        }
    }
}

/// Adds the files in a repository's directory. `is_hidden`: also files that the session did not write.
fn repository(directory: &str, is_hidden: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    for name in SETTINGS {
        let path = below(directory, name);
        let is_read = is_hidden || starts_commands(&path, &mut { INCLUDES_MAX }, sink);
        settings(&path, is_read, sink);
    }
    let common = below(directory, "commondir");
    if is_file(&common, sink) {
        if is_of_session(&common, sink) {
            program(GIT_COMMON, &common, sink);
        } else if let Ok(text) = scripts::text(&common, sink.scene) {
            shared(&text, Some(&common), sink);
        }
    }
    let own = below(directory, "hooks");
    for hook in
        sink.scene.written_where(&own, |path| HOOKS.iter().any(|hook| path.ends_with(&format!("/{hook}"))))
    {
        program(GIT_HOOK, &hook, sink);
    }
}

/// Returns true if settings start something besides the hooks of the project, themselves or by the files that they
/// include. An archive may have brought such settings before the session. `left`: number of files that may be read; true
/// if there are more.
fn starts_commands(path: &str, left: &mut usize, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let Some(rest) = left.checked_sub(1) else { return true };
    *left = rest;
    let Ok(text) = scripts::text(path, sink.scene) else { return false };
    let directory = path.rsplit_once('/').map(|(directory, _)| directory);
    git_starts_unasked(&text).into_iter().any(|start| match start {
        Starts::Shell(_) | Starts::Unknown(_) | Starts::Tree(_) => true,
        Starts::Settings(included) => {
            let included = path::collapse(directory, &included);
            included.is_some_and(|included| starts_commands(&included, left, sink))
        }
        Starts::Hooks(_)
        | Starts::Program(..)
        | Starts::Module(..)
        | Starts::Text(..)
        | Starts::Later(_)
        | Starts::Package(..)
        | Starts::Registry(_) => false,
    })
}

/// Reads a settings file if the session wrote it or `is_own` is set; else, its included files that the session wrote.
pub(crate) fn settings(path: &str, is_own: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    if !is_file(path, sink) {
        return;
    }
    if is_own || is_of_session(path, sink) {
        return program(GIT, path, sink);
    }
    if !sink.scene.has_changes() || !sink.scene.files.repositories.insert(path.to_owned()) {
        return;
    }
    let Ok(text) = scripts::text(path, sink.scene) else { return };
    for start in crate::settings::starts(GIT, &text).unwrap_or_default() {
        if let Starts::Hooks(directory) = start {
            own_hooks(&directory, sink);
        }
    }
    for included in git_includes(&text).into_iter().take(INCLUDES_MAX) {
        let home = sink.scene.session.places.home();
        let included = match included.strip_prefix("~/") {
            Some(rest) => Some(format!("{home}/{rest}")),
            None => path::collapse(path.rsplit_once('/').map(|(directory, _)| directory), &included),
        };
        if let Some(included) = included {
            settings(&included, false, sink);
        }
    }
}

/// Adds the hooks that the session wrote into a directory that a setting names. Husky's own directory runs those above it.
fn own_hooks(directory: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let directory = directory.trim_end_matches('/').trim_end_matches("/_");
    let Some(directory) = path::collapse(sink.cwd.as_deref(), directory) else { return };
    let is_hook = |path: &str| {
        let name = path.strip_prefix(directory.as_str()).and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| HOOKS.contains(&name))
    };
    for hook in sink.scene.written_where(&directory, is_hook) {
        program(GIT_HOOK, &hook, sink);
    }
}

/// Adds the hooks in a directory that a setting names, also those that the session did not write. The path is as
/// written, relative to the directory in which hooks run.
pub(crate) fn hooks(directory: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let located = sink.locate(&Arg::known(directory));
    let Some(directory) = located.path else {
        return sink.opaque(Role::Code, located.why.unwrap_or(Why::File), directory);
    };
    if sink.scene.overlay.has_strange(&directory) {
        return sink.opaque(Role::Code, Why::Shadowed, &directory);
    }
    for hook in HOOKS {
        let path = below(&directory, hook);
        if is_file(&path, sink) {
            program(GIT_HOOK, &path, sink);
        }
    }
}

/// Adds the repository that a `.git` file names.
fn link(path: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if is_of_session(path, sink) {
        program(GIT_LINK, path, sink);
    } else if let Ok(text) = scripts::text(path, sink.scene) {
        linked(&text, Some(path), sink);
    }
}

/// Like [`link`], by the text of the file.
pub(crate) fn linked(text: &str, file: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some(directory) = target(text, file) {
        repository(&directory, false, sink);
    }
}

/// Adds the directory that work trees share, by the text of the file that names it.
pub(crate) fn shared(text: &str, file: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) {
    let here = file.and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
    let Some(directory) = path::collapse(here, text.trim()) else { return };
    // A file that names its own directory is read once.
    if here != Some(directory.as_str()) {
        repository(&directory, false, sink);
    }
}

/// Returns the directory after `gitdir:`.
fn target(text: &str, file: Option<&str>) -> Option<String> {
    let here = file.and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
    path::collapse(here, text.strip_prefix("gitdir:")?.trim())
}

/// Reads the file as this language, once for all commands of the call until the file changes.
fn program(language: &str, path: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let overlay = &sink.scene.overlay;
    let now = if overlay.has_written_on_way(path) { overlay.changes() } else { 0 };
    if sink.scene.files.repositories.insert(format!("{language} {now} {path}")) {
        sink.program(language, From::File(Arg::known(path)));
    }
}
