//! 10,000 calls beside a Falco that loses, delays, doubles, reorders and forges: never another answer than that of
//! castellan's own engine.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use castellan_engine::EngineError;
use castellan_scripted_falco::{Alert, Poster};

use crate::falco::{Falco, Over};
use crate::world::{Castellan, LONG, Rules, rows_of};

const CALLS: usize = 10_000;
const CLIENTS: usize = 16;
const WAIT: Duration = Duration::from_millis(400);

/// Spoils every tenth alert.
struct Unreliable {
    secret: (String, String),
    alerts: u64,
    /// Alerts that come later, with the number of the alert after which they come.
    held: VecDeque<(u64, Alert)>,
    stranger: Poster,
}

impl Unreliable {
    fn alert(&mut self, poster: &mut Poster, alert: Option<Alert>) {
        let Some(alert) = alert else {
            return self.release(poster, u64::MAX);
        };
        self.alerts += 1;
        match (self.alerts % 10, self.alerts / 10 % 6) {
            (0, 0) => {}
            (0, 1) => self.held.push_back((self.alerts + 400, alert)),
            (0, 2) => {
                self.post(poster, &alert);
                self.post(poster, &alert);
            }
            (0, 3) => self.held.push_back((self.alerts + 2, alert)),
            (0, 4) => {
                // A stranger who has seen the row reports it as harmless, before Falco does.
                let body = format!(r#"{{"output_fields":{{"row.seen":"{}:"}}}}"#, alert.nonce);
                assert_eq!(self.stranger.post("/", &self.secret.1, &body), 0);
                self.post(poster, &alert);
            }
            (0, _) => {
                // Falco's own address, a row that nobody sent, and a report that is none.
                for seen in [format!("{}:", "ab".repeat(16)), format!("{}:,", alert.nonce), "<NA>".to_owned()]
                {
                    let body = format!(r#"{{"output_fields":{{"row.seen":"{seen}"}}}}"#);
                    assert_eq!(poster.post(&self.secret.0, &self.secret.1, &body), 200);
                }
                self.post(poster, &alert);
            }
            _ => self.post(poster, &alert),
        }
        self.release(poster, self.alerts);
    }

    fn release(&mut self, poster: &mut Poster, until: u64) {
        // Only some of the delayed ones come when nothing else happens, so that calls give up meanwhile.
        while let Some((at, alert)) = self.held.pop_front_if(|(at, _)| *at <= until) {
            if until < u64::MAX || at.is_multiple_of(4) {
                self.post(poster, &alert);
            }
        }
    }

    fn post(&self, poster: &mut Poster, alert: &Alert) {
        assert_eq!(poster.post(&self.secret.0, &self.secret.1, &alert.body), 200);
    }
}

/// Asks about a call. An answer must be the right one.
fn is_answered(castellan: &Castellan, rules: &Rules, number: usize) -> bool {
    let rows = rows_of(number);
    match castellan.matches(&rows, WAIT) {
        Ok(matches) => {
            assert_eq!(matches, rules.native(&rows), "call {number}");
            true
        }
        Err(EngineError::Late { .. }) => false,
        Err(error) => panic!("call {number}: {error}"),
    }
}

#[test]
fn no_call_gets_another_answer_than_from_castellans_own_engine() {
    let rules = Rules::load();
    let castellan = Castellan::start(&rules);
    let mut falco = Falco::start(&castellan, &rules);
    let stranger = Poster::new(castellan.engine.address());
    let mut script = Unreliable { secret: falco.secret(), alerts: 0, held: VecDeque::new(), stranger };
    let is_over = AtomicBool::new(false);
    let (answered, late) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = Over(&is_over);
            std::thread::scope(|clients| {
                for client in 0..CLIENTS {
                    let (castellan, rules, answered, late) = (&castellan, &rules, &answered, &late);
                    clients.spawn(move || {
                        assert!(castellan.engine.wait_for_engine(Instant::now() + LONG));
                        for number in (client..CALLS).step_by(CLIENTS) {
                            let count = if is_answered(castellan, rules, number) { answered } else { late };
                            count.fetch_add(1, Ordering::SeqCst);
                        }
                    });
                }
            });
        });
        falco.run(&is_over, &mut |poster, alert| script.alert(poster, alert));
    });
    let (answered, late) = (answered.into_inner(), late.into_inner());
    assert_eq!(answered + late, CALLS as u64);
    assert!(answered > CALLS as u64 / 2, "{answered} of {CALLS} calls were judged");
    assert!(late > 50, "{late} calls were denied in time");
}
