//! The home of a new install: its layout file, directories, default configuration and shipped rules.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use castellan_daemon::{Layout, Shipped, write_shipped};
use castellan_event::Mode;
use castellan_wire::Home;

use crate::directories::Directories;

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
    let file = dir.join("layout");
    if apart.is_some() && layout.config() != dir.join("config") && !file.exists() {
        write(&file, &layout.to_text())?;
    }
    let config = layout.config_file();
    let files = write_shipped(&layout).with_context(|| format!("`{}`", layout.config().display()))?;
    let is_new = files.contains(&Shipped::Written(config.clone()));
    if is_new && mode != Mode::Enforce {
        set_mode(&config, mode)?;
    }
    Ok(Made { layout, files, is_new })
}

/// Returns the layout that the home has or would get. A home that has everything below itself keeps it so.
pub(super) fn layout(dir: &Path, apart: Option<&Directories>) -> anyhow::Result<Layout> {
    let present = Layout::read(dir)?;
    match (apart, Home::new(dir)) {
        (Some(apart), Some(home)) if !dir.join("layout").exists() && !dir.join("config").exists() => {
            Ok(Layout::new(home, apart.config.join("castellan"), apart.state.join("castellan")))
        }
        _ => Ok(present),
    }
}

/// Sets the mode in a configuration that was written just now.
fn set_mode(config: &Path, mode: Mode) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(config).with_context(|| format!("`{}`", config.display()))?;
    let (before, after) = (format!("\nmode = \"{}\"\n", Mode::Enforce), format!("\nmode = \"{mode}\"\n"));
    if !text.contains(&before) {
        bail!("`{}` has no line for the mode: set it with `castellan mode {mode}`", config.display());
    }
    write(config, &text.replacen(&before, &after, 1))
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let at = || format!("`{}`", file.display());
    let dir = file.parent().with_context(at)?;
    let mut partial = tempfile::NamedTempFile::new_in(dir).with_context(at)?;
    partial.write_all(text.as_bytes()).with_context(at)?;
    partial.as_file().sync_all().with_context(at)?;
    partial.persist(file).with_context(at)?;
    Ok(())
}
