//! The daemon's end of the channel, as castellan has it.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use castellan_rows::{Generation, Identity, Nonce, SendError, Sender, SenderEvent};
use tempfile::TempDir;

use crate::host::LONG;

pub(crate) const IDENTITY: Identity = Identity { key: [1; 32], generation: Generation([2; 32]) };

/// The end of the daemon.
pub(crate) struct Daemon {
    pub(crate) sender: Sender,
    events: Mutex<Receiver<SenderEvent>>,
    /// The plugin's `init_config`.
    pub(crate) settings: String,
    _directory: TempDir,
}

impl Daemon {
    pub(crate) fn start() -> Daemon {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rows.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let (tell, events) = channel();
        let user = rustix::process::getuid().as_raw();
        let admit = Box::new(move |stream: &UnixStream| match peer_user(stream) {
            Ok(peer) if peer == user => Ok(()),
            other => Err(format!("{other:?}")),
        });
        let tell = move |event| tell.send(event).unwrap_or_default();
        let sender = Sender::start(listener, IDENTITY, admit, tell).unwrap();
        let settings = settings(path.to_str().unwrap(), user, &"01".repeat(32), &"02".repeat(32));
        Daemon { sender, events: Mutex::new(events), settings, _directory: directory }
    }

    pub(crate) fn event(&self) -> SenderEvent {
        self.events.lock().unwrap().recv_timeout(LONG).unwrap()
    }

    pub(crate) fn send(&self, call: &[u8]) -> Result<u64, SendError> {
        self.sender.send(call, Instant::now() + LONG)
    }
}

pub(crate) fn settings(socket: &str, user: u32, key: &str, generation: &str) -> String {
    format!(
        r#"{{"socket":"{socket}","user":"uid:{user}","key":"hex:{key}","generation":"hex:{generation}"}}"#
    )
}

fn peer_user(stream: &UnixStream) -> std::io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// A nonce that holds a number.
pub(crate) fn nonce(number: u64) -> Nonce {
    let mut bytes = [0xee; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Nonce(bytes)
}
