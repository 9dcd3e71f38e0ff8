//! Reads requests with alerts: HTTP/1.1, a body by content-length, keep-alive. A sender without the
//! secret is disconnected before its body is read.

use std::io::{self, BufRead, Read, Write};

use castellan_rows::{ALERT_BYTES_MAX, Seen};
use serde::Deserialize;

use crate::limits::{FIELDS_MAX, HEAD_BYTES_MAX};
use crate::secret::Secret;

/// The head of a request that knows the secret.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    length: usize,
    expects_continue: bool,
    /// The sender closes the connection afterwards.
    pub(crate) is_last: bool,
}

/// Reads a head. `None`: the other end closed the connection. An error ends the connection.
pub(crate) fn head(stream: &mut impl BufRead, secret: &Secret) -> io::Result<Option<Head>> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let left = HEAD_BYTES_MAX.saturating_sub(bytes.len()) as u64;
        let read = stream.by_ref().take(left).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return if bytes.is_empty() { Ok(None) } else { Err(refused("no whole head")) };
        }
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(&bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) | Err(_) => return Err(refused("no head of HTTP/1")),
    }
    let values = |name: &str| {
        let fields = request.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        fields.map(|field| field.value).collect::<Vec<_>>()
    };
    let one = |name: &str| match values(name).as_slice() {
        [value] => Some(*value),
        _ => None,
    };
    let path = request.path.unwrap_or_default().as_bytes();
    if !secret.is_known(path, one("user-agent").unwrap_or_default()) || request.method != Some("POST") {
        return Err(refused("the secret is not known"));
    }
    let length = one("content-length").and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
    let length = length.filter(|_| values("transfer-encoding").is_empty());
    let has = |name: &str, word: &[u8]| one(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
    Ok(Some(Head {
        length: length.ok_or_else(|| refused("no length"))?,
        expects_continue: has("expect", b"100-continue"),
        is_last: has("connection", b"close") || request.version == Some(0),
    }))
}

/// Reads the body, and returns the report on a row if it is one.
pub(crate) fn report(
    stream: &mut impl BufRead,
    reply: &mut impl Write,
    head: &Head,
) -> io::Result<Option<Seen>> {
    if head.expects_continue {
        reply.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = stream.take(head.length as u64);
    if head.length > ALERT_BYTES_MAX {
        // No report is so long. Falco can go on with the next alert.
        io::copy(&mut body, &mut io::sink())?;
        return Ok(None);
    }
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    if bytes.len() < head.length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice::<Alert>(&bytes).ok().and_then(|alert| Seen::parse(&alert.output_fields.seen?)))
}

/// An alert in Falco's JSON. All its other keys are for people.
#[derive(Deserialize)]
struct Alert {
    output_fields: OutputFields,
}

#[derive(Deserialize)]
struct OutputFields {
    #[serde(rename = "row.seen", default)]
    seen: Option<String>,
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
