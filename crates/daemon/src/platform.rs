//! The calls that differ between the systems: peers of sockets, processes, clocks of the boot, signals, mounts, accounts.
//! `linux` and `macos` have the same functions, and only one of them is compiled. macOS's part reads the kernel's bytes
//! with the crate `darwin`, whose readers are tested on Linux.
//!
//! An unknown answer is `None` or an error, and never a default. The module must not know the use of an answer.

mod file_systems;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::path::PathBuf;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("castellan runs on Linux; on macOS it compiles");

pub(crate) use self::system::{
    DAEMON_IS_HIDDEN, HAS_CONTAINERS, HELPER_MEMORY_IS_LIMITED, START_TIMES_ARE_MONOTONIC, account,
    arguments, boot_id, boot_time, close_memory, control_group, directory, end_with_parent, environment,
    environment_and_user, executable, executable_file, has_access_list, impatient_socket, listener_of,
    network_mounts, own_executable, own_executable_file, owner, peer_of, process, processes, real_user,
    receive_flags, remote_system_of, sees_own_files, send_flags, send_signal, service_managers,
    shares_namespaces, start_clock, state,
};

/// Reports whether a daemon can take over the sockets of the one before, without a moment between both.
pub use self::system::CAN_HAND_OVER;

/// The process at the other end of a socket, and its effective user, at the time when it connected or listened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) pid: u32,
    pub(crate) user: u32,
}

/// A process as the kernel lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// Process id of the session's leader, which may have ended.
    pub(crate) session: u32,
    /// The controlling terminal's device number; 0 when there is none.
    pub(crate) terminal: i32,
    /// The time of its start, on the clock of [`start_clock`]; with the pid it identifies a process permanently.
    pub(crate) started: u64,
    /// The kernel's name of the process, at most 15 bytes (macOS: 16).
    pub(crate) name: String,
}

/// The states of a process that castellan distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It has ended and only waits for its parent.
    Ended,
    /// A signal or a debugger has stopped it.
    Stopped,
    Alive,
}

/// An account of the user database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: Option<String>,
    pub(crate) home: Option<PathBuf>,
}
