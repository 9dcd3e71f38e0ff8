//! [`Settings`]: the plugin's `init_config` in `falco.yaml`. castellan writes it.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use castellan_rows::{Generation, HEX, Identity, KEY_BYTES, Receiver, UID};
use falco_plugin::anyhow::{self, Context as _};
use falco_plugin::schemars::JsonSchema;
use falco_plugin::serde::Deserialize;

/// The settings.
#[derive(Deserialize, JsonSchema)]
#[serde(crate = "falco_plugin::serde", deny_unknown_fields)]
#[schemars(crate = "falco_plugin::schemars")]
pub struct Settings {
    /// Absolute path of the daemon's socket.
    socket: String,
    /// User id of the daemon, after `uid:`.
    user: String,
    /// The key of the channel: `hex:` and 64 characters of lower-case hex.
    key: String,
    /// The hash of the rules that castellan wrote beside this configuration: `hex:` and 64 characters of lower-case hex.
    generation: String,
}

/// The checked settings.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    socket: PathBuf,
    user: u32,
    identity: Identity,
}

impl Settings {
    pub(crate) fn channel(self) -> anyhow::Result<Channel> {
        let socket = PathBuf::from(&self.socket);
        anyhow::ensure!(
            socket.is_absolute(),
            "the plugin's `socket` must be an absolute path, not `{}`; `castellan engine falco` writes it",
            self.socket
        );
        let wrong = |name: &str, form: &str| {
            format!("the plugin's `{name}` must be {form}; `castellan engine falco` writes it")
        };
        // Both texts are 32 bytes in hex.
        let hash = |name: &str, text: &str| {
            let found = text.strip_prefix(HEX).and_then(Generation::parse);
            found.with_context(|| wrong(name, &format!("`{HEX}` and 64 characters of lower-case hex")))
        };
        let key: [u8; KEY_BYTES] = hash("key", &self.key)?.0;
        let generation = hash("generation", &self.generation)?;
        let user = self.user.strip_prefix(UID).and_then(|user| user.parse().ok());
        let user = user.with_context(|| wrong("user", &format!("`{UID}` and a number")))?;
        Ok(Channel { socket, user, identity: Identity { key, generation } })
    }
}

impl Channel {
    pub(crate) fn receiver(&self) -> Receiver {
        Receiver::new(self.socket.clone(), self.identity, self.user, peer_user)
    }
}

/// The key is not shown.
impl std::fmt::Debug for Settings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Settings").field("socket", &self.socket).finish_non_exhaustive()
    }
}

#[cfg(target_os = "linux")]
fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// Falco's plugins run on Linux; elsewhere no peer is known, so none is accepted.
#[cfg(not(target_os = "linux"))]
fn peer_user(_: &UnixStream) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}
