//! URLs and hosts: the machine that an address really names, and its class: this machine, private, metadata service of
//! a cloud, or public. This module must not know the program that uses the address, and must not resolve names.
//!
//! Programs parse addresses differently: browsers and JavaScript by the WHATWG URL standard, curl by RFC 3986 with its
//! own extensions, git and scp as `host:path`. If they would reach different machines, the class is `Unknown`, unless
//! one of the results is more sensitive.

mod host;

use std::fmt;

pub use host::{Host, HostClass};

use crate::limits::URL_BYTES_MAX;

/// A parsed address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The scheme in lower case; `None` if the address has none.
    pub scheme: Option<String>,
    /// The host in the form for the connection. `None` if there is none, or if programs would not agree on it.
    pub host: Option<String>,
    /// The port, if written.
    pub port: Option<u16>,
    /// The address contains a user's name or password.
    pub user_info: bool,
    /// The class of the host.
    pub class: HostClass,
    /// The normalised address: scheme and host in lower case, no user, no password, no `..`. Without a host: the
    /// address as written, with blanks trimmed.
    pub text: String,
}

/// Schemes whose addresses name a host, with or without slashes, in browsers and JavaScript.
const SPECIAL: &[&str] = &["http", "https", "ws", "wss", "ftp"];

/// Schemes that name no host.
const HOSTLESS: &[&str] = &[
    "about",
    "abfs",
    "blob",
    "data",
    "docker",
    "file",
    "gs",
    "javascript",
    "mailto",
    "oci",
    "s3",
    "tel",
    "urn",
];

impl Url {
    /// Parses an address: a URL, `host/path` as for curl, or `user@host:path` as for scp and git.
    pub fn parse(text: &str) -> Url {
        let trimmed = text.trim_matches(|c: char| c.is_ascii_control() || c == ' ');
        // Browsers drop these characters at any position; other programs reject them.
        let clean: String = trimmed.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        if clean.len() > URL_BYTES_MAX {
            return Url::of_long(&clean);
        }
        match Shape::of(&clean) {
            Shape::Path => Url::hostless(None, clean, HostClass::Unknown),
            Shape::Hostless { scheme } => {
                // The host of a file URL is this machine, or the machine that the file is fetched from.
                let class = if scheme == "file" { HostClass::Loopback } else { HostClass::Unknown };
                match clean.split_once("://").filter(|_| scheme == "file") {
                    Some((_, rest)) if !rest.starts_with('/') && !rest.is_empty() => {
                        Url::with_authority(Some(scheme), rest)
                    }
                    _ => Url::hostless(Some(scheme), clean, class),
                }
            }
            Shape::Scp { host, path } => Url::scp(host, path),
            Shape::Authority { scheme, rest } => Url::with_authority(scheme, rest),
        }
    }

    /// Parses the beginning of an address above the size limit. No host if the beginning may cut it.
    fn of_long(text: &str) -> Url {
        let beginning = text.get(..text.floor_char_boundary(URL_BYTES_MAX)).unwrap_or_default();
        let rest = beginning.split_once("://").map_or(beginning, |(_, rest)| rest);
        if rest.trim_start_matches('/').contains(['/', '?', '#', '\\']) {
            return Url::parse(beginning);
        }
        Url::hostless(None, text.chars().take(URL_BYTES_MAX / 4).collect(), HostClass::Unknown)
    }

    fn hostless(scheme: Option<String>, text: String, class: HostClass) -> Url {
        Url { scheme, host: None, port: None, user_info: false, class, text }
    }

    fn scp(user_and_host: &str, path: &str) -> Url {
        let (user, host) = split_user(user_and_host);
        let host = Host::parse(host);
        let separator = if path.starts_with('/') { "" } else { "/" };
        let text = format!("ssh://{}{separator}{path}", Shown(&host.name, None));
        Url {
            scheme: Some("ssh".to_owned()),
            port: None,
            user_info: user.is_some(),
            class: host.class,
            host: Some(host.name).filter(|name| !name.is_empty()),
            text,
        }
    }

    /// `[user@]host[:port][/path][?query][#fragment]`
    fn with_authority(scheme: Option<String>, rest: &str) -> Url {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let strict = Authority::parse(authority);
        // For a browser a backslash ends the host as a slash does.
        let is_special = scheme.as_deref().is_none_or(|scheme| SPECIAL.contains(&scheme));
        let browser = match authority.find('\\').filter(|_| is_special) {
            Some(at) => Authority::parse(authority.get(..at).unwrap_or_default()),
            None => strict.clone(),
        };
        let (host, port, class) = strict.or_worse(&browser);
        let shown = host.as_deref().map(|host| {
            let scheme = scheme.as_deref().unwrap_or("http");
            format!("{scheme}://{}{}", Shown(host, port), without_dots(tail))
        });
        Url {
            user_info: strict.user_info || browser.user_info,
            text: shown.unwrap_or_else(|| match &scheme {
                Some(scheme) => format!("{scheme}://{rest}"),
                None => rest.to_owned(),
            }),
            scheme,
            host,
            port,
            class,
        }
    }
}

/// The syntax of an address.
#[derive(Debug, PartialEq, Eq)]
enum Shape<'t> {
    /// No address: a path, or nothing.
    Path,
    /// A scheme without a host.
    Hostless { scheme: String },
    /// `host:path`, perhaps with a user.
    Scp { host: &'t str, path: &'t str },
    /// An address that begins with a host.
    Authority { scheme: Option<String>, rest: &'t str },
}

impl<'t> Shape<'t> {
    fn of(text: &'t str) -> Shape<'t> {
        let is_path = text.is_empty()
            || text.starts_with('/') && !text.starts_with("//")
            || ["./", "../", "~"].iter().any(|start| text.starts_with(start))
            || text == "."
            || text == "..";
        if is_path {
            return Shape::Path;
        }
        if let Some(rest) = text.strip_prefix("//") {
            return Shape::Authority { scheme: None, rest };
        }
        let slash = text.find(['/', '?', '#', '\\']).unwrap_or(text.len());
        let before_slash = text.get(..slash).unwrap_or(text);
        let after_bracket = before_slash.rfind(']').map_or(0, |at| at + 1);
        let colon =
            before_slash.get(after_bracket..).and_then(|rest| rest.find(':')).map(|at| at + after_bracket);
        let Some((before, after)) = colon.and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?))) else {
            return Shape::Authority { scheme: None, rest: text };
        };
        let scheme = before.to_ascii_lowercase();
        if is_scheme(before) {
            if HOSTLESS.contains(&scheme.as_str()) {
                return Shape::Hostless { scheme };
            }
            if let Some(rest) = after.strip_prefix("//") {
                // Browsers skip further slashes; curl accepts up to three.
                let is_special = SPECIAL.contains(&scheme.as_str());
                let rest = if is_special { rest.trim_start_matches(['/', '\\']) } else { rest };
                return Shape::Authority { scheme: Some(scheme), rest };
            }
            if SPECIAL.contains(&scheme.as_str()) {
                return Shape::Authority {
                    scheme: Some(scheme),
                    rest: after.trim_start_matches(['/', '\\']),
                };
            }
        }
        Shape::with_colon(text, before, after)
    }

    /// `host:port`, `host:path`, `user:password@host`, a drive of Windows.
    fn with_colon(text: &'t str, before: &'t str, after: &'t str) -> Shape<'t> {
        let is_drive = before.len() == 1 && after.starts_with(['/', '\\']);
        if is_drive {
            return Shape::Path;
        }
        let port_end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let port = after.get(..port_end).unwrap_or(after);
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        // Several colons without brackets are an IPv6 address.
        let is_ipv6 = text.parse::<std::net::Ipv6Addr>().is_ok();
        let has_later_user = port.contains('@');
        let has_port = is_port && (!port.is_empty() || !before.contains('@'));
        if has_port || is_ipv6 || has_later_user {
            return Shape::Authority { scheme: None, rest: text };
        }
        Shape::Scp { host: before, path: after }
    }
}

/// RFC 3986: a letter, then letters, digits, `+`, `-` and `.`.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A reading of `[user@]host[:port]`.
#[derive(Debug, Clone)]
struct Authority {
    host: Host,
    port: Option<u16>,
    user_info: bool,
}

impl Authority {
    fn parse(text: &str) -> Authority {
        let (user, rest) = split_user(text);
        // Without brackets, several colons can only belong to an IPv6 address.
        let (host, port) = match rest.rfind(':') {
            Some(at) if !rest.ends_with(']') && rest.parse::<std::net::Ipv6Addr>().is_err() => {
                (rest.get(..at).unwrap_or_default(), rest.get(at + 1..))
            }
            _ => (rest, None),
        };
        let mut host = Host::parse(host);
        let number = port.filter(|port| !port.is_empty()).map(str::parse::<u16>);
        let port = match number {
            Some(Err(_)) => {
                host.class = host.class.min(HostClass::Unknown);
                None
            }
            Some(Ok(port)) => Some(port),
            None => None,
        };
        Authority { host, port, user_info: user.is_some() }
    }

    /// Returns the common result of both readings. If they differ, returns a sensitive one, or else no host.
    fn or_worse(&self, other: &Authority) -> (Option<String>, Option<u16>, HostClass) {
        let worse = if other.host.class < self.host.class { other } else { self };
        let agree = self.host == other.host;
        if agree || worse.host.class < HostClass::Unknown {
            let name = Some(worse.host.name.clone()).filter(|name| !name.is_empty());
            return (name, worse.port, worse.host.class);
        }
        (None, None, HostClass::Unknown)
    }
}

/// Splits off the user. Browsers and curl split at the last `@`.
fn split_user(text: &str) -> (Option<&str>, &str) {
    text.rsplit_once('@').map_or((None, text), |(user, rest)| (Some(user), rest))
}

/// Removes `.` and `..` from the path, also if percent-encoded, as programs send it.
fn without_dots(tail: &str) -> String {
    let end = tail.find(['?', '#']).unwrap_or(tail.len());
    let (path, rest) = tail.split_at_checked(end).unwrap_or((tail, ""));
    let Some(path) = path.strip_prefix('/') else { return tail.to_owned() };
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_in_directory = false;
    for segment in path.split('/') {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        ends_in_directory = matches!(plain.as_str(), "." | "..");
        match plain.as_str() {
            "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let slash = if ends_in_directory && !kept.is_empty() { "/" } else { "" };
    format!("/{}{slash}{rest}", kept.join("/"))
}

/// Formats a host and port for a URL.
struct Shown<'h>(&'h str, Option<u16>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(host, port) = self;
        if host.contains(':') {
            write!(f, "[{host}]")?
        } else {
            f.write_str(host)?
        }
        port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}
