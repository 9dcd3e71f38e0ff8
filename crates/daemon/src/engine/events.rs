//! [`Events`]: copies of judged calls for a Falco of the user's own, which has castellan's plugin as one more source. It
//! decides nothing: a copy is made after the decision, and one that cannot be sent is lost.

mod queue;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Instant;

use castellan_event::{Answers, Call, Facts, Session, rows};
use castellan_falco::engine_config::{SourceConfig, source};
use castellan_files::{Guard, explained, read_guarded, write_private};
use castellan_policy::EngineSettings;
use castellan_rows::{Generation, Identity, KEY_BYTES, Nonce, Sender, encode};

use self::queue::{Queue, queue};
use super::place::Place;
use super::trusted::is_of_root_alone;
use crate::limits::EVENTS_TIME;
use crate::platform::peer_of;

/// No rules of castellan judge a copy.
const GENERATION: Generation = Generation([0; 32]);

/// The files of the copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedEvents {
    /// The folder of the socket and the fragment.
    pub(crate) place: PathBuf,
    /// The file with the key of the channel. It stays the same while copies are wanted.
    pub(crate) key: PathBuf,
    /// The plugin's library. `None`: no copies are wanted, and no file of theirs stays.
    pub(crate) library: Option<String>,
}

/// The copies.
#[derive(Debug, Default)]
pub(super) struct Events {
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    wanted: WantedEvents,
    sender: Arc<Sender>,
    queue: Queue,
}

impl Events {
    /// Makes copies from now on, or none. `record` gets the reason if that fails.
    pub(super) fn want(&self, wanted: WantedEvents, record: impl Fn(&str)) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_ref().is_some_and(|running| running.wanted == wanted) {
            return;
        }
        // The socket of the one before is free before the next one takes its place.
        *running = None;
        let Some(library) = wanted.library.clone() else {
            if let Err(why) = remove(&wanted) {
                record(&format!("the files of copies for a Falco stay: {why}"));
            }
            return;
        };
        match Running::start(wanted, &library) {
            Ok(started) => *running = Some(started),
            Err(why) => record(&format!("no copies of calls for a Falco: {why}")),
        }
    }

    /// Copies a judged call. It waits for nobody: a call that is judged while copies begin or end is not copied.
    pub(super) fn copy(&self, call: &Call, facts: &Facts, session: &Session, answers: &Answers) {
        let running = match self.running.try_lock() {
            Ok(running) => running,
            Err(TryLockError::Poisoned(running)) => running.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
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
        if let Some(copy) = copy {
            queue.add(copy);
        }
    }
}

impl Running {
    fn start(wanted: WantedEvents, library: &str) -> Result<Running, String> {
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
            library: &for_root(library),
            socket: &socket,
            user: rustix::process::geteuid().as_raw(),
            key: &base16ct::lower::encode_string(&key),
            generation: &GENERATION.to_string(),
        });
        write_private(&place.config(), fragment.as_bytes()).map_err(|error| at(&place.config(), &error))?;
        let (queue, copies) = queue();
        let to = Arc::clone(&sender);
        let thread = std::thread::Builder::new().name("falco events".to_owned());
        // A Falco that has gone or does not read loses this call.
        let send = move |copy: &[u8]| {
            to.send(copy, Instant::now() + EVENTS_TIME).unwrap_or_default();
        };
        thread.spawn(move || copies.send(send)).map_err(|error| format!("no thread: {error}"))?;
        Ok(Running { wanted, sender, queue })
    }
}

/// Removes the socket, the fragment and the key: a Falco that knew the key gets no later copies with it.
fn remove(wanted: &WantedEvents) -> Result<(), String> {
    Place::remove(&wanted.place).map_err(|error| at(&wanted.place, &error))?;
    match std::fs::remove_file(&wanted.key) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&wanted.key, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {}", path.display(), explained(error))
}

/// Returns the library that the fragment names. A Falco of root loads it, so it is the configured one only if root alone can
/// write that file. Else it is the one in the place of Falco's plugins.
fn for_root(configured: &str) -> String {
    match is_of_root_alone(Path::new(configured)) {
        true => configured.to_owned(),
        false => EngineSettings::native().plugin,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn files(home: &Path, library: Option<&str>) -> WantedEvents {
        let (place, key) = (home.join("events"), home.join("events.key"));
        WantedEvents { place, key, library: library.map(str::to_owned) }
    }

    #[test]
    fn a_failure_is_recorded() {
        let (events, home) = (Events::default(), tempfile::tempdir().unwrap());
        let wanted =
            WantedEvents { place: home.path().join("x".repeat(200)), ..files(home.path(), Some("/plugin")) };
        let recorded = std::cell::RefCell::new(String::new());
        events.want(wanted, |line| line.clone_into(&mut recorded.borrow_mut()));
        let recorded = recorded.into_inner();
        assert!(
            recorded.starts_with("no copies of calls for a Falco: ") && recorded.contains("bytes"),
            "{recorded}"
        );
    }

    #[test]
    fn copies_that_end_leave_no_socket_and_no_key() {
        let (events, home) = (Events::default(), tempfile::tempdir().unwrap());
        let want = |library| events.want(files(home.path(), library), |line| panic!("{line}"));
        let key = || std::fs::read_to_string(home.path().join("events.key")).unwrap();
        want(Some("/plugin"));
        let first = key();
        want(Some("/another"));
        assert_eq!(key(), first, "the fragment is installed once");
        assert!(home.path().join("events/s").exists() && home.path().join("events/falco.yaml").exists());
        for _ in 0..2 {
            want(None);
            assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "files stay");
        }
        want(Some("/plugin"));
        assert_ne!(key(), first);
        // The daemon may have ended before the change.
        Events::default().want(files(home.path(), None), |line| panic!("{line}"));
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "files stay");
    }

    /// `castellan engine falco` most often takes a library of the user's.
    #[test]
    fn the_fragment_names_no_library_that_a_user_may_write() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("libcoding_agent.so");
        std::fs::write(&own, "").unwrap();
        let events = Events::default();
        for (library, named) in [
            (own.to_str().unwrap(), "/usr/share/falco/plugins/libcoding_agent.so"),
            ("/usr/libcoding_agent.so", "/usr/libcoding_agent.so"),
        ] {
            events.want(files(home.path(), Some(library)), |line| panic!("{line}"));
            let fragment = std::fs::read_to_string(home.path().join("events/falco.yaml")).unwrap();
            assert!(fragment.contains(&format!("library_path: \"{named}\"\n")), "{fragment}");
        }
    }

    /// The daemon removes nothing at the other end of a link.
    #[test]
    fn files_elsewhere_stay() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = home.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::write(elsewhere.join("falco.yaml"), "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, home.path().join("events")).unwrap();
        let recorded = std::cell::Cell::new(false);
        Events::default().want(files(home.path(), None), |_| recorded.set(true));
        assert!(recorded.get() && elsewhere.join("falco.yaml").exists());
    }
}

#[cfg(test)]
mod copying;
