//! Sends and receives the head of an answer, with at most one open descriptor. It must not know what either means.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::message::HEAD_BYTES;

/// No started program inherits a received descriptor.
#[cfg(target_os = "linux")]
const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: RecvFlags = RecvFlags::empty();

/// An other end that is gone is an error and no signal.
#[cfg(target_os = "linux")]
const SEND: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const SEND: SendFlags = SendFlags::empty();

/// Sends bytes; a descriptor goes with the first.
pub(crate) fn send(stream: &UnixStream, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut rest = bytes;
    let mut with = descriptor;
    while !rest.is_empty() {
        let borrowed = with.as_slice();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(borrowed));
        }
        match sendmsg(stream, &[IoSlice::new(rest)], &mut ancillary, SEND) {
            Ok(sent) => {
                with = None;
                rest = rest.get(sent..).unwrap_or_default();
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Receives a head, and the descriptor that came with it. Closes all others.
pub(crate) fn receive_head(stream: &UnixStream) -> io::Result<([u8; HEAD_BYTES], Option<OwnedFd>)> {
    let mut head = [0; HEAD_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        match recvmsg(stream, &mut [IoSliceMut::new(&mut head)], &mut ancillary, RECEIVE) {
            Ok(got) => break got.bytes,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let mut received = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            received.extend(descriptors);
        }
    }
    let descriptor = received.pop();
    if got == 0 || !received.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if let Some(descriptor) = &descriptor {
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    }
    (&mut &*stream).read_exact(head.get_mut(got..).unwrap_or_default())?;
    Ok((head, descriptor))
}
