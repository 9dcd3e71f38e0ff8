//! Posts alerts as Falco's `http_output` does: one after the other, on a connection that stays open.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection to castellan's listener.
#[derive(Debug)]
pub(crate) struct Poster {
    address: SocketAddr,
    head: String,
    stream: Option<TcpStream>,
}

impl Poster {
    pub(crate) fn new(address: SocketAddr, path: &str, agent: &str) -> Poster {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n\
             Content-Type: application/json\r\n"
        );
        Poster { address, head, stream: None }
    }

    pub(crate) fn post(&mut self, body: &str) -> io::Result<()> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(self.address)?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut part = [0; 256];
        while !answer.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut part)?;
            if read == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the listener refused an alert"));
            }
            answer.extend_from_slice(part.get(..read).unwrap_or_default());
        }
        self.stream = Some(stream);
        Ok(())
    }
}
