//! [`UndoSettings`], and the effects of a call that a checkpoint can take back. It must not know how a checkpoint is made.

use castellan_event::{Effect, EffectKind, Facts, Object, Role, Scope};

/// Settings about checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoSettings {
    /// castellan makes a checkpoint before a call that changes files of the workspace.
    pub is_on: bool,
    /// castellan asks about such a call if the checkpoint fails.
    pub is_required: bool,
    /// MiB of all checkpoints.
    pub ceiling_mib: u32,
    /// Days after which a checkpoint is removed.
    pub age_days: u32,
}

impl UndoSettings {
    /// The settings without a configuration.
    pub const DEFAULT: UndoSettings =
        UndoSettings { is_on: true, is_required: false, ceiling_mib: 1024, age_days: 7 };
}

/// Reports whether a call may change files of the workspace in a way that the workspace does not show afterwards.
pub fn may_overwrite(facts: &Facts) -> bool {
    !facts.changed_trees.is_empty() || overwrites(facts).next().is_some()
}

/// The effects of a call, on this machine, that change files of the workspace or unknown files.
pub fn overwrites(facts: &Facts) -> impl Iterator<Item = &Effect> {
    let is_here = |effect: &&Effect| {
        let command = effect.command.and_then(|command| facts.commands.get(command));
        command.is_none_or(|command| command.remote.is_none())
    };
    facts.effects.iter().filter(|effect| overwrites_one(effect)).filter(is_here)
}

fn overwrites_one(effect: &Effect) -> bool {
    let kind = effect.kind();
    if matches!(kind, EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission) {
        return effect.path().is_none() || effect.place() == Some(Scope::Workspace);
    }
    // Version control throws away work that it does not name.
    let is_lost_work = kind == EffectKind::Destroy && matches!(effect.object, Object::Repository { .. });
    is_lost_work || kind == EffectKind::Opaque && effect.role() == Some(Role::Target)
}

#[cfg(test)]
mod tests {
    use castellan_event::{Command, LocatedFile, Why};

    use super::*;

    fn file(kind: EffectKind, path: Option<&str>, place: Scope) -> Effect {
        let path = path.map(str::to_owned);
        Effect::on_file(kind, LocatedFile { path, place: Some(place), ..LocatedFile::default() })
    }

    #[test]
    fn effects_that_change_files_of_the_workspace_are_found() {
        let repository = Object::Repository { place: Some(Scope::Workspace), guard: None };
        let destroy = Effect { object: repository.clone(), ..Effect::of(EffectKind::Destroy) };
        for (effect, expected) in [
            (file(EffectKind::Write, Some("/w/a"), Scope::Workspace), true),
            (file(EffectKind::Delete, Some("/w/a"), Scope::Workspace), true),
            (file(EffectKind::Link, Some("/w/a"), Scope::Workspace), true),
            (file(EffectKind::Permission, Some("/w/a"), Scope::Workspace), true),
            (file(EffectKind::Write, None, Scope::Outside), true),
            (file(EffectKind::Write, Some("/tmp/a"), Scope::Temporary), false),
            (file(EffectKind::Read, Some("/w/a"), Scope::Workspace), false),
            (file(EffectKind::Execute, Some("/w/a"), Scope::Workspace), false),
            (destroy, true),
            (Effect { object: repository, ..Effect::of(EffectKind::Mutate) }, false),
            (Effect::of(EffectKind::Destroy), false),
            (Effect::opaque(Role::Target, Why::File, None), true),
            (Effect::opaque(Role::Code, Why::File, None), false),
        ] {
            let facts = Facts { effects: vec![effect], ..Facts::default() };
            assert_eq!(may_overwrite(&facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn changes_of_another_machine_do_not_count_and_those_of_version_control_do() {
        let away = Command { remote: Some("host".to_owned()), ..Command::default() };
        let effect = file(EffectKind::Delete, Some("/w/a"), Scope::Workspace);
        let there = Facts {
            commands: vec![away],
            effects: vec![Effect { command: Some(0), ..effect }],
            ..Facts::default()
        };
        assert!(!may_overwrite(&there));
        let tree = Facts { changed_trees: ["/w".to_owned()].into(), ..Facts::default() };
        assert!(may_overwrite(&tree));
    }
}
