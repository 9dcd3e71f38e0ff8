//! The network namespace, the launcher's own or bubblewrap's: its loopback interface, and sockets that the caller's proxy accepts on.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use castellan_sandbox::{Bytes, Message, Plan};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

use crate::linux::control::Control;
use crate::linux::error::{Result, failed};
use crate::linux::sys;

/// Connections that wait to be accepted. Package managers open dozens at once.
const BACKLOG: i32 = 128;

pub(crate) fn prepare(control: &Control, plan: &Plan) -> Result<()> {
    if plan.loopback {
        stream()
            .and_then(sys::loopback_up)
            .map_err(|errno| failed("switch the loopback interface on", "", errno))?;
    }
    if plan.listeners.is_empty() {
        return Ok(());
    }
    let mut sockets: Vec<OwnedFd> = Vec::new();
    for port in &plan.listeners {
        let listener = listener(*port).map_err(|errno| {
            failed("listen for the proxy on port", Bytes::from(port.to_string().as_str()), errno)
        })?;
        sockets.push(listener);
    }
    let descriptors: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
    control.send(&Message::Listeners, &descriptors);
    Ok(())
}

fn stream() -> std::result::Result<OwnedFd, Errno> {
    socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

fn listener(port: u16) -> std::result::Result<OwnedFd, Errno> {
    let socket = stream()?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}
