//! [`SettingsFile`]: edits a file of another program without loss: preserves symlinks, mode and owner, backs up the old
//! text and writes the new text atomically. This module must not know the format of the file.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use castellan_agents::SETTINGS_BYTES_MAX;

use crate::limits::BACKUPS_MAX;
use castellan_files::{Access, Guard, NewFile, read_bytes};

/// A file and the text read from it.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// The path given by the owner.
    path: PathBuf,
    /// The path with all symlinks resolved.
    target: PathBuf,
    /// `None` if the file does not exist.
    text: Option<String>,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edited {
    Unchanged,
    Created,
    Changed { backup: PathBuf },
    Deleted,
}

/// The text behind a symlink is not this user's alone.
#[derive(Debug, thiserror::Error)]
#[error("`{link}` is a symlink to `{target}`, which castellan does not write: {why}")]
pub(crate) struct Foreign {
    link: String,
    target: String,
    why: String,
}

impl SettingsFile {
    /// Reads a file; it may be missing.
    pub(crate) fn read(path: &Path) -> anyhow::Result<SettingsFile> {
        let at = || format!("`{}`", path.display());
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::symlink_metadata(path).is_ok() {
                    bail!("`{}` is a symlink to nothing: make its target, or remove it", path.display());
                }
                return Ok(SettingsFile { path: path.to_owned(), target: path.to_owned(), text: None });
            }
            Err(error) => return Err(error).with_context(at),
        };
        let text = read_text(&target).with_context(at)?;
        Ok(SettingsFile { path: path.to_owned(), target, text: Some(text) })
    }

    /// Returns the text; empty for a missing file.
    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns the result that [`SettingsFile::replace`] would have.
    pub(crate) fn would_be(&self, text: &str) -> Edited {
        match &self.text {
            Some(old) if old == text => Edited::Unchanged,
            None if text.is_empty() => Edited::Unchanged,
            None => Edited::Created,
            Some(_) if text.is_empty() && !self.was_empty() => Edited::Deleted,
            Some(_) => Edited::Changed { backup: self.backup_path(SystemTime::now()) },
        }
    }

    /// Replaces the text. A new file gets `mode`. A file that becomes empty is deleted, unless it was empty before
    /// castellan's first edit.
    pub(crate) fn replace(&self, text: &str, mode: u32) -> anyhow::Result<Edited> {
        let edited = self.would_be(text);
        if edited != Edited::Unchanged {
            self.check_target()?;
        }
        let at = || format!("`{}`", self.path.display());
        match &edited {
            Edited::Unchanged => {}
            Edited::Created => self.write(text, mode).with_context(at)?,
            Edited::Changed { backup } => {
                let before = backups(&self.path);
                self.back_up(backup).with_context(|| format!("`{}`", backup.display()))?;
                self.write(text, mode).with_context(at)?;
                for old in superseded(&before) {
                    fs::remove_file(old).with_context(|| format!("`{}`", old.display()))?;
                }
            }
            Edited::Deleted => fs::remove_file(&self.target).with_context(at)?,
        }
        Ok(edited)
    }

    /// Requires that a symlink leads to a file of this user, in a directory that only this user changes. Otherwise another user
    /// or a program owns the text: a store of generated files, or a directory of somebody else.
    fn check_target(&self) -> Result<(), Foreign> {
        if !fs::symlink_metadata(&self.path).is_ok_and(|link| link.is_symlink()) {
            return Ok(());
        }
        let own = rustix::process::geteuid().as_raw();
        let foreign = |why: String| {
            let (link, target) = (self.path.display().to_string(), self.target.display().to_string());
            Err(Foreign { link, target, why })
        };
        for part in [Some(self.target.as_path()), self.target.parent()].into_iter().flatten() {
            let shown = part.display();
            match fs::metadata(part) {
                Ok(meta) if meta.uid() != own => {
                    return foreign(format!("`{shown}` is another user's"));
                }
                Ok(meta) if meta.mode() & 0o002 != 0 => {
                    return foreign(format!("every user can change `{shown}`"));
                }
                Ok(_) => {}
                Err(error) => return foreign(format!("`{shown}`: {error}")),
            }
        }
        Ok(())
    }

    /// Reports whether the file existed and was empty before castellan's first edit. Then its first backup is empty,
    /// and the names of later backups end in [`WAS_EMPTY`]. A file that castellan created has no such backup.
    fn was_empty(&self) -> bool {
        let tells = |backup: &PathBuf| {
            backup.to_string_lossy().ends_with(WAS_EMPTY)
                || fs::metadata(backup).is_ok_and(|meta| meta.len() == 0)
        };
        backups(&self.path).iter().any(tells)
    }

    /// Returns the name of a new backup: `<file>.castellan-backup-<unix seconds>`, with a later second than each
    /// earlier backup, so that the names order the backups by age.
    fn backup_path(&self, now: SystemTime) -> PathBuf {
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let end = if self.was_empty() { WAS_EMPTY } else { "" };
        let earlier = backups(&self.path).iter().filter_map(|backup| seconds_of(backup)).max();
        let seconds = earlier.map_or(seconds, |earlier| seconds.max(earlier.saturating_add(1)));
        PathBuf::from(format!("{}{BACKUP}{seconds}{end}", self.path.display()))
    }

    fn back_up(&self, backup: &Path) -> anyhow::Result<()> {
        let meta = fs::metadata(&self.target)?;
        Ok(NewFile::write(backup, self.text(), &Access::Like(meta))?.put_where_none_is()?)
    }

    fn write(&self, text: &str, mode: u32) -> anyhow::Result<()> {
        let access = fs::metadata(&self.target).map_or(Access::Mode(mode), Access::Like);
        let new = NewFile::write(&self.target, text, &access)?;
        let now = if self.target.exists() { Some(read_text(&self.target)?) } else { None };
        if now != self.text {
            bail!("it was changed by somebody else just now: run the command again");
        }
        Ok(new.put()?)
    }
}

const BACKUP: &str = ".castellan-backup-";

/// Suffix for backups of a file that was empty before castellan's first edit, after the empty backup is deleted.
const WAS_EMPTY: &str = "-was-empty";

/// Returns the seconds in the name of a backup.
fn seconds_of(backup: &Path) -> Option<u64> {
    let name = backup.to_string_lossy();
    let (_, end) = name.rsplit_once(BACKUP)?;
    end.strip_suffix(WAS_EMPTY).unwrap_or(end).parse().ok()
}

/// Returns the earlier backups, from the oldest, that a new backup replaces.
fn superseded(before: &[PathBuf]) -> &[PathBuf] {
    let count = (before.len() + 1).saturating_sub(BACKUPS_MAX);
    before.get(..count).unwrap_or_default()
}

/// Returns the backups of a file, the oldest first. There are at most [`BACKUPS_MAX`], unless castellan was killed
/// after it wrote a new one.
pub(crate) fn backups(path: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let begin = format!("{}{BACKUP}", name.to_string_lossy());
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn read_text(file: &Path) -> anyhow::Result<String> {
    let bytes = read_bytes(file, SETTINGS_BYTES_MAX as u64, Guard::Any)?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to())
            .filter(|byte| **byte == b'\n')
            .count();
        anyhow::anyhow!("line {}: not valid UTF-8: save it as UTF-8", line + 1)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn links_mode_and_old_text_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.json"), dir.path().join("link.json"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real.json", &link).unwrap();

        let file = SettingsFile::read(&link).unwrap();
        let Edited::Changed { backup } = file.replace("new", 0o600).unwrap() else { panic!("not changed") };
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("real.json"));
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_to_string(&backup).unwrap(), "old");
        assert_eq!(backups(&link), [backup]);
        assert_eq!(SettingsFile::read(&link).unwrap().replace("new", 0o600).unwrap(), Edited::Unchanged);
    }

    #[test]
    fn a_symlink_to_what_others_change_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("store/real.json"), dir.path().join("link.json"));
        fs::create_dir(dir.path().join("store")).unwrap();
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let check = |part: &Path, mode: u32, expected: Option<&str>| {
            fs::set_permissions(part, fs::Permissions::from_mode(mode)).unwrap();
            let error = SettingsFile::read(&link).unwrap().check_target().err();
            let error = error.map(|error| error.to_string());
            match expected {
                None => assert_eq!(error, None),
                Some(why) => assert!(error.as_ref().is_some_and(|error| error.contains(why)), "{error:?}"),
            }
        };
        check(&real, 0o644, None);
        check(&real, 0o666, Some("every user can change"));
        check(&real, 0o664, None);
        check(real.parent().unwrap(), 0o777, Some("store`"));
        let written = SettingsFile::read(&link).unwrap().replace("new", 0o600);
        assert!(written.unwrap_err().is::<Foreign>());
        check(real.parent().unwrap(), 0o755, None);
        assert_eq!(fs::read_to_string(&real).unwrap(), "old");
        // A file of another user, if there is one to be read.
        if !rustix::process::geteuid().is_root() {
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
            assert!(SettingsFile::read(&link).unwrap().check_target().is_err());
        }
    }

    #[test]
    fn only_a_file_that_was_not_there_is_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let (made, empty) = (dir.path().join("made.json"), dir.path().join("empty.json"));
        fs::write(&empty, "").unwrap();
        for path in [&made, &empty] {
            SettingsFile::read(path).unwrap().replace("ours", 0o600).unwrap();
            SettingsFile::read(path).unwrap().replace("", 0o600).unwrap();
        }
        assert!(!made.exists());
        assert_eq!(fs::read_to_string(&empty).unwrap(), "");
    }

    #[test]
    fn the_newest_backups_stay_and_an_empty_file_is_known() {
        let dir = tempfile::tempdir().unwrap();
        for before in ["mine", ""] {
            let path = dir.path().join(format!("{before}.json"));
            fs::write(&path, before).unwrap();
            let mut texts = vec![before];
            for text in ["one", "two", "three", "four", before] {
                SettingsFile::read(&path).unwrap().replace(text, 0o600).unwrap();
                let kept: Vec<String> =
                    backups(&path).iter().map(|backup| fs::read_to_string(backup).unwrap()).collect();
                assert_eq!(kept, texts[texts.len().saturating_sub(BACKUPS_MAX)..], "{before:?} {text}");
                texts.push(text);
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
        }
    }

    #[test]
    fn what_changes_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "1").unwrap();
        let file = SettingsFile::read(&path).unwrap();
        fs::write(&path, "2").unwrap();
        assert!(file.replace("3", 0o600).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
    }

    #[test]
    fn unreadable_files_say_why() {
        let dir = tempfile::tempdir().unwrap();
        let check = |bytes: &[u8], part: &str| {
            let path = dir.path().join("f");
            fs::write(&path, bytes).unwrap();
            let error = format!("{:#}", SettingsFile::read(&path).unwrap_err());
            assert!(error.contains(part), "{error}");
        };
        check(b"{}\n\xff", "line 2: not valid UTF-8");
        check(&vec![b' '; SETTINGS_BYTES_MAX + 1], "more than");
        let link = dir.path().join("l");
        std::os::unix::fs::symlink("nothing", &link).unwrap();
        assert!(SettingsFile::read(&link).unwrap_err().to_string().contains("symlink to nothing"));
    }
}
