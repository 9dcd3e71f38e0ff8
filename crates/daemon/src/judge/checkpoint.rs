//! Checkpoints before calls: the paths of a call's effects → a checkpoint of the store. It must not know how one is
//! restored.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use castellan_checkpoint::Scope;
use castellan_event::{Action, Call, Effect, EffectKind, Facts, Object, ObligationKind, Role};
use castellan_policy::{Decision, Failed, overwrites};

use super::{Asked, Judge, Whose};
use crate::containment::Before;
use crate::limits::CHECKPOINT_PATHS_MAX;
use crate::undo::Undo;

/// The files that a checkpoint of a call needs.
#[derive(Debug, PartialEq, Eq)]
enum Need {
    /// All files of the workspace.
    Workspace,
    /// Some paths below it. An empty path is the workspace itself, with the data of version control.
    Paths { paths: BTreeSet<PathBuf>, with_history: bool },
}

/// The id of the checkpoint before the call with this number of a record.
pub fn checkpoint_id(call: u64) -> String {
    format!("c{call:016x}")
}

/// The number of the record of the call before which a checkpoint was made.
pub(super) fn call_of(id: &str) -> Option<u64> {
    let call = u64::from_str_radix(id.strip_prefix('c')?, 16).ok()?;
    (checkpoint_id(call) == id).then_some(call)
}

impl Judge {
    /// The store of checkpoints.
    pub(crate) fn undo(&self) -> &Undo {
        &self.undo
    }

    /// Makes the checkpoint before a call. A failure is counted for the status.
    pub(super) fn checkpoint(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        facts: &Facts,
        decision: &Decision,
    ) -> Result<(), Failed> {
        let is_contained = |one: &castellan_event::Obligation| matches!(one.action, Action::Contain { .. });
        let need = match decision.due().iter().any(is_contained) {
            true => Need::Workspace,
            false => Need::of(facts, whose.inside()),
        };
        let paths: Vec<PathBuf>;
        let scope = match need {
            Need::Workspace => Scope::Workspace,
            Need::Paths { paths: needed, with_history } => {
                paths = needed.into_iter().collect();
                Scope::Paths { paths: &paths, with_history }
            }
        };
        self.take(asked, call, whose.inside(), scope).map_err(|why| {
            self.undo.failed(&why);
            Failed { kind: ObligationKind::Checkpoint, why, denies: false }
        })
    }

    /// Makes the checkpoint of the workspace before a call runs contained, unless there is one. `before`: the workspace as it
    /// is now.
    pub(super) fn checkpoint_contained(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        before: &Before,
    ) -> Result<(), String> {
        let id = checkpoint_id(call.correlation_id);
        if self.undo.store()?.has(&id) {
            return Ok(());
        }
        let scope = before.listing().map_or(Scope::Workspace, Scope::Listed);
        self.take(asked, call, whose.inside(), scope).inspect_err(|why| self.undo.failed(why))
    }

    fn take(&self, asked: &Asked<'_>, call: &Call, workspace: &str, scope: Scope<'_>) -> Result<(), String> {
        if workspace.is_empty() {
            return Err("the session has no workspace".to_owned());
        }
        if self.own.iter().any(|own| Path::new(own).starts_with(workspace)) {
            return Err("castellan's own files are in the workspace".to_owned());
        }
        let store = self.undo.store_within(asked.terms().policy.settings().undo)?;
        let id = checkpoint_id(call.correlation_id);
        // The same call, judged again after a person's answer: now its files may be others.
        store.remove(&id);
        // An agent chooses the ids of its sessions, but not of its process.
        let owner = format!("{}-{}", asked.sender.agent.pid, asked.sender.agent.started);
        let taken =
            store.take(&id, &owner, Path::new(workspace), scope).map_err(|error| error.to_string())?;
        if !taken.removed.is_empty() {
            let removed = taken.removed.join(", ");
            self.record_problem(
                "undo",
                &format!("checkpoints of earlier calls went to make room: {removed}"),
            );
        }
        Ok(())
    }
}

impl Need {
    /// The files that the effects of a call change.
    fn of(facts: &Facts, workspace: &str) -> Need {
        let is_unread = |effect: &Effect| {
            effect.is_opaque() && matches!(effect.role(), Some(Role::Code | Role::Program | Role::Tool))
        };
        let is_versioned = |effect: &Effect| matches!(effect.object, Object::Repository { .. });
        let mut paths = BTreeSet::new();
        for effect in overwrites(facts) {
            let Some(path) = effect.path() else { return Need::Workspace };
            let Some(path) = below(path, workspace) else { continue };
            if path.as_os_str().is_empty() && effect.kind() != EffectKind::Delete {
                return Need::Workspace;
            }
            paths.insert(path);
        }
        for root in &facts.changed_trees {
            match below(root, workspace) {
                Some(path) if !path.as_os_str().is_empty() => drop(paths.insert(path)),
                Some(_) => return Need::Workspace,
                None if Path::new(workspace).starts_with(root) => return Need::Workspace,
                None => {}
            }
        }
        if paths.len() > CHECKPOINT_PATHS_MAX || paths.is_empty() && facts.effects.iter().any(is_unread) {
            return Need::Workspace;
        }
        let deletes = facts.effects.iter().any(|effect| effect.kind() == EffectKind::Delete);
        let is_history_safe = facts.changed_trees.is_empty() && !facts.effects.iter().any(is_versioned);
        Need::Paths { paths, with_history: deletes && is_history_safe }
    }
}

/// Returns a path relative to the workspace. Of a pattern: the last directory that it names.
fn below(path: &str, workspace: &str) -> Option<PathBuf> {
    let fixed = match path.find(['*', '?', '[', '{']) {
        Some(at) => path.get(..at).and_then(|start| start.rfind('/')).and_then(|end| path.get(..end))?,
        None => path,
    };
    Path::new(fixed).strip_prefix(workspace).ok().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use castellan_event::{LocatedFile, Scope as Place, Why};

    use super::*;

    fn file(kind: EffectKind, path: &str) -> Effect {
        let path = Some(path.to_owned());
        Effect::on_file(kind, LocatedFile { path, place: Some(Place::Workspace), ..LocatedFile::default() })
    }

    fn paths(paths: &[&str], with_history: bool) -> Need {
        Need::Paths { paths: paths.iter().map(PathBuf::from).collect(), with_history }
    }

    #[test]
    fn the_files_of_effects_are_found() {
        let repository = Object::Repository { place: Some(Place::Workspace), guard: None };
        let destroy = || Effect { object: repository.clone(), ..Effect::of(EffectKind::Destroy) };
        for (effects, expected) in [
            (vec![file(EffectKind::Write, "/w/a")], paths(&["a"], false)),
            (vec![file(EffectKind::Delete, "/w/a/b")], paths(&["a/b"], true)),
            (vec![file(EffectKind::Delete, "/w/a/*.rs")], paths(&["a"], true)),
            (vec![file(EffectKind::Delete, "/w/*.rs")], paths(&[""], true)),
            (vec![file(EffectKind::Write, "/w/*.rs")], Need::Workspace),
            (vec![file(EffectKind::Delete, "/w")], paths(&[""], true)),
            (vec![file(EffectKind::Write, "/w")], Need::Workspace),
            (
                vec![file(EffectKind::Write, "/w/a"), file(EffectKind::Permission, "/w/b")],
                paths(&["a", "b"], false),
            ),
            (vec![file(EffectKind::Write, "/ww/a")], paths(&[], false)),
            (vec![destroy()], Need::Workspace),
            (vec![Effect::opaque(Role::Target, Why::File, None)], Need::Workspace),
            (vec![Effect::opaque(Role::Code, Why::File, None)], Need::Workspace),
            (
                vec![Effect::opaque(Role::Code, Why::File, None), file(EffectKind::Write, "/w/a")],
                paths(&["a"], false),
            ),
        ] {
            let facts = Facts { effects, ..Facts::default() };
            assert_eq!(Need::of(&facts, "/w"), expected, "{facts:?}");
        }
    }

    #[test]
    fn the_data_of_version_control_stays_out_where_version_control_runs() {
        for (root, expected) in [
            ("/w", Need::Workspace),
            ("/", Need::Workspace),
            ("/w/sub", paths(&["a", "sub"], false)),
            ("/elsewhere", paths(&["a"], false)),
        ] {
            let effects = vec![file(EffectKind::Delete, "/w/a")];
            let facts = Facts { effects, changed_trees: [root.to_owned()].into(), ..Facts::default() };
            assert_eq!(Need::of(&facts, "/w"), expected, "{root}");
        }
    }
}
