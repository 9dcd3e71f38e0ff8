//! [`Places`]: the locations of one session. Others collect them; this module only compares.

use std::borrow::Cow;
use std::path::Path;

use castellan_agents::{AgentId, directory_name, moved_settings_directory, settings_variable};
use castellan_event::{Process, Scope, path_components};

use super::{Part, fold};

/// Locations of a session: absolute paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The user's homes: from the agent's `HOME`, where programs look first, and from the user database.
    pub homes: Vec<String>,
    /// The workspace; `None` if unknown.
    pub workspace: Option<String>,
    /// Directories for temporary files, in addition to those of every system.
    pub temporary: Vec<String>,
    /// Directories, files and sockets of castellan's home and its programs.
    pub castellan: Vec<String>,
    /// A directory or file, and the path below a home that it replaces: `/data/claude`, `.claude`.
    pub stand_ins: Vec<(String, String)>,
    /// Directories in which programs are looked up.
    pub programs: Vec<String>,
    /// Files that shells read before they run anything, such as the value of `BASH_ENV`.
    pub startup: Vec<String>,
    /// Directories and files from which interpreters load code, such as those of `PYTHONPATH`.
    pub code: Vec<String>,
    /// Mount points of file systems of other machines.
    pub network: Vec<String>,
    /// The file system treats `A` and `a` as equal, as on macOS and Windows.
    pub folds_case: bool,
    /// Paths may begin with a drive letter or with `\\server`.
    pub is_windows: bool,
}

/// Variables that replace a path below the home. Those of agents are in the data of the agents.
const STAND_INS: &[(&str, &str)] = &[
    ("AWS_CONFIG_FILE", ".aws/config"),
    ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
    ("CARGO_HOME", ".cargo"),
    ("CLOUDSDK_CONFIG", ".config/gcloud"),
    ("COPILOT_HOME", ".copilot"),
    ("DOCKER_CONFIG", ".docker"),
    ("GH_CONFIG_DIR", ".config/gh"),
    ("GIT_CONFIG_GLOBAL", ".gitconfig"),
    ("GNUPGHOME", ".gnupg"),
    ("NPM_CONFIG_USERCONFIG", ".npmrc"),
    ("PASSWORD_STORE_DIR", ".password-store"),
    ("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
    ("PYTHONSTARTUP", ".pythonrc"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("ZDOTDIR", ""),
];

/// Variables that do the same with lists of files.
const STAND_IN_LISTS: &[(&str, &str)] = &[("KUBECONFIG", ".kube/config")];

/// Variables that name a file that shells read.
const STARTUP: &[&str] = &["BASH_ENV", "ENV"];

/// Variables that list directories or files from which interpreters load code.
const CODE: &[&str] =
    &["GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "NODE_PATH", "PERL5LIB", "PYTHONPATH", "RUBYLIB"];

/// Variables that name a directory for temporary files.
const TEMPORARY: &[&str] = &["TMPDIR", "TMP", "TEMP"];

impl Places {
    /// Returns the places of a session, from its agent's environment. Each path is also added with symlinks resolved.
    ///
    /// `workspace`: symlinks resolved. A home or a directory that holds one is not a workspace; without a known home no
    /// directory is one. `castellan`: as configured and with symlinks resolved.
    pub fn of_session(process: Option<&Process>, workspace: Option<&str>, castellan: &[String]) -> Places {
        let castellan = castellan.iter().filter(|path| is_usable(path)).cloned().collect();
        // Volumes of macOS ignore case, unless somebody formatted one otherwise.
        let folds_case = cfg!(target_os = "macos");
        let mut places = Places { castellan, folds_case, ..Places::default() };
        let Some(process) = process else { return places };
        places.network.clone_from(&process.network);
        let homes = [process.var("HOME"), Some(process.home.as_str())];
        homes.into_iter().flatten().for_each(|home| add_both(home, process, &mut places.homes));
        // A home, or a directory that holds one, is never a workspace: the agent could change everything that the user
        // has. Without a known home, any directory may be a home.
        let holds_home = |directory: &&str| {
            let holds = |home: &String| Places::default().below(directory, &known(home)).is_some();
            places.homes.is_empty() || places.homes.iter().any(holds)
        };
        places.workspace = workspace.filter(|directory| !holds_home(directory)).map(str::to_owned);
        places.programs = listed(&["PATH"], process);
        places.startup = listed(STARTUP, process);
        places.code = listed(CODE, process);
        // A directory that holds a home or the workspace would make everything in it temporary.
        let temporary = listed(TEMPORARY, process);
        let holds_more = |path: &String| {
            let parts: Vec<Part<'_>> = path_components(path).map(Part::known).collect();
            let holds = |inner: &String| Places::default().below(path, &known(inner)).is_some();
            places.homes.iter().chain(&places.workspace).any(holds)
                || parts.len() < 2
                || places.is_system(path)
        };
        places.temporary = temporary.into_iter().filter(|path| !holds_more(path)).collect();
        for (names, home_path) in STAND_INS.iter().chain(STAND_IN_LISTS) {
            for path in listed(&[names], process) {
                places.stand_ins.push((path, (*home_path).to_owned()));
            }
        }
        for agent in AgentId::ALL {
            for path in listed(&[settings_variable(agent)], process) {
                let moved = moved_settings_directory(agent, Path::new(&path)).to_string_lossy().into_owned();
                places.stand_ins.push((moved, directory_name(agent).to_owned()));
            }
        }
        places
    }

    /// Returns the places of an unknown Windows system: none of its paths is a place of this system.
    pub(crate) fn of_windows() -> Places {
        Places { folds_case: true, is_windows: true, ..Places::default() }
    }

    /// Returns the home as programs find it: from `HOME`, else from the user database; empty if unknown.
    pub(crate) fn home(&self) -> &str {
        self.homes.first().map(String::as_str).unwrap_or_default()
    }

    /// Reports the classes of a path by these places.
    pub(crate) fn kinds(&self, parts: &[Part<'_>], mut tell: impl FnMut(Scope, &'static str)) {
        let lists: [(&[String], Scope, &'static str); 5] = [
            (&self.castellan, Scope::Castellan, "castellan's own files"),
            (&self.startup, Scope::Startup, "a file that shells read"),
            (&self.code, Scope::Hijack, "code that interpreters load by themselves"),
            (&self.temporary, Scope::Temporary, "directories for temporary files"),
            (&self.homes, Scope::Home, "the user's home"),
        ];
        for (directories, scope, about) in lists {
            if directories.iter().any(|directory| self.below(directory, parts).is_some()) {
                tell(scope, about);
            }
        }
        if self.workspace.as_ref().is_some_and(|directory| self.below(directory, parts).is_some()) {
            tell(Scope::Workspace, "the workspace");
        }
        if self.network.iter().any(|mount| self.is_on(mount, parts)) {
            tell(Scope::Network, "network mounts");
        }
        // Programs deeper below are not found by name.
        let is_program = |directory: &String| self.below(directory, parts).is_some_and(|rest| rest.len() < 2);
        if self.programs.iter().any(is_program) {
            tell(Scope::Hijack, "directories from which programs are started");
        }
        // A server's share, or a name of the object manager.
        match parts {
            [Part::Text(first), ..] if self.is_windows && first == UNC => {
                tell(Scope::Network, "network mounts")
            }
            [Part::Text(first), ..] if self.is_windows && first == DEVICE => tell(Scope::Device, "devices"),
            _ => {}
        }
    }

    /// Returns true if a path is on a mount. A home or workspace on a mount is still a home or workspace.
    fn is_on(&self, mount: &str, parts: &[Part<'_>]) -> bool {
        let is_around = |place: &&String| self.below(mount, &known(&self.comparable(place))).is_some();
        let mut inner = self.homes.iter().chain(&self.workspace).filter(is_around);
        self.below(mount, parts).is_some() && !inner.any(|place| self.below(place, parts).is_some())
    }

    /// Returns the rest of a path after a directory, if the path may begin with the directory.
    pub(crate) fn below<'p, 'a>(&self, directory: &str, parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
        let directory = self.comparable(directory);
        let mut rest = parts;
        for name in path_components(&directory) {
            let (part, after) = rest.split_first()?;
            if !part.may_be(name) {
                return None;
            }
            rest = after;
        }
        // Everything is below the root, and a mere `*` matches anything: neither classifies a path.
        let own = parts.get(..parts.len() - rest.len())?;
        own.iter().any(|part| !part.is_blank()).then_some(rest)
    }

    /// Returns a path in the form in which this file system compares paths.
    pub(crate) fn comparable<'t>(&self, path: &'t str) -> Cow<'t, str> {
        if self.folds_case { Cow::Owned(fold(path)) } else { Cow::Borrowed(path) }
    }

    /// Returns true if a directory belongs to the operating system, except its directories for temporary files.
    fn is_system(&self, path: &str) -> bool {
        super::classify(path, &Places::default()).place == Scope::System
    }
}

/// Component for the `\\` of `\\server\share`.
pub(crate) const UNC: &str = "\\\\";

/// Component for `\\.\`.
pub(crate) const DEVICE: &str = "\\\\device";

fn known(path: &str) -> Vec<Part<'_>> {
    path_components(path).map(Part::known).collect()
}

/// Returns true if a value of the environment can name a place. A relative path differs for each command, and
/// everything is below the root.
fn is_usable(path: &str) -> bool {
    path.starts_with('/') && path_components(path).next().is_some()
}

/// Returns the paths that environment variables name.
fn listed(names: &[&str], process: &Process) -> Vec<String> {
    let mut all = Vec::new();
    for value in names.iter().filter_map(|name| process.var(name)) {
        value.split(':').for_each(|path| add_both(path, process, &mut all));
    }
    all
}

/// Adds a path that can name a place, as written and with symlinks resolved.
fn add_both(path: &str, process: &Process, all: &mut Vec<String>) {
    if !is_usable(path) {
        return;
    }
    let real = Some(process.real(path)).filter(|real| *real != path && is_usable(real));
    for one in std::iter::once(path).chain(real) {
        if !all.iter().any(|known| known == one) {
            all.push(one.to_owned());
        }
    }
}
