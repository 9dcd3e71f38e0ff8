//! A tunnel to an allowed host: its first bytes decide how it goes on. TLS must name the host that was asked for.

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::{ServerConnection, StreamOwned};

use crate::client_hello::{self, ClientHello, Start};
use crate::context::{Connection, Target, linger, refusal, shown};
use crate::event::{Refusal, Way, What};
use crate::exchange::{self, Entry};
use crate::host::Host;
use crate::limits::{HEAD_TIME, IDLE_TIME};
use crate::response::ACCESS_DENIED;
use crate::server::{Server, Wire};
use crate::stream::Source;
use crate::{relay, response, upstream};

/// The kinds of tunnels.
#[derive(Debug)]
enum Kind {
    /// TLS that is passed on as it is.
    Tls,
    /// TLS that the proxy ends.
    Ended,
    /// HTTP without TLS.
    Http,
    /// Anything, as the rule allows.
    Raw,
}

/// Runs a tunnel after the client was told that it is open.
pub(crate) fn run(
    connection: &Connection<'_>,
    mut source: Source<TcpStream>,
    target: &Target,
    server: TcpStream,
    address: SocketAddr,
) {
    connection.tell(target, None, What::Opened { address });
    match kind(connection, &mut source, target, &server) {
        Ok(Kind::Tls | Kind::Raw) => pass_on(connection, source, &server),
        Ok(Kind::Ended) => end_tls(connection, source, target, server, address),
        Ok(Kind::Http) => http(connection, source, target, server, address),
        Err(None) => {}
        Err(Some(refusal)) => refuse(connection, source, target, refusal),
    }
    connection.tell_closed(target);
}

/// Reads the first bytes until they are known. `Err(None)`: the client is gone.
fn kind(
    connection: &Connection<'_>,
    source: &mut Source<TcpStream>,
    target: &Target,
    server: &TcpStream,
) -> Result<Kind, Option<Refusal>> {
    let settings = &connection.shared.settings;
    let is_raw = upstream::permit(settings, &target.host, target.port).is_ok_and(|applied| applied.is_raw());
    if is_raw && source.waiting().is_empty() && server_begins(&source.inner, server) {
        return Ok(Kind::Raw);
    }
    source.some().map_err(refusal)?;
    let start = Instant::now();
    loop {
        match client_hello::read(source.waiting()) {
            Start::More => {}
            Start::NotTls if is_raw => return Ok(Kind::Raw),
            Start::NotTls if target.port != 443 && looks_like_http(source.waiting()) => {
                return Ok(Kind::Http);
            }
            Start::NotTls => return Err(Some(Refusal::NotTls)),
            Start::Bad(reason) => return Err(Some(Refusal::Handshake(reason.to_owned()))),
            Start::Hello(hello) => {
                check(&target.host, &hello)?;
                let is_ended = settings.ends_tls(&target.host, target.port);
                return Ok(if is_ended { Kind::Ended } else { Kind::Tls });
            }
        }
        if start.elapsed() > HEAD_TIME {
            return Err(Some(Refusal::Slow));
        }
        if source.fill().map_err(|error| refusal(error.into()))? == 0 {
            return Err(None);
        }
    }
}

/// Compares the name of a ClientHello with the host.
fn check(host: &Host, hello: &ClientHello) -> Result<(), Refusal> {
    // The name inside is for a server that knows the key; the host that was checked may be only its front.
    if hello.is_hidden {
        return Err(Refusal::HiddenServerName);
    }
    match (host, &hello.name) {
        (Host::Address(_), None) => Ok(()),
        (Host::Name(_), None) => Err(Refusal::NoServerName),
        (host, Some(name)) => {
            if Host::parse_bytes(name).as_ref() == Ok(host) {
                Ok(())
            } else {
                Err(Refusal::ServerName(shown(&String::from_utf8_lossy(name), 255)))
            }
        }
    }
}

/// Checks for the start of a method and its space, which no other common protocol begins with.
fn looks_like_http(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_uppercase)
}

/// Waits until one side sends. Servers of ssh and mail send first.
fn server_begins(client: &TcpStream, server: &TcpStream) -> bool {
    let mut ready = [PollFd::new(client, PollFlags::IN), PollFd::new(server, PollFlags::IN)];
    let time = Timespec { tv_sec: i64::try_from(IDLE_TIME.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
    // After an interruption, an error or the whole time, the client is read, which has a limit of its own.
    let polled = poll(&mut ready, Some(&time)).is_ok();
    let [of_client, of_server] = ready;
    polled && of_client.revents().is_empty() && !of_server.revents().is_empty()
}

fn pass_on(connection: &Connection<'_>, mut source: Source<TcpStream>, server: &TcpStream) {
    let first = source.take_waiting();
    let mut to_server = server;
    if to_server.write_all(&first).is_err() {
        return;
    }
    let moved = relay::run(&source.inner, server);
    connection.sent.set(u64::try_from(first.len()).unwrap_or_default().saturating_add(moved.sent));
    connection.received.set(moved.received);
}

fn refuse(connection: &Connection<'_>, mut source: Source<TcpStream>, target: &Target, refusal: Refusal) {
    let text = match source.waiting().first() {
        Some(22) => ACCESS_DENIED.to_vec(),
        Some(byte) if byte.is_ascii_uppercase() => {
            response::refusal(&format!("{}:{}", target.host, target.port), &refusal)
        }
        Some(_) | None => Vec::new(),
    };
    // The client may be gone; the refusal is told either way.
    drop(source.inner.write_all(&text));
    connection.tell_refused(target, refusal);
    linger(&source.inner);
}

fn http(
    connection: &Connection<'_>,
    mut source: Source<TcpStream>,
    target: &Target,
    server: TcpStream,
    address: SocketAddr,
) {
    let target = Target { way: Way::Http, ..target.clone() };
    let server = upstream::limit_times(&server).map(|()| Server::new(Wire::Plain(server), &target, address));
    match server {
        Ok(server) => {
            let entry = Entry::Tunnel { target, is_tls: false };
            exchange::run(connection, &mut source, &entry, None, Some(server));
            linger(&source.inner);
        }
        Err(refusal) => refuse(connection, source, &target, refusal),
    }
}

/// A client whose first bytes were read already.
struct Replayed(Source<TcpStream>);

impl Read for Replayed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut waiting = self.0.waiting();
        if waiting.is_empty() {
            return self.0.inner.read(buffer);
        }
        let read = waiting.read(buffer)?;
        self.0.skip(read);
        Ok(read)
    }
}

impl std::io::Write for Replayed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.inner.flush()
    }
}

/// Ends the client's TLS with a certificate of the sandbox's authority, and starts TLS with the server.
fn end_tls(
    connection: &Connection<'_>,
    source: Source<TcpStream>,
    target: &Target,
    server: TcpStream,
    address: SocketAddr,
) {
    let target = Target { way: Way::Tls, ..target.clone() };
    let Ok(raw) = source.inner.try_clone() else {
        return connection.tell_refused(&target, Refusal::Connections);
    };
    let mut client = match accept_tls(connection, source, &target) {
        Ok(client) => Source::new(client),
        Err(refusal) => {
            connection.tell_refused(&target, refusal);
            return linger(&raw);
        }
    };
    let settings = &connection.shared.settings;
    let server = upstream::limit_times(&server)
        .and_then(|()| upstream::encrypt(settings, &target.host, server))
        .map(|server| Server::new(Wire::Tls(Box::new(server)), &target, address));
    match server {
        Ok(server) => {
            let entry = Entry::Tunnel { target, is_tls: true };
            exchange::run(connection, &mut client, &entry, None, Some(server));
        }
        Err(refusal) => {
            let text = response::refusal(&format!("{}:{}", target.host, target.port), &refusal);
            // The client may be gone; the refusal is told either way.
            drop(client.inner.write_all(&text));
            connection.tell_refused(&target, refusal);
        }
    }
    client.inner.conn.send_close_notify();
    drop(client.inner.flush());
    linger(&raw);
}

fn accept_tls(
    connection: &Connection<'_>,
    source: Source<TcpStream>,
    target: &Target,
) -> Result<StreamOwned<ServerConnection, Replayed>, Refusal> {
    let Some(authority) = &connection.shared.settings.authority else { return Err(Refusal::Defect) };
    let config = authority.server(&target.host).map_err(Refusal::Handshake)?;
    let mut tls =
        ServerConnection::new(Arc::clone(&config)).map_err(|error| Refusal::Handshake(error.to_string()))?;
    let mut client = Replayed(source);
    let start = Instant::now();
    while tls.is_handshaking() {
        tls.complete_io(&mut client).map_err(|error| Refusal::Handshake(error.to_string()))?;
        if start.elapsed() > HEAD_TIME {
            return Err(Refusal::Slow);
        }
    }
    Ok(StreamOwned::new(tls, client))
}
