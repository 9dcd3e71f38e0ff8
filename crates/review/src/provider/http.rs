//! [`post`]: one HTTP exchange within a time. `ureq` runs on a thread of its own, because it cannot end a lookup of a
//! host name, and because a fault of it must end one review only. It must not know the format of a provider.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;

use ureq::Agent;
use ureq::http::header::{CONTENT_TYPE, HeaderValue};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::{Endpoint, Limits, Roots};
use crate::answer::visible;
use crate::error::Fault;
use crate::limits::{BODY_BYTES_MAX, EXCHANGES_MAX, HEAD_BYTES_MAX, REASON_CHARS_MAX};

/// A request.
pub(super) struct Exchange {
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

/// The number of exchanges whose thread has not ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<AtomicUsize>);

/// One of them.
struct Place(Arc<AtomicUsize>);

impl Running {
    /// Takes a place; none is free if too many threads have not ended.
    fn take(&self) -> Option<Place> {
        let more = |running: usize| (running < EXCHANGES_MAX).then_some(running + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Place(Arc::clone(&self.0)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Sends a request, and returns the body of the response with status 200.
pub(super) fn post(
    endpoint: &Endpoint,
    exchange: Exchange,
    limits: &Limits,
    running: &Running,
) -> Result<Vec<u8>, Fault> {
    let place = running.take().ok_or(Fault::Busy)?;
    let agent = agent(endpoint, limits)?;
    let time = limits.time;
    let (sender, receiver) = sync_channel(1);
    let worker = agent.clone();
    let thread = thread::Builder::new().name("review".to_owned()).spawn(move || {
        // The place is free before the answer arrives, so that the next review finds it.
        let result = send(&worker, exchange, Fault::Slow(time));
        drop((worker, place));
        let _ = sender.send(result);
    });
    thread.map_err(|error| Fault::Down(error.to_string()))?;
    receiver.recv_timeout(time).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => {
            agent.shutdown();
            Err(Fault::Slow(time))
        }
        RecvTimeoutError::Disconnected => Err(Fault::Protocol("the HTTP client failed".to_owned())),
    })
}

/// Returns the client of one exchange. Its limits of time only end the thread. There is no limit for the whole, because
/// `ureq` would then look the host name up on one more thread that nothing counts.
fn agent(endpoint: &Endpoint, limits: &Limits) -> Result<Agent, Fault> {
    let time = Some(limits.time);
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .tls_config(TlsConfig::builder().root_certs(root_certs(&endpoint.roots)?).build())
        .user_agent("castellan")
        .accept("application/json")
        .max_response_header_size(HEAD_BYTES_MAX)
        .max_idle_connections(0)
        .timeout_connect(time)
        .timeout_send_request(time)
        .timeout_send_body(time)
        .timeout_recv_response(time)
        .timeout_recv_body(time);
    Ok(config.build().new_agent())
}

fn root_certs(roots: &Roots) -> Result<RootCerts, Fault> {
    let Roots::Pem(text) = roots else { return Ok(RootCerts::WebPki) };
    let certificates = parse_pem(text).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let certificates: Vec<Certificate<'static>> = certificates.collect();
    if certificates.is_empty() {
        return Err(Fault::Roots);
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

fn send(agent: &Agent, exchange: Exchange, slow: Fault) -> Result<Vec<u8>, Fault> {
    let fault = |error| fault(error, &slow);
    let mut request = agent.post(&exchange.url).header(CONTENT_TYPE, "application/json");
    for (name, value) in exchange.headers {
        // `ureq` and others print no sensitive value.
        let mut value = HeaderValue::try_from(value).map_err(|error| Fault::Protocol(error.to_string()))?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let mut response = request.send(exchange.body).map_err(fault)?;
    match response.status().as_u16() {
        200 => {}
        status @ 300..=399 => return Err(Fault::Redirect(status)),
        status => return Err(Fault::Status(status)),
    }
    response.body_mut().with_config().limit(BODY_BYTES_MAX as u64).read_to_vec().map_err(fault)
}

fn fault(error: ureq::Error, slow: &Fault) -> Fault {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list is open, and each other error is one of HTTP"
    )]
    match error {
        ureq::Error::Timeout(_) => slow.clone(),
        ureq::Error::HostNotFound => Fault::Down("its host name is unknown".to_owned()),
        ureq::Error::BodyExceedsLimit(_) | ureq::Error::LargeResponseHeader(..) => Fault::TooLarge,
        ureq::Error::Io(error) => io_fault(&error, slow),
        ureq::Error::Rustls(error) => tls_fault(&error.to_string()),
        error => Fault::Protocol(shown(&error.to_string())),
    }
}

fn io_fault(error: &io::Error, slow: &Fault) -> Fault {
    use io::ErrorKind;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "another error of the system means that nothing answers"
    )]
    match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => Fault::Closed,
        ErrorKind::TimedOut | ErrorKind::WouldBlock => slow.clone(),
        // So the client wraps errors of TLS.
        ErrorKind::InvalidData => tls_fault(&error.to_string()),
        _ => Fault::Down(shown(&error.to_string())),
    }
}

/// The client does not show the types of TLS errors, so the text decides; a test has a wrong certificate.
fn tls_fault(text: &str) -> Fault {
    match text.strip_prefix("invalid peer certificate: ") {
        Some(reason) => Fault::Certificate(shown(reason)),
        None => Fault::Protocol(shown(text)),
    }
}

/// Returns the text for people. A certificate or a head may contain any character.
fn shown(text: &str) -> String {
    visible(text, REASON_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_have_not_ended_are_counted() {
        let running = Running::default();
        let places: Vec<Option<Place>> = (0..EXCHANGES_MAX).map(|_| running.take()).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(running.take().is_none());
        drop(places);
        assert!(running.take().is_some());
    }

    #[test]
    fn a_certificate_file_without_a_certificate_is_an_error() {
        for text in [&b""[..], b"x", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
            assert_eq!(root_certs(&Roots::Pem(text.to_owned())).err(), Some(Fault::Roots));
        }
    }
}
