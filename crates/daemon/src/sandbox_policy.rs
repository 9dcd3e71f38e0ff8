//! The settings in force → the policy of a sandbox for one command. The daemon plans with it whether a call can be
//! contained, and `castellan` starts the sandbox with it. It must not know how the kernel enforces a policy.

mod caches;
mod paths;
mod reads;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use castellan_policy::{SandboxFiles, SandboxNetwork};
use castellan_sandbox::{Files, Limits, Network, Policy, Read};

pub use self::paths::named_place;
pub(crate) use self::paths::needs_protection;
pub(crate) use self::reads::tools;
use crate::control::{LimitsInForce, SandboxInForce};
use crate::layout::Layout;

/// The command and its surroundings.
#[derive(Debug)]
pub struct SandboxRequest<'w> {
    /// The settings.
    pub in_force: &'w SandboxInForce,
    /// The user's home.
    pub user_home: &'w Path,
    /// Directories that may also be the user's home. Their secrets are hidden, too.
    pub other_homes: &'w [PathBuf],
    /// The files of castellan.
    pub layout: &'w Layout,
    /// The workspace: absolute, symlinks resolved.
    pub workspace: &'w Path,
    /// The directory in which the command starts.
    pub directory: &'w Path,
    /// An agent's own directory, with the files in it and in the home that it reads settings from.
    pub agent: Option<&'w OwnFiles>,
    /// The command is code that nobody has read: directories of settings are read-only as a whole, and other projects cannot
    /// be read.
    pub is_unread: bool,
    /// Installations of programs that such code can read.
    pub tools: &'w [PathBuf],
    /// A terminal is the standard input.
    pub has_terminal: bool,
}

/// The reason why a command has no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxPolicyError {
    /// A word of the settings is of another version of castellan.
    #[error(transparent)]
    Word(#[from] castellan_event::UnknownWord),
    /// The workspace is the home, or holds it.
    #[error(
        "`{}` is your home or holds it, so a sandbox could change everything that you have: start in a project",
        .0.display()
    )]
    Home(PathBuf),
    /// The home has too many settings and installations.
    #[error("`{}` has more settings and installations than a sandbox shows one by one", .0.display())]
    Reads(PathBuf),
    /// A directory of the settings.
    #[error("`{}` of `sandbox.writable` cannot be found: create it, or remove it", path.display())]
    Writable {
        /// As in the settings.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file that names git's common directory.
    #[error("`{}` cannot be written", path.display())]
    CommonDirectory {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The files of an agent that runs in a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnFiles {
    /// Directories and files that the agent writes: sessions, transcripts.
    pub writable: Vec<PathBuf>,
    /// Files in them that change how it runs: settings, hooks.
    pub kept: Vec<PathBuf>,
}

/// Returns the policy. `environment`: the variables that the settings permit. `all`: those of the process, whose sockets
/// are hidden.
pub fn sandbox_policy(
    wanted: &SandboxRequest<'_>,
    environment: Vec<(OsString, OsString)>,
    all: &[(OsString, OsString)],
) -> Result<Policy, SandboxPolicyError> {
    let SandboxRequest { in_force, user_home, .. } = *wanted;
    let files: SandboxFiles = in_force.files.parse()?;
    let network: SandboxNetwork = in_force.network.parse()?;
    let mut writable = match files {
        SandboxFiles::WorkspaceWrite => workspace_roots(wanted)?,
        SandboxFiles::ReadOnly => Vec::new(),
    };
    if in_force.commits {
        writable.iter().try_for_each(|root| paths::keep_common_directory(root))?;
    }
    let mut protected: Vec<PathBuf> =
        writable.iter().flat_map(|root| paths::protected(root, in_force.commits, wanted.is_unread)).collect();
    let none = OwnFiles::default();
    let own = wanted.agent.unwrap_or(&none);
    writable.extend(own.writable.iter().filter(|path| path.exists()).cloned());
    protected.extend(own.kept.iter().cloned());
    let homes = || std::iter::once(user_home).chain(wanted.other_homes.iter().map(PathBuf::as_path));
    let mut secret: Vec<PathBuf> =
        homes().flat_map(|home| paths::secrets(home, wanted.workspace, &own.writable)).collect();
    let read = match wanted.is_unread {
        true => {
            let all: Vec<&Path> = homes().collect();
            let reads = reads::reads(wanted.workspace, &all, wanted.tools);
            let reads = reads.ok_or_else(|| SandboxPolicyError::Reads(user_home.to_owned()))?;
            secret.extend(reads.secrets);
            Read::Only(reads::without(reads.places, &secret))
        }
        false => Read::Everything,
    };
    secret.sort();
    secret.dedup();
    secret.extend(paths::hidden_state(wanted.layout.state(), wanted.directory));
    let mut sockets = paths::sockets(all);
    sockets.push(wanted.layout.home().control_socket());
    Ok(Policy {
        caches: caches::caches(user_home, &writable),
        files: Files {
            read,
            writable,
            protected,
            secret,
            sockets,
            private_tmp: true,
            private_home: in_force.private_home,
        },
        network: match network {
            SandboxNetwork::Full => Network::Full,
            SandboxNetwork::Hosts => Network::Hosts { outside: None },
            SandboxNetwork::Loopback => Network::Loopback,
            SandboxNetwork::None => Network::None,
        },
        limits: limits(in_force.limits),
        environment,
        directory: wanted.directory.to_owned(),
        terminal: wanted.has_terminal,
    })
}

/// Returns the workspace and the directories of the settings.
fn workspace_roots(wanted: &SandboxRequest<'_>) -> Result<Vec<PathBuf>, SandboxPolicyError> {
    let is_in_workspace = |home: &Path| home.starts_with(wanted.workspace);
    if is_in_workspace(wanted.user_home) || wanted.other_homes.iter().any(|home| is_in_workspace(home)) {
        return Err(SandboxPolicyError::Home(wanted.workspace.to_owned()));
    }
    let further = wanted.in_force.writable.iter().map(|text| match text.strip_prefix("~/") {
        Some(below) => wanted.user_home.join(below),
        None => PathBuf::from(text),
    });
    let real =
        |path: PathBuf| path.canonicalize().map_err(|source| SandboxPolicyError::Writable { path, source });
    std::iter::once(Ok(wanted.workspace.to_owned())).chain(further.map(real)).collect()
}

/// A limit of 0 is none.
fn limits(of: LimitsInForce) -> Limits {
    const MIB: u64 = 1 << 20;
    let some = |number: u32, unit: u64| (number > 0).then(|| u64::from(number) * unit);
    Limits {
        processes: some(of.processes, 1),
        memory_bytes: some(of.memory_mib, MIB),
        cpu_s: some(of.cpu_s, 1),
        file_bytes: some(of.file_mib, MIB),
        open_files: some(of.open_files, 1),
        wall_ms: some(of.wall_s, 1000),
        ..Limits::default()
    }
}
