//! [`Place`]: the folder of the Falco that judges. It belongs to this user alone, and each start writes its files anew.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use castellan_files::{Guard, explained, read_guarded, write_private};

use crate::limits::SOCKET_PATH_BYTES_MAX;

/// The folder.
#[derive(Debug, Clone)]
pub(super) struct Place(PathBuf);

impl Place {
    /// Makes the folder, for this user alone, and removes the files of an earlier start but the log. The error names the
    /// path.
    pub(super) fn make(dir: &Path) -> Result<Place, String> {
        let place = Place(dir.to_owned());
        let socket = place.socket();
        if socket.as_os_str().as_bytes().len() > SOCKET_PATH_BYTES_MAX {
            return Err(format!(
                "the path `{}` is longer than {SOCKET_PATH_BYTES_MAX} bytes, and Falco's plugin can connect to no longer \
                 one: use a home with a shorter path",
                socket.display()
            ));
        }
        let made = match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        made.and_then(|()| own(dir)).map_err(|error| at(dir, &error))?;
        place.clear().map_err(|error| at(dir, &error))?;
        Ok(place)
    }

    /// Removes the secrets and the socket.
    pub(super) fn clear(&self) -> io::Result<()> {
        for file in [self.config(), self.rules(), self.socket()] {
            match std::fs::remove_file(file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        castellan_files::remove_leftovers(&self.0);
        Ok(())
    }

    /// Removes a folder with the secrets and the socket, but no file of another program. A missing one is no error.
    pub(super) fn remove(dir: &Path) -> io::Result<()> {
        match own(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            owned => owned?,
        }
        Place(dir.to_owned()).clear()?;
        match std::fs::remove_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    pub(super) fn listen(&self) -> Result<UnixListener, String> {
        UnixListener::bind(self.socket()).map_err(|error| at(&self.socket(), &error))
    }

    pub(super) fn write(&self, config: &str, rules: &str) -> Result<(), String> {
        for (file, text) in [(self.rules(), rules), (self.config(), config)] {
            write_private(&file, text.as_bytes()).map_err(|error| at(&file, &error))?;
        }
        Ok(())
    }

    /// Checks that the files have these texts. The error names the file.
    pub(super) fn check(&self, config: &str, rules: &str) -> Result<(), String> {
        for (file, text) in [(self.rules(), rules), (self.config(), config)] {
            let own = Guard::Private(rustix::process::geteuid().as_raw());
            if !read_guarded(&file, text.len() as u64, own).is_ok_and(|found| found == text) {
                return Err(format!("`{}`: another program has changed it", file.display()));
            }
        }
        Ok(())
    }

    /// Returns the files that Falco reads at its start, and their folder, which another program could replace.
    pub(super) fn read_at_start(&self) -> [PathBuf; 3] {
        [self.config(), self.rules(), self.0.clone()]
    }

    pub(super) fn config(&self) -> PathBuf {
        self.0.join("falco.yaml")
    }

    pub(super) fn rules(&self) -> PathBuf {
        self.0.join("rules.yaml")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.0.join("s")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.0.join("falco.log")
    }
}

/// Requires a folder of this user alone.
fn own(dir: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(dir)?;
    if !found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no folder: remove it"));
    }
    Guard::Owner(rustix::process::geteuid().as_raw()).check(&found)?;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {}", path.display(), explained(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::output::before;

    #[test]
    fn the_folder_is_this_users_alone_and_keeps_only_the_log() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("falco");
        let place = Place::make(&dir).unwrap();
        place.write("secret", "rules").unwrap();
        let listener = place.listen().unwrap();
        std::fs::write(place.log(), "line\n").unwrap();
        std::fs::write(before(&place.log()), "line\n").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&place.config()), mode(&place.rules())), (0o700, 0o600, 0o600));
        drop(listener);
        // Another user could not have opened the folder since.
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
        let again = Place::make(&dir).unwrap();
        assert_eq!(mode(&dir), 0o700);
        let mut left: Vec<_> =
            std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["falco.log", "falco.log.1"]);
        assert!(again.listen().is_ok());
    }

    #[test]
    fn a_folder_that_others_wrote_or_that_is_elsewhere_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("falco");
        let refused = |part: &str| {
            let why = Place::make(&dir).unwrap_err();
            assert!(why.contains(part) && why.contains("falco`"), "{why}");
        };
        std::os::unix::fs::symlink(parent.path(), &dir).unwrap();
        refused("no folder");
        std::fs::remove_file(&dir).unwrap();
        std::fs::create_dir(&dir).unwrap();
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
        refused("other users");
        let long = parent.path().join("x".repeat(120));
        let why = Place::make(&long).unwrap_err();
        assert!(why.contains("107 bytes") && why.contains("shorter path"), "{why}");
    }
}
