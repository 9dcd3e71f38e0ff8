//! The part of the session's guard that an effect may change.

use castellan_event::{Answer, Effect, EffectKind, FileKind, Guard, Query};

use super::{Sink, is_below};
use crate::changes::changes_tree;
use crate::scene::Scene;
use crate::{guard, owner, path};

impl Sink<'_, '_, '_, '_> {
    /// Returns the part of the session's guard that an effect may change. Other machines' paths are not guarded.
    pub(crate) fn guard_of(&mut self, effect: &Effect) -> Option<Guard> {
        let raw = effect.path_raw.as_deref().filter(|_| !self.setup.remote)?;
        if !guard::changes(effect.kind) {
            return None;
        }
        let called = effect.path.as_ref().and_then(|_| path::collapse(self.cwd.as_deref(), raw));
        let Scene { session, world, .. } = &mut *self.scene;
        session.guarded().reached(effect, called.as_deref(), &session.places, &mut |path| {
            let kind = world.ask(Query::FileKind { path });
            !matches!(kind, Some(Answer::FileKind(FileKind::Missing)))
        })
    }

    /// Returns the part of the guard that version control may change in a work tree without naming files.
    pub(super) fn guard_of_tree(&mut self, effect: &Effect) -> Option<Guard> {
        if self.setup.remote || !changes_tree(effect) {
            return None;
        }
        let root = match self.setup.work_tree.clone() {
            Some(tree) => self.locate(&tree).path,
            None if self.setup.names_repository => self.cwd.clone(),
            None => {
                let cwd =
                    self.cwd.clone().filter(|cwd| !is_below(cwd, &self.scene.session.setting.workspace));
                cwd.map(|cwd| owner::root(cwd, self.scene))
            }
        };
        self.guard_of(&Effect {
            kind: EffectKind::Write,
            recursive: Some(true),
            path_raw: root.clone(),
            path: Some(root?),
            ..Effect::default()
        })
    }
}
