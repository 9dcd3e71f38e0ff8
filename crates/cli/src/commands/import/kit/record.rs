//! [`Record`]: the texts before and after an import, from which `--undo` gives everything back. It is written before the
//! exchange of the hooks, in castellan's state, which agents cannot change.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_daemon::Layout;
use castellan_files::{Guard, read_guarded, sync_folder, write_private};
use serde::{Deserialize, Serialize};

use super::hooks::Exchange;
use crate::limits::KIT_RECORD_BYTES_MAX;

/// The version of the format.
const VERSION: u32 = 1;

/// An import.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    version: u32,
    /// The kit's folder.
    pub(super) kit: PathBuf,
    pub(super) title: String,
    pub(super) settings: Vec<Text>,
    /// castellan's own files: `config.toml` and the copied rules.
    pub(super) files: Vec<Text>,
}

/// A file before and after the import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    pub(super) file: PathBuf,
    /// `None`: the file did not exist.
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Record {
    pub(super) fn new(kit: &Path, title: &str, exchanges: &[Exchange], files: Vec<Text>) -> Record {
        let text = |exchange: &Exchange| Text {
            file: exchange.file.clone(),
            before: Some(exchange.before.clone()),
            after: exchange.after.clone(),
        };
        let settings = exchanges.iter().map(text).collect();
        Record { version: VERSION, kit: kit.to_owned(), title: title.to_owned(), settings, files }
    }

    /// Reads the record of a home; `None` if nothing is imported.
    pub(super) fn read(layout: &Layout) -> anyhow::Result<Option<Record>> {
        let file = Record::file(layout);
        let shown = || format!("`{}`", file.display());
        let text = match read_guarded(&file, KIT_RECORD_BYTES_MAX, Guard::User) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.with_context(shown)?,
        };
        let record: Record = serde_json::from_str(&text).with_context(shown)?;
        if record.version != VERSION {
            bail!("{} is of another castellan: use the castellan that wrote it", shown());
        }
        Ok(Some(record))
    }

    pub(super) fn write(&self, layout: &Layout) -> anyhow::Result<()> {
        let file = Record::file(layout);
        let shown = || format!("`{}`", file.display());
        write_private(&file, serde_json::to_string(self)?.as_bytes()).with_context(shown)?;
        sync_folder(layout.state()).with_context(shown)
    }

    pub(super) fn remove(layout: &Layout) -> anyhow::Result<()> {
        let file = Record::file(layout);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("`{}`", file.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn file(layout: &Layout) -> PathBuf {
        layout.state().join("import-kit.json")
    }
}
