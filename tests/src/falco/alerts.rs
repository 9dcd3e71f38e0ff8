//! Alerts of the scripted Falco, posted as Falco's `http_output` does.

use std::io::{Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result};
use castellan_rows::Seen;
use castellan_rules::Rule;
use serde_json::json;

use super::play::Address;

/// Returns the alert of a match. `seen`: the report on the row.
pub(super) fn alert(rule: &Rule, message: &str, nonce: &str, seen: Option<&Seen>) -> String {
    let mut fields = json!({ "evt.time": 1, "row.nonce": nonce });
    if let (Some(fields), Some(seen)) = (fields.as_object_mut(), seen) {
        fields.insert("row.seen".to_owned(), seen.to_string().into());
    }
    json!({ "output": message, "output_fields": fields, "rule": rule.name, "source": "coding_agent" })
        .to_string()
}

/// A connection to the daemon's listener.
#[derive(Debug)]
pub(super) struct Poster {
    address: Address,
    head: String,
    stream: Option<TcpStream>,
}

impl Poster {
    pub(super) fn new(address: Address, path: &str, agent: &str) -> Poster {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: {agent}\r\n");
        Poster { address, head, stream: None }
    }

    pub(super) fn post(&mut self, body: &str) -> Result<()> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect(self.address)?,
        };
        write!(stream, "{}Content-Length: {}\r\n\r\n{body}", self.head, body.len())?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).context("the listener refused the alert")?;
            answer.extend(byte);
        }
        self.stream = Some(stream);
        Ok(())
    }
}
