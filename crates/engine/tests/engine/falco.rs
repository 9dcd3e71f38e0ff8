//! A scripted Falco: the plugin's end of the channel, the exported rules in two-valued logic without levels, and one
//! alert for each matching rule. What happens to an alert is up to a script.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use castellan_rows::{Event, PlainRow, Receiver, Seen, plain_fields};
use castellan_rules::{Loaded, Options, Source, load};
use serde_json::json;

use crate::http::Poster;
use crate::world::{Castellan, Rules, peer_user, user};

/// An alert that Falco wants to post.
#[derive(Debug, Clone)]
pub(crate) struct Alert {
    pub(crate) body: String,
    /// The nonce of its row.
    pub(crate) nonce: String,
    /// It reports the row as judged.
    pub(crate) is_seen: bool,
}

/// The script: posts alerts, or does something else with them. `None` is the call when nothing else happens.
pub(crate) type Script<'s> = &'s mut dyn FnMut(&mut Poster, Option<Alert>);

/// Ends a Falco when the work beside it ends, by a panic too.
pub(crate) struct Over<'o>(pub(crate) &'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Falco with exported rules.
pub(crate) struct Falco {
    rules: Loaded,
    receiver: Receiver,
    poster: Poster,
    secret: (String, String),
}

impl Falco {
    pub(crate) fn start(castellan: &Castellan, rules: &Rules) -> Falco {
        Falco::with(&rules.exported.yaml, &castellan.socket, castellan, rules)
    }

    /// Starts with another rule file.
    pub(crate) fn with(yaml: &str, socket: &Path, castellan: &Castellan, rules: &Rules) -> Falco {
        let source = Source { name: "exported.yaml".to_owned(), text: yaml.to_owned() };
        let loaded = load(&[source], &plain_fields(), &Options { lints: false, ..Options::default() });
        assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        let receiver = Receiver::new(socket.to_owned(), rules.identity(), user(), peer_user);
        let secret = (castellan.secret.path().to_owned(), castellan.secret.agent().to_owned());
        Falco { rules: loaded, receiver, poster: Poster::new(castellan.engine.address()), secret }
    }

    /// Judges rows until the end.
    pub(crate) fn run(&mut self, is_over: &AtomicBool, script: Script<'_>) {
        while !is_over.load(Ordering::SeqCst) {
            match self.receiver.receive(Duration::from_millis(5)) {
                Ok(Some(mut call)) => {
                    while let Some(event) = call.next_event().unwrap() {
                        for alert in self.alerts(&event) {
                            script(&mut self.poster, Some(alert));
                        }
                    }
                }
                Ok(None) | Err(_) => script(&mut self.poster, None),
            }
        }
    }

    /// The alerts on an event, in the order of the rules.
    fn alerts(&self, event: &[u8]) -> Vec<Alert> {
        let event = Event::read(event).unwrap();
        let nonce = String::from_utf8(event.nonce().to_vec()).unwrap().replace('\0', "");
        let hits = self.rules.rules.evaluate(&PlainRow(event));
        let rules = self.rules.rules.rules();
        let last = rules.len() - 1;
        let matched = hits.iter().map(|hit| hit.rule as u64).filter(|rule| *rule < last as u64).collect();
        let seen = Seen { nonce: castellan_rows::Nonce::parse(&nonce).unwrap(), rules: matched }.to_string();
        let alert = |hit: &castellan_rules::Hit| {
            let (rule, is_seen) = (&rules[hit.rule], hit.rule == last);
            let mut fields = json!({ "evt.time": 1, "row.nonce": nonce });
            if is_seen {
                fields["row.seen"] = seen.clone().into();
            }
            let body = json!({
                "hostname": "h", "output": hit.message, "output_fields": fields, "priority": rule.priority.as_str(),
                "rule": rule.name, "source": "coding_agent", "tags": &*rule.tags, "time": "2026-01-01T00:00:00.000000000Z",
            });
            Alert { body: body.to_string(), nonce: nonce.clone(), is_seen }
        };
        hits.iter().map(alert).collect()
    }

    /// Returns path and user agent of this Falco's configuration.
    pub(crate) fn secret(&self) -> (String, String) {
        self.secret.clone()
    }
}
