//! Posts requests as Falco's `http_output` does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A connection to the listener for alerts.
pub(crate) struct Poster {
    address: SocketAddr,
    stream: Option<TcpStream>,
}

impl Poster {
    pub(crate) fn new(address: SocketAddr) -> Poster {
        Poster { address, stream: None }
    }

    /// Posts a body. Returns the status, or 0 when the listener closed the connection.
    pub(crate) fn post(&mut self, path: &str, agent: &str, body: &str) -> u16 {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: {agent}\r\nAccept: */*\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.send(&[head.as_bytes(), body.as_bytes()].concat())
    }

    /// Sends bytes and reads the head of an answer.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> u16 {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect(self.address).unwrap(),
        };
        let mut answer = Vec::new();
        // The listener may close the connection before it has read everything.
        let sent = stream.write_all(bytes);
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
            answer.push(byte[0]);
        }
        if !answer.ends_with(b"\r\n\r\n") {
            return 0;
        }
        assert!(sent.is_ok());
        self.stream = Some(stream);
        String::from_utf8(answer).unwrap().split(' ').nth(1).unwrap().parse().unwrap()
    }
}
