//! The proxy's own HTTP responses.

use crate::event::Refusal;

/// Returns the response that says why something was refused, and ends the connection. `what`: `example.org:443`.
pub(crate) fn refusal(what: &str, refusal: &Refusal) -> Vec<u8> {
    let status = refusal.status();
    let verb = match status {
        403 => "refuses",
        400 | 408 => "does not accept",
        _ => "cannot do",
    };
    let body = format!("castellan: the sandbox's proxy {verb} {what}: {refusal}.\n");
    // The first line too names the reason: most clients show it, and not the body.
    let code = refusal.code();
    format!(
        "HTTP/1.1 {status} castellan refused {code}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         X-Castellan-Refused: {code}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The response to CONNECT if the tunnel is open.
pub(crate) const OPENED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// The response that makes a client send the body of its request.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The TLS alert `access_denied`: clients name it in their error.
pub(crate) const ACCESS_DENIED: &[u8] = &[21, 3, 3, 0, 2, 2, 49];
