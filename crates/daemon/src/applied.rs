//! The applied set on disk: the configuration and rule files that a person has put in force. A daemon that starts loads
//! it, never the files that it was made from. It must not know whether they have been edited since.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use castellan_rules::Source;
use serde::{Deserialize, Serialize};

use crate::file_set::FileSet;
use crate::files::{read_limited, write_private};
use crate::layout::Layout;
use crate::limits::APPLIED_BYTES_MAX;

const VERSION: u32 = 1;

/// The file's format.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    config: String,
    sources: Vec<KeptSource>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSource {
    name: String,
    text: String,
}

/// Why there is no applied set.
#[derive(Debug, thiserror::Error)]
pub enum AppliedError {
    /// None was written, or it is gone.
    #[error("no rules and settings have been applied")]
    None,
    /// What was written cannot be read.
    #[error("the applied rules and settings cannot be read: `{0}`: {1}")]
    Unreadable(PathBuf, io::Error),
}

/// Reads the applied set.
pub fn read(layout: &Layout) -> Result<FileSet, AppliedError> {
    let file = file(layout);
    let unreadable = |error| AppliedError::Unreadable(file.clone(), error);
    let text = match read_limited(&file, APPLIED_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(AppliedError::None),
        read => read.map_err(unreadable)?,
    };
    let kept: Kept = serde_json::from_str(&text).map_err(|error| unreadable(error.into()))?;
    if kept.version != VERSION {
        let why = format!("its version is {}, this castellan reads {VERSION}", kept.version);
        return Err(unreadable(io::Error::other(why)));
    }
    let source = |source: KeptSource| Source { name: source.name, text: source.text };
    Ok(FileSet { config: kept.config, rules: kept.sources.into_iter().map(source).collect() })
}

/// Writes the applied set: after this it is on the disk, whole.
pub(crate) fn write(layout: &Layout, set: &FileSet) -> io::Result<()> {
    let kept = |source: &Source| KeptSource { name: source.name.clone(), text: source.text.clone() };
    let sources = set.rules.iter().map(kept).collect();
    let text = serde_json::to_vec(&Kept { version: VERSION, config: set.config.clone(), sources })?;
    if text.len() as u64 > APPLIED_BYTES_MAX {
        // It could not be read back.
        return Err(io::Error::other(format!(
            "configuration and rules have more than {APPLIED_BYTES_MAX} bytes"
        )));
    }
    write_private(&file(layout), &text)?;
    File::open(layout.applied())?.sync_all()
}

/// Removes the applied set.
pub(crate) fn remove(layout: &Layout) -> io::Result<()> {
    std::fs::remove_file(file(layout))
}

fn file(layout: &Layout) -> PathBuf {
    layout.applied().join("policy.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        assert!(matches!(read(&layout), Err(AppliedError::None)));
        let rules = vec![Source { name: "/h/user/a.yaml".to_owned(), text: "- x\n".to_owned() }];
        let set = FileSet { config: "version = 1\n".to_owned(), rules };
        write(&layout, &set).unwrap();
        assert_eq!(read(&layout).unwrap(), set);
    }

    #[test]
    fn what_is_none_is_said_so() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        let check = |text: &str, part: &str| {
            std::fs::write(file(&layout), text).unwrap();
            let message = read(&layout).unwrap_err().to_string();
            assert!(message.contains("policy.json`: ") && message.contains(part), "{text}: {message}");
        };
        check("", "EOF");
        check("{\"version\":1,\"config\":\"\",\"sources\":[]", "EOF");
        check("{\"version\":3,\"config\":\"\",\"sources\":[]}", "its version is 3");
        check("{\"version\":1,\"config\":\"\",\"sources\":[],\"mode\":\"monitor\"}", "unknown field `mode`");
        check("{\"version\":1,\"config\":\"\"}", "missing field `sources`");
    }
}
