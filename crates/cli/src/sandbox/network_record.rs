//! What the proxy of a sandbox refused, and the secrets that it sent: shown to the person and recorded, once for each host. A
//! program inside can cause any number of events, so their number is limited.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use castellan_daemon::{ControlClient, RunNote};
use castellan_proxy::{Event, What};
use castellan_wire::Home;

use crate::limits::NETWORK_NOTES_MAX;
use crate::output::{WARNING, write_messages};

/// The network of one sandbox, as it is shown and recorded.
#[derive(Debug)]
pub(super) struct NetworkRecord {
    client: ControlClient,
    known: Mutex<Known>,
}

/// The events of a sandbox so far.
#[derive(Debug, Default)]
struct Known(BTreeSet<String>);

/// The answer to an event.
#[derive(Debug, PartialEq, Eq)]
enum Note {
    /// It is recorded.
    New(String),
    /// It is the first that is too many.
    Last,
    /// Nothing is done.
    Old,
}

impl NetworkRecord {
    pub(super) fn new(home: &Home) -> NetworkRecord {
        NetworkRecord { client: ControlClient::new(home.clone()), known: Mutex::default() }
    }

    /// Shows and records an event, unless an equal one was recorded before. The proxy calls it from several threads.
    pub(super) fn see(&self, event: &Event) {
        for text in texts(event) {
            let note = self.known.lock().unwrap_or_else(PoisonError::into_inner).add(text);
            let (recorded, shown) = match (note, &event.what) {
                (Note::Old, _) => continue,
                (Note::Last, _) => {
                    let text = "further hosts are neither shown nor recorded".to_owned();
                    (text.clone(), Some(text))
                }
                (Note::New(text), What::Refused(why)) => {
                    (text, Some(format!("the sandbox refused {}:{}: {why}", event.host, event.port)))
                }
                (Note::New(text), What::Opened { .. } | What::Sent { .. } | What::Closed { .. }) => {
                    (text, None)
                }
            };
            let failed = self.client.note_run(RunNote::SandboxNetwork, &recorded).err();
            let unrecorded = failed.map(|why| format!("the log lacks `{recorded}`: {why}"));
            let lines: Vec<String> = shown.into_iter().chain(unrecorded).collect();
            let _closed = write_messages(&mut anstream::stderr(), WARNING, &lines);
        }
    }
}

/// Returns the lines for the log: a refusal, or one for each secret that was sent.
fn texts(event: &Event) -> Vec<String> {
    let Event { host, port, .. } = event;
    match &event.what {
        What::Refused(why) => vec![format!("refused {host}:{port}: {}", why.code())],
        What::Sent { secrets, .. } => {
            secrets.iter().map(|name| format!("secret {name} sent to {host}:{port}")).collect()
        }
        What::Opened { .. } | What::Closed { .. } => Vec::new(),
    }
}

impl Known {
    fn add(&mut self, text: String) -> Note {
        if self.0.len() > NETWORK_NOTES_MAX || self.0.contains(&text) {
            return Note::Old;
        }
        self.0.insert(text.clone());
        if self.0.len() > NETWORK_NOTES_MAX { Note::Last } else { Note::New(text) }
    }
}

#[cfg(test)]
mod tests {
    use castellan_proxy::{Refusal, Way};

    use super::*;

    fn event(host: &str, what: What) -> Event {
        Event { connection: 1, way: Way::Connect, host: host.to_owned(), port: 443, request: None, what }
    }

    #[test]
    fn a_refusal_and_a_sent_secret_are_noted() {
        assert_eq!(texts(&event("a.test", What::Refused(Refusal::Host))), ["refused a.test:443: host"]);
        let address = "192.0.2.1:443".parse().unwrap();
        let sent = What::Sent { address, secrets: vec!["TOKEN".to_owned(), "OTHER".to_owned()] };
        let expected = ["secret TOKEN sent to a.test:443", "secret OTHER sent to a.test:443"];
        assert_eq!(texts(&event("a.test", sent)), expected);
        assert_eq!(texts(&event("a.test", What::Opened { address })), [""; 0]);
    }

    #[test]
    fn an_event_is_noted_once_and_no_flood_is() {
        let mut known = Known::default();
        let mut notes = Vec::new();
        for number in 0..NETWORK_NOTES_MAX * 3 {
            for _ in 0..2 {
                notes.push(known.add(format!("refused {number}.test:443: host")));
            }
        }
        let count = |wanted: fn(&Note) -> bool| notes.iter().filter(|note| wanted(note)).count();
        assert_eq!(count(|note| matches!(note, Note::New(_))), NETWORK_NOTES_MAX);
        assert_eq!(count(|note| *note == Note::Last), 1);
        assert!(known.0.len() <= NETWORK_NOTES_MAX + 1);
    }
}
