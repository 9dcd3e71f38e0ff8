//! Sends and receives open descriptors over a Unix socket. Must not know what they are.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, recvmsg, sendmsg,
};

use crate::platform::{receive_flags, send_flags};

/// Descriptors of one message; Linux permits 253.
const PER_MESSAGE: usize = 64;

/// Sends descriptors, some with each byte.
pub(super) fn send(stream: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    for some in descriptors.chunks(PER_MESSAGE) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PER_MESSAGE))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(some));
        while let Err(error) = sendmsg(stream, &[IoSlice::new(b"d")], &mut ancillary, send_flags()) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Receives exactly so many descriptors.
pub(super) fn receive(stream: &UnixStream, count: usize) -> io::Result<Vec<OwnedFd>> {
    let mut received = Vec::new();
    while received.len() < count {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PER_MESSAGE))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = receive_flags();
        let got = match recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags) {
            Ok(got) => got.bytes,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        let before = received.len();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                for descriptor in descriptors {
                    // Not each system has a flag for it.
                    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
                    received.push(descriptor);
                }
            }
        }
        // The kernel drops descriptors for which this process has no room.
        if got == 0 || received.len() == before {
            return Err(io::Error::other("not all descriptors have come"));
        }
    }
    if received.len() > count {
        return Err(io::Error::other("more descriptors have come than were announced"));
    }
    Ok(received)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_is_sent_arrives_and_nothing_else_is_accepted() {
        let (one, other) = UnixStream::pair().unwrap();
        let sent: Vec<_> = (0..150).map(|_| UnixStream::pair().unwrap()).collect();
        let borrowed: Vec<_> = sent.iter().map(|(end, _)| end.as_fd()).collect();
        send(&one, &borrowed).unwrap();
        let received = receive(&other, 150).unwrap();
        for (received, (_, end)) in received.into_iter().zip(&sent) {
            assert!(rustix::io::fcntl_getfd(&received).unwrap().contains(FdFlags::CLOEXEC));
            io::Write::write_all(&mut UnixStream::from(received), b"x").unwrap();
            io::Read::read_exact(&mut &*end, &mut [0]).unwrap();
        }
        send(&one, borrowed.get(..3).unwrap()).unwrap();
        assert!(receive(&other, 2).is_err(), "one too many");
        io::Write::write_all(&mut &one, b"d").unwrap();
        assert!(receive(&other, 1).is_err(), "a byte without one");
        drop(one);
        assert!(receive(&other, 1).is_err(), "the end");
    }
}
