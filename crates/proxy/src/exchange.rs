//! Requests and responses on one connection of a client. Each request is checked again.

use std::io::{Read, Write};

use crate::body::{self, Body};
use crate::context::{Connection, Target, refusal, shown};
use crate::event::{Refusal, Way, What};
use crate::graphql::{self, BadDocument};
use crate::head::{Length, Request, has_word, passed_on, values};
use crate::limits::{DOCUMENT_BYTES_MAX, SHOWN_BYTES_MAX};
use crate::outgoing::{Asked, Outgoing, absolute, relative};
use crate::redact::Redactor;
use crate::requests::BadRequest;
use crate::response;
use crate::server::{Answer, Server, Wire};
use crate::stream::{Source, Trouble};
use crate::upstream;

/// The way by which requests come.
pub(crate) enum Entry {
    /// To the proxy itself, each with a URL.
    Proxy,
    /// In a tunnel to one host, each with a path.
    Tunnel {
        /// The host.
        target: Target,
        /// The proxy has ended TLS.
        is_tls: bool,
    },
}

/// The reason why an exchange ends early.
enum Stop {
    /// Nobody can be told.
    Gone,
    /// The client is told.
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Refused(refusal)
    }
}

/// The reason, if the client sent something wrong.
fn of_client(trouble: Trouble) -> Stop {
    refusal(trouble).map_or(Stop::Gone, Stop::Refused)
}

/// The reason, if the host did.
fn of_server(trouble: Trouble) -> Refusal {
    Refusal::Upstream(match trouble {
        Trouble::Gone => "it closed the connection without a response".to_owned(),
        Trouble::Slow => "it sent no response in time".to_owned(),
        Trouble::Wrong(reason) => format!("its response is wrong: {reason}"),
    })
}

/// Serves requests until one side ends or a request is refused. Returns the last host that got a request. `first`: a
/// request whose head was read. `server`: an open connection.
pub(crate) fn run<C: Read + Write>(
    connection: &Connection<'_>,
    client: &mut Source<C>,
    entry: &Entry,
    first: Option<Request>,
    server: Option<Server>,
) -> Option<Target> {
    let mut exchange = Exchange { connection, entry, server, last: None };
    let mut first = first;
    loop {
        let request = match first.take() {
            Some(request) => Ok(request),
            None => client.head().and_then(|head| Request::parse(&head).map_err(Trouble::Wrong)),
        };
        let is_over = match request {
            Ok(request) => exchange.serve(client, &request),
            // A silent client has no more requests.
            Err(Trouble::Gone | Trouble::Slow) => true,
            Err(Trouble::Wrong(reason)) => {
                exchange.refuse(client, None, None, Refusal::Http(reason));
                true
            }
        };
        if is_over {
            return exchange.last;
        }
    }
}

struct Exchange<'c> {
    connection: &'c Connection<'c>,
    entry: &'c Entry,
    server: Option<Server>,
    last: Option<Target>,
}

impl Exchange<'_> {
    fn is_tls(&self) -> bool {
        matches!(self.entry, Entry::Tunnel { is_tls: true, .. })
    }

    /// Serves one request. Returns `true` if the connection ends with it.
    fn serve<C: Read + Write>(&mut self, client: &mut Source<C>, request: &Request) -> bool {
        let asked = match self.entry {
            Entry::Proxy => absolute(request),
            Entry::Tunnel { target, .. } => relative(request, target),
        };
        let asked = match asked {
            Ok(asked) => asked,
            Err(refusal) => {
                self.refuse(client, Some(request), None, refusal);
                return true;
            }
        };
        match self.pass(client, request, &asked) {
            Ok(is_over) => is_over,
            Err(Stop::Gone) => true,
            Err(Stop::Refused(refusal)) => {
                self.refuse(client, Some(request), Some(&asked), refusal);
                true
            }
        }
    }

    fn pass<C: Read + Write>(
        &mut self,
        client: &mut Source<C>,
        request: &Request,
        asked: &Asked,
    ) -> Result<bool, Stop> {
        let settings = &self.connection.shared.settings;
        let outgoing = asked.check(settings, request, self.is_tls())?;
        let way = if self.is_tls() { Way::Tls } else { Way::Http };
        let target = Target { way, host: asked.host.clone(), port: asked.port };
        let mut server = self.server(&target)?;
        if outgoing.waits {
            client
                .inner
                .write_all(response::CONTINUE)
                .and_then(|()| client.inner.flush())
                .map_err(|_| Stop::Gone)?;
        }
        let document =
            if outgoing.must_read { Some(document(client, request, outgoing.length)?) } else { None };
        let what = What::Sent { address: server.address, secrets: outgoing.used.names.clone() };
        self.connection.tell(&target, Some(asked.shown(request)), what);
        self.last = Some(target);
        let sent = self.send(client, &mut server, &outgoing, document);
        if let Err(Sending::Client(stop)) = sent {
            return Err(stop);
        }
        let answer = match server.answer(&request.method) {
            Ok(answer) => answer,
            // The host closed the connection while it had no request: the client sends again on another one.
            Err(Trouble::Gone) if server.is_reused => return Err(Stop::Gone),
            Err(trouble) => return Err(of_server(trouble).into()),
        };
        let is_over = outgoing.is_last || sent.is_err();
        let is_open = self.receive(client, &mut server, &answer, request, outgoing.secrets, is_over)?;
        if is_open && sent.is_ok() {
            server.is_reused = true;
            self.server = Some(server);
        }
        Ok(is_over)
    }

    /// Takes the connection to the host, or makes one.
    fn server(&mut self, target: &Target) -> Result<Server, Refusal> {
        if let Some(server) = self.server.take().filter(|server| server.is_usable(target)) {
            return Ok(server);
        }
        self.connection.shared.forget_servers(self.connection.number);
        let (stream, address) = self.connection.connect(&target.host, target.port)?;
        upstream::limit_times(&stream)?;
        let wire = if self.is_tls() {
            let settings = &self.connection.shared.settings;
            Wire::Tls(Box::new(upstream::encrypt(settings, &target.host, stream)?))
        } else {
            Wire::Plain(stream)
        };
        Ok(Server::new(wire, target, address))
    }

    /// Sends head and body to the host.
    fn send<C: Read>(
        &self,
        client: &mut Source<C>,
        server: &mut Server,
        outgoing: &Outgoing,
        document: Option<Vec<u8>>,
    ) -> Result<(), Sending> {
        let mut head = outgoing.head.clone();
        let length = document.as_ref().map_or(outgoing.length, |body| Length::Fixed(size(body)));
        let is_chunked = length == Length::Chunked;
        match length {
            Length::Fixed(0) if head.starts_with(b"GET ") || head.starts_with(b"HEAD ") => {}
            Length::Fixed(bytes) => head.extend_from_slice(format!("Content-Length: {bytes}\r\n").as_bytes()),
            Length::Chunked | Length::ToEnd => head.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        }
        head.extend_from_slice(b"\r\n");
        let wire = &mut server.source.inner;
        let failed = |_| Sending::Server;
        let count =
            |bytes: &[u8]| self.connection.sent.set(self.connection.sent.get().saturating_add(size(bytes)));
        wire.write_all(&head).map_err(failed)?;
        count(&head);
        if let Some(body) = document {
            count(&body);
            return wire.write_all(&body).and_then(|()| wire.flush()).map_err(failed);
        }
        let mut incoming = Body::new(length);
        while let Some(part) = incoming.next(client).map_err(|trouble| Sending::Client(of_client(trouble)))? {
            body::write_part(wire, &part, is_chunked).map_err(failed)?;
            count(&part);
        }
        body::write_end(wire, is_chunked).map_err(failed)
    }

    /// Sends the response to the client. Returns `true` if the host keeps its connection open.
    fn receive<C: Write>(
        &self,
        client: &mut Source<C>,
        server: &mut Server,
        answer: &Answer,
        request: &Request,
        secrets: Vec<Vec<u8>>,
        is_over: bool,
    ) -> Result<bool, Stop> {
        let Answer { response, length } = answer;
        let mut redactor = Redactor::new(secrets);
        let has_body = request.method != "HEAD" && !matches!(response.status, 204 | 304);
        let is_chunked = has_body && !matches!(length, Length::Fixed(_));
        let mut head =
            format!("HTTP/1.1 {} {}\r\n", response.status, shown(&response.reason, 64)).into_bytes();
        for (name, value) in passed_on(&response.fields) {
            if !(is_chunked && name.eq_ignore_ascii_case("content-length")) {
                head.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
            }
        }
        redactor.whole(&mut head);
        if is_chunked {
            head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        head.extend_from_slice(if is_over { b"Connection: close\r\n\r\n" } else { b"\r\n" });
        let count = |bytes: &[u8]| {
            self.connection.received.set(self.connection.received.get().saturating_add(size(bytes)))
        };
        let out = &mut client.inner;
        out.write_all(&head).map_err(|_| Stop::Gone)?;
        count(&head);
        let mut incoming = Body::new(*length);
        // A response that breaks off must look so to the client: its connection ends without the end of the body.
        while let Some(part) = incoming.next(&mut server.source).map_err(|_| Stop::Gone)? {
            let part = redactor.part(part);
            count(&part);
            body::write_part(out, &part, is_chunked).map_err(|_| Stop::Gone)?;
        }
        body::write_part(out, &redactor.end(), is_chunked).map_err(|_| Stop::Gone)?;
        body::write_end(out, is_chunked).map_err(|_| Stop::Gone)?;
        let is_closed = has_word(&response.fields, "connection", "close") || response.minor == 0;
        Ok(!is_closed && *length != Length::ToEnd)
    }

    /// Answers a request that is refused, and tells of it.
    fn refuse<C: Write>(
        &self,
        client: &mut Source<C>,
        request: Option<&Request>,
        asked: Option<&Asked>,
        refusal: Refusal,
    ) {
        let method = request.map_or("a request", |request| request.method.as_str());
        let place = match (asked, self.entry, request) {
            (Some(asked), ..) => format!("{}:{}", asked.host, asked.port),
            (None, Entry::Tunnel { target, .. }, _) => format!("{}:{}", target.host, target.port),
            (None, Entry::Proxy, Some(request)) => {
                request.target.split('?').next().unwrap_or_default().to_owned()
            }
            (None, Entry::Proxy, None) => String::new(),
        };
        let what = shown(&format!("{method} {place}"), SHOWN_BYTES_MAX);
        // The client may be gone; the refusal is told either way.
        drop(client.inner.write_all(&response::refusal(&what, &refusal)).and_then(|()| client.inner.flush()));
        let way = if self.is_tls() { Way::Tls } else { Way::Http };
        match (asked, self.entry) {
            (Some(Asked { host, port, .. }), _) => {
                let shown = request.zip(asked).map(|(request, asked)| asked.shown(request));
                let target = Target { way, host: host.clone(), port: *port };
                self.connection.tell(&target, shown, What::Refused(refusal));
            }
            (None, Entry::Tunnel { target, .. }) => self.connection.tell_refused(target, refusal),
            (None, Entry::Proxy) => self.connection.tell_text(way, &place, 0, None, refusal),
        }
    }
}

/// The side that failed while a request was sent.
enum Sending {
    Client(Stop),
    /// The host may have sent a response all the same.
    Server,
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Reads the body of a GraphQL request, and checks that it only reads.
fn document<C: Read>(client: &mut Source<C>, request: &Request, length: Length) -> Result<Vec<u8>, Stop> {
    let refuse = |bad: BadDocument| Stop::Refused(Refusal::Request(BadRequest::Document(bad)));
    if !is_json(request) {
        return Err(refuse(BadDocument::Type));
    }
    let mut incoming = Body::new(length);
    let mut body = Vec::new();
    while let Some(part) = incoming.next(client).map_err(of_client)? {
        body.extend_from_slice(&part);
        if body.len() > DOCUMENT_BYTES_MAX {
            return Err(refuse(BadDocument::Long));
        }
    }
    graphql::only_reads(&body).map_err(refuse)?;
    Ok(body)
}

/// Checks for the one content type and no encoding.
fn is_json(request: &Request) -> bool {
    let kinds: Vec<&[u8]> = values(&request.fields, "content-type").collect();
    let [kind] = kinds.as_slice() else { return false };
    let mut parts = kind.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let is_type = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(b"application/json"));
    is_type
        && parts.all(|parameter| parameter.eq_ignore_ascii_case(b"charset=utf-8"))
        && values(&request.fields, "content-encoding").next().is_none()
}
