//! The network namespace, the launcher's own or bubblewrap's: its loopback interface, and sockets that the caller's proxy accepts on.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use castellan_sandbox::{Bytes, Message, Plan};
use rustix::fs::{CWD, Mode, OFlags, openat};
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

/// The kernel's counters of this network: a file, and the name of the one for packets without a route.
const COUNTERS: &[(&str, &str)] =
    &[("/proc/self/net/snmp", "OutNoRoutes"), ("/proc/self/net/snmp6", "Ip6OutNoRoutes")];

/// Bytes of a file with counters.
const COUNTERS_BYTES: usize = 16 * 1024;

/// Returns the number of packets that had no way to their destination: the command wanted to reach something. Counters that
/// cannot be read are none, because nothing depends on them but a message.
pub(crate) fn unreachable() -> u64 {
    COUNTERS.iter().filter_map(|(file, name)| counter(&read(file)?, name)).sum()
}

fn read(file: &str) -> Option<String> {
    let file = openat(CWD, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = vec![0; COUNTERS_BYTES];
    let read = rustix::io::read(&file, &mut text).ok()?;
    text.truncate(read);
    String::from_utf8(text).ok()
}

/// Returns a counter: in a line of names with a line of values below it, or beside its name.
fn counter(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut words = line.split_whitespace();
        match words.position(|word| word == name) {
            Some(0) => return words.next()?.parse().ok(),
            Some(at) => return lines.next()?.split_whitespace().nth(at)?.parse().ok(),
            None => {}
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_their_values_below_or_beside_their_names() {
        let below = "Ip: Forwarding OutDiscards OutNoRoutes\nIp: 2 1 7\nIcmp: InMsgs\nIcmp: 0\n";
        assert_eq!(counter(below, "OutNoRoutes"), Some(7));
        assert_eq!(counter("Ip6InReceives 3\nIp6OutNoRoutes  4\n", "Ip6OutNoRoutes"), Some(4));
        for text in ["", "Ip: OutNoRoutes", "Ip: OutNoRoutes\nIp: x\n", "OutNoRoutes"] {
            assert_eq!(counter(text, "OutNoRoutes"), None, "{text}");
        }
    }
}
