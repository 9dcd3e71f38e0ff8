//! A request as it goes to its host: checked against the rules, with the values of secrets.

use crate::context::{Target, shown};
use crate::event::Refusal;
use crate::head::{Length, Request, has_word, passed_on, values};
use crate::host::Host;
use crate::limits::SHOWN_BYTES_MAX;
use crate::requests::{self, Judged};
use crate::secrets::{Injector, Used};
use crate::settings::Settings;
use crate::upstream;

/// The destination of a request.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Host and port as text, for answers.
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// Path and query.
    pub(crate) path: String,
}

/// A request that may be sent.
pub(crate) struct Outgoing {
    /// The head without framing and empty line.
    pub(crate) head: Vec<u8>,
    pub(crate) length: Length,
    /// The client waits for an interim response before it sends the body.
    pub(crate) waits: bool,
    /// The body must be read and checked before anything is sent.
    pub(crate) must_read: bool,
    /// The client wants the connection to end.
    pub(crate) is_last: bool,
    pub(crate) used: Used,
    /// Texts that the response must not hold.
    pub(crate) secrets: Vec<Vec<u8>>,
}

/// Reads the URL of a request to the proxy itself.
pub(crate) fn absolute(request: &Request) -> Result<Asked, Refusal> {
    let rest = match request.target.split_at_checked(7) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http://") => rest,
        _ if request.target.starts_with('/') => {
            return Err(Refusal::Http("it is for the proxy itself, which has no pages"));
        }
        _ => return Err(Refusal::Http("its URL is not `http://`. Use CONNECT for other protocols")),
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or_default();
    let (host, port) = Host::parse_with_port(authority, Some(80))?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok(Asked { host, port, path })
}

/// Reads the target of a request in a tunnel.
pub(crate) fn relative(request: &Request, target: &Target) -> Result<Asked, Refusal> {
    if !request.target.starts_with('/') {
        return Err(Refusal::Http("its target is not a path"));
    }
    Ok(Asked { host: target.host.clone(), port: target.port, path: request.target.clone() })
}

impl Asked {
    /// Method and path for events: without the query, which may hold data.
    pub(crate) fn shown(&self, request: &Request) -> (String, String) {
        let path = self.path.split('?').next().unwrap_or_default();
        (shown(&request.method, SHOWN_BYTES_MAX), shown(path, SHOWN_BYTES_MAX))
    }

    /// Checks a request, and writes its new head.
    pub(crate) fn check(
        &self,
        settings: &Settings,
        request: &Request,
        is_tls: bool,
    ) -> Result<Outgoing, Refusal> {
        let applied = upstream::permit(settings, &self.host, self.port)?;
        if request.minor != 1 {
            return Err(Refusal::Http("its version is HTTP/1.0. Use HTTP/1.1"));
        }
        // TRACE makes a server send back what it got, with the secrets.
        if matches!(request.method.as_str(), "CONNECT" | "TRACE" | "TRACK") {
            return Err(Refusal::Http("its method is not allowed here"));
        }
        let default = if is_tls { 443 } else { 80 };
        let named = Host::parse_with_port(request.host().map_err(Refusal::Http)?, Some(default))?;
        if named != (self.host.clone(), self.port) {
            return Err(Refusal::Http("its `Host` field names another host than the one that was asked for"));
        }
        let waits = match values(&request.fields, "expect").collect::<Vec<_>>().as_slice() {
            [] => false,
            [value] if value.eq_ignore_ascii_case(b"100-continue") => true,
            _ => return Err(Refusal::Http("it expects something unknown")),
        };
        let length = request.length().map_err(Refusal::Http)?;
        let judged = match applied.requests() {
            None => Judged::Allowed,
            Some(rules) => {
                let names = request.fields.iter().map(|(name, _)| name.as_str());
                requests::judge(&rules, &request.method, &self.path, names)?
            }
        };
        let injector = Injector { secrets: &settings.secrets, host: &self.host, is_tls };
        let (head, used) = self.head(request, &injector, default)?;
        let secrets = injector.values().into_iter().chain(used.texts.iter().cloned()).collect();
        let is_last = has_word(&request.fields, "connection", "close")
            || has_word(&request.fields, "proxy-connection", "close");
        let must_read = judged == Judged::IfReads;
        Ok(Outgoing { head, length, waits, must_read, is_last, used, secrets })
    }

    /// Writes the head anew, with the values of secrets.
    fn head(
        &self,
        request: &Request,
        injector: &Injector<'_>,
        default: u16,
    ) -> Result<(Vec<u8>, Used), Refusal> {
        let mut used = Used::default();
        injector.reject_in(&self.path, "the URL")?;
        let mut head =
            format!("{} {} HTTP/1.1\r\nHost: {}", request.method, self.path, self.host).into_bytes();
        if self.port != default {
            head.extend_from_slice(format!(":{}", self.port).as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        // A compressed response could not be searched for secrets.
        let is_plain = !injector.values().is_empty();
        for (name, value) in passed_on(&request.fields) {
            let is_own =
                ["host", "content-length", "expect"].iter().any(|own| name.eq_ignore_ascii_case(own));
            if is_own || is_plain && name.eq_ignore_ascii_case("accept-encoding") {
                continue;
            }
            let value = injector.replace(name, value, &mut used)?;
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(&value);
            head.extend_from_slice(b"\r\n");
        }
        if is_plain {
            head.extend_from_slice(b"Accept-Encoding: identity\r\n");
        }
        Ok((head, used))
    }
}
