//! The places that code nobody has read can read: programs, their settings, and one workspace. Other projects and the user's
//! documents are not among them, because each may hold secrets under any name. It must not know how the kernel enforces that.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use castellan_agents::{AgentId, directory_name};
use castellan_files::read_text;

use super::paths::{is_secret, secrets_in};
use crate::limits::{GIT_HEAD_BYTES_MAX, READABLE_MAX};

/// Places of programs and of the system.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/cache",
    "/var/db",
    "/var/empty",
    "/var/lib",
];

/// Installations in a home whose names do not begin with a dot.
const IN_HOME: &[&str] = &[
    "Android",
    "R",
    "anaconda3",
    "bin",
    "flutter",
    "go",
    "julia",
    "mambaforge",
    "miniconda3",
    "miniforge3",
    "nltk_data",
    "node_modules",
    "perl5",
    "sdk",
];

/// Places in a home, below names with a dot, that hold texts of other projects and of people.
const NOT_SHOWN: &[&str] = &[
    ".config/Code/User/History",
    ".config/Cursor/User/History",
    ".config/VSCodium/User/History",
    ".cursor",
    ".local/share/Trash",
    ".mozilla",
    ".thunderbird",
    ".var",
];

/// Names of directories that hold the programs of an installation.
const PROGRAMS: &[&str] = &["bin", "sbin", "shims"];

/// Variables of an agent's process that name installations.
const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "M2_HOME",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
];

/// What code that nobody has read can read, beside its workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    pub(super) places: Vec<PathBuf>,
    /// Secrets in them.
    pub(super) secrets: Vec<PathBuf>,
}

/// Returns the installations that an agent's process names, by the values of its variables.
pub(crate) fn tools<'v>(value: impl Fn(&str) -> Option<&'v str>) -> Vec<PathBuf> {
    let named = VARIABLES.iter().filter_map(|name| value(name)).map(PathBuf::from);
    let on_path = value("PATH").unwrap_or_default().split(':').map(Path::new).map(|programs| {
        let is_part = programs.file_name().is_some_and(|name| PROGRAMS.iter().any(|part| name == *part));
        let whole = programs.parent().filter(|_| is_part);
        whole.unwrap_or(programs).to_owned()
    });
    let mut all: Vec<PathBuf> = named.chain(on_path).filter(|path| path.is_absolute()).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns the places that exist. `tools`: those of [`tools`]. `None` if there are too many.
pub(super) fn reads(workspace: &Path, homes: &[&Path], tools: &[PathBuf]) -> Option<Reads> {
    let system = SYSTEM.iter().map(PathBuf::from);
    let of_homes = homes.iter().flat_map(|home| in_home(home));
    // A home, or a directory around a home or the workspace, holds what the code must not read.
    let is_above = |path: &Path| homes.iter().chain([&workspace]).any(|inner| inner.starts_with(path));
    let of_tools = tools.iter().filter_map(|tool| tool.canonicalize().ok()).filter(|tool| !is_above(tool));
    let own = system.chain(of_homes).chain(common_directory(workspace));
    let mut places: Vec<PathBuf> =
        own.chain(of_tools).filter(|path| path.symlink_metadata().is_ok()).collect();
    places.sort();
    places.dedup();
    let outer = places.clone();
    places.retain(|path| !outer.iter().any(|other| other != path && path.starts_with(other)));
    let applications = entries(Path::new("/opt")).map(|entry| entry.path());
    let not_shown = homes.iter().flat_map(|home| NOT_SHOWN.iter().map(|name| home.join(name)));
    let not_shown = not_shown.filter(|path| path.symlink_metadata().is_ok() && !workspace.starts_with(path));
    let secrets = places.iter().cloned().chain(applications).flat_map(|place| secrets_in(&place));
    let secrets = secrets.chain(not_shown).collect();
    (places.len() <= READABLE_MAX).then_some(Reads { places, secrets })
}

/// Returns the places that are no secrets themselves.
pub(super) fn without(mut places: Vec<PathBuf>, secrets: &[PathBuf]) -> Vec<PathBuf> {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let secrets: Vec<PathBuf> = secrets.iter().map(real).collect();
    places.retain(|place| {
        let place = real(place);
        !secrets.iter().any(|secret| place.starts_with(secret))
    });
    places
}

/// Settings and installations in a home.
fn in_home(home: &Path) -> Vec<PathBuf> {
    let is_open = |entry: &DirEntry| {
        let name = entry.file_name();
        let is_tool = IN_HOME.iter().any(|tool| name == *tool);
        // An agent's settings hold tokens, transcripts, and work trees of other projects.
        let is_agents = || {
            let begins =
                |agent: AgentId| name.as_encoded_bytes().starts_with(directory_name(agent).as_bytes());
            AgentId::ALL.into_iter().any(begins)
        };
        let is_setting = name.as_encoded_bytes().starts_with(b".") && !is_agents();
        // A link may lead to another project.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let leads_to_file =
            || entry.path().canonicalize().is_ok_and(|target| target.is_file() && !is_secret(&target));
        is_tool || is_setting && (!is_link || leads_to_file())
    };
    entries(home).filter(is_open).map(|entry| entry.path()).collect()
}

fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok)
}

/// Returns the repository of a linked work tree or a submodule. An agent may write the file that names it, so the repository
/// must know the work tree, or be around it.
fn common_directory(workspace: &Path) -> Option<PathBuf> {
    let file = workspace.join(".git");
    let text = |file: &Path| read_text(file, GIT_HEAD_BYTES_MAX).ok();
    let named = workspace.join(text(&file)?.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let is_known = text(&named.join("gitdir")).is_some_and(|back| Path::new(back.trim()) == file);
    let is_repository = |path: &&Path| path.file_name().is_some_and(|name| name == ".git");
    let repository = named.ancestors().find(is_repository)?;
    let is_around = repository.parent().is_some_and(|top| workspace.starts_with(top));
    (is_known || is_around).then(|| repository.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn other_projects_cannot_be_read() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let home = root.join("h");
        for dir in [
            ".cargo",
            "go",
            "Documents",
            "src/own",
            "src/other/.git/worktrees/w",
            "tools/bin",
            "src/tree",
            ".codex/w",
        ] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        for file in [".bashrc", "notes", "src/other/.env"] {
            fs::write(home.join(file), "").unwrap();
        }
        symlink(home.join("src/other"), home.join(".link")).unwrap();
        symlink(home.join("src/other/.env"), home.join(".secret")).unwrap();
        symlink(home.join("notes"), home.join(".setting")).unwrap();
        let tools = [home.join("tools"), home.clone(), home.join("src"), "/".into(), home.join("none")];
        let check = |workspace: &str, more: &[&str]| {
            let found = reads(&home.join(workspace), &[&home], &tools).unwrap();
            let found: Vec<PathBuf> =
                found.places.into_iter().filter(|path| path.starts_with(&root)).collect();
            let mut expected: Vec<PathBuf> = [".bashrc", ".cargo", ".setting", "go", "tools"]
                .iter()
                .chain(more)
                .map(|name| home.join(name))
                .collect();
            expected.sort();
            assert_eq!(found, expected);
        };
        check("src/own", &[]);
        // A linked work tree needs its repository, which knows it.
        let name = |directory: &str| fs::write(home.join("src/tree/.git"), format!("gitdir: {directory}\n"));
        let known = |text: &str| fs::write(home.join("src/other/.git/worktrees/w/gitdir"), text);
        name("../other/.git/worktrees/w").unwrap();
        check("src/tree", &[]);
        known(home.join("src/tree/.git").to_str().unwrap()).unwrap();
        check("src/tree", &["src/other/.git"]);
        known(home.join("src/own/.git").to_str().unwrap()).unwrap();
        check("src/tree", &[]);
        name("../other/.git").unwrap();
        check("src/tree", &[]);
        // A submodule is in its repository's work tree.
        fs::create_dir_all(home.join("src/other/sub")).unwrap();
        fs::create_dir_all(home.join("src/other/.git/modules/sub")).unwrap();
        fs::write(home.join("src/other/sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        check("src/other/sub", &["src/other/.git"]);
    }

    #[test]
    fn texts_of_people_and_of_other_projects_are_hidden() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap();
        for dir in [".mozilla", ".config/Code/User/History", ".cursor/worktrees/w", ".cargo"] {
            fs::create_dir_all(home.join(dir)).unwrap();
        }
        let check = |workspace: &str, expected: &[&str]| {
            let found = reads(&home.join(workspace), &[&home], &[]).unwrap().secrets;
            let found: Vec<PathBuf> = found.into_iter().filter(|path| path.starts_with(&home)).collect();
            assert_eq!(found, expected.iter().map(|name| home.join(name)).collect::<Vec<_>>());
        };
        check("own", &[".config/Code/User/History", ".cursor", ".mozilla"]);
        // The workspace is below one: Cursor's work tree.
        check(".cursor/worktrees/w", &[".config/Code/User/History", ".mozilla"]);
    }

    #[test]
    fn a_secret_is_no_place() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("ssh/keys")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        symlink(root.join("ssh"), root.join("link")).unwrap();
        let places = ["link", "ssh/keys", "other"].map(|name| root.join(name)).to_vec();
        assert_eq!(without(places, &[root.join("ssh")]), [root.join("other")]);
    }

    #[test]
    fn an_agent_names_its_installations() {
        let value = |name: &str| match name {
            "PATH" => Some("/usr/bin:/t/node/bin:/t/scripts::rel"),
            "CARGO_HOME" => Some("/t/cargo"),
            "GOPATH" => Some("rel"),
            _ => None,
        };
        assert_eq!(tools(value), ["/t/cargo", "/t/node", "/t/scripts", "/usr"].map(PathBuf::from));
    }

    #[test]
    fn too_many_places_are_none() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..=READABLE_MAX {
            fs::create_dir(home.path().join(format!(".{number}"))).unwrap();
        }
        assert_eq!(reads(Path::new("/w"), &[home.path()], &[]), None);
    }
}
