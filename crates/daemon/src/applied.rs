//! The applied set on disk: a copy of the configuration and rule files that a person applied, and of the organisation's
//! files above them. The daemon loads this set at a start, never the original files, and must not know whether those
//! were edited.

use std::io;
use std::path::PathBuf;

use castellan_rules::Source;
use serde::{Deserialize, Serialize};

use crate::file_set::FileSet;
use crate::layers::Layers;
use crate::layout::Layout;
use crate::limits::APPLIED_BYTES_MAX;
use crate::trial::Trial;
use castellan_files::{Guard, read_guarded, sync_folder, write_private};

/// The written format, which includes the trials. The previous version without them is still read.
const VERSION: u32 = 2;
const VERSION_BEFORE: u32 = 1;

/// The version, parsed first: a file of a newer castellan is reported by its version, not by an unknown field.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u32,
}

/// The file's format.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    config: String,
    sources: Vec<KeptSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    organisation: Option<KeptLayer>,
    trial: Option<Trial>,
}

/// The files of one layer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptLayer {
    config: String,
    sources: Vec<KeptSource>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSource {
    name: String,
    text: String,
}

/// The reason why there is no applied set.
#[derive(Debug, thiserror::Error)]
pub enum AppliedError {
    /// No set was written, or it was removed. A model reads this text, so it names no command.
    #[error("no rules and settings have been applied")]
    None,
    /// The set cannot be read.
    #[error("the applied rules and settings cannot be read: `{0}`: {1}")]
    Unreadable(PathBuf, io::Error),
}

/// Reads the applied set.
pub fn read(layout: &Layout) -> Result<Layers, AppliedError> {
    let file = file(layout);
    let unreadable = |error| AppliedError::Unreadable(file.clone(), error);
    let own = rustix::process::geteuid().as_raw();
    let text = match read_guarded(&file, APPLIED_BYTES_MAX, Guard::Owner(own)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(AppliedError::None),
        read => read.map_err(unreadable)?,
    };
    parse(&text).map_err(unreadable)
}

fn parse(text: &str) -> io::Result<Layers> {
    let Versioned { version } = serde_json::from_str(text)?;
    if ![VERSION_BEFORE, VERSION].contains(&version) {
        return Err(io::Error::other(format!(
            "its version is {version}, as of another castellan; this one reads {VERSION_BEFORE} and {VERSION}"
        )));
    }
    let kept: Kept = serde_json::from_str(text)?;
    let trial = match kept.trial {
        Some(trial) => trial,
        None if version == VERSION_BEFORE => Trial::unknown(),
        None => return Err(io::Error::other("missing field `trial`")),
    };
    let organisation = kept.organisation.map(KeptLayer::into_set);
    Ok(Layers { organisation, user: set(kept.config, kept.sources), project: None, trial })
}

fn set(config: String, sources: Vec<KeptSource>) -> FileSet {
    let source = |source: KeptSource| Source { name: source.name, text: source.text };
    FileSet { config, rules: sources.into_iter().map(source).collect() }
}

impl KeptLayer {
    pub(crate) fn of(set: &FileSet) -> KeptLayer {
        KeptLayer { config: set.config.clone(), sources: kept(set) }
    }

    pub(crate) fn into_set(self) -> FileSet {
        set(self.config, self.sources)
    }
}

fn kept(set: &FileSet) -> Vec<KeptSource> {
    set.rules
        .iter()
        .map(|source| KeptSource { name: source.name.clone(), text: source.text.clone() })
        .collect()
}

/// Writes the applied set and syncs it: on return the whole set is on the disk.
pub(crate) fn write(layout: &Layout, set: &Layers) -> io::Result<()> {
    let organisation = set.organisation.as_ref().map(KeptLayer::of);
    let (config, sources) = (set.user.config.clone(), kept(&set.user));
    let text = serde_json::to_vec(&Kept {
        version: VERSION,
        config,
        sources,
        organisation,
        trial: Some(set.trial.clone()),
    })?;
    if text.len() as u64 > APPLIED_BYTES_MAX {
        // A larger set could not be read back.
        return Err(io::Error::other(format!(
            "configuration and rules have more than {APPLIED_BYTES_MAX} bytes"
        )));
    }
    write_private(&file(layout), &text)?;
    sync_folder(&layout.applied())
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
    use std::fs::File;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        assert!(matches!(read(&layout), Err(AppliedError::None)));
        let rules = vec![Source { name: "/h/user/a.yaml".to_owned(), text: "- x\n".to_owned() }];
        let user = FileSet { config: "version = 1\n".to_owned(), rules };
        for organisation in [None, Some(FileSet { config: "version = 1 # o\n".to_owned(), ..user.clone() })] {
            let trial = Trial::new().with([("web/new".to_owned(), 7)].into());
            let set = Layers { organisation, user: user.clone(), project: None, trial };
            write(&layout, &set).unwrap();
            assert_eq!(read(&layout).unwrap(), set);
        }
    }

    #[test]
    fn the_format_before_is_read_and_a_newer_one_is_told() {
        let before =
            parse(r#"{"version":1,"config":"version = 1\n","sources":[{"name":"/h/a.yaml","text":"x"}]}"#)
                .unwrap();
        let rules = vec![Source { name: "/h/a.yaml".to_owned(), text: "x".to_owned() }];
        let user = FileSet { config: "version = 1\n".to_owned(), rules };
        let expected = Layers { organisation: None, user, project: None, trial: Trial::unknown() };
        assert_eq!(before, expected);
        // The version is reported, independent of the other contents.
        let newer = parse(r#"{"version":3,"settings":{},"trial":[]}"#).unwrap_err().to_string();
        assert_eq!(newer, "its version is 3, as of another castellan; this one reads 1 and 2");
    }

    #[test]
    fn what_is_none_is_said_so() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        let reported = |part: &str| {
            let message = read(&layout).unwrap_err().to_string();
            assert!(message.contains("policy.json`: ") && message.contains(part), "{part}: {message}");
        };
        let check = |text: &str, part: &str| {
            std::fs::write(file(&layout), text).unwrap();
            reported(part);
        };
        check("", "EOF");
        check("{\"version\":1,\"config\":\"\",\"sources\":[]", "EOF");
        check("{\"version\":0,\"config\":\"\",\"sources\":[]}", "its version is 0");
        check("{\"config\":\"\",\"sources\":[]}", "missing field `version`");
        check("{\"version\":2,\"config\":\"\",\"sources\":[]}", "missing field `trial`");
        check("{\"version\":1,\"config\":\"\",\"sources\":[],\"mode\":\"monitor\"}", "unknown field `mode`");
        check("{\"version\":1,\"config\":\"\"}", "missing field `sources`");
        check("{\"version\":1,\"config\":7,\"sources\":[]}", "invalid type");
        check("{\"version\":1,\"version\":1,\"config\":\"\",\"sources\":[]}", "duplicate field `version`");
        std::fs::write(file(&layout), b"\xff").unwrap();
        reported("not UTF-8");
        File::create(file(&layout)).unwrap().set_len(100 << 20).unwrap();
        reported("more than");
        let sound = "{\"version\":1,\"config\":\"\",\"sources\":[]}";
        std::fs::write(file(&layout), sound).unwrap();
        std::fs::set_permissions(file(&layout), std::fs::Permissions::from_mode(0o606)).unwrap();
        reported("other users can write it");
        std::fs::rename(file(&layout), layout.applied().join("elsewhere")).unwrap();
        symlink(layout.applied().join("elsewhere"), file(&layout)).unwrap();
        reported("a symbolic link");
        std::fs::remove_file(file(&layout)).unwrap();
        std::fs::write(file(&layout), sound).unwrap();
        assert!(read(&layout).is_ok());
    }
}
