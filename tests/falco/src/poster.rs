//! [`Poster`]: posts alerts as Falco's `http_output` does: one after the other, on a connection that stays open.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection to castellan's listener.
#[derive(Debug)]
pub struct Poster {
    address: SocketAddr,
    stream: Option<TcpStream>,
}

impl Poster {
    /// Connects when the first alert comes.
    pub fn new(address: SocketAddr) -> Poster {
        Poster { address, stream: None }
    }

    /// Posts a body. Returns the status, or 0 if the listener closes the connection or does not listen.
    pub fn post(&mut self, path: &str, agent: &str, body: &str) -> u16 {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        self.send(&[head.as_bytes(), body.as_bytes()].concat())
    }

    /// Sends bytes and reads the head of an answer. Returns as [`Poster::post`] does.
    pub fn send(&mut self, bytes: &[u8]) -> u16 {
        let Some(mut stream) = self.stream.take().or_else(|| TcpStream::connect(self.address).ok()) else {
            return 0;
        };
        // A failure of these shows in the answer. The listener may close the connection before it has read everything.
        stream.set_nodelay(true).unwrap_or_default();
        stream.write_all(bytes).unwrap_or_default();
        let (mut answer, mut part) = (Vec::new(), [0; 256]);
        while !answer.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut part).unwrap_or_default();
            match part.get(..read) {
                Some(read) if !read.is_empty() => answer.extend_from_slice(read),
                Some(_) | None => return 0,
            }
        }
        self.stream = Some(stream);
        let answer = String::from_utf8_lossy(&answer);
        answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
    }
}
