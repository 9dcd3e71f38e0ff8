//! Local sockets of services outside, each a stand-in of the harness, and families of sockets that agents do not need.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use super::network::socket;
use super::proc::{below, victim};
use super::{Attack, Evidence, Run};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    service(
        "unix-session-bus",
        |targets| connect(targets, "bus"),
        "Connects to the session bus, which can start any program outside.",
    ),
    service(
        "unix-docker",
        |targets| connect(targets, "docker.sock"),
        "Connects to docker, which can mount the machine's root.",
    ),
    service(
        "unix-ssh-agent",
        |targets| connect(targets, "agent.sock"),
        "Connects to the SSH agent, which signs with the user's keys.",
    ),
    service("unix-gpg-agent", |targets| connect(targets, "S.gpg-agent"), "Connects to the GnuPG agent."),
    service(
        "unix-castellan",
        |targets| connect(targets, "control.sock"),
        "Connects to castellan's control socket.",
    ),
    Attack {
        name: "unix-by-link",
        says: "Connects to docker by a symbolic link in the workspace.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let link = targets.below("work", "socket")?;
            symlink(targets.below("sockets", "docker.sock")?, &link).at("symlink")?;
            send(targets, UnixStream::connect(link).at("connect")?)
        }),
    },
    Attack {
        name: "unix-by-victim-root",
        says: "Connects to docker by the root folder of a process outside.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let path = below(&victim(targets, "root")?, &targets.below("sockets", "docker.sock")?);
            send(targets, UnixStream::connect(path).at("connect")?)
        }),
    },
    Attack {
        name: "unix-datagram",
        says: "Sends a datagram to the socket of a service manager.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = UnixDatagram::unbound().at("socket")?;
            socket
                .send_to(targets.text_of("word")?.as_bytes(), targets.below("sockets", "notify")?)
                .at("send")?;
            Ok("sent".to_owned())
        }),
    },
    Attack {
        name: "unix-abstract",
        says: "Connects to an abstract socket, which no mount hides.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let name = targets.text_of("abstract-socket")?;
            let address = SocketAddr::from_abstract_name(name).at("name")?;
            send(targets, UnixStream::connect_addr(&address).at("connect")?)
        }),
    },
    Attack {
        name: "unix-abstract-datagram",
        says: "Sends a datagram to an abstract socket.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let name = targets.text_of("abstract-datagram")?;
            let address = SocketAddr::from_abstract_name(name).at("name")?;
            let socket = UnixDatagram::unbound().at("socket")?;
            socket.send_to_addr(targets.text_of("word")?.as_bytes(), &address).at("send")?;
            Ok("sent".to_owned())
        }),
    },
    family(
        "socket-packet",
        || made(libc::AF_PACKET, libc::SOCK_RAW, 0x0300),
        "Makes a packet socket, which reads all traffic.",
    ),
    family(
        "socket-raw",
        || made(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        "Makes a raw socket, which forges packets.",
    ),
    family("socket-ping", ping, "Sends a ping to the machine by a datagram socket, without privilege."),
    family(
        "socket-netlink-route",
        || made(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE),
        "Makes a socket for the kernel's network settings.",
    ),
    family(
        "socket-netlink-filter",
        || made(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_NETFILTER),
        "Makes a socket for the kernel's firewall, a large part of its holes.",
    ),
    family(
        "socket-netlink-audit",
        || made(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT),
        "Makes a socket for the kernel's audit.",
    ),
    family(
        "socket-vsock",
        || made(libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        "Makes a socket to the machine's hypervisor.",
    ),
    family(
        "socket-crypto",
        || made(libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
        "Makes a socket for the kernel's cryptography.",
    ),
    family(
        "socket-bluetooth",
        || made(libc::AF_BLUETOOTH, libc::SOCK_RAW, 1),
        "Makes a socket to radio devices nearby.",
    ),
    family(
        "socket-xdp",
        || made(libc::AF_XDP, libc::SOCK_RAW, 0),
        "Makes a socket that reads packets past the network code.",
    ),
];

const fn service(name: &'static str, attempt: fn(&Targets) -> Attempt, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Reached, run: Run::Do(attempt) }
}

const fn family(name: &'static str, attempt: fn() -> Attempt, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Claim, run: Run::Alone(attempt) }
}

fn connect(targets: &Targets, name: &str) -> Attempt {
    send(targets, UnixStream::connect(targets.below("sockets", name)?).at("connect")?)
}

fn send(targets: &Targets, mut stream: UnixStream) -> Attempt {
    stream.write_all(targets.text_of("word")?.as_bytes()).at("send")?;
    Ok("sent".to_owned())
}

fn made(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Attempt {
    match socket(family, kind, protocol) {
        Ok(_) => Ok("made".to_owned()),
        Err(Stop::Blocked { errno: Some(libc::EAFNOSUPPORT | libc::EPROTONOSUPPORT), step }) => {
            Err(Stop::unsupported(format!("{step}: no such family")))
        }
        Err(stop) => Err(stop),
    }
}

/// An echo request to the loopback address, by the protocol that needs no privilege.
fn ping() -> Attempt {
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP)?;
    let address = super::network::Address::of("127.0.0.1:0")?;
    let request = [8, 0, 0, 0, 0, 0, 0, 1];
    let bytes = address.bytes();
    sys::call(
        libc::SYS_sendto,
        &mut [
            Arg::Int(socket.as_raw_fd().into()),
            Arg::In(&request),
            Arg::Int(8),
            Arg::Int(0),
            Arg::In(bytes),
            Arg::Int(16),
        ],
    )
    .at("send")?;
    Ok("sent".to_owned())
}
