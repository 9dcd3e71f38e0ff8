//! Finds the installation of the kit, and the service of it that still runs. This module only reads.

use std::ffi::OsStr;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::directories::Directories;
use crate::limits::{KIT_UNIT_BYTES_MAX, KIT_UNITS_MAX};
use crate::text_file::read_found;

/// The names of the kit, and the folders of a home that hold it.
const KITS: [(&str, &str); 2] = [("coding-agents-kit", ".coding-agents-kit"), ("Prempti", ".prempti")];

/// Folders of a home with units of service managers, and the ending of their names.
const UNITS: [(&str, &str); 2] = [(".config/systemd/user", "service"), ("Library/LaunchAgents", "plist")];

/// An installation, maybe half removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kit {
    pub(super) title: &'static str,
    /// The folder of the installation, absolute. It may be missing.
    pub(super) dir: PathBuf,
}

impl Kit {
    /// Finds the installation: `from`, or the only one of the home. `has_hooks` reports whether an agent's settings start
    /// programs of a folder.
    pub(super) fn find(
        from: Option<&Path>,
        home: &Path,
        has_hooks: impl Fn(&Path) -> bool,
    ) -> anyhow::Result<Kit> {
        let is_there = |dir: &Path| std::fs::symlink_metadata(dir).is_ok() || has_hooks(dir);
        if let Some(from) = from {
            let dir = std::path::absolute(from)?;
            if !is_there(&dir) {
                bail!("`{}` does not exist, and no hook starts a program of it", dir.display());
            }
            return Ok(Kit { title: title(&dir), dir });
        }
        let all = KITS.iter().map(|(title, name)| Kit { title, dir: home.join(name) });
        let mut found: Vec<Kit> = all.filter(|kit| is_there(&kit.dir)).collect();
        match (found.pop(), found.pop()) {
            (Some(kit), None) => Ok(kit),
            (None, _) => {
                let names = KITS.map(|(_, name)| format!("`~/{name}`"));
                bail!(
                    "no installation is found: neither {}. Name its folder: --from DIR",
                    names.join(" nor ")
                )
            }
            (Some(second), Some(first)) => bail!(
                "two installations are found, `{}` and `{}`: name one, and the other later: --from DIR",
                first.dir.display(),
                second.dir.display()
            ),
        }
    }

    /// Returns the paths by which hooks may name the folder: as given, and with symlinks resolved.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        paths(&self.dir)
    }

    /// Returns the ways to stop the service; empty if nothing listens in the folder `run`.
    pub(super) fn ways_to_stop(&self, directories: &Directories) -> Vec<String> {
        if !is_listening(&self.dir.join("run")) {
            return Vec::new();
        }
        let mut ways: Vec<String> = UNITS
            .iter()
            .flat_map(|(folder, ending)| units(&directories.home.join(folder), ending, &self.paths()))
            .collect();
        if ways.is_empty() {
            ways.push(format!("use the control program in `{}`", self.dir.join("bin").display()));
        }
        ways
    }
}

/// Returns a folder as given, and with symlinks resolved.
pub(super) fn paths(dir: &Path) -> Vec<PathBuf> {
    let mut all = vec![dir.to_owned()];
    all.extend(std::fs::canonicalize(dir).ok().filter(|canonical| canonical != dir));
    all
}

fn title(dir: &Path) -> &'static str {
    let name = dir.file_name().unwrap_or_default();
    KITS.iter().find(|(_, known)| OsStr::new(known) == name).map_or("the kit", |(title, _)| title)
}

/// Reports whether a socket of the folder has a listener. A socket that a killed service left has none.
fn is_listening(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(KIT_UNITS_MAX);
    let mut sockets = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
    sockets.any(|socket| UnixStream::connect(socket.path()).is_ok())
}

/// Returns the commands that stop the units that name one of `paths`.
fn units(folder: &Path, ending: &str, paths: &[PathBuf]) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(KIT_UNITS_MAX);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension() == Some(OsStr::new(ending)) && names(file, paths));
    files.sort();
    files.iter().filter_map(|file| way(file, ending)).collect()
}

fn names(file: &Path, paths: &[PathBuf]) -> bool {
    let Ok(text) = read_found(file, KIT_UNIT_BYTES_MAX) else { return false };
    let is_named = |path: &PathBuf| {
        // systemd writes the home as `%h`.
        let in_home = path.file_name().map(|name| format!("%h/{}", name.to_string_lossy()));
        text.contains(&path.display().to_string()) || in_home.is_some_and(|name| text.contains(&name))
    };
    paths.iter().any(is_named)
}

fn way(file: &Path, ending: &str) -> Option<String> {
    let shown = crate::output::quoted(&file.display().to_string());
    let name = crate::output::quoted(file.file_name()?.to_str()?);
    Some(match ending {
        "service" => format!("systemctl --user disable --now {name}"),
        _ => format!("launchctl unload -w {shown}"),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_only_installation_is_found() {
        let home = tempfile::tempdir().unwrap();
        let (old, new) = (home.path().join(".coding-agents-kit"), home.path().join(".prempti"));
        let find = |from: Option<&Path>, hooked: &Path| {
            let found = Kit::find(from, home.path(), |dir| dir == hooked);
            found.map(|kit| (kit.title, kit.dir)).map_err(|error| error.to_string())
        };
        let none = Path::new("/");
        assert!(find(None, none).unwrap_err().contains("no installation is found"));
        assert!(find(Some(&new), none).unwrap_err().contains("does not exist"));
        // A removed folder whose hooks are still there.
        assert_eq!(find(None, &new).unwrap(), ("Prempti", new.clone()));
        fs::create_dir(&old).unwrap();
        assert_eq!(find(None, none).unwrap(), ("coding-agents-kit", old.clone()));
        let two = find(None, &new).unwrap_err();
        assert!(two.contains("two installations") && two.contains("--from"), "{two}");
        assert_eq!(find(Some(&old), &new).unwrap().1, old);
        assert_eq!(find(Some(home.path()), none).unwrap().0, "the kit");
    }

    #[test]
    fn a_running_service_has_a_way_to_stop_it() {
        let home = tempfile::tempdir().unwrap();
        let directories = Directories {
            home: home.path().to_owned(),
            config: home.path().to_owned(),
            data: home.path().to_owned(),
            state: home.path().to_owned(),
        };
        let kit = Kit { title: "Prempti", dir: home.path().join(".prempti") };
        let unit = home.path().join(".config/systemd/user");
        fs::create_dir_all(&unit).unwrap();
        fs::create_dir_all(kit.dir.join("run")).unwrap();
        fs::write(unit.join("other.service"), "ExecStart=/bin/true\n").unwrap();
        assert_eq!(kit.ways_to_stop(&directories), [""; 0]);
        let socket = std::os::unix::net::UnixListener::bind(kit.dir.join("run/broker.sock")).unwrap();
        let [way] = kit.ways_to_stop(&directories).try_into().unwrap();
        assert!(way.contains("control program"), "{way}");
        fs::write(unit.join("guard.service"), "ExecStart=%h/.prempti/bin/run\n").unwrap();
        assert_eq!(kit.ways_to_stop(&directories), ["systemctl --user disable --now guard.service"]);
        // A socket without a listener is no service.
        drop(socket);
        assert_eq!(kit.ways_to_stop(&directories), [""; 0]);
    }
}
