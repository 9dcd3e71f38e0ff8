//! [`Channel`]: the listeners of one start of Falco, its files, and the one process that may connect, once. Falco may read
//! its files again and then connect again. castellan does not know what it has read then, so a second connection is refused.
//!
//! It must not know when Falco starts or ends.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use castellan_engine::{RemoteEngine, Secret, Setup};
use castellan_falco::engine_config::{EngineConfig, alone};
use castellan_rows::{Generation, Identity, SenderEvent};

use super::Wanted;
use super::place::Place;
use super::unchanged::Stamps;
use crate::peers::AgentProcess;
use crate::platform::peer_of;

/// The process that may connect; `None`: no process. Locked while it starts.
#[derive(Debug, Clone, Default)]
pub(super) struct Only(Arc<Mutex<Option<AgentProcess>>>);

impl Only {
    pub(super) fn lock(&self) -> MutexGuard<'_, Option<AgentProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets in no process from now on.
    pub(super) fn none(&self) {
        *self.lock() = None;
    }

    /// The error says why a process is not let in.
    fn admit(&self, stream: &UnixStream) -> Result<(), String> {
        let peer = peer_of(stream).map_err(|error| error.to_string())?;
        let Some(own) = *self.lock() else {
            return Err(format!("process {} connects, and no Falco is expected", peer.pid));
        };
        // A later process may have the same id.
        let found = process(peer.pid);
        match found == Some(own) && peer.user == rustix::process::geteuid().as_raw() {
            true => Ok(()),
            false => Err(format!(
                "process {} is not the Falco that castellan started, which is process {}",
                peer.pid, own.pid
            )),
        }
    }
}

/// Returns the process that has this id now.
pub(super) fn process(pid: u32) -> Option<AgentProcess> {
    Some(AgentProcess::of(pid)).filter(|process| process.pid != 0)
}

/// The listeners and files of one start.
pub(super) struct Channel {
    pub(super) only: Only,
    pub(super) place: Place,
    url: String,
    secret: Secret,
    key: String,
    /// The configuration, once it is written.
    config: String,
}

impl Channel {
    /// Makes the folder, and listens with new secrets. `heard` is called on a thread of the channel.
    pub(super) fn open(
        wanted: &Wanted,
        heard: impl Fn(&SenderEvent) + Send + 'static,
    ) -> Result<(Channel, Arc<RemoteEngine>), String> {
        let place = Place::make(&wanted.place)?;
        let rows = place.listen()?;
        let alerts = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|error| format!("no port of the loopback is free for Falco's alerts: {error}"))?;
        let generation = &wanted.rules.generation;
        let mut key = [0; castellan_rows::KEY_BYTES];
        getrandom::fill(&mut key).map_err(|error| format!("the system gives no random numbers: {error}"))?;
        let identity = Identity {
            key,
            generation: Generation::parse(generation).ok_or("the rules have no generation")?,
        };
        let secret = Secret::random().map_err(|error| error.to_string())?;
        let only = Only::default();
        let (admitting, ending) = (only.clone(), only.clone());
        let setup = Setup {
            rows,
            alerts,
            identity,
            secret: secret.clone(),
            rules: wanted.rules.count,
            roll: wanted.rules.roll.clone(),
            admit: Box::new(move |stream| admitting.admit(stream)),
        };
        let remote = RemoteEngine::start(setup, move |event| {
            // Before the same thread accepts again.
            if let SenderEvent::Closed(_) = event {
                ending.none();
            }
            heard(event);
        });
        let remote = Arc::new(remote.map_err(|error| format!("Falco's channel: {error}"))?);
        let url = format!("http://{}{}", remote.address(), secret.path());
        Ok((
            Channel {
                only,
                place,
                url,
                secret,
                key: base16ct::lower::encode_string(&key),
                config: String::new(),
            },
            remote,
        ))
    }

    /// Writes the rules and the configuration. `library`: the plugin's, as it was checked.
    pub(super) fn write(&mut self, wanted: &Wanted, library: &str) -> Result<(), String> {
        let text = |path: PathBuf| {
            path.into_os_string().into_string().map_err(|path| format!("`{}` is not UTF-8", path.display()))
        };
        let (rules, socket) = (text(self.place.rules())?, text(self.place.socket())?);
        self.config = alone(&EngineConfig {
            rules: &rules,
            library,
            socket: &socket,
            user: rustix::process::geteuid().as_raw(),
            key: &self.key,
            generation: &wanted.rules.generation,
            url: &self.url,
            user_agent: self.secret.agent(),
        });
        self.place.write(&self.config, &wanted.rules.yaml)
    }

    /// Checks that the files are as they were written, and returns their states.
    pub(super) fn stamps(&self, wanted: &Wanted) -> Result<Stamps, String> {
        let own = self.place.read_at_start();
        let stamps = Stamps::of(own.iter().map(PathBuf::as_path))?;
        // After the stamps, so that every later change shows.
        self.place.check(&self.config, &wanted.rules.yaml)?;
        Ok(stamps)
    }

    /// Connects as Falco does, with all that Falco knows. Returns the connected end, or the refusal.
    #[cfg(test)]
    pub(super) fn connect(&self, wanted: &Wanted) -> Result<castellan_rows::Receiver, String> {
        let parse = |text: &str| Generation::parse(text).unwrap();
        let identity = Identity { key: parse(&self.key).0, generation: parse(&wanted.rules.generation) };
        let user = rustix::process::geteuid().as_raw();
        let peer = |stream: &UnixStream| peer_of(stream).map(|peer| peer.user);
        let mut receiver = castellan_rows::Receiver::new(self.place.socket(), identity, user, peer);
        match receiver.receive(std::time::Duration::ZERO) {
            Ok(_) => Ok(receiver),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// No process is let in any more, and the secrets go.
impl Drop for Channel {
    fn drop(&mut self) {
        self.only.none();
        // The next start removes what stays.
        let _ = self.place.clear();
    }
}

#[cfg(test)]
mod tests;
