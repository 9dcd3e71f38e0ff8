//! [`RemoteEngine`]: rules that a Falco in another process tests.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Instant;

use castellan_event::Row;
use castellan_rows::{Admit, Identity, Nonce, Sender, SenderEvent, encode};

use crate::alerts::Alerts;
use crate::error::EngineError;
use crate::secret::Secret;
use crate::waiting::Waiting;

/// What an engine needs to start.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct Setup {
    /// The socket of the channel, in a directory of its own that only the user can enter.
    pub rows: UnixListener,
    /// The listener for alerts, on the loopback.
    pub alerts: TcpListener,
    /// Key and generation of rules.
    pub identity: Identity,
    /// The secret of alerts.
    pub secret: Secret,
    /// Number of rules of the generation.
    pub rules: usize,
    /// Decides which process may be Falco.
    pub admit: Admit,
}

/// An engine in another process.
#[derive(Debug)]
pub struct RemoteEngine {
    sender: Sender,
    alerts: Alerts,
    waiting: Arc<Waiting>,
    identity: Identity,
}

impl RemoteEngine {
    /// Starts to listen. `on_event` is called when an engine connects, is refused, or ends.
    pub fn start(setup: Setup, on_event: impl Fn(&SenderEvent) + Send + 'static) -> io::Result<RemoteEngine> {
        let Setup { rows, alerts, identity, secret, rules, admit } = setup;
        let waiting = Arc::new(Waiting::default());
        let reported = Arc::clone(&waiting);
        let alerts = Alerts::start(alerts, secret, move |seen| {
            reported.report(seen, rules);
        })?;
        let ended = Arc::clone(&waiting);
        let sender = Sender::start(rows, identity, admit, move |event| {
            if let SenderEvent::Closed(connection) = event {
                ended.end(connection);
            }
            on_event(&event);
        })?;
        Ok(RemoteEngine { sender, alerts, waiting, identity })
    }

    /// Returns the address of the listener for alerts.
    pub fn address(&self) -> SocketAddr {
        self.alerts.address()
    }

    /// Waits until an engine is connected; reports whether one is.
    pub fn wait_for_engine(&self, deadline: Instant) -> bool {
        self.sender.wait_for_engine(deadline)
    }

    /// Returns the numbers of the rules that match each row, ascending. `keys`: the labels of the session's marks.
    pub fn matches<R: Row>(
        &self,
        rows: &[R],
        keys: &[&str],
        deadline: Instant,
    ) -> Result<Vec<Vec<u64>>, EngineError> {
        let nonces = rows.iter().map(|_| random()).collect::<Result<Vec<_>, _>>()?;
        let call = encode(rows, keys, self.identity.generation, &nonces)?;
        let ticket = self.waiting.register(nonces)?;
        let connection = self.sender.send(&call, deadline)?;
        ticket.wait(connection, deadline)
    }
}

fn random() -> Result<Nonce, EngineError> {
    let mut nonce = Nonce([0; 16]);
    getrandom::fill(&mut nonce.0).map_err(|_| EngineError::Random)?;
    Ok(nonce)
}
