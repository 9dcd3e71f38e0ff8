//! Writes the files of an agent's settings: whole or not at all. It replaces only castellan's own files, never one that
//! somebody else has written or edited. castellan stores the hash of each text that it writes. By the hash it recognises
//! its files, also those of earlier versions and of other values.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use castellan_agents::{NativeFile, NativeValues, SETTINGS_BYTES_MAX, merge_native, native_files};
use castellan_event::sha256_hex;
use castellan_files::{Access, Guard, NewFile, read_bytes, write_private};

use super::Rendered;
use crate::limits::RECORD_BYTES_MAX;

/// The treatment of a file that castellan did not write as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It is an error.
    Refuse,
    /// The person's entries stay, and only what tightens is added.
    Merge,
    /// The file is replaced.
    Replace,
}

/// A file after [`write`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) file: PathBuf,
    /// Its text is another one now.
    pub(crate) is_changed: bool,
    /// Entries that the person's text keeps although castellan would write something stricter.
    pub(crate) kept: Vec<String>,
}

/// A file as it is now.
struct Present {
    file: PathBuf,
    /// `None` if there is none.
    found: Option<(String, Metadata)>,
    /// castellan wrote this text.
    is_ours: bool,
}

/// A file as it will be.
struct Planned {
    present: Present,
    text: String,
    /// The text is castellan's alone.
    is_own: bool,
    kept: Vec<String>,
}

/// Writes the settings into `directory`. `records` is the directory of castellan's hashes. After an error about a present
/// file no file is changed.
pub(crate) fn write(
    rendered: &Rendered,
    directory: &str,
    records: &Path,
    how: How,
) -> anyhow::Result<Vec<Written>> {
    let root = Path::new(directory);
    let files = rendered.files(directory);
    let present =
        files.iter().map(|file| present(root, file, records)).collect::<anyhow::Result<Vec<_>>>()?;
    // Beside a person's own file, a new file must not loosen either.
    let is_merge = how == How::Merge && present.iter().any(|one| one.found.is_some() && !one.is_ours);
    let strict = NativeValues {
        commands: Vec::new(),
        directories: Vec::new(),
        hosts: None,
        ..rendered.values.clone()
    };
    let values = if is_merge { &strict } else { &rendered.values };
    let files = native_files(rendered.agent, values, directory);
    let planned = present
        .into_iter()
        .zip(files)
        .map(|(present, file)| planned(rendered, directory, values, present, &file, how))
        .collect::<anyhow::Result<Vec<_>>>()?;
    planned.into_iter().map(|planned| put(planned, records)).collect()
}

fn present(root: &Path, file: &NativeFile, records: &Path) -> anyhow::Result<Present> {
    let mut path = root.to_owned();
    let mut found = None;
    for name in Path::new(file.path) {
        path.push(name);
        found = match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                bail!("`{}` is a symlink: castellan writes through none; remove it", path.display())
            }
            Ok(meta) => Some(meta),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("`{}`", path.display())),
        };
    }
    let Some(meta) = found else { return Ok(Present { file: path, found: None, is_ours: false }) };
    let shown = path.display();
    let bytes =
        read_bytes(&path, SETTINGS_BYTES_MAX as u64, Guard::Any).with_context(|| format!("`{shown}`"))?;
    let Ok(text) = String::from_utf8(bytes) else { bail!("`{shown}` is not UTF-8: save it as UTF-8") };
    let is_ours = text == file.text || is_recorded(records, &path, &text);
    Ok(Present { file: path, found: Some((text, meta)), is_ours })
}

fn planned(
    rendered: &Rendered,
    directory: &str,
    values: &NativeValues,
    present: Present,
    file: &NativeFile,
    how: How,
) -> anyhow::Result<Planned> {
    let shown = present.file.display();
    let (text, kept) = match (&present.found, how) {
        (None, _) | (Some(_), How::Replace) => (file.text.clone(), Vec::new()),
        (Some(_), _) if present.is_ours => (file.text.clone(), Vec::new()),
        (Some(_), How::Refuse) => bail!(
            "`{shown}` was not written by castellan, or was edited since: `--merge` keeps its entries and adds what \
             tightens, `--force` replaces it, `--print` only shows castellan's text"
        ),
        (Some((text, _)), How::Merge) => {
            let merged = merge_native(rendered.agent, file.path, text, values, directory)
                .with_context(|| format!("`{shown}`: it was left as it is; mend it, or use `--force`"))?;
            (merged.text, merged.kept)
        }
    };
    let is_same = present.found.as_ref().is_some_and(|(found, _)| *found == text);
    let is_read_only = present.found.as_ref().is_some_and(|(_, meta)| meta.permissions().readonly());
    ensure!(
        is_same || !is_read_only,
        "`{shown}` is read-only: castellan does not replace it; `chmod u+w` it"
    );
    Ok(Planned { present, is_own: text == file.text, text, kept })
}

fn put(planned: Planned, records: &Path) -> anyhow::Result<Written> {
    let Planned { present: Present { file, found, .. }, text, is_own, kept } = planned;
    let at = || format!("`{}`", file.display());
    let is_changed = found.as_ref().is_none_or(|(found, _)| *found != text);
    if is_changed {
        if let Some(dir) = file.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).with_context(at)?;
        }
        let access = found.map_or(Access::Mode(0o600), |(_, meta)| Access::Like(meta));
        NewFile::write(&file, &text, &access).and_then(NewFile::put).with_context(at)?;
    }
    // A merged text is the person's: the next run must not replace it.
    if is_own {
        record(records, &file, &text)?;
    }
    Ok(Written { file, is_changed, kept })
}

/// Returns the file with the hash of castellan's text for a path.
fn record_of(records: &Path, file: &Path) -> PathBuf {
    records.join(sha256_hex(file.as_os_str().as_encoded_bytes()))
}

fn record(records: &Path, file: &Path, text: &str) -> anyhow::Result<()> {
    let record = record_of(records, file);
    let at = || format!("`{}`", record.display());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(records).with_context(at)?;
    write_private(&record, sha256_hex(text).as_bytes()).with_context(at)
}

fn is_recorded(records: &Path, file: &Path, text: &str) -> bool {
    let stored = read_bytes(&record_of(records, file), RECORD_BYTES_MAX, Guard::Any);
    stored.is_ok_and(|stored| stored == sha256_hex(text).as_bytes())
}
