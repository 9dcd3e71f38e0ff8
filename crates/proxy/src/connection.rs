//! One connection of a client: what it speaks, what it asks for, and the answer.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::event::{Event, Refusal, Way, What};
use crate::exchange::{self, Entry};
use crate::head::Request;
use crate::host::Host;
use crate::limits::{HOST_BYTES_MAX, IDLE_TIME, LINGER_BYTES_MAX, LINGER_TIME, SHOWN_BYTES_MAX};
use crate::proxy::Shared;
use crate::socks;
use crate::stream::{Source, Trouble};
use crate::upstream;
use crate::{response, tunnel};

/// A connection, as its parts see it.
pub(crate) struct Connection<'s> {
    pub(crate) shared: &'s Shared,
    pub(crate) number: u64,
    /// Bytes to hosts and to the client.
    pub(crate) sent: Cell<u64>,
    pub(crate) received: Cell<u64>,
}

/// What a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) way: Way,
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// Serves a client until its connection ends.
pub(crate) fn serve(shared: &Shared, number: u64, client: TcpStream) {
    let connection = Connection { shared, number, sent: Cell::new(0), received: Cell::new(0) };
    let prepared = client
        .set_nonblocking(false)
        .and_then(|()| client.set_nodelay(true))
        .and_then(|()| client.set_read_timeout(Some(IDLE_TIME)))
        .and_then(|()| client.set_write_timeout(Some(IDLE_TIME)));
    if prepared.is_err() {
        return;
    }
    let mut source = Source::new(client);
    // A client that says nothing is not told anything.
    let Ok(waiting) = source.some() else { return };
    match waiting.first() {
        Some(5) => connection.socks(source),
        Some(byte) if byte.is_ascii_graphic() => connection.http(source),
        Some(4) => {
            connection.refuse_unknown(source, Refusal::Socks("its version is 4. Use version 5 (`socks5h`)"))
        }
        Some(22) => connection.refuse_unknown(source, Refusal::Http("the proxy itself speaks no TLS")),
        Some(_) | None => connection.refuse_unknown(source, Refusal::Http("it is neither HTTP nor SOCKS")),
    }
}

impl Connection<'_> {
    pub(crate) fn tell(&self, target: &Target, request: Option<(String, String)>, what: What) {
        let (host, port, way) = (target.host.to_string(), target.port, target.way);
        self.shared.tell(Event { connection: self.number, way, host, port, request, what });
    }

    pub(crate) fn tell_refused(&self, target: &Target, refusal: Refusal) {
        self.tell(target, None, What::Refused(refusal));
    }

    /// Tells of a refusal where the host is only a text of the client.
    pub(crate) fn tell_text(
        &self,
        way: Way,
        host: &str,
        port: u16,
        request: Option<(String, String)>,
        refusal: Refusal,
    ) {
        let host = shown(host, HOST_BYTES_MAX);
        let what = What::Refused(refusal);
        self.shared.tell(Event { connection: self.number, way, host, port, request, what });
    }

    /// Connects to a target. The connection can be ended by `stop` from then on.
    pub(crate) fn connect(&self, host: &Host, port: u16) -> Result<(TcpStream, SocketAddr), Refusal> {
        let settings = &self.shared.settings;
        let applied = upstream::permit(settings, host, port)?;
        let (server, address) = upstream::connect(settings, &applied, host, port)?;
        self.shared.keep(self.number, &server).map_err(|error| Refusal::Upstream(error.to_string()))?;
        Ok((server, address))
    }

    fn refuse_unknown(&self, mut source: Source<TcpStream>, refusal: Refusal) {
        self.answer(&mut source.inner, &response::refusal("this connection", &refusal));
        self.tell_text(Way::Unknown, "", 0, None, refusal);
        linger(&source.inner);
    }

    /// Writes to a client that may be gone.
    fn answer(&self, client: &mut TcpStream, text: &[u8]) {
        // The connection ends or is found ended by the next read.
        drop(client.write_all(text));
    }

    fn socks(&self, mut source: Source<TcpStream>) {
        let failed = match socks::request(&mut source) {
            Ok((host, port)) => {
                let target = Target { way: Way::Socks, host, port };
                match self.connect(&target.host, target.port) {
                    Ok((server, address)) => {
                        self.answer(&mut source.inner, &socks::reply(0));
                        return tunnel::run(self, source, &target, server, address);
                    }
                    Err(refusal) => {
                        let reply = refusal.socks_reply();
                        self.tell_refused(&target, refusal);
                        Some(reply)
                    }
                }
            }
            Err(socks::Failed::Gone) => None,
            Err(socks::Failed::Refused(refusal)) => {
                let reply = refusal.socks_reply();
                self.tell_text(Way::Socks, "", 0, None, refusal);
                Some(reply)
            }
            Err(socks::Failed::Host(host, port, error)) => {
                let refusal = Refusal::BadHost(error);
                let reply = refusal.socks_reply();
                self.tell_text(Way::Socks, &host, port, None, refusal);
                Some(reply)
            }
        };
        if let Some(reply) = failed {
            self.answer(&mut source.inner, &socks::reply(reply));
            linger(&source.inner);
        }
    }

    fn http(&self, mut source: Source<TcpStream>) {
        let head = match source.head() {
            Ok(head) => head,
            Err(trouble) => {
                if let Some(refusal) = refusal(trouble) {
                    self.refuse_unknown(source, refusal);
                }
                return;
            }
        };
        let request = match Request::parse(&head) {
            Ok(request) => request,
            Err(reason) => return self.refuse_unknown(source, Refusal::Http(reason)),
        };
        if request.method == "CONNECT" {
            return self.tunnel(source, &request);
        }
        let last = exchange::run(self, &mut source, &Entry::Proxy, Some(request), None);
        linger(&source.inner);
        if let Some(target) = last {
            self.tell_closed(&target);
        }
    }

    /// Opens the tunnel of a CONNECT request.
    fn tunnel(&self, mut source: Source<TcpStream>, request: &Request) {
        let refused = match Host::parse_with_port(&request.target, None) {
            Ok((host, port)) => {
                let target = Target { way: Way::Connect, host, port };
                match self.connect(&target.host, target.port) {
                    Ok((server, address)) => {
                        self.answer(&mut source.inner, response::OPENED);
                        return tunnel::run(self, source, &target, server, address);
                    }
                    Err(refusal) => {
                        self.tell_refused(&target, refusal.clone());
                        refusal
                    }
                }
            }
            Err(error) => {
                let refusal = Refusal::BadHost(error);
                self.tell_text(Way::Connect, &request.target, 0, None, refusal.clone());
                refusal
            }
        };
        let what = shown(&request.target, SHOWN_BYTES_MAX);
        self.answer(&mut source.inner, &response::refusal(&what, &refused));
        linger(&source.inner);
    }

    pub(crate) fn tell_closed(&self, target: &Target) {
        let (sent, received) = (self.sent.get(), self.received.get());
        self.tell(target, None, What::Closed { sent, received });
    }
}

/// Returns what a client is told about a part that could not be read; `None` if it is gone.
pub(crate) fn refusal(trouble: Trouble) -> Option<Refusal> {
    match trouble {
        Trouble::Gone => None,
        Trouble::Slow => Some(Refusal::Slow),
        Trouble::Wrong(reason) => Some(Refusal::Http(reason)),
    }
}

/// Returns a text of a client without control characters, and not longer than `most` bytes.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let plain = |letter: char| if letter.is_control() || !letter.is_ascii() { '?' } else { letter };
    text.chars().take(most).map(plain).collect()
}

/// Ends a connection so that the client can read the last answer: a socket that is closed with unread bytes makes the
/// client's system drop the answer.
pub(crate) fn linger(client: &TcpStream) {
    let ended = client
        .shutdown(Shutdown::Write)
        .and_then(|()| client.set_read_timeout(Some(Duration::from_millis(500))));
    if ended.is_err() {
        return;
    }
    let start = Instant::now();
    let mut reader = client.take(LINGER_BYTES_MAX);
    let mut buffer = [0; 4096];
    while start.elapsed() < LINGER_TIME && reader.read(&mut buffer).is_ok_and(|read| read > 0) {}
}
