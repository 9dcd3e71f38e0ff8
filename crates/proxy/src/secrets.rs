//! Secrets that stay outside: clients inside send a placeholder, and the proxy puts the value in, for the secret's hosts
//! alone. A value is in no event, error or `Debug` text.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::host::Host;
use crate::limits::{PLACEHOLDER_BYTES_MAX, PLACEHOLDER_BYTES_MIN, SECRET_BYTES_MAX};
use crate::rules::HostPattern;

/// A secret, its placeholder, and the hosts that may receive it.
#[derive(Clone)]
pub struct Secret {
    name: String,
    placeholder: String,
    value: String,
    hosts: Vec<HostPattern>,
    headers: Vec<String>,
}

/// The reason why a secret cannot be used. It never holds the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSecret {
    /// A placeholder of another form.
    #[error("the placeholder of `{0}` must have 12 to 1024 letters, digits, `_` or `-`")]
    Placeholder(String),
    /// A value that no header field can have, or that ordinary text has.
    #[error(
        "the value of `{0}` must have 12 to 8192 visible ASCII characters, and must differ from the placeholder"
    )]
    Value(String),
    /// No hosts.
    #[error("`{0}` has no hosts: name each host that may receive it")]
    Hosts(String),
    /// No header field, or one that the proxy needs itself.
    #[error("`{0}` names no header field, or one that the proxy writes itself (`Host`, `Content-Length`)")]
    Header(String),
    /// A placeholder that is a part of another one.
    #[error("the placeholder of `{0}` is a part of the placeholder or value of another secret")]
    Overlap(String),
}

impl Secret {
    /// Makes a secret. `name`: its name in events. `headers`: the header fields that may hold it; empty means
    /// `Authorization`. In an `Authorization` field of the scheme `Basic` the placeholder may be a user or password.
    ///
    /// # Errors
    ///
    /// See [`BadSecret`].
    pub fn new(
        name: &str,
        placeholder: &str,
        value: &str,
        hosts: Vec<HostPattern>,
        headers: &[&str],
    ) -> Result<Secret, BadSecret> {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let lengths = PLACEHOLDER_BYTES_MIN..=PLACEHOLDER_BYTES_MAX;
        if !lengths.contains(&placeholder.len()) || !placeholder.bytes().all(is_sign) {
            return Err(BadSecret::Placeholder(name.to_owned()));
        }
        let is_visible = value.bytes().all(|byte| byte.is_ascii_graphic());
        let is_long = (PLACEHOLDER_BYTES_MIN..=SECRET_BYTES_MAX).contains(&value.len());
        if !is_visible || !is_long || value.contains(placeholder) || placeholder.contains(value) {
            return Err(BadSecret::Value(name.to_owned()));
        }
        if hosts.is_empty() {
            return Err(BadSecret::Hosts(name.to_owned()));
        }
        let headers: Vec<String> = match headers {
            [] => vec!["authorization".to_owned()],
            names => names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        };
        if !headers.iter().all(|name| is_usable(name)) {
            return Err(BadSecret::Header(name.to_owned()));
        }
        let (name, placeholder, value) = (name.to_owned(), placeholder.to_owned(), value.to_owned());
        Ok(Secret { name, placeholder, value, hosts, headers })
    }

    /// The name in events.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that clients inside the sandbox see.
    #[must_use]
    pub fn placeholder(&self) -> &str {
        &self.placeholder
    }

    /// The hosts that may receive the value.
    #[must_use]
    pub fn hosts(&self) -> &[HostPattern] {
        &self.hosts
    }

    pub(crate) fn is_for(&self, host: &Host) -> bool {
        self.hosts.iter().any(|pattern| pattern.matches(host))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Secret { name, placeholder, value: _, hosts, headers } = self;
        f.debug_struct("Secret")
            .field("name", name)
            .field("placeholder", placeholder)
            .field("hosts", hosts)
            .field("headers", headers)
            .finish_non_exhaustive()
    }
}

/// Checks that no placeholder is found in another secret's texts, where a search would mistake them.
pub(crate) fn check_overlaps(secrets: &[Secret]) -> Result<(), BadSecret> {
    for (at, secret) in secrets.iter().enumerate() {
        let others = secrets.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        for other in others {
            if other.placeholder.contains(&secret.placeholder) || other.value.contains(&secret.placeholder) {
                return Err(BadSecret::Overlap(secret.name.clone()));
            }
        }
    }
    Ok(())
}

fn is_usable(name: &str) -> bool {
    const OWN: &[&str] =
        &["host", "content-length", "transfer-encoding", "connection", "accept-encoding", "content-encoding"];
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_token) && !OWN.contains(&name)
}

/// The reason why a request with a placeholder is refused. The texts are names of secrets and header fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUse {
    /// A host that the secret is not for.
    #[error("the secret `{0}` is not for this host")]
    Host(String),
    /// A part of the request in which the proxy does not replace it.
    #[error("the placeholder of `{secret}` is in {place}, where the proxy does not replace it")]
    Place {
        /// The secret.
        secret: String,
        /// The part of the request.
        place: String,
    },
    /// A connection that others can read.
    #[error("the secret `{0}` is sent over TLS only")]
    Plain(String),
}

/// The replacements in one request.
#[derive(Default)]
pub(crate) struct Used {
    /// Names of the secrets.
    pub(crate) names: Vec<String>,
    /// Texts that a response must not hold: the values, and credentials that were made of them.
    pub(crate) texts: Vec<Vec<u8>>,
}

/// The secrets of a connection to one host.
pub(crate) struct Injector<'s> {
    pub(crate) secrets: &'s [Secret],
    pub(crate) host: &'s Host,
    /// The connection to the server is encrypted.
    pub(crate) is_tls: bool,
}

impl Injector<'_> {
    /// Rejects a placeholder in a part of a request that is not a header field: `place` names the part.
    pub(crate) fn reject_in(&self, text: &str, place: &str) -> Result<(), BadUse> {
        match self.secrets.iter().find(|secret| text.contains(&secret.placeholder)) {
            Some(secret) => {
                self.permit(secret)?;
                Err(BadUse::Place { secret: secret.name.clone(), place: place.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Returns the value of a header field with the values in place of the placeholders.
    pub(crate) fn replace(&self, name: &str, field: &[u8], used: &mut Used) -> Result<Vec<u8>, BadUse> {
        let replaced = self.replace_text(name, field, used)?;
        let Some((scheme, user)) = basic(&replaced) else { return Ok(replaced) };
        let inner = self.replace_text(name, &user, used)?;
        if inner == user {
            return Ok(replaced);
        }
        let credentials = STANDARD.encode(inner);
        used.texts.push(credentials.clone().into_bytes());
        Ok([scheme, credentials.as_bytes()].concat())
    }

    fn replace_text(&self, name: &str, field: &[u8], used: &mut Used) -> Result<Vec<u8>, BadUse> {
        let mut text = field.to_vec();
        for secret in self.secrets {
            if find(&text, secret.placeholder.as_bytes()).is_none() {
                continue;
            }
            self.permit(secret)?;
            if !secret.headers.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                let place = format!("the header `{name}`");
                return Err(BadUse::Place { secret: secret.name.clone(), place });
            }
            text = replace_all(&text, secret.placeholder.as_bytes(), secret.value.as_bytes());
            if !used.names.contains(&secret.name) {
                used.names.push(secret.name.clone());
            }
        }
        Ok(text)
    }

    fn permit(&self, secret: &Secret) -> Result<(), BadUse> {
        if !secret.is_for(self.host) {
            return Err(BadUse::Host(secret.name.clone()));
        }
        if self.is_tls { Ok(()) } else { Err(BadUse::Plain(secret.name.clone())) }
    }

    /// Returns the values that this host may know, so that a response can be searched for them.
    pub(crate) fn values(&self) -> Vec<Vec<u8>> {
        let own = self.secrets.iter().filter(|secret| secret.is_for(self.host));
        own.map(|secret| secret.value.clone().into_bytes()).collect()
    }
}

/// Splits `Basic CREDENTIALS` into the scheme with its space, and the decoded credentials.
fn basic(field: &[u8]) -> Option<(&[u8], Vec<u8>)> {
    let (scheme, rest) = field.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return None;
    }
    let user = STANDARD.decode(rest.trim_ascii()).ok()?;
    Some((scheme, user))
}

/// Returns the position of `part` in `text`.
pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len().max(1)).position(|window| window == part)
}

fn replace_all(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = text;
    while let Some(at) = find(rest, from) {
        let (before, found) = rest.split_at_checked(at).unwrap_or_default();
        replaced.extend_from_slice(before);
        replaced.extend_from_slice(to);
        rest = found.get(from.len()..).unwrap_or_default();
    }
    replaced.extend_from_slice(rest);
    replaced
}
