//! What this machine's kernel enforces for this user.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a launcher can use here. [`crate::probe`] finds it; tests make it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// User, mount, process, IPC and host-name namespaces, with the mount calls of Linux 5.12.
    pub namespaces: bool,
    /// A network namespace with a loopback interface.
    pub network_namespace: bool,
    /// A new `/proc` in a process namespace. Container engines that cover parts of `/proc` prevent it.
    pub fresh_proc: bool,
    /// A limit of process numbers for one process namespace (Linux 6.14).
    pub pid_limit: bool,
    /// The version of Landlock; 0 is none.
    pub landlock: u32,
    /// Filters of system calls.
    pub seccomp: bool,
    /// Control groups.
    pub cgroups: Cgroups,
    /// A bubblewrap that works. It makes the namespaces where the launcher cannot.
    pub bubblewrap: Option<PathBuf>,
    /// It accepts sizes of file systems in memory. A set-user-id one does not.
    pub bubblewrap_sizes: bool,
}

/// Control groups as this user finds them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Cgroups {
    /// None found.
    #[default]
    None,
    /// Version 1, whose groups cannot be given to an ordinary user safely: not used.
    V1,
    /// Version 2, but the user must not make groups.
    NotDelegated,
    /// Version 2, and the user may make groups below this directory.
    Delegated(PathBuf),
}

/// A part of the machine that tests switch off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// All namespaces, and bubblewrap.
    Namespaces,
    /// Namespaces that the launcher makes itself.
    OwnNamespaces,
    /// The network namespace alone.
    NetworkNamespace,
    /// A new `/proc`.
    FreshProc,
    /// Landlock.
    Landlock,
    /// Filters of system calls.
    Seccomp,
}

/// A level of enforcement, for tests and for machines that have less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// All that the machine has.
    Full,
    /// Namespaces and seccomp.
    Namespaces,
    /// Landlock and seccomp.
    Landlock,
    /// Nothing.
    None,
}

impl Capabilities {
    /// Returns the capabilities of a current kernel that refuses nothing.
    #[must_use]
    pub fn all() -> Capabilities {
        Capabilities {
            namespaces: true,
            network_namespace: true,
            fresh_proc: true,
            pid_limit: true,
            landlock: crate::landlock::NEWEST,
            seccomp: true,
            cgroups: Cgroups::None,
            bubblewrap: None,
            bubblewrap_sizes: false,
        }
    }

    /// Returns the capabilities of a machine that enforces nothing.
    #[must_use]
    pub fn none() -> Capabilities {
        Capabilities {
            namespaces: false,
            network_namespace: false,
            fresh_proc: false,
            pid_limit: false,
            landlock: 0,
            seccomp: false,
            cgroups: Cgroups::None,
            bubblewrap: None,
            bubblewrap_sizes: false,
        }
    }

    /// Returns these capabilities without a feature and what depends on it.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Capabilities {
        match feature {
            Feature::Namespaces => {
                self.bubblewrap = None;
                self.bubblewrap_sizes = false;
                return self.without(Feature::OwnNamespaces);
            }
            Feature::OwnNamespaces => {
                self.namespaces = false;
                self.network_namespace = false;
                self.fresh_proc = false;
                self.pid_limit = false;
            }
            Feature::NetworkNamespace => self.network_namespace = false,
            Feature::FreshProc => {
                self.fresh_proc = false;
                self.pid_limit = false;
            }
            Feature::Landlock => self.landlock = 0,
            Feature::Seccomp => self.seccomp = false,
        }
        self
    }

    /// Returns these capabilities, at most those of a level.
    #[must_use]
    pub fn at(self, level: Level) -> Capabilities {
        match level {
            Level::Full => self,
            Level::Namespaces => self.without(Feature::Landlock),
            Level::Landlock => self.without(Feature::Namespaces),
            Level::None => Capabilities::none(),
        }
    }
}
