//! Parts of the project's own code that were not understood, and about which nobody is asked where a person sits at the agent's prompt:
//! the user has opened this repository, and its tests and builds are what agents are for. It must not know how a file's origin was found.

use std::collections::BTreeSet;

use castellan_event::{CallRow, Command, Effect, EffectKind, Facts, Role, Scope, Why};

/// What is the project's own among the parts of a call that were not understood.
#[derive(Debug, Default)]
pub(crate) struct OwnParts<'r> {
    /// Files of the project; `None` where its own code is code like others.
    files: Option<&'r BTreeSet<String>>,
    /// Commands of which nothing is left to the project.
    grave: BTreeSet<usize>,
    /// Commands that delete or change what is not known.
    deleting: BTreeSet<usize>,
    /// Its files that fetch something: which code they run may come from there.
    fetching: BTreeSet<String>,
}

impl<'r> OwnParts<'r> {
    /// Those of a call.
    pub(crate) fn of(rows: &[CallRow<'_>], facts: &'r Facts) -> OwnParts<'r> {
        let effects = || rows.iter().filter_map(CallRow::effect);
        // What the call itself leaves open may be what the project's code is given.
        if facts.own_scripts.is_empty() || effects().any(|effect| is_open(effect, &facts.own_scripts)) {
            return OwnParts::default();
        }
        let command = |effect: &Effect| facts.commands.get(effect.command?);
        let fetches_data = |effect: &Effect| {
            let file = effect.script_path.as_ref().filter(|file| facts.own_scripts.contains(*file));
            effect.kind == EffectKind::Download && file.is_some_and(|file| !is_shell_text(file))
        };
        let is_grave = |effect: &&Effect| {
            is_grave(effect) && !fetches_data(effect)
                || command(effect).is_some_and(|command| is_told(command, effect))
        };
        let grave = effects().filter(is_grave).filter_map(|effect| effect.command).collect();
        let fetches = |effect: &&Effect| effect.kind == EffectKind::Download;
        let fetching = effects().filter(fetches).filter_map(|effect| effect.script_path.clone()).collect();
        let deletes = |effect: &&Effect| {
            matches!(effect.kind, EffectKind::Delete | EffectKind::Permission | EffectKind::Destroy)
        };
        let deleting = effects().filter(deletes).filter_map(|effect| effect.command).collect();
        OwnParts { files: Some(&facts.own_scripts), grave, deleting, fetching }
    }

    /// Whether a part that was not understood is the project's own, and of a kind that is left to it.
    pub(crate) fn has(&self, effect: &Effect) -> bool {
        let Some(files) = self.files else { return false };
        let (Some(file), Some(role)) = (file_of(effect, files), effect.role) else { return false };
        let is_grave = effect.command.is_some_and(|command| self.grave.contains(&command));
        let is_fetched = role != Role::Target && self.fetching.contains(file);
        // What the project's own code makes is its own, as long as nobody else changes anything in the project.
        let is_made = effect.why == Some(Why::Shadowed);
        let is_untouched = || files.iter().any(|one| holds(one, file));
        let is_its = !is_made || role != Role::Target && is_untouched();
        let is_left = || is_left(file, role, effect) || self.is_version(effect);
        files.contains(file) && !is_grave && !is_fetched && is_its && (is_made || is_left())
    }
}

impl OwnParts<'_> {
    /// Whether a file is written whose name begins in the project and ends in what a command writes (`app-$(cat VERSION).tgz`): whatever
    /// that is, it leads nowhere else, because no directory is called as the name begins.
    fn is_version(&self, effect: &Effect) -> bool {
        let is_output = matches!(effect.why, Some(Why::Substitution | Why::File));
        let deletes = effect.command.is_none_or(|command| self.deleting.contains(&command));
        let begins =
            effect.target.as_deref().and_then(|target| target.split_once("$(")).map(|(known, _)| known);
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
        effect.role == Some(Role::Target) && is_output && !deletes && begins.is_some_and(is_name)
    }
}

/// Whether what stands for all files of a directory (`/w/**`) stands for this one.
fn holds(all: &str, file: &str) -> bool {
    all.strip_suffix("**").is_some_and(|directory| directory.ends_with('/') && file.starts_with(directory))
}

/// The file that a part stands in: of what is typed, the program that the project's own code makes in this call.
fn file_of<'e>(effect: &'e Effect, files: &BTreeSet<String>) -> Option<&'e String> {
    let is_made = effect.why == Some(Why::Shadowed) && effect.role != Some(Role::Target);
    effect
        .script_path
        .as_ref()
        .or_else(|| effect.target.as_ref().filter(|file| is_made && files.contains(*file)))
}

/// Whether a part stands in the call itself and is not known. A pattern stands for files, which are there; options are the call's own.
fn is_open(effect: &Effect, files: &BTreeSet<String>) -> bool {
    effect.is_opaque()
        && file_of(effect, files).is_none()
        && !matches!(effect.why, Some(Why::Glob | Why::Flag | Why::Unsupported))
}

/// Whether a command of the call itself gives the project's code a text of several words, which may be code too, or the project's file
/// holds orders for another system.
fn is_told(command: &Command, effect: &Effect) -> bool {
    let is_text = |arg: &String| arg.contains(char::is_whitespace) || arg.contains('(');
    let is_master = command.name.as_deref().is_some_and(|name| MASTERS.contains(&name));
    is_master || effect.script_path.is_none() && command.args.iter().any(is_text)
}

/// Programs whose files are orders for another system, and no programs of the project.
const MASTERS: &[&str] = &[
    "ansible-playbook",
    "cqlsh",
    "gdb",
    "influx",
    "kubectl",
    "lldb",
    "mariadb",
    "mongo",
    "mongosh",
    "mysql",
    "psql",
    "redis-cli",
    "sqlcmd",
    "sqlite3",
    "sqlplus",
    "terraform",
];

/// Whether an effect reads a secret, sends something or gains rights: what a command does so, or runs besides, is not left to the project.
fn is_grave(effect: &Effect) -> bool {
    match effect.kind {
        EffectKind::Upload | EffectKind::Download | EffectKind::Publish | EffectKind::Elevate => true,
        EffectKind::Read => {
            matches!(effect.scope, Some(Scope::Castellan | Scope::Secret | Scope::Agent))
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

/// Files in which text of a shell stands, by how their names end: what a variable holds there decides which command runs.
const SHELL: &[&str] = &[
    ".bash", ".bats", ".dash", ".ksh", ".mak", ".mk", ".sh", ".zsh", "akefile", "ustfile", ".yml", ".yaml",
    ".json", ".toml",
];

/// What is left to the project in text of a shell. Of one that cannot be read as a whole nothing is judged.
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

/// The same in a program of another language, where nothing is computed as exactly.
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
    let why = effect.why.unwrap_or_default();
    let table = if is_shell_text(file) { IN_SHELL } else { IN_PROGRAM };
    let is_run_or_made = matches!(role, Role::Program | Role::Target);
    let has_default =
        is_run_or_made && why == Why::Variable && effect.target.as_deref().is_some_and(says_what_else);
    has_default || table.iter().any(|(one, whys)| *one == role && whys.contains(&why))
}

fn is_shell_text(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    !name.contains('.') || SHELL.iter().any(|end| name.ends_with(end))
}

/// Whether a variable begins a text that says what counts where nobody has set it: `${CC:-cc}`. That was found as what it is.
fn says_what_else(text: &str) -> bool {
    let name =
        |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').to_owned();
    text.strip_prefix("${").map(name).is_some_and(|rest| {
        let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
        default.is_some_and(|default| {
            default.starts_with(|c: char| c.is_ascii_alphanumeric() || "./".contains(c))
        })
    })
}
