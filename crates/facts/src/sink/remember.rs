//! Changes that effects make to the state for later commands of the call.

use castellan_event::{Effect, EffectKind, Operation};

use super::{Sink, is_below};
use crate::owner::{changes_tree, keeps_code};
use crate::path::{self, Located};

impl Sink<'_, '_, '_, '_> {
    /// Stores the changes of version control in a work tree: anything below the repository may change.
    pub(super) fn remember_tree(&mut self, effect: &Effect) {
        if !changes_tree(&effect.op) || self.setup.remote {
            return;
        }
        let workspace = Some(self.scene.session.setting.workspace.as_str()).filter(|path| !path.is_empty());
        let here = self.cwd.as_deref();
        let inside = workspace.filter(|path| here.is_none_or(|here| is_below(here, path)));
        let Some(directory) = inside.or(here).map(str::to_owned) else { return };
        if effect.op.verb.is_some() {
            self.scene.overlay.change_below(&directory);
        }
        self.scene.changed_trees.insert(directory);
    }

    pub(super) fn remember(&mut self, op: &Operation, located: &Located) {
        let kind = op.kind;
        let Some(path) = &located.path else { return };
        if keeps_code(op) {
            return;
        }
        // A pattern may mean every path that matches it.
        if matches!(kind, EffectKind::Write | EffectKind::Link)
            && let Some(at) = path.find(PATTERN)
        {
            let directory =
                path.get(..at).and_then(|known| known.rsplit_once('/')).map_or("", |(above, _)| above);
            self.scene.overlay.change_named(directory, ending(path));
        }
        if kind == EffectKind::Delete {
            self.scene.overlay.remove(path);
        }
        let is_deep = op.recursive.or(self.mode.recursive) == Some(true);
        if kind == EffectKind::Write && is_deep && !self.is_of_versions {
            self.scene.overlay.put_below(path);
        } else if kind == EffectKind::Delete || kind == EffectKind::Write && is_deep {
            self.scene.overlay.change_below(path);
        }
        match (kind, &op.target) {
            (EffectKind::Write, _) => {
                let name = path::collapse(self.cwd.as_deref(), &located.raw);
                self.scene.overlay.write(path, name.filter(|_| self.is_followed));
            }
            (EffectKind::Link, Some(target)) => self.scene.overlay.link(path, target),
            _ => {}
        }
    }
}

/// The end of every name that matches a pattern.
fn ending(pattern: &str) -> &str {
    let name = pattern.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit_once(['*', '?', ']', '}', '{', '[']).map_or("", |(_, end)| end);
    if name.ends_with('}') || name.contains('{') { "" } else { end }
}

/// Characters of a shell pattern.
const PATTERN: &[char] = &['*', '?', '[', '{'];
