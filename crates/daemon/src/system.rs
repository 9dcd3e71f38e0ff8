//! A daemon of the system: it guards one user and has a user of its own, so that no program of the guarded user can end
//! it, read its memory, or write its state and log. Here are its start and its other terms; it must not know calls.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;

use castellan_reader::Reader;
use castellan_wire::{Home, connect};

use crate::control::{ControlRequest, SystemStatus};
use crate::platform::peer_of;
use crate::sight;

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

/// Reports whether a peer may make control requests: the guarded user, or the administrator of a daemon of the system.
pub(crate) fn may_control(user: u32) -> bool {
    user == sight::user() || is_administrator(user)
}

/// Reports whether the peer decides about a daemon of the system: root, also as the daemon's user, which only root can
/// become. The administrator passes no further check, because root can do everything.
pub(crate) fn is_administrator(user: u32) -> bool {
    sight::is_through_reader() && (user == 0 || user == rustix::process::geteuid().as_raw())
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
        ControlRequest::Switch { .. } | ControlRequest::Edit { .. } => Terms::Root("switch"),
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
    fn a_daemon_of_its_own_user_knows_no_other_terms() {
        let own = rustix::process::geteuid().as_raw();
        assert!(may_control(own) && !may_control(own + 1));
        assert!(!is_administrator(own) && !is_administrator(0));
        assert_eq!(status(), None);
    }
}
