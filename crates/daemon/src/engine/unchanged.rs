//! [`Stamps`]: the states of the files that Falco reads at its start. Another program of this user could change a file
//! before Falco reads it, and change it back. The kernel's time of the last change shows that: no program can set it.
//! The module must not know the contents.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_files::explained;

/// Device, number, size and time of the last change.
type Stamp = (u64, u64, u64, i64, i64);

/// The states of files and folders at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamps(Vec<(PathBuf, Stamp)>);

impl Stamps {
    /// Reads the states. An entry that is renamed has another state, so a folder shows that it was replaced for a while. The
    /// error names the path.
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<Stamps, String> {
        let stamp = |path: &'p Path| match stamp(path) {
            Ok(stamp) => Ok((path.to_owned(), stamp)),
            Err(error) => Err(format!("`{}`: {}", path.display(), explained(&error))),
        };
        paths.map(stamp).collect::<Result<_, _>>().map(Stamps)
    }

    /// Returns the reason not to trust what was read, if a file or folder has changed since.
    pub(super) fn changed(&self) -> Option<String> {
        let mut changed = self.0.iter().filter(|(path, before)| stamp(path).ok().as_ref() != Some(before));
        changed.next().map(|(path, _)| {
            format!("`{}` has changed while Falco started, so Falco may have other rules", path.display())
        })
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino(), found.size(), found.ctime(), found.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause() {
        // The clock of files may have steps of 10 ms.
        std::thread::sleep(crate::limits::ENGINE_LOOK);
    }

    /// An agent's program has the rights of the daemon's user.
    #[test]
    fn a_file_that_was_changed_and_changed_back_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("falco");
        let (file, aside) = (folder.join("rules.yaml"), dir.path().join("aside"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&file, "rules").unwrap();
        let changes: [&dyn Fn(); 4] = [
            &|| std::fs::write(&file, "other").and_then(|()| std::fs::write(&file, "rules")).unwrap(),
            // The file itself comes back.
            &|| {
                std::fs::rename(&file, &aside).unwrap();
                std::fs::write(&file, "other").unwrap();
                std::fs::rename(&aside, &file).unwrap();
            },
            // The whole folder comes back.
            &|| {
                std::fs::rename(&folder, &aside).unwrap();
                std::fs::rename(&aside, &folder).unwrap();
            },
            &|| {
                let times = std::fs::File::open(&file).unwrap();
                times.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            },
        ];
        for (number, change) in changes.iter().enumerate() {
            pause();
            let stamps = Stamps::of([file.as_path(), &folder].into_iter()).unwrap();
            assert_eq!(stamps.changed(), None);
            pause();
            std::fs::read(&file).unwrap();
            assert_eq!(stamps.changed(), None, "a read is no change");
            change();
            assert!(stamps.changed().is_some(), "change {number}");
        }
        std::fs::remove_file(&file).unwrap();
        let why = Stamps::of([file.as_path()].into_iter()).unwrap_err();
        assert!(why.contains("rules.yaml"), "{why}");
    }
}
