//! The filtering proxy of the sandbox's network. Clients inside speak HTTP or SOCKS to a listener of the caller. The
//! proxy runs outside. It reaches the hosts of the [`HostRule`]s, and replaces placeholders by the values of [`Secret`]s.
//!
//! The caller makes the listener and the sandbox, reads the configuration, and logs the [`Event`]s. The crate knows no
//! agents, no verdicts, no files and no namespaces. The guide is `docs/sandbox-network.md`.

mod addresses;
mod authority;
mod body;
mod client_hello;
mod connection;
mod context;
mod environment;
mod event;
mod exchange;
mod graphql;
mod head;
mod host;
mod limits;
mod outgoing;
#[cfg(target_os = "linux")]
mod pipe;
mod proxy;
mod redact;
mod relay;
mod requests;
mod response;
mod roots;
mod rules;
mod secrets;
mod server;
mod settings;
mod shared;
mod socks;
mod stream;
mod tunnel;
mod upstream;

pub use addresses::{Range, not_public};
pub use client_hello::{ClientHello, Start, read as read_client_hello};
pub use environment::{CertificateFiles, environment};
pub use event::{Event, Refusal, Way, What};
pub use graphql::{BadDocument, only_reads};
pub use head::{Length, Request};
pub use host::{BadHost, Host};
pub use limits::{
    CONNECTIONS_MAX, PLACEHOLDER_BYTES_MAX, PLACEHOLDER_BYTES_MIN, RULES_MAX, SECRET_BYTES_MAX, SECRETS_MAX,
};
pub use proxy::Proxy;
pub use requests::{BadRequest, BadRequestRule, Judged, RequestRule, judge as judge_request};
pub use roots::Roots;
pub use rules::{HostPattern, HostRule};
pub use secrets::{BadSecret, BadUse, Secret};
pub use settings::{BadSettings, Resolver, Settings};
