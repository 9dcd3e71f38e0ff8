//! The connection to a host during exchanges of requests and responses.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use rustls::{ClientConnection, StreamOwned};

use crate::context::Target;
use crate::head::{Length, Response};
use crate::host::Host;
use crate::limits::INTERIM_MAX;
use crate::stream::{Source, Trouble};

/// A connection to a host.
pub(crate) struct Server {
    pub(crate) source: Source<Wire>,
    host: Host,
    port: u16,
    pub(crate) address: SocketAddr,
    /// A response was read from it, so the host may have closed it since.
    pub(crate) is_reused: bool,
}

/// The transport of such a connection.
pub(crate) enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A response whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) response: Response,
    pub(crate) length: Length,
}

impl Server {
    pub(crate) fn new(wire: Wire, target: &Target, address: SocketAddr) -> Server {
        let (host, port) = (target.host.clone(), target.port);
        Server { source: Source::new(wire), host, port, address, is_reused: false }
    }

    /// Checks if the connection can take a request to the target. Once it was used, bytes that nobody asked for make it
    /// useless; before that, TLS may have sent tickets.
    pub(crate) fn is_usable(&self, target: &Target) -> bool {
        self.host == target.host
            && self.port == target.port
            && (!self.is_reused || self.source.waiting().is_empty() && self.source.inner.is_silent())
    }

    /// Reads the head of the response to a method, without interim responses.
    pub(crate) fn answer(&mut self, method: &str) -> Result<Answer, Trouble> {
        for _ in 0..INTERIM_MAX {
            let response = Response::parse(&self.source.head()?).map_err(Trouble::Wrong)?;
            match response.status {
                101 => return Err(Trouble::Wrong("the host changes the protocol")),
                100..200 => {}
                _ => {
                    let length = response.length(method).map_err(Trouble::Wrong)?;
                    return Ok(Answer { response, length });
                }
            }
        }
        Err(Trouble::Wrong("the host sends interim responses only"))
    }
}

impl Wire {
    fn tcp(&self) -> &TcpStream {
        match self {
            Wire::Plain(stream) => stream,
            Wire::Tls(stream) => &stream.sock,
        }
    }

    /// Checks that nothing has come, the end of the connection included.
    fn is_silent(&self) -> bool {
        let tcp = self.tcp();
        let peeked = tcp.set_nonblocking(true).and_then(|()| tcp.peek(&mut [0]));
        let is_silent = peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        tcp.set_nonblocking(false).is_ok() && is_silent
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Plain(stream) => stream.read(buffer),
            Wire::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Wire::Plain(stream) => stream.write(bytes),
            Wire::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Wire::Plain(stream) => stream.flush(),
            Wire::Tls(stream) => stream.flush(),
        }
    }
}
