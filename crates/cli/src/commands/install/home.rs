//! The home of a new install: its layout file, directories, default configuration and shipped rules.

use std::path::Path;

use anyhow::Context;
use castellan_daemon::{Layout, Shipped, write_mode, write_shipped};
use castellan_event::Mode;
use castellan_wire::Home;

use crate::directories::Directories;
use crate::new_file::{Access, NewFile};

/// What was made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) layout: Layout,
    pub(super) files: Vec<Shipped>,
    /// Whether there was no configuration before, so that it has the wanted mode already.
    pub(super) is_new: bool,
}

/// Makes what is missing of the home `dir`. `apart` gives the directories for configuration and state of a new home.
pub(super) fn make(dir: &Path, apart: Option<&Directories>, mode: Mode) -> anyhow::Result<Made> {
    let layout = layout(dir, apart)?;
    layout.create()?;
    let file = Layout::file(dir);
    if apart.is_some() {
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

/// Reports whether nothing of castellan's lies in the directory: nobody is guarded by what is made there.
pub(super) fn is_new(dir: &Path) -> bool {
    let parts = [Layout::file(dir), dir.join("config"), dir.join("state"), dir.join("run")];
    parts.iter().all(|part| matches!(part.try_exists(), Ok(false)))
}

/// Returns the layout that the home has or would get.
pub(super) fn layout(dir: &Path, apart: Option<&Directories>) -> anyhow::Result<Layout> {
    match (apart, Home::new(dir)) {
        (Some(apart), Some(home)) => {
            Ok(Layout::new(home, apart.config.join("castellan"), apart.state.join("castellan")))
        }
        _ => Ok(Layout::read(dir)?),
    }
}
