//! The files of a service: written as a whole or not at all, and never over a file of another program. Must not know
//! their contents.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use castellan_files::{Access, NewFile, explained, read_text};

use crate::limits::SERVICE_FILE_BYTES_MAX;

/// The first line of each file. Only a file with it is castellan's.
pub(crate) const MARK: &str =
    "# Written by `castellan service install`, which replaces it. `castellan service uninstall` removes it.";

/// The second line of a file in XML, whose first line must be another.
pub(crate) const MARK_IN_XML: &str = "<!-- Written by `castellan service install`, which replaces it. `castellan service uninstall` removes it. -->";

/// The first line of each file of castellan for the system.
pub(crate) const MARK_OF_SYSTEM: &str = "# Written by `castellan install --system`, which replaces it. `castellan uninstall --system` removes it.";

/// A file and its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The present file in the place of one of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    /// It is what castellan writes now.
    Same,
    /// It is castellan's: of another version, of other settings, or edited.
    Differs,
    /// It is not castellan's, with the reason.
    Foreign(String),
}

/// Looks at the file in a place. `text` is what castellan writes there.
pub(crate) fn look(file: &Path, text: &str) -> Found {
    match std::fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Foreign(format!("it cannot be seen: {}", explained(&error))),
        Ok(found) if found.is_symlink() => {
            return Found::Foreign("it is a link, as of a masked unit".to_owned());
        }
        Ok(_) => {}
    }
    match read_text(file, SERVICE_FILE_BYTES_MAX) {
        Ok(present) if present == text => Found::Same,
        Ok(present) if is_marked(&present) => Found::Differs,
        Ok(_) => Found::Foreign("castellan did not write it".to_owned()),
        Err(error) => Found::Foreign(format!("it cannot be read: {}", explained(&error))),
    }
}

/// Reports whether castellan's file is in a place, whatever it says.
pub(crate) fn is_ours(file: &Path) -> bool {
    let is_link = std::fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink());
    !is_link && read_text(file, SERVICE_FILE_BYTES_MAX).is_ok_and(|text| is_marked(&text))
}

fn is_marked(text: &str) -> bool {
    text.lines().take(2).any(|line| [MARK, MARK_IN_XML, MARK_OF_SYSTEM].contains(&line))
}

/// Writes the files. Returns the names of those that changed. Changes nothing if one of the places has a file of another
/// program; after a failed write, the new files are removed again.
pub(crate) fn put(dir: &Path, files: &[Rendered]) -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut changed = Vec::new();
    for Rendered { name, text } in files {
        let file = dir.join(name);
        match look(&file, text) {
            Found::Same => continue,
            Found::Differs => {}
            Found::Missing => missing.push(file),
            Found::Foreign(why) => bail!(
                "`{}` is in the way: {why}. Nothing was changed. Move the file away, and run the command again",
                file.display()
            ),
        }
        changed.push(name.clone());
    }
    let written = write(dir, files.iter().filter(|file| changed.contains(&file.name)));
    written.inspect_err(|_| {
        for file in missing {
            let _ = std::fs::remove_file(file);
        }
    })?;
    Ok(changed)
}

fn write<'f>(dir: &Path, files: impl Iterator<Item = &'f Rendered>) -> anyhow::Result<()> {
    let failed = |path: &Path, error: &io::Error| {
        let why = explained(error);
        anyhow!(
            "`{}` cannot be written: {why}. No service is installed; hooks start the daemon without one",
            path.display()
        )
    };
    let made = DirBuilder::new().recursive(true).mode(0o755).create(dir);
    made.map_err(|error| failed(dir, &error))?;
    for Rendered { name, text } in files {
        let file = dir.join(name);
        let new = NewFile::write(&file, text, &Access::Mode(0o644)).and_then(NewFile::put);
        new.map_err(|error| failed(&file, &error))?;
    }
    Ok(())
}

/// Removes castellan's files of these names. Returns the removed ones. Files of other programs stay.
pub(crate) fn remove(dir: &Path, names: &[String], dry_run: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for file in names.iter().map(|name| dir.join(name)).filter(|file| is_ours(file)) {
        if !dry_run {
            std::fs::remove_file(&file).with_context(|| format!("`{}`", file.display()))?;
        }
        removed.push(file);
    }
    Ok(removed)
}

/// Removes the links to files of these names in folders beside them. A link that stays leads nowhere.
pub(crate) fn remove_links(dir: &Path, folders: &[&str], names: &[String]) {
    let links = folders.iter().flat_map(|folder| names.iter().map(move |name| dir.join(folder).join(name)));
    for link in links {
        if std::fs::symlink_metadata(&link).is_ok_and(|found| found.is_symlink()) && !link.exists() {
            let _ = std::fs::remove_file(&link);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(name: &str, text: &str) -> Rendered {
        Rendered { name: name.to_owned(), text: format!("{MARK}\n{text}\n") }
    }

    #[test]
    fn only_files_of_castellan_are_replaced_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("systemd/user");
        let files = [file("a.service", "1"), file("b.socket", "1")];
        assert_eq!(put(&dir, &files).unwrap(), ["a.service", "b.socket"]);
        assert_eq!(put(&dir, &files).unwrap(), [""; 0], "nothing to do");
        let newer = [file("a.service", "2"), file("b.socket", "1")];
        assert_eq!(look(&dir.join("a.service"), &newer[0].text), Found::Differs);
        assert_eq!(put(&dir, &newer).unwrap(), ["a.service"]);
        // A file of the user.
        fs::write(dir.join("b.socket"), "[Socket]\n").unwrap();
        let error = put(&dir, &[file("a.service", "3"), file("b.socket", "3")]).unwrap_err().to_string();
        assert!(error.contains("b.socket` is in the way: castellan did not write it"), "{error}");
        assert_eq!(fs::read_to_string(dir.join("a.service")).unwrap(), newer[0].text, "nothing was changed");
        let names = ["a.service", "b.socket", "c.socket"].map(str::to_owned);
        assert_eq!(remove(&dir, &names, true).unwrap(), [dir.join("a.service")]);
        assert_eq!(remove(&dir, &names, false).unwrap(), [dir.join("a.service")]);
        assert_eq!(fs::read_to_string(dir.join("b.socket")).unwrap(), "[Socket]\n");
    }

    #[test]
    fn a_link_is_never_followed() {
        let root = tempfile::tempdir().unwrap();
        let masked = root.path().join("a.service");
        let target = root.path().join("target");
        fs::write(&target, format!("{MARK}\n")).unwrap();
        for target in [Path::new("/dev/null"), &target] {
            std::os::unix::fs::symlink(target, &masked).unwrap();
            assert!(matches!(look(&masked, ""), Found::Foreign(_)) && !is_ours(&masked));
            assert!(put(root.path(), &[file("a.service", "1")]).is_err());
            assert!(remove(root.path(), &["a.service".to_owned()], false).unwrap().is_empty());
            fs::remove_file(&masked).unwrap();
        }
    }

    #[test]
    fn only_links_that_lead_nowhere_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let wants = root.path().join("default.target.wants");
        fs::create_dir(&wants).unwrap();
        let names = ["a.service", "b.service"].map(str::to_owned);
        fs::write(root.path().join("b.service"), "").unwrap();
        for name in &names {
            std::os::unix::fs::symlink(root.path().join(name), wants.join(name)).unwrap();
        }
        remove_links(root.path(), &["default.target.wants", "x"], &names);
        let left: Vec<_> = fs::read_dir(&wants).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["b.service"]);
    }

    #[test]
    fn a_failed_write_leaves_no_half_of_a_service() {
        let root = tempfile::tempdir().unwrap();
        // A name that no directory can have.
        let files = [file("a.service", "1"), file(&"x".repeat(300), "1")];
        let error = put(root.path(), &files).unwrap_err().to_string();
        assert!(error.contains("in the way") || error.contains("cannot be written"), "{error}");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
