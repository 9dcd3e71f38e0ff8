//! The state of a file or directory when the call reaches it, and its writer. Must not know who loads the file.

use castellan_event::{Answer, FileKind, Query};
use castellan_programs::Arg;

use crate::overlay::Way;
use crate::path;
use crate::sink::Sink;

/// Returns true if this call or an earlier one of the session has created the file, or may have done so.
pub(crate) fn is_of_session(path: &str, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let scene = &mut *sink.scene;
    let located = path::locate(&Arg::known(path), None, &scene.session.places, scene.world);
    let Some(real) = located.path else { return true };
    scene.files.writing.contains(path)
        || scene.overlay.has_put(&real)
        || scene.overlay.has_put(path)
        || scene.session.has_written_on_way(&real)
}

/// Returns true if the file exists when the call reaches it. Misses unread files that the call put into a directory.
pub(super) fn is_file(path: &str, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    sink.scene.files.writing.contains(path)
        || sink.scene.overlay.has_named(path)
        || kind(path, sink) == Some(FileKind::File)
}

/// Returns true if the directory exists when the call reaches it.
pub(super) fn is_directory(path: &str, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    kind(path, sink) == Some(FileKind::Directory)
        || sink.scene.overlay.written_below(&format!("{path}/")).next().is_some()
}

fn kind(path: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<FileKind> {
    let path = match sink.scene.overlay.follow(path, true) {
        Way::Same => path.to_owned(),
        Way::Elsewhere(path) => path,
        Way::Endless => return None,
    };
    match sink.scene.world.ask(Query::FileKind { path }) {
        Some(Answer::FileKind(kind)) => Some(kind),
        _ => None,
    }
}
