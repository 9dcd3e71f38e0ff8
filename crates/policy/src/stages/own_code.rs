//! The project's own code, as far as the autonomous profile lets it run: tests, builds and tasks that lie in the workspace and that the
//! session did not put there. It must not know what else a call does.

use std::collections::BTreeSet;

use castellan_event::{CallRow, Effect, EffectKind, FileOrigin, Scope};

/// Tools that run tests and build, and what of all that they do is that.
const TOOLS: &[(&str, &[&str])] = &[
    ("ava", &["run"]),
    ("build", &["build"]),
    ("cargo", &["bench", "build", "check", "clippy", "doc", "test"]),
    ("docs", &["build"]),
    ("esbuild", &["run"]),
    ("go", &["build", "test", "vet"]),
    ("jasmine", &["run"]),
    ("jest", &["run"]),
    ("karma", &["run"]),
    ("mocha", &["run"]),
    ("phpunit", &["run", "test"]),
    ("pytest", &["run", "test"]),
    ("rollup", &["run"]),
    ("rspec", &["run", "test"]),
    ("tap", &["run"]),
    ("tsup", &["run"]),
    ("vitest", &["run"]),
    ("webpack", &["run"]),
];

/// Runners whose tasks are read: what a task does is found in it, if it is there.
const RUNNERS: &[&str] = &["composer", "just", "make", "npm", "task"];

/// What is the project's own among the effects of a call.
#[derive(Debug, Default)]
pub(crate) struct OwnCode<'r> {
    /// Files of which something runs that was read; `None` where the project's own code is a program like others.
    scripts: Option<BTreeSet<&'r str>>,
}

impl<'r> OwnCode<'r> {
    /// That of a call, which has these rows.
    pub(crate) fn of(rows: &'r [CallRow<'_>]) -> OwnCode<'r> {
        let effects = rows.iter().filter_map(CallRow::effect);
        OwnCode { scripts: Some(effects.filter_map(|effect| effect.script_path.as_deref()).collect()) }
    }

    /// Whether an effect runs the project's own code, and nothing else.
    pub(crate) fn runs(&self, effect: &Effect) -> bool {
        let Some(scripts) = &self.scripts else { return false };
        if effect.kind != EffectKind::Execute {
            return false;
        }
        let lies_there = effect.place == Some(Scope::Workspace) && effect.scope == Some(Scope::Workspace);
        let is_old = lies_there && effect.file_origin == Some(FileOrigin::Repository);
        match (effect.system.as_deref(), &effect.script_path) {
            (Some(system), _) if RUNNERS.contains(&system) => {
                is_old && effect.path.as_deref().is_some_and(|path| scripts.contains(path))
            }
            // What a tool is given where nobody of the project has written it down may be anything.
            (Some(system), Some(_)) => is_old && is_tool(system, effect.verb.as_deref()),
            (Some(_), None) => false,
            // A program by its name, or a file, in a task or a script of the project.
            (None, Some(_)) => is_old || effect.file_origin.is_none(),
            (None, None) => false,
        }
    }
}

fn is_tool(system: &str, verb: Option<&str>) -> bool {
    let verbs = TOOLS.iter().find(|(tool, _)| *tool == system).map_or(&[][..], |(_, verbs)| verbs);
    verb.is_some_and(|verb| verbs.contains(&verb))
}
