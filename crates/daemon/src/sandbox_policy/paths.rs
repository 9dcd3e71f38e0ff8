//! The paths of a sandbox's policy, from castellan's tables of paths: secrets, sockets of services, and files that change
//! how later programs run. It must not know settings.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use castellan_agents::{AgentId, directory_name};
use castellan_event::Scope;
use castellan_facts::scope::{Places, classify, may_be_secret, planted_patterns, secret_patterns};
use castellan_files::{Links, open_with};

use super::SandboxPolicyError;

/// Names in a workspace that stay absent if they are absent: programs outside would read and obey them.
const KEPT_ABSENT: &[&str] = &[
    ".castellan",
    ".cursor",
    ".devcontainer",
    ".envrc",
    ".git",
    ".githooks",
    ".husky",
    ".idea",
    ".mcp.json",
    ".vscode",
];

/// The parts of `.git` that stay read-only where a sandbox may commit: they make git start programs.
const GIT_SETTINGS: &[&str] =
    &["config", "config.worktree", "hooks", "info", "modules", "worktrees", COMMON_DIRECTORY];

/// The file in `.git` that names the directory with settings and hooks. No file means `.`, this directory.
const COMMON_DIRECTORY: &str = "commondir";

/// Variables that hold the path of a socket, or an address with one.
const SOCKET_VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "WAYLAND_DISPLAY",
    "TMUX",
];

/// Returns the files that hold secrets and exist: those of the home and the system, and those at the top of the workspace.
/// Those in `own` are the agent's.
pub(super) fn secrets(user_home: &Path, workspace: &Path, own: &[PathBuf]) -> Vec<PathBuf> {
    let named = secret_patterns().filter_map(|(pattern, _)| named_place(pattern, user_home));
    let in_workspace = top_secrets(workspace, user_home);
    let mut found: Vec<PathBuf> = named
        .chain(in_workspace)
        .filter(|path| !["/dev", "/proc"].iter().any(|special| path.starts_with(special)))
        .filter(|path| !own.iter().any(|own| path.starts_with(own)))
        .filter(|path| path.symlink_metadata().is_ok())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Environment files and keys at the top of a workspace.
fn top_secrets(workspace: &Path, user_home: &Path) -> Vec<PathBuf> {
    let places =
        Places { homes: user_home.to_str().map(str::to_owned).into_iter().collect(), ..Places::default() };
    secrets_of(workspace, &places)
}

/// Environment files and keys at the top of a directory in no home.
pub(super) fn secrets_in(directory: &Path) -> Vec<PathBuf> {
    secrets_of(directory, &Places::default())
}

fn secrets_of(directory: &Path, places: &Places) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let in_secret = is_secret_for(directory, places);
    let entries = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    entries.filter(|path| (in_secret || may_be(path)) && is_secret_for(path, places)).collect()
}

/// Reports whether the name of a path alone can make it a secret.
fn may_be(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_none_or(|name| may_be_secret(name, &Places::default()))
}

fn is_secret_for(path: &Path, places: &Places) -> bool {
    path.to_str().is_some_and(|path| classify(path, places).scope == Scope::Secret)
}

/// Reports whether the name of a path shows a secret.
pub(super) fn is_secret(path: &Path) -> bool {
    is_secret_for(path, &Places::default())
}

/// Reports whether a sandbox would hide a path or keep it read-only if it were at the top of a workspace: secrets, version
/// control, settings of editors and agents. The directories around it need none.
pub(crate) fn needs_protection(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_settings = name.is_some_and(|name| {
        KEPT_ABSENT.contains(&name) || AgentId::ALL.iter().any(|agent| directory_name(*agent) == name)
    });
    is_settings || may_be(path) && is_secret(path)
}

/// Returns the sockets that variables name.
pub(super) fn sockets(environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let value = |name: &str| {
        environment.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.to_str())
    };
    let path = |value: &str| {
        let value = value.split([',', ';']).next().unwrap_or_default();
        let value =
            value.strip_prefix("unix://").or_else(|| value.strip_prefix("unix:path=")).unwrap_or(value);
        value.starts_with('/').then(|| PathBuf::from(value))
    };
    SOCKET_VARIABLES.iter().filter_map(|name| path(value(name)?)).filter(|path| path.exists()).collect()
}

/// Returns the path that a pattern names; for `**/`, below the home.
pub fn named_place(pattern: &str, user_home: &Path) -> Option<PathBuf> {
    let path = pattern.strip_suffix("/**").unwrap_or(pattern);
    let below_home = path.strip_prefix("~/").or_else(|| path.strip_prefix("**/"));
    let path = below_home.map_or_else(|| PathBuf::from(path), |rest| user_home.join(rest));
    (!pattern.strip_suffix("/**").unwrap_or(pattern).trim_start_matches("**/").contains('*')).then_some(path)
}

/// Returns the paths in a writable directory that stay read-only: files that change how programs outside run. `is_whole`:
/// directories of settings that exist are read-only as a whole, else file by file.
pub(super) fn protected(directory: &Path, may_commit: bool, is_whole: bool) -> Vec<PathBuf> {
    let named =
        planted_patterns().filter_map(|pattern| below(directory, pattern)).filter(|path| path.exists());
    let absent = KEPT_ABSENT
        .iter()
        .copied()
        .chain(AgentId::ALL.map(directory_name))
        .map(|name| directory.join(name))
        .filter(|path| is_whole || path.symlink_metadata().is_err());
    let git = directory.join(".git");
    let git = match may_commit && git.is_dir() {
        true => GIT_SETTINGS.iter().map(|name| git.join(name)).collect(),
        false => vec![git],
    };
    let mut found: Vec<PathBuf> = named.chain(absent).chain(git).collect();
    found.sort();
    found.dedup();
    found
}

/// Writes the file that names git's common directory, where it is absent. Inside a sandbox that may commit, another program
/// could make it, and git outside would then run the hooks of another directory. git fails on an empty placeholder.
pub(super) fn keep_common_directory(workspace: &Path) -> Result<(), SandboxPolicyError> {
    let git = workspace.join(".git");
    if !git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    let file = git.join(COMMON_DIRECTORY);
    let mut options = OpenOptions::new();
    let made = open_with(options.write(true).create_new(true), &file, Links::Refused);
    match made.and_then(|mut made| made.write_all(b".\n")) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|source| SandboxPolicyError::CommonDirectory { path: file, source }),
    }
}

/// Returns what a sandbox hides of castellan's state: all of it, or the entries beside a directory in it, for an observer.
/// An entry that castellan replaces later is not hidden any more.
pub(super) fn hidden_state(state: &Path, directory: &Path) -> Vec<PathBuf> {
    if !directory.starts_with(state) {
        return vec![state.to_owned()];
    }
    let above = directory.ancestors().skip(1).take_while(|above| above.starts_with(state));
    let entries = above.filter_map(|above| std::fs::read_dir(above).ok()).flatten();
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    // The agent's own home is beside its working directory.
    let own = directory.parent().filter(|parent| *parent != state).unwrap_or(directory);
    paths.filter(|path| !directory.starts_with(path) && !path.starts_with(own)).collect()
}

/// Returns the path of a pattern in a directory: `**/.envrc`, `**/.idea/**`.
fn below(directory: &Path, pattern: &str) -> Option<PathBuf> {
    let path = pattern.strip_prefix("**/")?;
    let path = path.strip_suffix("/**").unwrap_or(path);
    (!path.contains('*') && !path.starts_with(".git/")).then(|| directory.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(dirs: &[&str], files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        dirs.iter().for_each(|dir| std::fs::create_dir_all(root.path().join(dir)).unwrap());
        files.iter().for_each(|file| std::fs::write(root.path().join(file), "").unwrap());
        root
    }

    #[test]
    fn secrets_are_those_that_exist_but_the_agents_own() {
        let root = laid(
            &["h/.ssh", "h/.claude", "w"],
            &["h/.netrc", "h/.claude/.credentials.json", "w/.env", "w/a.rs"],
        );
        let (home, workspace) = (root.path().join("h"), root.path().join("w"));
        let found = secrets(&home, &workspace, &[]);
        for path in [
            home.join(".ssh"),
            home.join(".netrc"),
            home.join(".claude/.credentials.json"),
            workspace.join(".env"),
        ] {
            assert!(found.contains(&path), "{path:?}: {found:?}");
        }
        assert!(
            !found.contains(&home.join(".pgpass")) && !found.contains(&workspace.join("a.rs")),
            "{found:?}"
        );
        let own = home.join(".claude");
        assert!(
            !secrets(&home, &workspace, std::slice::from_ref(&own)).iter().any(|path| path.starts_with(&own))
        );
    }

    #[test]
    fn an_observer_sees_its_own_place_in_the_state_only() {
        let root = laid(
            &["s/log", "s/observers/claude/work", "s/observers/claude/home", "s/observers/codex"],
            &["s/key"],
        );
        let state = root.path().join("s");
        assert_eq!(hidden_state(&state, &root.path().join("w")), std::slice::from_ref(&state));
        let mut found = hidden_state(&state, &state.join("observers/claude/work"));
        found.sort();
        assert_eq!(found, ["key", "log", "observers/codex"].map(|name| state.join(name)));
    }

    #[test]
    fn git_keeps_its_common_directory() {
        let root = laid(&["w/.git", "n"], &["l"]);
        let file = root.path().join("w/.git/commondir");
        keep_common_directory(&root.path().join("w")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), ".\n");
        std::fs::write(&file, "../other").unwrap();
        keep_common_directory(&root.path().join("w")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "../other");
        // No repository, no file.
        keep_common_directory(&root.path().join("n")).unwrap();
        assert!(!root.path().join("n/.git").exists());
    }

    #[test]
    fn sockets_come_from_variables() {
        let root = laid(&[], &["agent"]);
        let socket = root.path().join("agent");
        let check = |name: &str, value: &str, expected: bool| {
            let found = sockets(&[(name.into(), value.into())]);
            assert_eq!(found == std::slice::from_ref(&socket), expected, "{name}={value}: {found:?}");
        };
        let shown = socket.display();
        check("SSH_AUTH_SOCK", &format!("{shown}"), true);
        check("DBUS_SESSION_BUS_ADDRESS", &format!("unix:path={shown},guid=1"), true);
        check("DOCKER_HOST", &format!("unix://{shown}"), true);
        check("DOCKER_HOST", "tcp://a.example:1", false);
        check("OTHER", &format!("{shown}"), false);
        check("SSH_AUTH_SOCK", &format!("{shown}-gone"), false);
    }

    #[test]
    fn what_programs_outside_obey_stays_as_it_is() {
        let root = laid(&[".git/hooks", ".vscode"], &[".vscode/tasks.json", ".pre-commit-config.yaml"]);
        let root = root.path();
        let found = protected(root, false, false);
        for name in
            [".git", ".vscode/tasks.json", ".pre-commit-config.yaml", ".claude", ".mcp.json", ".envrc"]
        {
            assert!(found.contains(&root.join(name)), "{name}: {found:?}");
        }
        // Directories that exist are protected file by file.
        assert!(
            !found.contains(&root.join(".vscode")) && !found.contains(&root.join(".git/hooks")),
            "{found:?}"
        );
        let found = protected(root, true, false);
        assert!(
            found.contains(&root.join(".git/hooks")) && found.contains(&root.join(".git/config")),
            "{found:?}"
        );
        assert!(!found.contains(&root.join(".git")), "{found:?}");
        // Code that nobody has read adds no file to them.
        let found = protected(root, false, true);
        for name in [".git", ".vscode", ".claude", ".codex", ".castellan", ".husky", ".idea"] {
            assert!(found.contains(&root.join(name)), "{name}: {found:?}");
        }
    }
}
