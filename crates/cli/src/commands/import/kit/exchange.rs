//! Writes the changes of an import or of its undo. Each settings file is written once, so that it always registers the one
//! hook or the other. castellan's own files are applied as a whole, or put back.

use std::path::Path;

use anyhow::{Context, bail};
use castellan_daemon::{ControlClient, FileSet};
use castellan_files::{Access, NewFile};

use super::record::Text;
use crate::edit::SettingsFile;

/// Replaces `from` by `to` in every settings file: all of them, or none.
pub(super) fn settings(texts: &[Text], from: Side, to: Side) -> anyhow::Result<()> {
    for (done, text) in texts.iter().enumerate() {
        if let Err(error) = replace(text, from, to) {
            for text in texts.iter().take(done) {
                replace(text, to, from)
                    .with_context(|| format!("the settings before cannot come back ({error:#})"))?;
            }
            return Err(error.context("the hooks were left as they were"));
        }
    }
    Ok(())
}

/// A side of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

impl Text {
    fn of(&self, side: Side) -> &str {
        match side {
            Side::Before => self.before.as_deref().unwrap_or_default(),
            Side::After => &self.after,
        }
    }
}

fn replace(text: &Text, from: Side, to: Side) -> anyhow::Result<()> {
    let file = SettingsFile::read(&text.file)?;
    let (from, to) = (text.of(from), text.of(to));
    if file.text() == to {
        return Ok(());
    }
    if file.text() != from {
        bail!("`{}` was changed by somebody else just now: run the command again", text.file.display());
    }
    file.replace(to, 0o600)?;
    Ok(())
}

/// Puts castellan's own files on disk and applies them. If the daemon does not accept them, the files before come back.
pub(super) fn own_files(
    client: &ControlClient,
    files: &[(&Path, Option<&str>)],
    set: &FileSet,
) -> anyhow::Result<()> {
    let mut before = Vec::new();
    let put = || -> anyhow::Result<()> {
        for (file, text) in files {
            before.push((*file, text_of(file)?));
            put(file, *text)?;
        }
        Ok(client.apply(&set.hash())?)
    };
    let mut put = put;
    put().or_else(|error| {
        for (file, text) in before.iter().rev() {
            self::put(file, text.as_deref())
                .with_context(|| format!("the files before cannot come back ({error:#})"))?;
        }
        Err(error)
    })
}

/// Writes or removes a file of castellan.
fn put(file: &Path, text: Option<&str>) -> anyhow::Result<()> {
    let shown = || format!("`{}`", file.display());
    match text {
        Some(text) => {
            NewFile::write(file, text, &Access::Mode(0o600)).and_then(NewFile::put).with_context(shown)
        }
        None => std::fs::remove_file(file).with_context(shown),
    }
}

/// Returns the text of a file of castellan; `None` if there is none.
pub(super) fn text_of(file: &Path) -> anyhow::Result<Option<String>> {
    match castellan_files::read_text(file, crate::limits::RULE_FILE_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).with_context(|| format!("`{}`", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_settings_change_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let text = |name: &str| Text {
            file: dir.path().join(name),
            before: Some(format!("{name} before")),
            after: format!("{name} after"),
        };
        let texts = [text("a"), text("b")];
        let write = |a: &str, b: &str| {
            fs::write(dir.path().join("a"), a).unwrap();
            fs::write(dir.path().join("b"), b).unwrap();
        };
        let found = || ["a", "b"].map(|name| fs::read_to_string(dir.path().join(name)).unwrap());
        write("a before", "b before");
        settings(&texts, Side::Before, Side::After).unwrap();
        assert_eq!(found(), ["a after", "b after"]);
        settings(&texts, Side::After, Side::Before).unwrap();
        assert_eq!(found(), ["a before", "b before"]);
        // The second file was changed meanwhile.
        write("a before", "b mine");
        let error = format!("{:#}", settings(&texts, Side::Before, Side::After).unwrap_err());
        assert!(error.contains("left as they were") && error.contains("somebody else"), "{error}");
        assert_eq!(found(), ["a before", "b mine"]);
    }
}
