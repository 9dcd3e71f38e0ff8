//! Paths that are inside of the workspace as written, and outside of it in fact.

use castellan_event::{Recorder, lexical_path};

use super::known::real_path;
use super::lexical::tidy;
use super::{Located, Places, special};

/// Returns true if a path leads out of the workspace, although as written it is inside. A directory is inside by each of
/// its names: a workspace below a symlink (`/home/u` on another disk) is the same workspace.
///
/// Asks the world only about a path with a symlink that ends outside.
pub(crate) fn leaves_workspace(
    located: &Located,
    cwd: Option<&str>,
    places: &Places,
    world: &mut Recorder<'_>,
) -> bool {
    let Some(workspace) = places.workspace.as_deref().filter(|_| !places.is_windows) else { return false };
    let ends_outside = located.path.as_deref().is_some_and(|path| !is_within(path, workspace));
    if !located.is_linked || !ends_outside {
        return false;
    }
    let Some(written) = as_written(&located.raw, cwd) else { return false };
    if is_within(&written, workspace) {
        return true;
    }
    // The part above the last name shows the directory; the last name is where the path ends.
    let ends = written.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    let above: Vec<&str> = ends.filter_map(|end| written.get(..end)).collect();
    above
        .into_iter()
        .any(|directory| real_path("/", directory, world).is_some_and(|real| is_within(&real, workspace)))
}

/// The absolute path as a reader of the text takes it: no symlink is followed.
fn as_written(raw: &str, cwd: Option<&str>) -> Option<String> {
    let through_proc = raw.starts_with('/').then(|| special::of_process(&tidy(raw), cwd)).flatten();
    let raw = through_proc.as_deref().unwrap_or(raw);
    let base = if raw.starts_with('/') { "" } else { cwd.filter(|cwd| cwd.starts_with('/'))? };
    Some(lexical_path(base, raw))
}

/// Returns true if a path is the directory, or below it. `/w/app-old` is not below `/w/app`.
fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
