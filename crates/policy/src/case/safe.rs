//! Effects that are safe wherever a person would not want to be asked. Does not depend on commands or rules.

use castellan_event::{Effect, EffectKind, Scope};
use castellan_programs::System;

use super::searches::is_tree;

/// Reports whether an effect reads no secret, changes only the workspace or temporary files, and sends nothing.
pub(crate) fn is_safe(effect: &Effect) -> bool {
    // The contents of a directory tree are unknown.
    let is_tree = is_tree(effect);
    match effect.kind() {
        EffectKind::Read | EffectKind::Delete | EffectKind::Permission if is_tree => false,
        EffectKind::Read => effect.path().is_some() && is_plain(effect.scope(), READABLE),
        // Text that a task of the project writes there belongs to the project.
        EffectKind::Write
            if effect.script_path().is_none()
                && effect.path().is_some_and(|path| says_what_is_installed(path) || is_instruction(path)) =>
        {
            false
        }
        EffectKind::Write | EffectKind::Delete | EffectKind::Permission => {
            effect.path().is_some() && is_plain(effect.scope(), CHANGEABLE)
        }
        EffectKind::Mutate if is_of_files(effect) => true,
        EffectKind::Mutate if !is_ordinary(effect) => false,
        EffectKind::Signal => is_own_job(effect),
        EffectKind::Query if is_of_machine(effect) => true,
        // Only for the repository in the workspace; other systems have no place.
        EffectKind::Query | EffectKind::Mutate => is_plain(effect.place(), CHANGEABLE),
        EffectKind::Spawn => effect.command.is_none(),
        // These depend on the other effects of the call.
        EffectKind::Execute | EffectKind::Opaque => false,
        EffectKind::Link
        | EffectKind::Destroy
        | EffectKind::Connect
        | EffectKind::Download
        | EffectKind::Upload
        | EffectKind::Listen
        | EffectKind::Interactive
        | EffectKind::Elevate
        | EffectKind::Install
        | EffectKind::Publish
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Environment
        | EffectKind::Mcp => false,
    }
}

/// Reports whether a change is that of files which the command's other effects name.
pub(super) fn is_of_files(effect: &Effect) -> bool {
    let system = effect.system().and_then(System::find);
    system.is_some_and(|system| system.file_changes.contains(&effect.verb().unwrap_or_default()))
}

/// Reports whether a signal goes to a job that this shell has started.
pub(super) fn is_own_job(effect: &Effect) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    effect.target().is_some_and(|target| {
        matches!(target, "$!" | "%%" | "%+" | "%-") || target.strip_prefix('%').is_some_and(is_number)
    })
}

/// Reports whether a query is about the project's own data and is answered on this machine.
fn is_of_machine(effect: &Effect) -> bool {
    let system = effect.system().and_then(System::find);
    effect.remote().is_none_or(|remote| remote.host.is_none() && remote.url.is_none())
        && system.is_some_and(|system| system.local_queries.contains(&effect.verb().unwrap_or_default()))
}

/// Reports whether an operation is common and can be undone, for a system whose operations were examined. Excludes
/// operations that import unreviewed content (a patch), change where the system looks or what it runs, or lose history.
fn is_ordinary(effect: &Effect) -> bool {
    let undoable = effect.system().and_then(System::find).map_or(&[][..], |system| system.undoable);
    undoable.is_empty() || effect.verb().is_some_and(|verb| undoable.contains(&verb))
}

/// Reports whether a file tells package managers what to install and from where.
pub(crate) fn says_what_is_installed(path: &str) -> bool {
    let mut components = path.rsplit('/');
    let (name, above) = (components.next().unwrap_or_default(), components.next().unwrap_or_default());
    let is_output =
        path.split('/').any(|one| matches!(one, "build" | "dist" | "node_modules" | "out" | "target"));
    SOURCES.contains(&name) && !(is_output && name == "package.json")
        || name.starts_with("requirements") && name.ends_with(".txt")
        || matches!((above, name), (".cargo", "config" | "config.toml") | (".bundle", "config") | (".mvn", _))
}

/// Reports whether agents follow a file's text in later sessions.
fn is_instruction(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| INSTRUCTIONS.contains(&name))
}

/// Files whose text agents follow in later sessions.
const INSTRUCTIONS: &[&str] = &[
    ".cursorrules",
    ".windsurfrules",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    "copilot-instructions.md",
];

const SOURCES: &[&str] = &[
    ".bowerrc",
    ".condarc",
    ".gemrc",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pypirc",
    ".terraformrc",
    ".yarnrc",
    ".yarnrc.yml",
    "Cargo.lock",
    "Gemfile",
    "Gemfile.lock",
    "NuGet.Config",
    "NuGet.config",
    "Pipfile",
    "Pipfile.lock",
    "auth.json",
    "bun.lock",
    "bun.lockb",
    "bunfig.toml",
    "composer.json",
    "composer.lock",
    "go.mod",
    "go.sum",
    "go.work",
    "npm-shrinkwrap.json",
    "nuget.config",
    "package-lock.json",
    "package.json",
    "pip.conf",
    "pip.ini",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "poetry.lock",
    "pyproject.toml",
    "settings.gradle",
    "settings.gradle.kts",
    "settings.xml",
    "uv.lock",
    "uv.toml",
    "yarn.lock",
];

const CHANGEABLE: &[Scope] = &[Scope::Workspace, Scope::Temporary];
const READABLE: &[Scope] = &[Scope::Workspace, Scope::Temporary, Scope::Vcs, Scope::System];

fn is_plain(scope: Option<Scope>, plain: &[Scope]) -> bool {
    scope.is_some_and(|scope| plain.contains(&scope))
}
