//! The part of the session's guard that an effect may change.

use castellan_event::{Answer, EffectKind, FileKind, Guard, Operation, Query};

use super::{Sink, is_below};
use crate::scene::Scene;
use crate::{guard, owner, path};

impl Sink<'_, '_, '_, '_> {
    /// Returns the part of the session's guard that an operation on a path may change. `raw`: the path as written.
    /// Other machines' paths are not guarded.
    pub(super) fn guard_of(&mut self, op: &Operation, real: Option<&str>, raw: &str) -> Option<Guard> {
        if self.setup.remote || !guard::changes(op.kind) {
            return None;
        }
        let called = real.and_then(|_| path::collapse(self.cwd.as_deref(), raw));
        let Scene { session, world, .. } = &mut *self.scene;
        let path = guard::Named { real, raw, called: called.as_deref() };
        session.guarded().reached(op, path, &session.places, &mut |path| {
            let kind = world.ask(Query::FileKind { path });
            !matches!(kind, Some(Answer::FileKind(FileKind::Missing)))
        })
    }

    /// Returns the part of the guard that version control may change in a work tree without naming files.
    pub(super) fn guard_of_tree(&mut self, op: &Operation) -> Option<Guard> {
        if self.setup.remote || !owner::changes_tree(op) {
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
        let root = root?;
        let write = Operation { recursive: Some(true), ..Operation::of(EffectKind::Write) };
        self.guard_of(&write, Some(&root), &root)
    }
}
