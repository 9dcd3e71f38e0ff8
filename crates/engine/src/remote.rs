//! [`RemoteEngine`]: rules that a Falco in another process tests.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Instant;

use castellan_event::Row;
use castellan_rows::{Admit, Identity, Nonce, SendError, Sender, SenderEvent, encode};

use crate::alerts::Alerts;
use crate::error::EngineError;
use crate::roll_call::{RollCall, RollCallRow};
use crate::secret::Secret;
use crate::waiting::Waiting;

/// The parts of an engine at its start.
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
    /// The numbers of the enabled rules, ascending.
    pub roll: Vec<u64>,
    /// Decides which process may be Falco.
    pub admit: Admit,
}

/// An engine in another process.
#[derive(Debug)]
pub struct RemoteEngine {
    sender: Sender,
    alerts: Alerts,
    waiting: Arc<Waiting>,
    roll_call: Arc<RollCall>,
    identity: Identity,
}

impl RemoteEngine {
    /// Starts to listen. `on_event` is called when an engine connects, is refused, or ends. An error if the alerts do not come
    /// over the loopback, or if the system gives no thread.
    pub fn start(setup: Setup, on_event: impl Fn(&SenderEvent) + Send + 'static) -> io::Result<RemoteEngine> {
        let Setup { rows, alerts, identity, secret, rules, roll, admit } = setup;
        let (waiting, roll_call) = (Arc::new(Waiting::default()), Arc::new(RollCall::new(roll)));
        let reported = (Arc::clone(&waiting), Arc::clone(&roll_call));
        let alerts = Alerts::start(alerts, secret, move |seen| {
            if !reported.1.report(&seen) {
                reported.0.report(seen, rules);
            }
        })?;
        let ended = (Arc::clone(&waiting), Arc::clone(&roll_call));
        let sender = Sender::start(rows, identity, admit, move |event| {
            if let SenderEvent::Closed(connection) = event {
                ended.0.end(connection);
                ended.1.end(connection);
            }
            on_event(&event);
        })?;
        Ok(RemoteEngine { sender, alerts, waiting, roll_call, identity })
    }

    /// Returns the address of the listener for alerts.
    pub fn address(&self) -> SocketAddr {
        self.alerts.address()
    }

    /// Waits until an engine is connected that tests all rules; reports whether one is.
    pub fn wait_for_engine(&self, deadline: Instant) -> bool {
        self.sender.wait_for_engine(deadline) && self.ready(deadline).is_ok()
    }

    /// Waits until the connected engine has shown that it tests all rules. Returns the number of its connection, or the
    /// reason why no call can be judged now.
    pub fn ready(&self, deadline: Instant) -> Result<u64, EngineError> {
        loop {
            let connection = self.sender.connection().ok_or(SendError::Gone)?;
            let nonce = random()?;
            // A call without time could not send it.
            let has_time = deadline > Instant::now();
            if has_time && self.roll_call.begin(connection, nonce) {
                let sent = encode(&[RollCallRow], &[], self.identity.generation, &[nonce])
                    .map_err(EngineError::from)
                    .and_then(|call| Ok(self.sender.send(&call, deadline)?));
                if sent != Ok(connection) {
                    self.roll_call.forget(nonce);
                    return Err(sent.err().unwrap_or(EngineError::Lost));
                }
            }
            match self.roll_call.wait(connection, deadline) {
                // The call that began it had no time to send it. This one begins it anew.
                Err(EngineError::Lost) if self.sender.connection() == Some(connection) => {
                    if deadline <= Instant::now() {
                        return Err(EngineError::Unready);
                    }
                }
                outcome => return outcome.map(|()| connection),
            }
        }
    }

    /// Returns for each row the numbers of the rules that match it, ascending. `keys`: the labels of the session's marks. An
    /// error, at the latest at `deadline`, is the reason why the call must be denied.
    pub fn matches<R: Row>(
        &self,
        rows: &[R],
        keys: &[&str],
        deadline: Instant,
    ) -> Result<Vec<Vec<u64>>, EngineError> {
        let connection = self.ready(deadline)?;
        let nonces = rows.iter().map(|_| random()).collect::<Result<Vec<_>, _>>()?;
        let call = encode(rows, keys, self.identity.generation, &nonces)?;
        let ticket = self.waiting.register(nonces)?;
        if self.sender.send(&call, deadline)? != connection {
            // Another engine connected meanwhile, which has shown nothing yet.
            return Err(EngineError::Lost);
        }
        ticket.wait(connection, deadline)
    }
}

fn random() -> Result<Nonce, EngineError> {
    let mut nonce = Nonce([0; 16]);
    getrandom::fill(&mut nonce.0).map_err(|_| EngineError::Random)?;
    Ok(nonce)
}
