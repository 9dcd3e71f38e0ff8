//! A connection as its parts see it: its events, its bytes, its way to hosts, and its end.

use std::cell::Cell;
use std::io::Read as _;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::event::{Event, Refusal, Way, What};
use crate::host::Host;
use crate::limits::{HOST_BYTES_MAX, LINGER_BYTES_MAX, LINGER_TIME};
use crate::shared::Shared;
use crate::stream::Trouble;
use crate::upstream;

/// A connection, as its parts see it.
pub(crate) struct Connection<'s> {
    pub(crate) shared: &'s Shared,
    pub(crate) number: u64,
    /// Bytes to hosts and to the client.
    pub(crate) sent: Cell<u64>,
    pub(crate) received: Cell<u64>,
}

/// The host that a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) way: Way,
    pub(crate) host: Host,
    pub(crate) port: u16,
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
