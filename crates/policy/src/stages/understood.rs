//! Calls that the autonomous profile runs without a prompt: every part was understood and is safe. Does not depend on
//! rules: their deny and ask findings apply anyway.

use std::collections::BTreeMap;

use castellan_event::{
    AccessLevel, Call, CallRow, Code, Command, Effect, EffectKind, FileOrigin, Finding, Role, Scope,
    ToolKind, Verdict, Why,
};
use castellan_programs::Trait;

use crate::case::{Case, OwnCode, Reading, is_safe, shows_no_secret};
use crate::stages::Found;

/// Allows a call within its level, in profiles that permit it.
pub(super) fn understood(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let Reading { need, own_code, level, .. } = reading;
    let rows = reading.rows();
    // Without levels, what changes more than the workspace is left to the agent.
    let most = level.unwrap_or(AccessLevel::WorkspaceWrite);
    let is_safe = case.settings().allow_understood
        && need.level <= most
        && is_known(case.call)
        && case.facts.unread.is_empty()
        && is_each_safe(rows, own_code)
        && is_untouched(rows, own_code)
        && is_said(rows);
    let message = "every part is understood and safe";
    is_safe.then(|| Finding::new(Verdict::Allow, Code::Understood, message)).into()
}

/// Reports whether the effects describe the call completely. A search reads more than its one path. A change of the
/// agent's own state may change the agent's permissions.
fn is_known(call: &Call) -> bool {
    match call.tool.kind {
        ToolKind::Shell => call.command.is_some(),
        ToolKind::Read => call.tool.name == "Read" && !call.files.is_empty(),
        ToolKind::Write | ToolKind::Edit | ToolKind::Patch => !call.files.is_empty(),
        ToolKind::Subagent => true,
        ToolKind::Internal | ToolKind::Web | ToolKind::Mcp | ToolKind::Unknown => false,
    }
}

/// Reports whether no file runs that the session wrote or downloaded, except a harmless one, and every task that runs
/// is known. A program that a task of the project starts belongs to the project.
fn is_untouched(rows: &[CallRow<'_>], own_code: &OwnCode<'_>) -> bool {
    let is_strange = |effect: &Effect| {
        effect.kind() == EffectKind::Execute
            && matches!(effect.file_origin(), Some(FileOrigin::Downloaded | FileOrigin::Written))
            && !own_code.is_harmless(effect)
    };
    let effects = || rows.iter().filter_map(CallRow::effect);
    let opaque: Vec<&str> =
        effects().filter(|effect| effect.is_opaque()).filter_map(|effect| effect.target()).collect();
    let is_unknown = |effect: &Effect| {
        let is_named = |target: &str| opaque.contains(&target);
        effect.kind() == EffectKind::Execute && effect.target().is_some_and(is_named)
    };
    !effects().any(|effect| is_strange(effect) || is_unknown(effect))
}

fn is_each_safe(rows: &[CallRow<'_>], own_code: &OwnCode<'_>) -> bool {
    let cwd = rows.first().map_or("", CallRow::real_cwd);
    let commands: BTreeMap<usize, &Command> = rows.iter().filter_map(CallRow::command).collect();
    let command = |effect: &Effect| commands.get(&effect.command?).copied();
    let mut effects = rows.iter().filter_map(CallRow::effect);
    effects.all(|effect| {
        is_safe(effect)
            || own_code.permits(effect)
            || command(effect).is_some_and(|command| shows_no_secret(effect, command))
            || is_of_output(effect, cwd)
            || is_plain_operand(effect, rows, own_code)
    })
}

/// Reports whether the words of the commands describe their output. An indirect variable (`${!name}`) may be a secret,
/// and a shell's trace may show one.
fn is_said(rows: &[CallRow<'_>]) -> bool {
    let commands = || rows.iter().filter_map(CallRow::command).map(|(_, command)| command);
    let shows = |command: &Command| {
        let is_shell = command.name.as_deref().is_some_and(|name| Trait::Traces.is_of(name));
        let is_trace = |arg: &String| {
            let cluster = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            arg == "xtrace" || cluster.is_some_and(|flags| flags.contains('x'))
        };
        is_shell && command.args.iter().any(is_trace)
    };
    let has_variable = |command: &Command| command.args.iter().any(|arg| arg.contains('$'));
    let names_another = |command: &Command| command.args.iter().any(|arg| arg.contains("${!"));
    let prints_all = |command: &Command| {
        let is_bare = command.args.iter().all(|arg| matches!(arg.as_str(), "-0" | "-p" | "-x"));
        is_bare && command.name.as_deref().is_some_and(|name| Trait::PrintsEnvironment.is_of(name))
    };
    let shows_one = commands().any(shows) && commands().any(has_variable);
    !shows_one && !commands().any(|command| names_another(command) || prints_all(command))
}

/// Directories that builds and tests recreate or that package managers fetch again.
const OUTPUTS: &[&str] = &[
    ".angular",
    ".astro",
    ".cache",
    ".docusaurus",
    ".eggs",
    ".eslintcache",
    ".gradle",
    ".ipynb_checkpoints",
    ".jest-cache",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nx",
    ".nyc_output",
    ".output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".rts2_cache",
    ".svelte-kit",
    ".temp",
    ".tmp",
    ".tox",
    ".turbo",
    ".vite",
    ".vuepress",
    "__pycache__",
    "es2015",
    "es5",
    "es6",
    "esm2015",
    "jsdoc",
    "lib-cov",
    "playwright-report",
    "test-results",
    "_site",
    "artifacts",
    "bower_components",
    "build",
    "cmake-build-debug",
    "cmake-build-release",
    "coverage",
    "dist",
    "es",
    "esm",
    "cjs",
    "htmlcov",
    "node_modules",
    "out",
    "output",
    "target",
    "temp",
    "tmp",
    "typings",
    "umd",
];

const OUTPUT_ENDINGS: &[&str] =
    &[".dSYM", ".egg-info", ".log", ".map", ".o", ".pyc", ".tgz", ".tmp", ".tsbuildinfo", "~"];

/// Reports whether an effect deletes files that the project can recreate. Either a task or script of the project
/// deletes inside the project, or the path has a usual name of build output. Never the working directory or a directory
/// above it.
fn is_of_output(effect: &Effect, cwd: &str) -> bool {
    let is_inside = effect.place() == Some(Scope::Workspace) && effect.scope() == Some(Scope::Workspace);
    let Some(path) = effect.path().filter(|_| effect.kind() == EffectKind::Delete && is_inside) else {
        return false;
    };
    let Some(below) = path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let is_output = |name: &str| {
        let name = name.trim_end_matches('*');
        let variant = name.split(['-', '_']).next().unwrap_or_default();
        OUTPUTS.contains(&name)
            || matches!(variant, "build" | "dist" | "out" | "tmp")
            || OUTPUT_ENDINGS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
    };
    let is_named = below.split('/').any(is_output);
    let is_whole = below.split('/').next().is_none_or(|first| first.trim_matches(['*', '.', '?']).is_empty());
    !is_whole && (is_named || effect.script_path().is_some())
}

/// Reports whether an operand of a harmless command is only known at run time and does not become a file's contents. An
/// unknown option may change the effect; in a task of the project the option is the project's own.
fn is_plain_operand(effect: &Effect, rows: &[CallRow<'_>], own_code: &OwnCode<'_>) -> bool {
    if effect.kind() != EffectKind::Opaque || effect.role() != Some(Role::Operand) {
        return false;
    }
    let makes_a_file = || {
        let mut same =
            rows.iter().filter_map(CallRow::effect).filter(|other| other.command == effect.command);
        same.any(|other| other.kind() == EffectKind::Write)
    };
    match effect.why() {
        // Each matching file has its own effect.
        Some(Why::Glob) => true,
        Some(Why::Flag) => effect.script_path().is_some() || own_code.has_open_options(effect),
        Some(
            Why::Variable
            | Why::Parameter
            | Why::Substitution
            | Why::Arithmetic
            | Why::Expansion
            | Why::Dynamic,
        ) => !makes_a_file(),
        _ => false,
    }
}
