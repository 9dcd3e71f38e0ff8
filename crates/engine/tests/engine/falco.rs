//! A scripted Falco: the plugin's end of the channel, the exported rules in two-valued logic without levels, and one
//! alert for each matching rule. What happens to an alert is up to a script.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use castellan_event::{Row as _, Value, field_index};
use castellan_rows::{Event, PlainRow, ROLL_CALL, Receiver, Seen, plain_fields};
use castellan_rules::{Loaded, Options, Problem, Rule, Severity, Source, load};
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
    /// The row is a roll call.
    pub(crate) is_on_roll_call: bool,
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
    /// The number of the field `row.seen`.
    seen: usize,
    receiver: Receiver,
    poster: Poster,
    secret: (String, String),
    /// The script gets the alerts on roll calls, too.
    pub(crate) spoils_roll_call: bool,
}

/// The script of a Falco that loses nothing.
pub(crate) fn honest(secret: (String, String)) -> impl FnMut(&mut Poster, Option<Alert>) {
    move |poster, alert| {
        if let Some(alert) = alert {
            assert_eq!(poster.post(&secret.0, &secret.1, &alert.body), 200);
        }
    }
}

impl Falco {
    pub(crate) fn start(castellan: &Castellan, rules: &Rules) -> Falco {
        Falco::with(&[&rules.exported.yaml], Options::default(), castellan, rules)
    }

    /// Starts with other rule files.
    pub(crate) fn with(files: &[&str], options: Options, castellan: &Castellan, rules: &Rules) -> Falco {
        let source = |text: &&str| Source { name: "rules.yaml".to_owned(), text: (*text).to_owned() };
        let sources: Vec<_> = files.iter().map(source).collect();
        let loaded = load(&sources, &plain_fields(), &Options { lints: false, ..options });
        let is_error = |problem: &Problem| problem.severity == Severity::Error;
        assert!(!loaded.problems.iter().any(is_error), "{:?}", loaded.problems);
        let receiver = Receiver::new(castellan.socket.clone(), rules.identity(), user(), peer_user);
        let secret = (castellan.secret.path().to_owned(), castellan.secret.agent().to_owned());
        let seen = plain_fields().iter().position(|field| field.name == "row.seen");
        let poster = Poster::new(castellan.engine.address());
        Falco { rules: loaded, seen: seen.unwrap(), receiver, poster, secret, spoils_roll_call: false }
    }

    /// Runs `work` beside this Falco.
    pub(crate) fn beside<T: Send>(mut self, script: Script<'_>, work: impl FnOnce() -> T + Send) -> T {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let _over = Over(&is_over);
                work()
            });
            self.run(&is_over, script);
            work.join().unwrap()
        })
    }

    /// Judges rows until the end. Only the script of [`Falco::spoils_roll_call`] gets alerts on roll calls.
    pub(crate) fn run(&mut self, is_over: &AtomicBool, script: Script<'_>) {
        while !is_over.load(Ordering::SeqCst) {
            match self.receiver.receive(Duration::from_millis(5)) {
                Ok(Some(mut call)) => {
                    while let Some(event) = call.next_event().unwrap() {
                        for alert in self.alerts(&event) {
                            if alert.is_on_roll_call && !self.spoils_roll_call {
                                let (path, agent) = &self.secret;
                                assert_eq!(self.poster.post(path, agent, &alert.body), 200);
                            } else {
                                script(&mut self.poster, Some(alert));
                            }
                        }
                    }
                }
                Ok(None) | Err(_) => script(&mut self.poster, None),
            }
        }
    }

    /// The alerts on an event, in the order of the rules. The plugin knows the rules that reported before.
    fn alerts(&self, event: &[u8]) -> Vec<Alert> {
        let event = Event::read(event).unwrap();
        let nonce = String::from_utf8(event.nonce().to_vec()).unwrap().replace('\0', "");
        let row = PlainRow(event);
        let level = row.value(field_index("row.level").unwrap(), None);
        let is_roll_call = level == Value::Text(ROLL_CALL.as_bytes().into());
        let hits = self.rules.rules.evaluate(&row);
        let mut reported = Seen { nonce: castellan_rows::Nonce::parse(&nonce).unwrap(), rules: Vec::new() };
        let mut alerts = Vec::new();
        for (at, rule) in self.rules.rules.rules().iter().enumerate() {
            let hit = hits.iter().find(|hit| hit.rule == at);
            let is_tested = rule.enabled && (is_roll_call || hit.is_some());
            if let Some(number) = number(rule).filter(|_| is_tested) {
                reported.rules.push(number);
                reported.rules.sort_unstable();
            }
            if let Some(hit) = hit {
                let is_seen = rule.output_fields.contains(&self.seen);
                let alert = alert(rule, &hit.message, &nonce, is_seen.then_some(&reported));
                alerts.push(Alert { is_on_roll_call: is_roll_call, ..alert });
            }
        }
        alerts
    }

    /// Returns path and user agent of this Falco's configuration.
    pub(crate) fn secret(&self) -> (String, String) {
        self.secret.clone()
    }
}

/// The number that a rule reports.
fn number(rule: &Rule) -> Option<u64> {
    let (_, rest) = rule.condition.split_once("row.match[")?;
    rest.split_once(']')?.0.parse().ok()
}

/// `reported`: the report, if the rule is the one that reports.
fn alert(rule: &Rule, message: &str, nonce: &str, reported: Option<&Seen>) -> Alert {
    let mut fields = json!({ "evt.time": 1, "row.nonce": nonce });
    if let Some(reported) = reported {
        fields["row.seen"] = reported.to_string().into();
    }
    let body = json!({
        "hostname": "h", "output": message, "output_fields": fields, "priority": rule.priority.as_str(),
        "rule": rule.name, "source": "coding_agent", "tags": &*rule.tags, "time": "2026-01-01T00:00:00.000000000Z",
    });
    let is_seen = reported.is_some();
    Alert { body: body.to_string(), nonce: nonce.to_owned(), is_seen, is_on_roll_call: false }
}
