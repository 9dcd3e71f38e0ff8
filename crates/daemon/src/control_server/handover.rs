//! The request by which another castellan takes over the home. It ends this daemon, so it needs the same check as a restart.

use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use super::{ControlServer, Peer, Signal};
use crate::control::ControlResponse;
use crate::handover::Successor;
use crate::platform::CAN_HAND_OVER;

impl ControlServer {
    /// Permits one handover at a time.
    pub(super) fn permit_handover(&self, peer: Peer<'_>) -> Result<(), ControlResponse> {
        self.check_presence("handover", "", peer)?;
        if !CAN_HAND_OVER {
            let why = "this system names no owner of a socket, so no other daemon could check it: castellan restart";
            return self.conclude("handover", "", peer, Err(why.to_owned()));
        }
        if self.is_managed {
            let why = "the service manager keeps this daemon's sockets: castellan service restart";
            return self.conclude("handover", "", peer, Err(why.to_owned()));
        }
        if self.handing_over.swap(true, Ordering::SeqCst) {
            let why = "another castellan takes over at this moment: see `castellan status`";
            return self.conclude("handover", "", peer, Err(why.to_owned()));
        }
        let concluded = self.conclude("handover", "", peer, Ok(()));
        concluded.inspect_err(|_| self.handing_over.store(false, Ordering::SeqCst))
    }

    /// Waits for the next daemon at the other end of a permitted connection. Until it is ready, this one serves.
    pub(super) fn hand_over(&self, stream: UnixStream) {
        match Successor::wait(stream) {
            Ok(successor) => {
                let _ = self.signals.send(Signal::HandOver(Box::new(successor)));
            }
            Err(why) => {
                let what = format!("the next daemon did not take over, so this one serves on: {why}");
                self.judge.record_problem("handover", &what);
                self.handing_over.store(false, Ordering::SeqCst);
            }
        }
    }
}
