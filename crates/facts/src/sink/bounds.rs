//! The boundary of an effect on a path: a symlink or a hard link out of the workspace, and numbers of the file.

use castellan_event::{
    Answer, EffectKind, Escape, Guard, Inode, Measured, Operation, Query, Recorder, Scope, Why,
};

use super::{Sink, is_below};
use crate::limits::WORK_OF_NAMES;
use crate::path::{self, Located};
use crate::scope;

/// The content that a tool itself reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Content {
    /// A command's effect: the content is not searched.
    #[default]
    Unsaid,
    /// The tool reads the file.
    Read,
    /// The file has this content afterwards.
    Whole {
        /// Bytes.
        size: u64,
        /// A NUL is among the first bytes.
        is_binary: bool,
    },
    /// The file's content changes in parts. `None`: the number of new bytes depends on the content.
    Edited {
        /// Bytes that are added; negative for removed ones.
        grows_by: Option<i64>,
    },
}

/// The boundary of an effect.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) escape: Option<Escape>,
    pub(super) measured: Measured,
    /// The part of the guard that the effect changes by another name.
    pub(super) guard: Option<Guard>,
    /// The reason why the file's other names are unknown.
    pub(super) why: Option<Why>,
}

impl Sink<'_, '_, '_, '_> {
    /// Finds the boundary of an operation on a located path, and raises the class of a file that has a more sensitive
    /// name. Reading and changing a file reach all its names; deleting, moving and linking act on one name.
    pub(super) fn bounds(&mut self, op: &Operation, content: Content, located: &mut Located) -> Bounds {
        let mut bounds = Bounds::default();
        if self.setup.remote || !is_checked(op.kind) {
            return bounds;
        }
        let places = &self.scene.session.places;
        if path::leaves_workspace(located, self.cwd.as_deref(), places, self.scene.world) {
            bounds.escape = Some(Escape::Symlink);
        }
        let reaches_content = matches!(
            op.kind,
            EffectKind::Read | EffectKind::Write | EffectKind::Upload | EffectKind::Permission
        );
        let is_own = content != Content::Unsaid;
        let may_be_linked = !matches!(
            located.place,
            Some(Scope::System | Scope::Root | Scope::Device | Scope::Network) | None
        );
        let Some(path) = located.path.clone().filter(|_| reaches_content && (is_own || may_be_linked)) else {
            return bounds;
        };
        // The world's paths are text: this one stands for bytes that are none.
        let is_text = !path.contains(char::REPLACEMENT_CHARACTER);
        let asked = is_text.then(|| inode(&path, self.scene.world)).flatten();
        let Some(found) = asked else {
            bounds.why = Some(Why::Unreadable);
            return bounds;
        };
        bounds.measured.links = found.map(|inode| inode.links);
        bounds.measured.size = match content {
            Content::Unsaid if op.kind == EffectKind::Write => None,
            Content::Unsaid | Content::Read => found.map(|inode| inode.size),
            Content::Whole { size, .. } => Some(size),
            Content::Edited { grows_by } => found.zip(grows_by).map(|(inode, by)| grown(inode.size, by)),
        };
        bounds.measured.is_binary = match content {
            Content::Unsaid => None,
            Content::Whole { is_binary, .. } => Some(is_binary),
            Content::Read | Content::Edited { .. } => is_binary(&path, self.scene.world),
        };
        if may_be_linked && found.is_some_and(|inode| inode.links > 1) {
            self.add_other_names(op, &path, located, &mut bounds);
        }
        bounds
    }

    /// Adds what the other names of a file show.
    fn add_other_names(&mut self, op: &Operation, path: &str, located: &mut Located, bounds: &mut Bounds) {
        let directories = scope::searched_directories(&self.scene.session.places);
        let query = Query::OtherNames { path: path.to_owned(), directories };
        let asked = if self.spend(WORK_OF_NAMES) { self.scene.world.ask(query) } else { None };
        let Some(Answer::OtherNames(names)) = asked else {
            bounds.why = Some(Why::Unreadable);
            return;
        };
        let places = &self.scene.session.places;
        let kinds = names.into_iter().map(|name| (scope::classify(&name, places), name));
        let mut kinds: Vec<(scope::Kind, String)> = kinds.collect();
        kinds.sort_by_key(|(kind, _)| kind.scope);
        bounds.guard = kinds.iter().find_map(|(_, name)| self.guard_of(op, Some(name), name));
        let Some((kind, name)) = kinds.into_iter().next() else { return };
        if scope::is_sensitive(kind.scope) {
            located.scope = located.scope.map(|scope| scope.min(kind.scope));
        }
        let workspace = self.scene.session.places.workspace.as_deref().unwrap_or_default();
        let leaves = scope::is_sensitive(kind.scope) || bounds.guard.is_some() || !is_below(&name, workspace);
        if is_below(path, workspace) && leaves {
            bounds.escape.get_or_insert(Escape::HardLink);
        }
        bounds.measured.other_name = Some(name);
    }
}

impl Sink<'_, '_, '_, '_> {
    /// Adds the file of a new hard link in the workspace, if it is outside: a later change of the link changes that file.
    pub(super) fn add_linked(&self, link: &str, file: String, bounds: &mut Bounds) {
        let workspace = self.scene.session.places.workspace.as_deref().unwrap_or_default();
        if !workspace.is_empty() && is_below(link, workspace) && !is_below(&file, workspace) {
            bounds.escape.get_or_insert(Escape::HardLink);
            bounds.measured.other_name = Some(file);
        }
    }
}

/// True if the effect reads or changes the file or the name at its path.
fn is_checked(kind: EffectKind) -> bool {
    use EffectKind::{Delete, Link, Permission, Read, Upload, Write};
    matches!(kind, Read | Write | Delete | Link | Permission | Upload)
}

/// `None` without an answer.
fn inode(path: &str, world: &mut Recorder<'_>) -> Option<Option<Inode>> {
    let Answer::Inode(inode) = world.ask(Query::Inode { path: path.to_owned() })? else { return None };
    Some(inode)
}

fn is_binary(path: &str, world: &mut Recorder<'_>) -> Option<bool> {
    let Answer::Head(is_binary) = world.ask(Query::Head { path: path.to_owned() })? else { return None };
    is_binary
}

fn grown(size: u64, by: i64) -> u64 {
    size.saturating_add_signed(by)
}
