//! The socket to the caller.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use castellan_sandbox::{Message, Plan, decode, encode};
use rustix::io::{Errno, FdFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::linux::sys;

/// The socket to the caller. It closes when the command starts.
pub(crate) struct Control {
    socket: OwnedFd,
    /// Descriptor 3, if the command gets it.
    report: Option<OwnedFd>,
}

impl Control {
    /// Receives the plan. Afterwards descriptor 0 is the command's standard input, descriptor 3 the one on which it reports,
    /// if there is one, and no other descriptor is open but 1, 2 and the socket. `None` if standard input is no such socket.
    pub(crate) fn receive() -> Option<(Control, Plan)> {
        sys::close_from(3).ok()?;
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 4).ok()?;
        let mut received = Vec::new();
        let mut descriptors = Vec::new();
        loop {
            let mut chunk = [0_u8; 16 * 1024];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::CMSG_CLOEXEC;
            let got = match recvmsg(&socket, &mut [IoSliceMut::new(&mut chunk)], &mut ancillary, flags) {
                Err(Errno::INTR) => continue,
                other => other.ok()?.bytes,
            };
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(sent) = message {
                    descriptors.extend(sent);
                }
            }
            if got == 0 {
                return None;
            }
            received.extend_from_slice(chunk.get(..got)?);
            if let Some((plan, _)) = decode::<Plan>(&received).ok()? {
                let mut descriptors = descriptors.into_iter();
                rustix::stdio::dup2_stdin(descriptors.next()?).ok()?;
                // The lowest free number is 3: nothing else is open below the socket.
                let report = descriptors
                    .next()
                    .map(|sent| rustix::io::fcntl_dupfd_cloexec(sent, 3))
                    .transpose()
                    .ok()?;
                return Some((Control { socket, report }, plan));
            }
        }
    }

    /// Leaves descriptor 3 open for the command.
    pub(crate) fn pass_report(&self) -> rustix::io::Result<()> {
        self.report.as_ref().map_or(Ok(()), |report| rustix::io::fcntl_setfd(report, FdFlags::empty()))
    }

    /// Sends a message. A caller that is gone needs none.
    pub(crate) fn send(&self, message: &Message, descriptors: &[BorrowedFd<'_>]) {
        let Some(frame) = encode(message) else { return };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            match sendmsg(&self.socket, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            ancillary.clear();
        }
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
