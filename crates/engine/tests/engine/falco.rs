//! A Falco in a thread of the test: the plugin's end of the channel, and the parts of [`castellan_scripted_falco`]. The fate of
//! each alert is up to a script.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use castellan_rows::Receiver;
use castellan_rules::{Loaded, Options};
use castellan_scripted_falco::{Alert, Poster, alerts_on, load};

use crate::world::{Castellan, Rules, peer_user, user};

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
        let loaded = load(files, options).unwrap();
        let receiver = Receiver::new(castellan.socket.clone(), rules.identity(), user(), peer_user);
        let secret = (castellan.secret.path().to_owned(), castellan.secret.agent().to_owned());
        let poster = Poster::new(castellan.engine.address());
        Falco { rules: loaded, receiver, poster, secret, spoils_roll_call: false }
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
                        for alert in alerts_on(&self.rules.rules, &event).unwrap() {
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

    /// Returns path and user agent of this Falco's configuration.
    pub(crate) fn secret(&self) -> (String, String) {
        self.secret.clone()
    }
}
