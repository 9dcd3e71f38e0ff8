//! Host names and addresses as clients write them. A form that two programs could read differently is an error.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::limits::HOST_BYTES_MAX;

/// A host: a name in lower case without a final dot, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A DNS name in lower case. Names in other scripts are in their `xn--` form.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// The reason why a text is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    /// Nothing.
    #[error("the host is empty")]
    Empty,
    /// More than a name may have.
    #[error("the host name has more than 253 bytes, or a label of it more than 63")]
    Long,
    /// A control character, a space or a byte outside of ASCII.
    #[error("the host has a control character or a space")]
    Control,
    /// A letter of another script.
    #[error("the host has characters outside of ASCII: write its `xn--` form")]
    NotAscii,
    /// A character that no name has.
    #[error("the host has a character that host names do not have")]
    Character,
    /// A final dot or an empty label.
    #[error("the host has an empty label or a dot at its end: leave the dot out")]
    Dot,
    /// `127.1`, `0x7f.1`, `2130706433`, `0177.0.0.1`.
    #[error("the host is a number or an address in an unusual form: write four decimal numbers")]
    Number,
    /// `fe80::1%eth0`.
    #[error("the address has a zone: the proxy reaches no link-local addresses")]
    Zone,
    /// An IPv6 address that is none.
    #[error("the host is not a valid IPv6 address")]
    Ipv6,
    /// A port that is none.
    #[error("the port is missing, or is not a number from 1 to 65535")]
    Port,
}

impl Host {
    /// Reads a host. An IPv6 address is in brackets, as in URLs.
    ///
    /// # Errors
    ///
    /// Any form that programs read differently: see [`BadHost`].
    pub fn parse(text: &str) -> Result<Host, BadHost> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(BadHost::Ipv6)?;
            return ipv6(inner);
        }
        name(text)
    }

    /// Reads a host as SOCKS sends it: as bytes, and an IPv6 address without brackets too.
    pub(crate) fn parse_bytes(bytes: &[u8]) -> Result<Host, BadHost> {
        let text = std::str::from_utf8(bytes).map_err(|_| BadHost::NotAscii)?;
        if text.contains(':') && !text.starts_with('[') { ipv6(text) } else { Host::parse(text) }
    }

    /// Reads `host:port`; without a port, `default` is the port.
    ///
    /// # Errors
    ///
    /// Those of [`Host::parse`], and a port that is no number from 1 to 65535.
    pub fn parse_with_port(text: &str, default: Option<u16>) -> Result<(Host, u16), BadHost> {
        let end = text.rfind(']').map_or(0, |end| end + 1);
        let colon = text.get(end..).and_then(|rest| rest.find(':')).map(|at| at + end);
        let Some(colon) = colon else {
            return Ok((Host::parse(text)?, default.ok_or(BadHost::Port)?));
        };
        let (host, port) = text.split_at_checked(colon).ok_or(BadHost::Port)?;
        let host = Host::parse(host)?;
        Ok((
            host,
            port_number(port.trim_start_matches(':'))
                .filter(|_| !port.starts_with("::"))
                .ok_or(BadHost::Port)?,
        ))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Reads a port: digits only, without a sign or a leading zero.
fn port_number(text: &str) -> Option<u16> {
    let is_plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

fn ipv6(text: &str) -> Result<Host, BadHost> {
    if text.contains('%') {
        return Err(BadHost::Zone);
    }
    let address: Ipv6Addr = text.parse().map_err(|_| BadHost::Ipv6)?;
    Ok(Host::Address(IpAddr::V6(address)))
}

fn name(text: &str) -> Result<Host, BadHost> {
    if text.is_empty() {
        return Err(BadHost::Empty);
    }
    if text.bytes().any(|byte| byte.is_ascii_control() || byte == b' ') {
        return Err(BadHost::Control);
    }
    if !text.is_ascii() {
        return Err(BadHost::NotAscii);
    }
    if text.bytes().any(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))) {
        return Err(BadHost::Character);
    }
    if text.len() > HOST_BYTES_MAX || text.split('.').any(|label| label.len() > 63) {
        return Err(BadHost::Long);
    }
    if text.split('.').any(str::is_empty) {
        return Err(BadHost::Dot);
    }
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    if text.rsplit('.').next().is_some_and(is_number) {
        return Err(BadHost::Number);
    }
    if text.split('.').any(|label| label.starts_with('-') || label.ends_with('-')) {
        return Err(BadHost::Character);
    }
    Ok(Host::Name(text.to_ascii_lowercase()))
}

/// Checks if `inet_aton` and browsers read a last label as a number, and so the host as an address.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}
