//! Events: what the proxy allowed and refused, for the caller's log. They hold no secret, no query of a URL and no body.

use std::fmt;
use std::net::SocketAddr;

use crate::host::BadHost;
use crate::requests::BadRequest;
use crate::secrets::BadUse;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The connection: 1 for the first of a proxy.
    pub connection: u64,
    /// The way by which the client asked.
    pub way: Way,
    /// The host as far as it is known, in a form without control characters.
    pub host: String,
    /// The port; 0 if it is not known.
    pub port: u16,
    /// Method and path, for requests that the proxy reads. The path has no query.
    pub request: Option<(String, String)>,
    /// The event itself.
    pub what: What,
}

/// The way by which a client asks for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The HTTP method CONNECT.
    Connect,
    /// SOCKS version 5.
    Socks,
    /// A plain HTTP request, to the proxy or in a tunnel.
    Http,
    /// A request inside TLS that the proxy ends.
    Tls,
    /// Not known: the client did not say what it wants.
    Unknown,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A tunnel to the address is open.
    Opened {
        /// The address, which was checked.
        address: SocketAddr,
    },
    /// A request was sent to the host.
    Sent {
        /// The address, which was checked.
        address: SocketAddr,
        /// Names of the secrets whose values the proxy put in.
        secrets: Vec<String>,
    },
    /// The proxy refused, or could not do, what the client asked for.
    Refused(Refusal),
    /// A connection with an opened tunnel or a request ended.
    Closed {
        /// Bytes from the client to the host.
        sent: u64,
        /// Bytes from the host to the client.
        received: u64,
    },
}

/// The reason of a refusal. Its text says what happened and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No rule names the host.
    #[error("no rule names this host. Add it to the hosts of the sandbox's network if the work needs it")]
    Host,
    /// Rules name the host with other ports.
    #[error(
        "the rules allow this host on other ports only ({0}). Add the port to the rule if the work needs it"
    )]
    Port(String),
    /// The host is not written as hosts must be.
    #[error("{0}")]
    BadHost(#[from] BadHost),
    /// The name leads to an address that is not public.
    #[error(
        "the address {address} of this host is {reason}. Add the address to the host's rule if the work needs it"
    )]
    NotPublic {
        /// The address.
        address: String,
        /// The kind of address, as an adjective.
        reason: &'static str,
    },
    /// The TLS name differs from the host.
    #[error("the TLS connection names another host (`{0}`)")]
    ServerName(String),
    /// The TLS connection names no host.
    #[error("the TLS connection names no host (SNI), so it cannot be checked")]
    NoServerName,
    /// The TLS name is encrypted.
    #[error("the TLS connection hides its host (Encrypted Client Hello). Switch this off in the client")]
    HiddenServerName,
    /// The bytes are no TLS.
    #[error(
        "the connection is neither TLS nor allowed to be something else. Set `raw` in the host's rule if the work needs it"
    )]
    NotTls,
    /// The ClientHello or the handshake is wrong.
    #[error("the TLS handshake of the client failed: {0}")]
    Handshake(String),
    /// A request that no rule allows.
    #[error("{0}")]
    Request(#[from] BadRequest),
    /// A placeholder where the secret must not go.
    #[error("{0}")]
    Secret(#[from] BadUse),
    /// An HTTP message that is wrong, or that programs read differently.
    #[error("the HTTP message is refused: {0}")]
    Http(&'static str),
    /// A SOCKS message that is wrong or asks for something unknown.
    #[error("the SOCKS request is refused: {0}")]
    Socks(&'static str),
    /// Too many connections.
    #[error("the sandbox has too many connections at once. End some")]
    Connections,
    /// The client did not send in time.
    #[error("the client did not send its request in time")]
    Slow,
    /// The name has no address.
    #[error("the name of this host cannot be resolved: {0}")]
    Resolve(String),
    /// The host does not answer, or not as it should.
    #[error("the host cannot be reached: {0}")]
    Upstream(String),
    /// A defect of the proxy ended the connection.
    #[error("the proxy ended this connection because of a defect of its own. Report it")]
    Defect,
}

impl Refusal {
    /// A stable word for the log: `host`, `port`, `not_public`, ...
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Host => "host",
            Refusal::Port(_) => "port",
            Refusal::BadHost(_) => "bad_host",
            Refusal::NotPublic { .. } => "not_public",
            Refusal::ServerName(_) => "server_name",
            Refusal::NoServerName => "no_server_name",
            Refusal::HiddenServerName => "hidden_server_name",
            Refusal::NotTls => "not_tls",
            Refusal::Handshake(_) => "handshake",
            Refusal::Request(_) => "request",
            Refusal::Secret(_) => "secret",
            Refusal::Http(_) => "http",
            Refusal::Socks(_) => "socks",
            Refusal::Connections => "connections",
            Refusal::Slow => "slow",
            Refusal::Resolve(_) => "resolve",
            Refusal::Upstream(_) => "upstream",
            Refusal::Defect => "defect",
        }
    }

    /// The status of the HTTP response that says so.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Refusal::Host
            | Refusal::Port(_)
            | Refusal::NotPublic { .. }
            | Refusal::ServerName(_)
            | Refusal::NoServerName
            | Refusal::HiddenServerName
            | Refusal::NotTls
            | Refusal::Request(_)
            | Refusal::Secret(_) => 403,
            Refusal::BadHost(_) | Refusal::Handshake(_) | Refusal::Http(_) | Refusal::Socks(_) => 400,
            Refusal::Slow => 408,
            Refusal::Connections => 503,
            Refusal::Resolve(_) | Refusal::Upstream(_) => 502,
            Refusal::Defect => 500,
        }
    }

    /// The reply of SOCKS that says so.
    pub(crate) fn socks_reply(&self) -> u8 {
        match self {
            Refusal::Host
            | Refusal::Port(_)
            | Refusal::BadHost(_)
            | Refusal::NotPublic { .. }
            | Refusal::ServerName(_)
            | Refusal::NoServerName
            | Refusal::HiddenServerName
            | Refusal::NotTls
            | Refusal::Request(_)
            | Refusal::Secret(_) => 2,
            Refusal::Resolve(_) => 4,
            Refusal::Upstream(_) => 5,
            Refusal::Socks(_) => 7,
            Refusal::Handshake(_)
            | Refusal::Http(_)
            | Refusal::Connections
            | Refusal::Slow
            | Refusal::Defect => 1,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Connect => "connect",
            Way::Socks => "socks",
            Way::Http => "http",
            Way::Tls => "tls",
            Way::Unknown => "unknown",
        })
    }
}
