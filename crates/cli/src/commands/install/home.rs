//! The home of a new install: its layout file, directories, default configuration and shipped rules.

use std::path::Path;

use anyhow::Context;
use castellan_daemon::{Layout, Shipped, write_mode, write_shipped};
use castellan_event::Mode;
use castellan_wire::Home;

use crate::directories::Directories;
use castellan_files::{Access, NewFile};

/// The result of [`make`].
#[derive(Debug)]
pub(super) struct Made {
    pub(super) layout: Layout,
    pub(super) files: Vec<Shipped>,
    /// True if there was no configuration before, so that the new one already has the wanted mode.
    pub(super) is_new: bool,
}

/// Creates the missing parts of the home `dir`. `user`: directories of the owner of a new home. With `is_default`,
/// configuration and state go to these directories.
pub(super) fn make(
    dir: &Path,
    user: Option<&Directories>,
    is_default: bool,
    mode: Mode,
) -> anyhow::Result<Made> {
    let layout = layout(dir, user, is_default)?;
    layout.create()?;
    let file = Layout::file(dir);
    if user.is_some() {
        let new = NewFile::write(&file, &layout.to_text(), &Access::Mode(0o600));
        new.and_then(NewFile::put).with_context(|| format!("`{}`", file.display()))?;
    }
    let config = layout.config_file();
    let files = write_shipped(&layout).with_context(|| format!("`{}`", layout.config().display()))?;
    let is_new = files.contains(&Shipped::Written(config.clone()));
    if is_new && mode != Mode::Enforce {
        write_mode(&config, mode)?;
    }
    Ok(Made { layout, files, is_new })
}

/// Reports whether the directory has no files of castellan, so that no agent is guarded from there.
pub(super) fn is_new(dir: &Path) -> bool {
    let parts = [Layout::file(dir), dir.join("config"), dir.join("state"), dir.join("run")];
    parts.iter().all(|part| matches!(part.try_exists(), Ok(false)))
}

/// Returns the layout that the home has or will get.
pub(super) fn layout(dir: &Path, user: Option<&Directories>, is_default: bool) -> anyhow::Result<Layout> {
    let layout = match (user, Home::new(dir)) {
        (Some(user), Some(home)) if is_default => {
            Layout::new(home, user.config.join("castellan"), user.state.join("castellan"))
        }
        _ => Layout::read(dir)?,
    };
    Ok(match user {
        Some(user) => layout.of_user(&user.home),
        None => layout,
    })
}
