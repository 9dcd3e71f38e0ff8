//! The socket to the caller.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use castellan_sandbox::{Message, Plan, decode, encode};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::sys;

/// The socket to the caller. It closes when the command starts.
pub(crate) struct Control(OwnedFd);

impl Control {
    /// Receives the plan. Afterwards descriptor 0 is the command's standard input, and no descriptor is open but 0, 1, 2 and
    /// the socket. `None` if standard input is no such socket.
    pub(crate) fn receive() -> Option<(Control, Plan)> {
        sys::close_from(3).ok()?;
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).ok()?;
        let mut received = Vec::new();
        let mut stdin = None;
        loop {
            let mut chunk = [0_u8; 16 * 1024];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::CMSG_CLOEXEC;
            let got = match recvmsg(&socket, &mut [IoSliceMut::new(&mut chunk)], &mut ancillary, flags) {
                Err(Errno::INTR) => continue,
                other => other.ok()?.bytes,
            };
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    stdin = descriptors.last().or(stdin);
                }
            }
            if got == 0 {
                return None;
            }
            received.extend_from_slice(chunk.get(..got)?);
            if let Some((plan, _)) = decode::<Plan>(&received).ok()? {
                rustix::stdio::dup2_stdin(stdin?).ok()?;
                return Some((Control(socket), plan));
            }
        }
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
            match sendmsg(&self.0, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL) {
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
        self.0.as_fd()
    }
}
