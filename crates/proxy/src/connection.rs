//! One connection of a client: what it speaks, what it asks for, and the answer.

use std::cell::Cell;
use std::io::Write as _;
use std::net::TcpStream;

use crate::context::{Connection, Target, linger, refusal, shown};
use crate::event::{Refusal, Way};
use crate::exchange::{self, Entry};
use crate::head::Request;
use crate::host::Host;
use crate::limits::{IDLE_TIME, SHOWN_BYTES_MAX};
use crate::shared::Shared;
use crate::socks;
use crate::stream::Source;
use crate::{response, tunnel};

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
}
