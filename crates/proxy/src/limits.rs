//! Limits of the proxy. Everything that a client inside the sandbox sends is bounded.

use std::time::Duration;

/// Connections of one sandbox at once. npm opens 15 and cargo about 100; each has a thread and up to six descriptors, and the
/// usual limit of a process is 1,024 descriptors.
pub const CONNECTIONS_MAX: usize = 128;

/// Bytes of the stack of a connection's thread. The largest buffers are on the heap; TLS handshakes need the most.
pub(crate) const STACK_BYTES: usize = 512 * 1024;

/// Bytes of the head of a request or response. Servers accept 8 to 64 KiB.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Header fields of one head. Browsers send about 30.
pub(crate) const HEADERS_MAX: usize = 128;

/// Bytes of a ClientHello. Usual ones have 0.2 to 2 KiB, with post-quantum keys 4 KiB.
pub(crate) const HELLO_BYTES_MAX: usize = 32 * 1024;

/// Bytes of a host name: the limit of DNS.
pub(crate) const HOST_BYTES_MAX: usize = 253;

/// Bytes of a path that request rules are compared with.
pub(crate) const PATH_BYTES_MAX: usize = 8 * 1024;

/// Bytes of a body that a request rule reads. GraphQL documents of clients have some KiB.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// Levels of braces in a GraphQL document. Servers reject more than some tens.
pub(crate) const DOCUMENT_DEPTH_MAX: usize = 200;

/// Bytes of one line of a chunked body: a size, and extensions that nobody uses.
pub(crate) const CHUNK_LINE_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the trailers of a chunked body, which the proxy drops.
pub(crate) const TRAILER_BYTES_MAX: usize = 8 * 1024;

/// Interim responses (1xx) before the response.
pub(crate) const INTERIM_MAX: usize = 8;

/// Bytes that a connection copies at once.
pub(crate) const BUFFER_BYTES: usize = 64 * 1024;

/// Bytes that a direction of a tunnel has passed before it gets a pipe. Shorter ones do not repay its two descriptors.
#[cfg(target_os = "linux")]
pub(crate) const COPIED_BYTES: u64 = 256 * 1024;

/// Bytes of such a pipe: the most that Linux gives an ordinary user (`pipe-max-size`).
#[cfg(target_os = "linux")]
pub(crate) const PIPE_BYTES: usize = 1024 * 1024;

/// Rules of one sandbox. Each connection is compared with all of them.
pub const RULES_MAX: usize = 1_024;

/// Secrets of one sandbox. Each header field is searched for all of them.
pub const SECRETS_MAX: usize = 64;

/// Bytes of a secret's value. Signed tokens have up to 2 KiB.
pub const SECRET_BYTES_MAX: usize = 8 * 1024;

/// Bytes of a placeholder, and the least bytes of a value: shorter ones occur in ordinary text.
pub const PLACEHOLDER_BYTES_MIN: usize = 12;

/// Bytes of a placeholder: longer ones than the values of usual secrets help nobody.
pub const PLACEHOLDER_BYTES_MAX: usize = 1024;

/// Addresses of one host that the proxy tries.
pub(crate) const ADDRESSES_MAX: usize = 8;

/// Certificates of hosts that the proxy keeps. A pattern allows any number of names.
pub(crate) const LEAVES_MAX: usize = 256;

/// Seconds that a certificate is valid before and after its creation. No sandbox runs for longer; clocks differ by less.
pub(crate) const LEAF_BEFORE_S: u64 = 24 * 3_600;

/// See [`LEAF_BEFORE_S`].
pub(crate) const LEAF_AFTER_S: u64 = 30 * 24 * 3_600;

/// Time for a request's head, a SOCKS exchange, or a ClientHello, from its first byte. A slow sender holds a thread.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(30);

/// Time that a connection may wait for its first byte or for the next request. Clients keep idle connections for a minute.
pub(crate) const IDLE_TIME: Duration = Duration::from_secs(120);

/// Time for one attempt to connect. Networks that drop packets do not answer; then the next address is tried.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Time without a byte in either direction of a tunnel. Sessions of ssh and streams of models are silent for minutes.
pub(crate) const TUNNEL_TIME: Duration = Duration::from_secs(3_600);

/// Time that a server may be silent in an exchange. Models think for minutes.
pub(crate) const SERVER_TIME: Duration = Duration::from_secs(900);

/// Time that [`crate::Proxy::stop`] waits for connections, whose sockets it has shut down. A lookup cannot be ended.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(5);

/// Bytes of a target that an answer or event shows.
pub(crate) const SHOWN_BYTES_MAX: usize = 512;

/// Bytes that the proxy reads and drops after its last answer, so that the client can read the answer.
pub(crate) const LINGER_BYTES_MAX: u64 = 1024 * 1024;

/// Time for that.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(2);
