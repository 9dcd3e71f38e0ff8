//! [`Events`]: copies of judged calls for a Falco of the user's own, which has castellan's plugin as one more source. It
//! decides nothing: a copy is made after the decision, and one that cannot be sent is lost.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use castellan_event::{Answers, Call, Facts, Session, rows};
use castellan_falco::engine_config::{SourceConfig, source};
use castellan_files::{Guard, explained, read_guarded, write_private};
use castellan_rows::{Generation, Identity, KEY_BYTES, Nonce, Sender, encode};

use super::ENGINE;
use super::place::Place;
use crate::limits::{EVENTS_TIME, EVENTS_WAITING_MAX};
use crate::platform::peer_of;

/// The copies of this process.
pub(crate) static EVENTS: Events = Events { running: Mutex::new(None) };

/// No rules of castellan judge a copy.
const GENERATION: Generation = Generation([0; 32]);

/// The files of the copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedEvents {
    /// The folder of the socket and the fragment.
    pub(crate) place: PathBuf,
    /// The file with the key of the channel, which stays the same.
    pub(crate) key: PathBuf,
    /// The plugin's library.
    pub(crate) library: String,
}

/// The copies.
#[derive(Debug)]
pub(crate) struct Events {
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    wanted: WantedEvents,
    sender: Arc<Sender>,
    queue: SyncSender<Vec<u8>>,
}

impl Events {
    /// Makes copies from now on; `None` ends it. A failure is recorded, and calls go on without copies.
    pub(crate) fn want(&self, wanted: Option<WantedEvents>) {
        let mut running = self.lock();
        if running.as_ref().map(|running| &running.wanted) == wanted.as_ref() {
            return;
        }
        // The socket of the one before is free before the next one takes its place.
        *running = None;
        if let Some(wanted) = wanted {
            match Running::start(wanted) {
                Ok(started) => *running = Some(started),
                Err(why) => ENGINE.tell(&format!("no copies of calls for a Falco: {why}")),
            }
        }
    }

    /// Copies a judged call. Never waits.
    pub(crate) fn copy(&self, call: &Call, facts: &Facts, session: &Session, answers: &Answers) {
        let running = self.lock();
        let Some(Running { sender, queue, .. }) = &*running else { return };
        if sender.connection().is_none() {
            return;
        }
        let queue = queue.clone();
        drop(running);
        let Ok(rows) = rows(call, facts, session, answers) else { return };
        let marks: Vec<&str> = session.marks.keys().map(String::as_str).collect();
        let nonces: Option<Vec<Nonce>> = rows.iter().map(|_| random().map(Nonce).ok()).collect();
        let copy = nonces.and_then(|nonces| encode(&rows, &marks, GENERATION, &nonces).ok());
        // A Falco that does not keep up loses calls.
        copy.map(|copy| queue.try_send(copy));
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    fn start(wanted: WantedEvents) -> Result<Running, String> {
        let at = |path: &Path, error: &io::Error| format!("`{}`: {}", path.display(), explained(error));
        if let Some(above) = wanted.place.parent() {
            let made = DirBuilder::new().mode(0o700).recursive(true).create(above);
            made.map_err(|error| at(above, &error))?;
        }
        let place = Place::make(&wanted.place)?;
        let key = key(&wanted.key).map_err(|error| at(&wanted.key, &error))?;
        let listener = place.listen()?;
        let identity = Identity { key, generation: GENERATION };
        let sender = Sender::start(listener, identity, Box::new(admit), |_| {});
        let sender = Arc::new(sender.map_err(|error| at(&place.socket(), &error))?);
        let socket = place.socket().display().to_string();
        let fragment = source(&SourceConfig {
            library: &wanted.library,
            socket: &socket,
            user: rustix::process::geteuid().as_raw(),
            key: &base16ct::lower::encode_string(&key),
            generation: &GENERATION.to_string(),
        });
        write_private(&place.config(), fragment.as_bytes()).map_err(|error| at(&place.config(), &error))?;
        let (queue, copies) = sync_channel(EVENTS_WAITING_MAX);
        let to = Arc::clone(&sender);
        let thread = std::thread::Builder::new().name("falco events".to_owned());
        thread.spawn(move || send(&copies, &to)).map_err(|error| format!("no thread: {error}"))?;
        Ok(Running { wanted, sender, queue })
    }
}

/// Sends copies until nobody makes them.
fn send(copies: &Receiver<Vec<u8>>, to: &Sender) {
    for copy in copies {
        // A Falco that has gone or does not read loses this call.
        to.send(&copy, Instant::now() + EVENTS_TIME).unwrap_or_default();
    }
}

/// Lets in root and the user of the daemon: both can read the log, which holds more.
fn admit(stream: &UnixStream) -> Result<(), String> {
    let peer = peer_of(stream).map_err(|error| error.to_string())?;
    let own = rustix::process::geteuid().as_raw();
    if [0, own].contains(&peer.user) { Ok(()) } else { Err(format!("user {} gets no copies", peer.user)) }
}

/// Returns the key of the channel. A missing one is made.
fn key(file: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let own = Guard::Owner(rustix::process::geteuid().as_raw());
    match read_guarded(file, KEY_BYTES as u64 * 2 + 1, own) {
        Ok(text) => {
            let wrong = || io::Error::new(io::ErrorKind::InvalidData, "it is no key: remove it");
            Ok(Generation::parse(text.trim_end()).ok_or_else(wrong)?.0)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = random()?;
            write_private(file, base16ct::lower::encode_string(&key).as_bytes())?;
            Ok(key)
        }
        Err(error) => Err(error),
    }
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}
