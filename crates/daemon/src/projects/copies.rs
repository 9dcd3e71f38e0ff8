//! Private copies of projects' files in the state directory, each named by its hash. The content that a person has seen
//! and trusted stays in effect when the original files change. Does not depend on the workspace of a copy.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::applied::KeptLayer;
use crate::file_set::{FileSet, PROJECT_FOLDER};
use crate::layout::Layout;
use crate::limits::PROJECT_BYTES_MAX;
use castellan_files::{Guard, read_guarded, sync_folder, write_private};

const VERSION: u32 = 1;

/// Format of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Copied {
    version: u32,
    files: KeptLayer,
}

/// Stores a copy. After that it is complete on disk.
pub(crate) fn keep_copy(layout: &Layout, set: &FileSet) -> Result<(), String> {
    let files = KeptLayer::of(&named_by_folder(set));
    let text = serde_json::to_vec(&Copied { version: VERSION, files }).map_err(|error| error.to_string())?;
    if text.len() as u64 > PROJECT_BYTES_MAX {
        return Err(format!("the workspace's own files have more than {PROJECT_BYTES_MAX} bytes"));
    }
    let written =
        write_private(&file(layout, &set.hash()), &text).and_then(|()| sync_folder(&layout.projects()));
    written.map_err(|error| format!("`{}`: {error}", layout.projects().display()))
}

/// Reads a copy and checks its hash. The error gives the reason.
pub(crate) fn read_copy(layout: &Layout, hash: &str) -> Result<FileSet, String> {
    let file = file(layout, hash);
    let wrong = |why: String| format!("`{}`: {why}", file.display());
    let own = rustix::process::geteuid().as_raw();
    let text = read_guarded(&file, PROJECT_BYTES_MAX, Guard::Owner(own))
        .map_err(|error| wrong(error.to_string()))?;
    let copied: Copied = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if copied.version != VERSION {
        return Err(wrong(format!("its version is {}, this castellan reads {VERSION}", copied.version)));
    }
    let set = copied.files.into_set();
    if set.hash() == hash { Ok(set) } else { Err(wrong("it is not what was trusted".to_owned())) }
}

/// Removes unneeded copies. A copy that cannot be removed does no harm.
pub(crate) fn forget_copies(layout: &Layout, is_needed: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in std::fs::read_dir(layout.projects())? {
        let path = entry?.path();
        let hash = path.file_stem().unwrap_or_default().to_string_lossy();
        if !is_needed(&hash) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Names rule files relative to the workspace, so that workspaces with the same files share a copy.
fn named_by_folder(set: &FileSet) -> FileSet {
    let mut named = set.clone();
    for source in &mut named.rules {
        let name = Path::new(&source.name).file_name().unwrap_or_default();
        source.name = Path::new(PROJECT_FOLDER).join("rules").join(name).display().to_string();
    }
    named
}

fn file(layout: &Layout, hash: &str) -> PathBuf {
    layout.projects().join(format!("{hash}.json"))
}
