//! A daemon of the system: it guards one user and has a user of its own, so that no program of the guarded user can end
//! it, read its memory, or write its state and log. Here are its start and its other terms; it must not know calls.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;

use castellan_reader::Reader;
use castellan_wire::{Home, connect};

use crate::ancestors::Ancestors;
use crate::control::{ControlRequest, SystemStatus};
use crate::peers::AgentProcess;
use crate::platform::{control_group, peer_of, real_user};
use crate::process::Process;
use crate::sight;

/// The beginning of the name of each daemon's unit, and of its control group.
const UNITS_BEGIN: &[u8] = b"castellan@";

/// Makes this process the daemon of a home of the system, if it is one. The error says why it may not serve it.
pub(crate) fn begin(home: &Home) -> Result<(), String> {
    let Some(user) = home.system_user() else { return Ok(()) };
    let own = rustix::process::geteuid().as_raw();
    let owner = std::fs::symlink_metadata(home.dir()).map(|found| found.uid());
    let owner = owner.map_err(|error| format!("`{}`: {error}", home.dir().display()))?;
    check_users(own, owner, user)?;
    let socket = home.reader_socket();
    let reader = Reader::new(move || {
        let stream = connect(&socket)?;
        check_reader(&stream, user)?;
        Ok(stream)
    });
    sight::look_through(reader, user);
    Ok(())
}

/// Root would read everything, and the guarded user's programs could end a daemon of that user.
fn check_users(own: u32, owner: u32, guarded: u32) -> Result<(), String> {
    if own == 0 || own == guarded || own != owner {
        return Err(format!(
            "the daemon of a home of the system runs as the owner of that home, who is neither root nor the guarded user: \
             this is user {own}, the home is of user {owner} and guards user {guarded}: `systemctl start castellan@{guarded}` \
             starts it"
        ));
    }
    Ok(())
}

/// Only the service manager makes sockets in the daemon's folder. This check finds a wrong unit.
fn check_reader(stream: &UnixStream, user: u32) -> io::Result<()> {
    match peer_of(stream)?.user {
        listens if listens == user => Ok(()),
        listens => Err(io::Error::other(format!("user {listens} listens on its socket, not user {user}"))),
    }
}

/// Returns the state of the daemon of the system; `None` for a daemon of its own user.
pub(crate) fn status() -> Option<SystemStatus> {
    sight::is_through_reader().then(|| SystemStatus {
        daemon: rustix::process::geteuid().as_raw(),
        user: sight::user(),
        reader: sight::check().err().map(|gone| gone.to_string()).unwrap_or_default(),
    })
}

/// Reports whether a user may connect for control requests: the guarded user, or the users of [`is_administrator`].
pub(crate) fn may_control(user: u32) -> bool {
    user == sight::user() || is_administrators(user)
}

/// Reports whether the administrator of a daemon of the system connects as this user: as root, or as the daemon's user, which
/// root's commands become.
pub(crate) fn is_administrators(user: u32) -> bool {
    sight::is_through_reader() && (user == 0 || user == rustix::process::geteuid().as_raw())
}

/// Reports whether the peer decides about a daemon of the system: root, or a command of root's that has become the daemon's
/// user. The administrator passes no further check, because root can do everything. A program that the settings start has
/// the daemon's user too, and decides nothing.
pub(crate) fn is_administrator(user: u32, process: AgentProcess) -> bool {
    is_administrators(user) && (user == 0 || is_of_root(process))
}

/// Reports whether root started a process of the daemon's user, and not a daemon of any guarded user.
fn is_of_root(process: AgentProcess) -> bool {
    let own = std::process::id();
    let Some(started) = Process::read(own).map(|own| own.started) else { return false };
    let (ours, theirs) = (Ancestors::of(AgentProcess { pid: own, started }), Ancestors::of(process));
    let users: Vec<Option<u32>> = theirs.chain.iter().map(|one| real_user(one.pid)).collect();
    let groups = control_group(process.pid);
    // None of these processes has ended meanwhile, so no other one had its id.
    if !ours.is_whole || !theirs.is_whole || Ancestors::of(process) != theirs {
        return false;
    }
    let chain: Vec<(AgentProcess, Option<u32>)> = theirs.chain.into_iter().zip(users).collect();
    let own_user = rustix::process::geteuid().as_raw();
    leads_to_root(&chain, &ours.chain, own_user) && !groups.is_some_and(|groups| is_of_a_daemon(&groups))
}

/// Reports whether root started a process of user `own`, by the processes above it with their users: above those of user
/// `own` is one of root's that is not above the daemon. An orphan of a program that a daemon started is below a process
/// above the daemon, which is the service manager's.
fn leads_to_root(chain: &[(AgentProcess, Option<u32>)], daemon: &[AgentProcess], own: u32) -> bool {
    let mut others = chain.iter().filter(|(process, user)| *user != Some(own) || daemon.contains(process));
    others.next().is_some_and(|(process, user)| *user == Some(0) && !daemon.contains(process))
}

/// Reports whether a process is in the control group of a daemon of any guarded user, as the kernel lists its groups. The
/// service manager keeps all that a service starts in the service's group, which only root can leave. Another group alone
/// proves nothing: the daemons of other guarded users have other groups and the same user.
fn is_of_a_daemon(groups: &[u8]) -> bool {
    let paths =
        groups.split(|byte| *byte == b'\n').filter_map(|line| line.splitn(3, |byte| *byte == b':').nth(2));
    paths.flat_map(|path| path.split(|byte| *byte == b'/')).any(|name| name.starts_with(UNITS_BEGIN))
}

/// The terms of a request to a daemon of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terms {
    /// As for a daemon of its own user.
    Same,
    /// Only root may make it, because it changes the policy or ends the daemon. With its word for the record.
    Root(&'static str),
    /// The feature is off, for this reason.
    Off(&'static str),
}

/// Returns the terms of a request to a daemon of the system.
pub(crate) fn terms(request: &ControlRequest) -> Terms {
    match request {
        ControlRequest::Status
        | ControlRequest::Pending
        | ControlRequest::Granted
        | ControlRequest::Show { .. }
        | ControlRequest::Plans
        | ControlRequest::ShowPlan { .. }
        | ControlRequest::ProposePlan { .. }
        | ControlRequest::UsePlan { .. }
        | ControlRequest::EndPlan { .. }
        | ControlRequest::ApprovePlan { .. }
        | ControlRequest::Approve { .. }
        | ControlRequest::Refuse { .. }
        | ControlRequest::Halt { .. }
        | ControlRequest::Resume { .. }
        | ControlRequest::Note { .. }
        | ControlRequest::Checkpoints
        | ControlRequest::OwnFiles
        | ControlRequest::SetPin { .. }
        | ControlRequest::Trusted
        | ControlRequest::Trust { .. } => Terms::Same,
        ControlRequest::Pause { .. } => Terms::Root("pause"),
        ControlRequest::EndPause => Terms::Root("pause_end"),
        ControlRequest::Mode(_) => Terms::Root("mode"),
        ControlRequest::Switch { .. } | ControlRequest::Edit { .. } | ControlRequest::Edits { .. } => {
            Terms::Root("switch")
        }
        ControlRequest::EndTrial => Terms::Root("trial_end"),
        ControlRequest::Apply { .. } => Terms::Root("apply"),
        ControlRequest::Loosen(_) => Terms::Root("loosen"),
        ControlRequest::Stop | ControlRequest::Restart | ControlRequest::HandOver => {
            Terms::Off("the service manager stops and starts this daemon: `systemctl restart castellan@UID`")
        }
        ControlRequest::Sandbox | ControlRequest::Run { .. } => {
            Terms::Off("`castellan run` and sandboxes need a daemon of the same user")
        }
        ControlRequest::Redeem { .. } | ControlRequest::ContainedEnd { .. } => {
            Terms::Off("no call is contained by a daemon that has a user of its own")
        }
        ControlRequest::Diff { .. }
        | ControlRequest::Undo { .. }
        | ControlRequest::Keep { .. }
        | ControlRequest::MarkedFiles { .. }
        | ControlRequest::KeepFiles { .. } => {
            Terms::Off("a daemon that has a user of its own cannot write the user's files")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_root_nor_the_guarded_user_runs_the_daemon() {
        assert_eq!(check_users(990, 990, 1000), Ok(()));
        for (own, owner, guarded) in
            [(0, 0, 1000), (0, 990, 1000), (1000, 1000, 1000), (991, 990, 1000), (990, 0, 1000)]
        {
            assert!(check_users(own, owner, guarded).is_err(), "{own} {owner} {guarded}");
        }
    }

    #[test]
    fn only_root_starts_the_administrators_commands() {
        const OWN: u32 = 990;
        let process = |pid| AgentProcess { pid, started: u64::from(pid) };
        // Each process of the daemon and above it: the daemon, a supervisor of root's, the first process.
        let daemon = [20, 5, 1].map(process);
        let check = |chain: &[(u32, Option<u32>)], expected: bool| {
            let chain: Vec<_> = chain.iter().map(|(pid, user)| (process(*pid), *user)).collect();
            assert_eq!(leads_to_root(&chain, &daemon, OWN), expected, "{chain:?}");
        };
        let (own, root, other) = (Some(OWN), Some(0), Some(1000));
        // A shell of root's, or `sudo` in a shell of a person's.
        check(&[(40, own), (30, root), (1, root)], true);
        check(&[(41, own), (40, own), (30, root), (1, root)], true);
        check(&[(40, own), (30, root), (29, other), (1, root)], true);
        // A program of the daemon, and one that has lost its parent.
        check(&[(40, own), (20, own), (5, root), (1, root)], false);
        check(&[(40, own), (5, root), (1, root)], false);
        check(&[(40, own), (1, root)], false);
        // Another user's shell, an unknown user, nothing known.
        check(&[(40, own), (30, other), (29, root), (1, root)], false);
        check(&[(40, own), (30, None), (29, root), (1, root)], false);
        check(&[(40, None), (30, root), (1, root)], false);
        check(&[], false);
        // A program of the daemon of another guarded user, which has the same user, and such an orphan.
        check(&[(40, own), (21, own), (5, root), (1, root)], false);
        check(&[(40, own), (21, own), (1, root)], false);
        // The same number at another time.
        let chain = [(process(40), own), (AgentProcess { pid: 5, started: 9 }, root)];
        assert!(leads_to_root(&chain, &daemon, OWN));
    }

    #[test]
    fn a_process_in_the_group_of_any_daemon_is_not_roots() {
        for (groups, expected) in [
            ("0::/system.slice/system-castellan.slice/castellan@1000.service\n", true),
            ("0::/system.slice/system-castellan.slice/castellan@1001.service\n", true),
            ("0::/system.slice/castellan@1001.service/below\n", true),
            ("1:name=systemd:/system.slice/castellan@1001.service\n0::/\n", true),
            ("0::/docker/ab/system.slice/castellan@1001.service\n", true),
            ("0::/user.slice/user-0.slice/session-3.scope\n", false),
            ("0::/system.slice/ssh.service\n", false),
            ("0::/system.slice/not-castellan@1001.service\n", false),
            ("0::/\n", false),
            ("", false),
        ] {
            assert_eq!(is_of_a_daemon(groups.as_bytes()), expected, "{groups}");
        }
    }

    #[test]
    fn a_daemon_of_its_own_user_knows_no_other_terms() {
        let own = rustix::process::geteuid().as_raw();
        assert!(may_control(own) && !may_control(own + 1));
        assert!(!is_administrators(own) && !is_administrators(0));
        assert_eq!(status(), None);
    }
}
