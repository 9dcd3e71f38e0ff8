//! The internet of the attacks: servers on loopback addresses that record what they hear, and a proxy that refuses nothing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::sys::{self, Arg};
use crate::targets::Targets;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ninternet";

/// A connection that says nothing is closed after this.
const SILENCE: Duration = Duration::from_secs(30);

/// Everything that servers have heard.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    pub(super) fn add(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
    }

    /// Waits until a server has heard the word, or for this time.
    pub(super) fn waits_for(&self, word: &str, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            let is_heard = {
                let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                heard.windows(word.len()).any(|window| window == word.as_bytes())
            };
            if is_heard || Instant::now() >= until {
                return is_heard;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The servers. Their threads end with the process.
#[derive(Debug)]
pub struct Internet {
    pub(super) heard: Heard,
    targets: Vec<(&'static str, String)>,
    pub(super) server: SocketAddr,
    pub(super) open_proxy: SocketAddr,
}

impl Internet {
    /// Starts the servers.
    ///
    /// # Errors
    ///
    /// No port on the IPv4 loopback address. Without IPv6, or without the right to port 53, the attacks that need it are
    /// not supported.
    pub fn start() -> anyhow::Result<Internet> {
        let heard = Heard::default();
        let mut targets = Vec::new();
        let server = serve_tcp("127.0.0.1:0", &heard)?;
        let other = serve_tcp("127.0.0.1:0", &heard)?;
        targets.push(("server-v4", server.to_string()));
        targets.push(("server-port", server.port().to_string()));
        targets.push(("other-port", other.port().to_string()));
        targets.push(("udp-v4", serve_udp("127.0.0.1:0", &heard)?.to_string()));
        if let Ok(lite) = serve_udp_lite(&heard) {
            targets.push(("udp-lite", lite.to_string()));
        }
        // The IPv6 server hears connections to IPv4 addresses in their IPv6 form on the IPv4 server's port only.
        if let Ok(v6) = serve_tcp("[::1]:0", &heard) {
            targets.push(("server-v6", v6.to_string()));
            targets.push(("server-mapped", format!("[::ffff:127.0.0.1]:{}", server.port())));
        }
        if let Ok(v6) = serve_udp("[::1]:0", &heard) {
            targets.push(("udp-v6", v6.to_string()));
        }
        // Port 53 of an address that no resolver of the machine uses; without the right to it, another port.
        let dns = |port| format!("127.9.9.9:{port}");
        let udp = serve_udp(&dns(53), &heard).or_else(|_| serve_udp(&dns(0), &heard))?;
        let tcp = serve_tcp(&dns(53), &heard).or_else(|_| serve_tcp(&dns(0), &heard))?;
        targets.push(("dns-udp", udp.to_string()));
        targets.push(("dns-tcp", tcp.to_string()));
        let open_proxy = serve_proxy(server)?;
        Ok(Internet { heard, targets, server, open_proxy })
    }

    pub(super) fn put_into(&self, targets: &mut Targets) {
        self.targets.iter().for_each(|(name, value)| targets.set(name, value));
    }
}

fn serve_tcp(address: &str, heard: &Heard) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(address).with_context(|| format!("no server on {address}"))?;
    let bound = listener.local_addr()?;
    let heard = heard.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let heard = heard.clone();
            std::thread::spawn(move || answer(stream, bound, &heard));
        }
    });
    Ok(bound)
}

/// Answers each piece of text. A page below `/redirect/` sends the visitor to the machine itself, and is not recorded: the
/// word in it comes from an allowed request.
fn answer(mut stream: TcpStream, own: SocketAddr, heard: &Heard) {
    let _ = stream.set_read_timeout(Some(SILENCE));
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        let bytes = bytes.get(..count).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        let redirected = text.split_once("/redirect/").and_then(|(_, rest)| rest.split(' ').next());
        let said = match redirected {
            Some(word) => format!(
                "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{}/{word}\r\nContent-Length: 0\r\n\r\n",
                own.port()
            ),
            None => {
                heard.add(bytes);
                ANSWER.to_owned()
            }
        };
        if stream.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}

fn serve_udp(address: &str, heard: &Heard) -> anyhow::Result<SocketAddr> {
    let socket = UdpSocket::bind(address).with_context(|| format!("no server on {address}"))?;
    hear(socket, heard)
}

/// A server of UDP-Lite, which newer kernels lack.
fn serve_udp_lite(heard: &Heard) -> anyhow::Result<SocketAddr> {
    let kinds = [libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, libc::IPPROTO_UDPLITE];
    let socket = sys::open(libc::SYS_socket, &mut kinds.map(|kind| Arg::Int(kind.into())))?;
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    rustix::net::bind(&socket, &loopback)?;
    hear(socket.into(), heard)
}

fn hear(socket: UdpSocket, heard: &Heard) -> anyhow::Result<SocketAddr> {
    let bound = socket.local_addr()?;
    let heard = heard.clone();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok((count, _)) = socket.recv_from(&mut bytes) {
            heard.add(bytes.get(..count).unwrap_or_default());
        }
    });
    Ok(bound)
}

/// A proxy as somebody writes it who thinks of no attack: each host leads to the server.
fn serve_proxy(server: SocketAddr) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let bound = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || forward(stream, server));
        }
    });
    Ok(bound)
}

fn forward(mut client: TcpStream, server: SocketAddr) -> Option<()> {
    client.set_read_timeout(Some(SILENCE)).ok()?;
    let mut bytes = [0; 4096];
    let count = client.read(&mut bytes).ok()?;
    let mut upstream = TcpStream::connect(server).ok()?;
    match bytes.get(..count)? {
        [5, ..] => {
            client.write_all(&[5, 0]).ok()?;
            let asked = client.read(&mut bytes).ok()?;
            bytes.get(..asked).filter(|asked| asked.starts_with(&[5, 1]))?;
            client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
        }
        request if request.starts_with(b"CONNECT") => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
        }
        request => upstream.write_all(request).ok()?,
    }
    let (mut from_server, mut to_client) = (upstream.try_clone().ok()?, client.try_clone().ok()?);
    std::thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
    std::io::copy(&mut client, &mut upstream).ok()?;
    upstream.shutdown(std::net::Shutdown::Write).ok()
}
