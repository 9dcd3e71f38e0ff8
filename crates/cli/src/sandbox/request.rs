//! The settings in force → the policy of a sandbox for one command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_daemon::{Layout, LimitsInForce, SandboxInForce};
use castellan_policy::{SandboxFiles, SandboxNetwork};
use castellan_sandbox::{Files, Limits, Network, Policy, Read};

use super::{paths, variables};

/// The command and its surroundings.
#[derive(Debug)]
pub(super) struct Wanted<'w> {
    pub(super) in_force: &'w SandboxInForce,
    /// The user's home.
    pub(super) user_home: &'w Path,
    pub(super) layout: &'w Layout,
    pub(super) workspace: &'w Path,
    pub(super) directory: &'w Path,
    /// An agent's own directory, with the files in it and in the home that it reads settings from.
    pub(super) agent: Option<&'w OwnFiles>,
    /// A terminal is the standard input.
    pub(super) has_terminal: bool,
}

/// The files of an agent that runs in a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OwnFiles {
    /// Directories and files that the agent writes: sessions, transcripts.
    pub(crate) writable: Vec<PathBuf>,
    /// Files in them that change how it runs: settings, hooks.
    pub(crate) kept: Vec<PathBuf>,
}

/// Returns the policy. `environment`: the variables that the settings permit.
pub(super) fn policy(
    wanted: &Wanted<'_>,
    environment: Vec<(OsString, OsString)>,
    all: &[(OsString, OsString)],
) -> anyhow::Result<Policy> {
    let Wanted { in_force, user_home, .. } = *wanted;
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
        writable.iter().flat_map(|root| paths::protected(root, in_force.commits)).collect();
    let none = OwnFiles::default();
    let own = wanted.agent.unwrap_or(&none);
    writable.extend(own.writable.iter().filter(|path| path.exists()).cloned());
    protected.extend(own.kept.iter().cloned());
    let mut secret = paths::secrets(user_home, wanted.workspace, &own.writable);
    secret.extend(paths::hidden_state(wanted.layout.state(), wanted.directory));
    let mut sockets = paths::sockets(all);
    sockets.push(wanted.layout.home().control_socket());
    Ok(Policy {
        caches: variables::caches(user_home, &writable),
        files: Files {
            read: Read::Everything,
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
fn workspace_roots(wanted: &Wanted<'_>) -> anyhow::Result<Vec<PathBuf>> {
    if wanted.user_home.starts_with(wanted.workspace) {
        bail!(
            "`{}` is your home or holds it, so a sandbox could change everything that you have: start in a project",
            wanted.workspace.display()
        );
    }
    let further = wanted.in_force.writable.iter().map(|text| match text.strip_prefix("~/") {
        Some(below) => wanted.user_home.join(below),
        None => PathBuf::from(text),
    });
    let real = |path: PathBuf| {
        path.canonicalize().with_context(|| {
            format!("`{}` of `sandbox.writable` cannot be found: create it, or remove it", path.display())
        })
    };
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
