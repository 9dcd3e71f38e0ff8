//! What a call would do, as the analysis of `castellan_facts` finds it on this machine.

use std::path::Path;

use castellan_event::{Answer, Call, Facts, Query, Recorder};
use castellan_facts::{Setting, analyse};

use crate::layout::Layout;
use crate::memory::Changed;

/// Finds what a call would do. `own`: castellan's own files, see [`own_paths`].
pub fn facts_of(call: &Call, own: &[String], world: &mut Recorder<'_>) -> Facts {
    facts_after(call, own, None, world)
}

/// The same, with what earlier calls of the session wrote.
pub(crate) fn facts_after(
    call: &Call,
    own: &[String],
    changed: Option<Changed>,
    world: &mut Recorder<'_>,
) -> Facts {
    let changed = changed.unwrap_or_default();
    let setting = Setting {
        workspace: workspace(&call.agent.cwd, world).unwrap_or_default(),
        own: own.to_vec(),
        changing: changed.changing,
        written: changed.written,
        downloaded: changed.downloaded,
        written_is_full: changed.is_full,
    };
    analyse(call, &setting, world)
}

/// The repository around the working directory, else the directory itself; never the root of the file system, which would
/// make everything the workspace's.
fn workspace(cwd: &str, world: &mut Recorder<'_>) -> Option<String> {
    let Answer::RealPath(real) = world.ask(Query::RealPath { base: "/".to_owned(), path: cwd.to_owned() })?
    else {
        return None;
    };
    let Answer::Repository(repository) = world.ask(Query::Repository { of: real.clone() })? else {
        return None;
    };
    Some(repository.unwrap_or(real)).filter(|workspace| workspace != "/")
}

/// castellan's own files: its home, configuration and state, and the programs themselves; as they are called and as they lie.
pub fn own_paths(layout: &Layout) -> Vec<String> {
    let folders = [layout.home().dir().to_owned(), layout.config().to_owned(), layout.state().to_owned()];
    let executable = std::env::current_exe().ok();
    let programs = executable
        .as_deref()
        .and_then(Path::parent)
        .into_iter()
        .flat_map(|folder| ["castellan", "castellan-hook"].map(|name| folder.join(name)));
    let all = folders.into_iter().chain(programs);
    let both = all.flat_map(|path| {
        let real = std::fs::canonicalize(&path).ok().filter(|real| *real != path);
        [Some(path), real].into_iter().flatten()
    });
    both.map(|path| path.to_string_lossy().into_owned()).collect()
}
