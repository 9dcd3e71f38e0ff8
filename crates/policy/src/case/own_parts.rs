//! Opaque parts of the project's own code about which castellan does not ask when a person is at the agent's prompt.
//! The user has opened this repository, and agents exist to run its tests and builds. Code that a session wrote is
//! left to the agent only where the agent itself asks the person. Does not depend on the way a file's origin was found.

use std::borrow::Cow;
use std::collections::BTreeSet;

use castellan_event::{CallRow, Command, Effect, EffectKind, Facts, Role, Scope, Why};
use castellan_programs::Trait;

/// The Opaque parts of a call that belong to the project.
#[derive(Debug, Default)]
pub(crate) struct OwnParts<'r> {
    /// Files of the project; `None` if its own code gets no special treatment.
    files: Option<Cow<'r, BTreeSet<String>>>,
    /// Commands whose Opaque parts are not left to the project.
    grave: BTreeSet<usize>,
    /// Commands that delete or change unknown files.
    deleting: BTreeSet<usize>,
    /// Files of the project that fetch something, so their code may come from the network.
    fetching: BTreeSet<String>,
}

impl<'r> OwnParts<'r> {
    /// Finds those of a call. `with_sessions`: code that sessions wrote belongs to the project, too.
    pub(crate) fn of(rows: &[CallRow<'_>], facts: &'r Facts, with_sessions: bool) -> OwnParts<'r> {
        let effects = || rows.iter().filter_map(CallRow::effect);
        let files = match with_sessions && !facts.session_scripts.is_empty() {
            true => Cow::Owned(&facts.own_scripts | &facts.session_scripts),
            false => Cow::Borrowed(&facts.own_scripts),
        };
        // An Opaque part of the call itself may be an argument of the project's code.
        if files.is_empty() || effects().any(|effect| is_open(effect, &files)) {
            return OwnParts::default();
        }
        let command = |effect: &Effect| facts.commands.get(effect.command?);
        let fetches_data = |effect: &Effect| {
            let file = effect.script_path().filter(|file| files.contains(*file));
            effect.kind() == EffectKind::Download && file.is_some_and(|file| !is_shell_text(file))
        };
        // The download from the default host has an effect of its own.
        let has_default = |effect: &Effect| {
            effect.kind() == EffectKind::Download && effect.url().is_some_and(says_what_else)
        };
        let is_grave = |effect: &&Effect| {
            is_grave(effect) && !fetches_data(effect) && !has_default(effect)
                || command(effect).is_some_and(|command| is_reported(command, effect))
        };
        let grave = effects().filter(is_grave).filter_map(|effect| effect.command).collect();
        let fetches = |effect: &&Effect| effect.kind() == EffectKind::Download;
        let fetching =
            effects().filter(fetches).filter_map(|effect| effect.script_path().map(str::to_owned)).collect();
        let deletes = |effect: &&Effect| {
            matches!(effect.kind(), EffectKind::Delete | EffectKind::Permission | EffectKind::Destroy)
        };
        let deleting = effects().filter(deletes).filter_map(|effect| effect.command).collect();
        OwnParts { files: Some(files), grave, deleting, fetching }
    }

    /// Reports whether an Opaque part belongs to the project and is of a kind that is left to it.
    pub(crate) fn has(&self, effect: &Effect) -> bool {
        let Some(files) = self.files.as_deref() else { return false };
        let (Some(file), Some(role)) = (file_of(effect, files), effect.role()) else { return false };
        let is_grave = effect.command.is_some_and(|command| self.grave.contains(&command));
        let is_fetched = role != Role::Target && self.fetching.contains(file);
        // Output of the project's own code belongs to the project while nothing else changes files of the project.
        let is_made = effect.why() == Some(Why::Shadowed);
        let is_untouched = || files.iter().any(|one| holds(one, file));
        let is_its = !is_made || role != Role::Target && is_untouched();
        let is_left = || is_left(file, role, effect) || self.is_version(effect);
        files.contains(file) && !is_grave && !is_fetched && is_its && (is_made || is_left())
    }
}

impl OwnParts<'_> {
    /// Reports whether a file of the project with an Opaque part has the effect.
    pub(crate) fn is_of_project(&self, effect: &Effect) -> bool {
        let files = self.files.as_deref();
        files.is_some_and(|files| effect.script_path().is_some_and(|file| files.contains(file)))
    }

    /// Reports whether a file is written whose name begins in the project and ends in a command's output
    /// (`app-$(cat VERSION).tgz`). No output leads elsewhere, because no directory has the beginning of the name.
    fn is_version(&self, effect: &Effect) -> bool {
        let is_output = matches!(effect.why(), Some(Why::Substitution | Why::File));
        let deletes = effect.command.is_none_or(|command| self.deleting.contains(&command));
        let begins = effect.target().and_then(|target| target.split_once("$(")).map(|(known, _)| known);
        let is_name = |known: &str| {
            let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-./".contains(one);
            known.chars().all(is_plain)
                && known.ends_with(['-', '_', '.'])
                && known
                    .trim_end_matches(['-', '_', '.'])
                    .ends_with(|last: char| last.is_ascii_alphanumeric())
                && !known.starts_with('/')
                && known.split('/').all(|part| part != "..")
        };
        effect.role() == Some(Role::Target) && is_output && !deletes && begins.is_some_and(is_name)
    }
}

/// Reports whether a pattern for all files of a directory (`/w/**`) includes this file.
fn holds(all: &str, file: &str) -> bool {
    all.strip_suffix("**").is_some_and(|directory| directory.ends_with('/') && file.starts_with(directory))
}

/// The file of a part. For the call's own text: the program that the project's own code creates in this call.
fn file_of<'e>(effect: &'e Effect, files: &BTreeSet<String>) -> Option<&'e str> {
    let is_made = effect.why() == Some(Why::Shadowed) && effect.role() != Some(Role::Target);
    effect.script_path().or_else(|| effect.target().filter(|file| is_made && files.contains(*file)))
}

/// Reports whether a part of the call itself is Opaque. Excludes globs, because they match existing files, and options,
/// because they are the call's own.
fn is_open(effect: &Effect, files: &BTreeSet<String>) -> bool {
    effect.is_opaque()
        && file_of(effect, files).is_none()
        && !matches!(effect.why(), Some(Why::Glob | Why::Flag | Why::Unsupported))
}

/// Reports whether a command of the call gives the project's code an argument of several words, which may be code. Also
/// true if the project's file contains commands for another system.
fn is_reported(command: &Command, effect: &Effect) -> bool {
    let is_text = |arg: &String| arg.contains(char::is_whitespace) || arg.contains('(');
    let is_master = command.name.as_deref().is_some_and(|name| Trait::CommandsOtherSystems.is_of(name));
    is_master || effect.script_path().is_none() && command.args.iter().any(is_text)
}

/// Reports whether an effect reads a secret, sends or fetches something or gains rights. The Opaque parts of such a
/// command are not left to the project.
fn is_grave(effect: &Effect) -> bool {
    match effect.kind() {
        EffectKind::Upload | EffectKind::Download | EffectKind::Publish | EffectKind::Elevate => true,
        EffectKind::Read => {
            matches!(effect.scope(), Some(Scope::Castellan | Scope::Secret | Scope::Agent))
        }
        EffectKind::Write
        | EffectKind::Delete
        | EffectKind::Link
        | EffectKind::Permission
        | EffectKind::Execute
        | EffectKind::Interactive
        | EffectKind::Connect
        | EffectKind::Listen
        | EffectKind::Install
        | EffectKind::Query
        | EffectKind::Mutate
        | EffectKind::Destroy
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Spawn
        | EffectKind::Environment
        | EffectKind::Mcp
        | EffectKind::Opaque => false,
    }
}

/// Name endings of files with shell text. There a variable's value may decide which command runs.
const SHELL: &[&str] = &[
    ".bash", ".bats", ".dash", ".ksh", ".mak", ".mk", ".sh", ".zsh", "akefile", "ustfile", ".yml", ".yaml",
    ".json", ".toml",
];

/// Kinds that are left to the project in shell text. Text that could not be parsed completely is not left.
const IN_SHELL: &[(Role, &[Why])] = &[
    (
        Role::Code,
        &[
            Why::Unsupported,
            Why::Nesting,
            Why::Budget,
            Why::Expansion,
            Why::Glob,
            Why::File,
            Why::Unresolved,
            Why::Language,
            Why::Dynamic,
        ],
    ),
    (Role::Program, &[Why::Unsupported, Why::Nesting, Why::Budget, Why::Glob, Why::Unresolved, Why::Dynamic]),
    (Role::Target, &[Why::Unsupported, Why::Nesting, Why::Budget, Why::Parameter, Why::Glob, Why::Dynamic]),
];

/// Kinds that are left to the project in programs of other languages, which are analysed less exactly.
const IN_PROGRAM: &[(Role, &[Why])] = &[
    (
        Role::Code,
        &[
            Why::Unsupported,
            Why::Syntax,
            Why::Nesting,
            Why::Size,
            Why::Budget,
            Why::Encoding,
            Why::Variable,
            Why::Parameter,
            Why::Substitution,
            Why::Arithmetic,
            Why::Expansion,
            Why::Glob,
            Why::File,
            Why::Unresolved,
            Why::Language,
            Why::Dynamic,
        ],
    ),
    (
        Role::Program,
        &[
            Why::Unsupported,
            Why::Nesting,
            Why::Budget,
            Why::Parameter,
            Why::Glob,
            Why::File,
            Why::Unresolved,
            Why::Dynamic,
        ],
    ),
    (
        Role::Target,
        &[
            Why::Unsupported,
            Why::Nesting,
            Why::Budget,
            Why::Variable,
            Why::Parameter,
            Why::Glob,
            Why::File,
            Why::Unresolved,
            Why::Dynamic,
        ],
    ),
];

fn is_left(file: &str, role: Role, effect: &Effect) -> bool {
    let why = effect.why().unwrap_or_default();
    let table = if is_shell_text(file) { IN_SHELL } else { IN_PROGRAM };
    let is_run_or_made = matches!(role, Role::Program | Role::Target);
    let has_default = is_run_or_made && why == Why::Variable && effect.target().is_some_and(says_what_else);
    has_default || table.iter().any(|(one, whys)| *one == role && whys.contains(&why))
}

fn is_shell_text(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    !name.contains('.') || SHELL.iter().any(|end| name.ends_with(end))
}

/// Reports whether a text begins with a variable with a default (`${CC:-cc}`), or all its variables have a default
/// (`localhost:${PORT:-8000}`). The analysis already judged the default.
fn says_what_else(text: &str) -> bool {
    let Some((before, rest)) = text.split_once('$') else { return false };
    let is_plain = before.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c));
    let mut variables = rest.split('$');
    let is_first = variables.next().is_some_and(has_default);
    is_first && (before.is_empty() || is_plain && variables.all(has_default))
}

/// Reports whether the text after a `$` is a variable with a default.
fn has_default(text: &str) -> bool {
    let rest = text
        .strip_prefix('{')
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    let default = rest.and_then(|rest| rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-')));
    default
        .is_some_and(|default| default.starts_with(|c: char| c.is_ascii_alphanumeric() || "./".contains(c)))
}
