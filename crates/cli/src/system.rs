//! castellan for the system: a daemon with a user of its own for each guarded user, and a reader of that user's files. Here
//! are its places on the machine and its files; it must not know agents and their hooks.

mod copies;
mod units;

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_wire::{Home, SYSTEM_HOMES, SYSTEM_RUN};

use crate::launch;
use crate::platform::become_user;
use crate::service::files::Rendered;
use crate::service::program;

pub(crate) use copies::Copies;
pub(crate) use units::Programs;

/// The daemon's user and group.
pub(crate) const DAEMON: &str = "castellan";

/// Mode of the reader's program. The kernel hides a process from its own user whose program that user may not read.
pub(crate) const READER_MODE: u32 = 0o711;

const UNITS: &str = "/etc/systemd/system";
const FOLDERS: &str = "/etc/tmpfiles.d";

/// The file that makes the folders below `/run` at each boot.
pub(crate) const FOLDERS_FILE: &str = "castellan.conf";

/// The places of a system, below a folder for packages and tests; `/` for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    root: PathBuf,
}

impl Places {
    pub(crate) fn below(root: &Path) -> Places {
        Places { root: root.to_owned() }
    }

    /// Reports whether these are the places of this machine.
    pub(crate) fn is_machine(&self) -> bool {
        self.root == Path::new("/")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The folder of units.
    pub(crate) fn units(&self) -> PathBuf {
        self.at(UNITS)
    }

    /// The folder of files about folders below `/run`.
    pub(crate) fn folders(&self) -> PathBuf {
        self.at(FOLDERS)
    }

    /// The folder of homes.
    pub(crate) fn homes(&self) -> PathBuf {
        self.at(SYSTEM_HOMES)
    }

    /// The folder of sockets.
    pub(crate) fn run(&self) -> PathBuf {
        self.at(SYSTEM_RUN)
    }

    /// Returns the users who have a home, sorted by their ids.
    pub(crate) fn users(&self) -> anyhow::Result<Vec<u32>> {
        let homes = self.homes();
        let entries = match std::fs::read_dir(&homes) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(|| format!("`{}`", homes.display()))?,
        };
        let mut users = Vec::new();
        for entry in entries {
            let entry = entry.with_context(|| format!("`{}`", homes.display()))?;
            users.extend(user(&entry.file_name()));
        }
        users.sort_unstable();
        Ok(users)
    }
}

/// Parses the name of a home.
fn user(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?;
    name.parse::<u32>().ok().filter(|user| user.to_string() == name)
}

impl Programs {
    /// Returns the programs beside this one.
    pub(crate) fn beside() -> anyhow::Result<Programs> {
        Ok(Programs { castellan: launch::beside("castellan")?, reader: launch::beside("castellan-reader")? })
    }
}

/// Becomes the daemon's user, if this process is root and the home is one of the system. Only for the start of a command,
/// while it has one thread. The daemon takes a process of its own user for the administrator's.
pub(crate) fn become_daemon(home: &Home) -> anyhow::Result<()> {
    if home.system_user().is_none() || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let dir = home.dir();
    let found = match std::fs::symlink_metadata(dir) {
        // There is no home, and the command says so.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("`{}`", dir.display()))?,
    };
    if !found.is_dir() || found.uid() == 0 {
        bail!(
            "`{}` is not the daemon's: `castellan install --system` completes an installation",
            dir.display()
        );
    }
    become_user(found.uid(), found.gid()).context("the rights of root cannot be given up")
}

/// Runs a program of the machine that must succeed.
pub(crate) fn ran(words: &[String]) -> anyhow::Result<()> {
    let (name, words) = words.split_first().context("no program")?;
    let found = program::find(name).with_context(|| format!("`{name}` is not on PATH: it is needed here"))?;
    // root's `PATH` may be that of a user.
    if !is_roots(&found) {
        bail!("somebody who is not root can change `{}`: run this with root's own `PATH`", found.display());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = program::run(&found, &words, &[])?;
    if !ran.is_success {
        bail!("`{name} {}` failed: {}", words.join(" "), ran.says());
    }
    Ok(())
}

/// Reports whether only root can change or replace a program.
fn is_roots(program: &Path) -> bool {
    let Ok(real) = program.canonicalize() else { return false };
    real.ancestors().all(|path| {
        std::fs::metadata(path).is_ok_and(|found| {
            let is_sticky = found.is_dir() && found.mode() & 0o1000 != 0;
            found.uid() == 0 && (found.mode() & 0o002 == 0 || is_sticky)
        })
    })
}

/// Returns the units. `None` if a path has characters that a unit cannot have.
pub(crate) fn units(programs: &Programs) -> Option<Vec<Rendered>> {
    units::files(programs)
}

/// Returns the names of the units' files.
pub(crate) fn unit_files() -> Vec<String> {
    units::NAMES.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the units of a user in the order of their start.
pub(crate) fn units_of(user: u32) -> [String; 3] {
    units::NAMES.map(|name| name.replace('@', &format!("@{user}")))
}

/// Returns the file that makes the folders of sockets.
pub(crate) fn folders(users: &[u32]) -> Rendered {
    Rendered { name: FOLDERS_FILE.to_owned(), text: units::folders(users) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_homes() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::below(root.path());
        assert_eq!(places.users().unwrap(), [0; 0], "nothing is installed");
        for name in ["1001", "998", "01", "-1", "ada", "4294967296", "+7"] {
            std::fs::create_dir_all(places.homes().join(name)).unwrap();
        }
        assert_eq!(places.users().unwrap(), [998, 1001]);
        assert!(!places.is_machine() && Places::below(Path::new("/")).is_machine());
        assert_eq!(Places::below(Path::new("/")).homes(), Path::new("/var/lib/castellan"));
        assert_eq!(
            units_of(1000),
            ["castellan-reader@1000.socket", "castellan-reader@1000.service", "castellan@1000.service"]
        );
    }

    #[test]
    fn root_runs_no_program_that_another_user_can_replace() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("systemctl");
        std::fs::write(&program, "").unwrap();
        assert_eq!(is_roots(&program), rustix::process::geteuid().is_root());
        let mode = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.path(), mode(0o777)).unwrap();
        assert!(!is_roots(&program));
        std::fs::set_permissions(place.path(), mode(0o755)).unwrap();
        std::fs::set_permissions(&program, mode(0o666)).unwrap();
        assert!(!is_roots(&program));
        assert!(!is_roots(Path::new("/none")));
    }
}
