//! [`Layout`]: the directories of a home's configuration, rules and state.
//!
//! Without a `layout` file all of them are below the home. `castellan install` writes a file that points to the XDG
//! directories, and to the home of the user whose agents castellan guards. The paths are resolved only at the
//! installation, because a daemon must not take paths from an environment.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use castellan_wire::Home;

use crate::journal::DAMAGED;
use crate::limits::LAYOUT_BYTES_MAX;
use crate::platform::{account, remote_system_of};
use castellan_files::{explained, read_text};

/// Version 2 names the user whose agents are guarded. Version 1, which lacks that line, is still read.
const FIRST_LINES: [&str; 2] = ["castellan-layout 1", "castellan-layout 2"];

/// The folder of rendered settings, below the state.
pub(crate) const RUN_SETTINGS: &str = "run/settings";

/// Returns the name of a run's folder in [`Layout::run_settings`]: the id of its process, and the ticks at which it began.
pub fn run_folder(pid: u32, started: u64) -> String {
    format!("{pid}-{started}")
}

/// Absolute directories of a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    home: Home,
    config: PathBuf,
    state: PathBuf,
    user: Option<PathBuf>,
    organisation: OrganisationPlace,
}

/// The organisation's directory and its required owner. Fixed: no environment variable, home or command line changes
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganisationPlace {
    /// The folder of `config.toml` and `rules/`.
    pub dir: PathBuf,
    /// The user id that must own all files.
    pub owner: u32,
}

impl Default for OrganisationPlace {
    fn default() -> OrganisationPlace {
        OrganisationPlace { dir: PathBuf::from("/etc/castellan"), owner: 0 }
    }
}

/// The reason why a layout cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The home is not absolute.
    #[error("the home `{0}` is not an absolute path: give an absolute one")]
    Relative(PathBuf),
    /// The layout file is malformed, or of a newer castellan.
    #[error(
        "`{0}`:{1}: not a layout that this castellan reads: install the castellan that wrote it, or remove the file and run \
         `castellan install`"
    )]
    Malformed(PathBuf, usize),
    /// A directory is on a file system of another machine.
    #[error(
        "`{dir}` is on a network file system ({system}), where sockets and locks do not work and another machine can change \
         castellan's state: set `{variable}` to a local directory and run `castellan install`",
        dir = .dir.display()
    )]
    Remote {
        /// The directory.
        dir: PathBuf,
        /// The type of the file system.
        system: String,
        /// The variable that moves it.
        variable: &'static str,
    },
    /// A directory could not be created, or a file could not be read.
    #[error("`{0}`: {why}", why = explained(.1))]
    Io(PathBuf, io::Error),
}

impl Layout {
    /// Reads the layout of a home. A home that does not exist yet has the default layout.
    pub fn read(dir: &Path) -> Result<Layout, LayoutError> {
        let home = Home::new(dir).ok_or_else(|| LayoutError::Relative(dir.to_owned()))?;
        if let Some(user) = home.system_user() {
            return Ok(Layout::of_system(home, user));
        }
        let file = Layout::file(dir);
        match read_text(&file, LAYOUT_BYTES_MAX) {
            Ok(text) => Layout::parse(home, &text).map_err(|line| LayoutError::Malformed(file, line)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Layout::new(home, dir.join("config"), dir.join("state")))
            }
            Err(error) => Err(LayoutError::Io(file, error)),
        }
    }

    /// Returns the layout of a home of the system: fixed places, so that no file of the daemon's user decides about them.
    fn of_system(home: Home, user: u32) -> Layout {
        let (config, state) = (home.dir().join("config"), home.dir().join("state"));
        let layout = Layout::new(home, config, state);
        match account(user).and_then(|account| account.home) {
            Some(home) => layout.of_user(&home),
            None => layout,
        }
    }

    /// Returns the layout file of the home `dir`.
    pub fn file(dir: &Path) -> PathBuf {
        dir.join("layout")
    }

    /// Returns the layout of a home with separate directories for configuration and state.
    pub fn new(home: Home, config: PathBuf, state: PathBuf) -> Layout {
        Layout { home, config, state, user: None, organisation: OrganisationPlace::default() }
    }

    /// Sets the home of the guarded user.
    #[must_use]
    pub fn of_user(self, home: &Path) -> Layout {
        Layout { user: Some(home.to_owned()), ..self }
    }

    fn parse(home: Home, text: &str) -> Result<Layout, usize> {
        let mut lines = text.lines();
        let first = lines.next();
        let Some(version) = FIRST_LINES.iter().position(|line| Some(*line) == first) else { return Err(1) };
        let mut directory = |number: usize, key: &str| {
            let value = lines.next().and_then(|line| line.strip_prefix(key)).map(PathBuf::from);
            value.filter(|path| path.is_absolute()).ok_or(number)
        };
        let (config, state) = (directory(2, "config=")?, directory(3, "state=")?);
        let user = if version > 0 { Some(directory(4, "user=")?) } else { None };
        Ok(Layout { user, ..Layout::new(home, config, state) })
    }

    /// Returns the text of the layout file.
    pub fn to_text(&self) -> String {
        let [without_user, with_user] = FIRST_LINES;
        let first = if self.user.is_some() { with_user } else { without_user };
        let text = format!("{first}\nconfig={}\nstate={}\n", self.config.display(), self.state.display());
        let user = self.user.as_ref().map(|home| format!("user={}\n", home.display()));
        text + &user.unwrap_or_default()
    }

    /// Moves the organisation's files, for tests.
    #[cfg(test)]
    pub(crate) fn with_organisation(self, dir: &Path, owner: u32) -> Layout {
        Layout { organisation: OrganisationPlace { dir: dir.to_owned(), owner }, ..self }
    }

    /// Creates every directory, accessible only to this user.
    pub fn create(&self) -> Result<(), LayoutError> {
        self.check_local(remote_system_of)?;
        for dir in [
            self.home.run(),
            self.rules_shipped(),
            self.rules_user(),
            self.log(),
            self.applied(),
            self.projects(),
        ] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&dir);
            made.map_err(|error| LayoutError::Io(dir, error))?;
        }
        Ok(())
    }

    /// Requires sockets and state on this machine. `system` returns the type of a remote file system. A directory that does not
    /// exist yet is on the file system of the one above.
    fn check_local(&self, system: impl Fn(&Path) -> io::Result<Option<String>>) -> Result<(), LayoutError> {
        let places = [(self.home.dir(), "XDG_DATA_HOME"), (self.state.as_path(), "XDG_STATE_HOME")];
        for (dir, variable) in places {
            let existing = dir.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/"));
            match system(existing) {
                Ok(None) => {}
                Ok(Some(system)) => {
                    return Err(LayoutError::Remote { dir: dir.to_owned(), system, variable });
                }
                Err(error) => return Err(LayoutError::Io(dir.to_owned(), error)),
            }
        }
        Ok(())
    }

    /// Removes partly written files of a killed castellan.
    pub fn remove_leftovers(&self) {
        let dirs = [self.home.dir(), &self.config, &self.state].map(Path::to_owned);
        let below =
            [self.home.run(), self.rules_shipped(), self.rules_user(), self.applied(), self.projects()];
        for dir in dirs.iter().chain(&below) {
            castellan_files::remove_leftovers(dir);
        }
    }

    /// Returns the directory that hooks and daemon share.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Returns the user's `config.toml`.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the directory of configuration and rules.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Returns the directory of the log and the applied rules.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the home of the user whose agents are guarded, if the layout has it.
    pub(crate) fn user(&self) -> Option<&Path> {
        self.user.as_deref()
    }

    /// Returns the folder of the settings that each `castellan run` renders for its agent.
    pub fn run_settings(&self) -> PathBuf {
        self.home.dir().join(RUN_SETTINGS)
    }

    /// Returns the folder of the Falco that judges: its configuration, rules, socket and log. The name is short, because its
    /// socket must be no longer than the daemon's own.
    pub(crate) fn engine(&self) -> PathBuf {
        self.home.run().join("falco")
    }

    /// Returns the folder of the copies for a Falco of the user's own.
    pub(crate) fn events(&self) -> PathBuf {
        self.engine().join("events")
    }

    /// Returns the file with the key of these copies.
    pub(crate) fn events_key(&self) -> PathBuf {
        self.state.join("falco_events.key")
    }

    /// Returns the folder with the private places of observers.
    pub fn observers(&self) -> PathBuf {
        self.state.join("observers")
    }

    /// Returns the folder of shipped rule files, which load first.
    pub fn rules_shipped(&self) -> PathBuf {
        self.config.join("rules/default")
    }

    /// Returns the folder of the user's rule files, which load after the shipped ones and may override them.
    pub fn rules_user(&self) -> PathBuf {
        self.config.join("rules/user")
    }

    /// Returns the place of the organisation's files.
    pub fn organisation(&self) -> &OrganisationPlace {
        &self.organisation
    }

    /// Returns the folder of the audit log.
    pub fn log(&self) -> PathBuf {
        self.state.join("log")
    }

    /// Returns the journal of sessions, grants and workspace trust.
    pub(crate) fn journal(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// Returns the files of the state: the journal, a damaged journal, and the file of the PIN.
    pub fn kept_state(&self) -> [PathBuf; 4] {
        [self.journal(), self.journal().with_extension(DAMAGED), self.secrets(), self.removed_hooks()]
    }

    /// Returns the list of the agents' hooks that a stop of the service has removed.
    pub fn removed_hooks(&self) -> PathBuf {
        self.state.join("removed_hooks.json")
    }

    /// Returns the file with the hash of the PIN, and the number of wrong PINs and passwords.
    pub(crate) fn secrets(&self) -> PathBuf {
        self.state.join("pin.json")
    }

    /// Returns the folder with copies of trusted workspaces' own files.
    pub fn projects(&self) -> PathBuf {
        self.state.join("projects")
    }

    /// Returns the folder of the checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.state.join("checkpoints")
    }

    /// Returns the folder of the last applied set.
    pub fn applied(&self) -> PathBuf {
        self.state.join("last-good")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(&str, &str), usize>) {
        let home = Home::new("/h").unwrap();
        let got = Layout::parse(home, text);
        let got = got
            .as_ref()
            .map(|l| (l.config.to_str().unwrap(), l.state.to_str().unwrap()))
            .map_err(|line| *line);
        assert_eq!(got, expected, "{text:?}");
    }

    #[test]
    fn a_layout_is_read_strictly() {
        check("castellan-layout 1\nconfig=/c\nstate=/s\n", Ok(("/c", "/s")));
        check("castellan-layout 2\nconfig=/c\nstate=/s\nuser=/u\n", Ok(("/c", "/s")));
        check("castellan-layout 2\nconfig=/c\nstate=/s\n", Err(4));
        check("castellan-layout 2\nconfig=/c\nstate=/s\nuser=u\n", Err(4));
        check("castellan-layout 3\nconfig=/c\nstate=/s\nuser=/u\n", Err(1));
        check("castellan-layout 1\nconfig=c\nstate=/s\n", Err(2));
        check("castellan-layout 1\nconfig=/c\n", Err(3));
        check("", Err(1));
    }

    #[test]
    fn sockets_and_state_are_on_this_machine() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["local", "nfs"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        let system = |path: &Path| Ok(path.starts_with(at("nfs")).then(|| "nfs4".to_owned()));
        let check = |home: &str, config: &str, state: &str, expected: Option<&str>| {
            let layout = Layout::new(Home::new(at(home)).unwrap(), at(config), at(state));
            let error = layout.check_local(system).err().map(|error| error.to_string());
            match expected {
                None => assert_eq!(error, None),
                Some(variable) => {
                    let error = error.unwrap_or_else(|| panic!("{home} {state}"));
                    assert!(
                        error.contains("network file system (nfs4)") && error.contains(variable),
                        "{error}"
                    );
                }
            }
        };
        check("local/a/b", "local/c", "local/s", None);
        // Configuration is only read.
        check("local/a", "nfs/c", "local/s", None);
        check("nfs/a/b", "local/c", "local/s", Some("`XDG_DATA_HOME`"));
        check("local/a", "local/c", "nfs", Some("`XDG_STATE_HOME`"));
        let layout = Layout::new(Home::new(at("local")).unwrap(), at("local"), at("local"));
        let unknown = layout.check_local(|_| Err(io::ErrorKind::PermissionDenied.into()));
        assert!(matches!(unknown, Err(LayoutError::Io(..))), "{unknown:?}");
        assert!(layout.create().is_ok());
    }

    #[test]
    fn a_layout_reads_what_it_writes() {
        let home = Home::new("/h").unwrap();
        let layout = Layout::new(home.clone(), "/etc/x y".into(), "/var/z".into());
        for layout in [layout.clone(), layout.of_user(Path::new("/u v"))] {
            assert_eq!(Layout::parse(home.clone(), &layout.to_text()), Ok(layout));
        }
    }
}
