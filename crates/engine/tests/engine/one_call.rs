//! One call at a time.

use std::io::Read as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use castellan_engine::EngineError;
use castellan_rows::{ALERT_BYTES_MAX, SendError};
use castellan_rules::Options;
use castellan_scripted_falco::{Alert, Poster};

use crate::falco::{Falco, Script, honest};
use crate::world::{Castellan, LONG, Made, Rules, rows, rows_of};

const SHORT: Duration = Duration::from_millis(300);

/// Runs `work` beside a Falco with a script, which has answered the roll call.
fn beside<T: Send>(
    falco: Falco,
    castellan: &Castellan,
    script: Script<'_>,
    work: impl FnOnce() -> T + Send,
) -> T {
    falco.beside(script, || {
        assert!(castellan.engine.wait_for_engine(Instant::now() + LONG));
        work()
    })
}

#[test]
fn the_answer_is_that_of_castellans_own_engine() {
    let rules = Rules::load();
    let castellan = Castellan::start(&rules);
    let falco = Falco::start(&castellan, &rules);
    let mut script = honest(falco.secret());
    beside(falco, &castellan, &mut script, || {
        let mut fired = 0;
        for number in 0..100 {
            let rows = rows_of(number);
            let native = rules.native(&rows);
            assert_eq!(castellan.matches(&rows, LONG).unwrap(), native, "{rows:?}");
            fired += native.iter().flatten().count();
        }
        assert!(fired > 150);
        assert_eq!(castellan.matches(&[] as &[Made], LONG), Ok(vec![]));
    });
}

/// Asks about one call with a deny, whose alerts go through a script.
fn asked(
    make: impl FnOnce((String, String)) -> Box<dyn FnMut(&mut Poster, Option<Alert>)>,
) -> Result<Vec<Vec<u64>>, EngineError> {
    asked_for(SHORT, make)
}

/// The same with another time for the answer.
fn asked_for(
    wait: Duration,
    make: impl FnOnce((String, String)) -> Box<dyn FnMut(&mut Poster, Option<Alert>)>,
) -> Result<Vec<Vec<u64>>, EngineError> {
    let rules = Rules::load();
    let castellan = Castellan::start(&rules);
    let falco = Falco::start(&castellan, &rules);
    let mut script = make(falco.secret());
    let denied = rows("rm", &["x"], "delete", "/etc/x");
    assert_eq!(rules.native(&denied)[1], vec![1]);
    beside(falco, &castellan, &mut *script, || castellan.matches(&denied, wait))
}

#[test]
fn a_lost_alert_of_a_rule_changes_nothing() {
    let matches = asked(|secret| {
        let mut honest = honest(secret);
        Box::new(move |poster, alert| honest(poster, alert.filter(|alert| alert.is_seen)))
    });
    assert_eq!(matches.unwrap()[1], vec![1]);
}

#[test]
fn a_lost_report_is_no_answer() {
    let matches = asked(|secret| {
        let mut honest = honest(secret);
        Box::new(move |poster, alert| honest(poster, alert.filter(|alert| !alert.is_seen)))
    });
    assert_eq!(matches, Err(EngineError::Late { missing: 3, rows: 3 }));
}

#[test]
fn a_report_of_a_stranger_is_no_answer() {
    for (path, agent) in [(true, false), (false, true), (false, false)] {
        let matches = asked(|secret| {
            Box::new(move |poster, alert| {
                if let Some(alert) = alert {
                    let path = if path { &secret.0 } else { "/alerts" };
                    let agent = if agent { &secret.1 } else { "falcosecurity/falco" };
                    assert_eq!(poster.post(path, agent, &alert.body), 0, "it is disconnected");
                }
            })
        });
        assert_eq!(matches, Err(EngineError::Late { missing: 3, rows: 3 }));
    }
}

/// Each report is in an alert with a long text before it. Returns the answer about the call.
fn asked_with_alerts_of(bytes: usize, wait: Duration) -> Result<Vec<Vec<u64>>, EngineError> {
    asked_for(wait, |secret| {
        let mut honest = honest(secret);
        Box::new(move |poster, alert| {
            let long = |alert: Alert| {
                let start = r#"{"output":""#;
                let rest = format!("\",{}", alert.body.strip_prefix('{').unwrap());
                let rest = rest.replace(r#""output":"#, r#""message":"#);
                let text = "x".repeat(bytes - start.len() - rest.len());
                Alert { body: format!("{start}{text}{rest}"), ..alert }
            };
            honest(poster, alert.filter(|alert| alert.is_seen).map(long));
        })
    })
}

#[test]
fn an_alert_of_any_size_is_taken_and_an_oversized_one_reports_nothing() {
    assert_eq!(asked_with_alerts_of(ALERT_BYTES_MAX, LONG).unwrap()[1], vec![1]);
    let late = Err(EngineError::Late { missing: 3, rows: 3 });
    assert_eq!(asked_with_alerts_of(ALERT_BYTES_MAX + 1, SHORT), late);
}

#[test]
fn strangers_who_hold_all_connections_take_no_place_of_falco() {
    let castellan = Castellan::start(&Rules::load());
    let address = castellan.engine.address();
    let (path, agent) = (castellan.secret.path(), castellan.secret.agent());
    let mut falco = Poster::new(address);
    assert_eq!(falco.post(path, agent, "{}"), 200);
    let mut strangers: Vec<_> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    // The oldest ones end first, and at once.
    for stranger in strangers.iter_mut().take(8) {
        assert_eq!(stranger.read(&mut [0]).unwrap(), 0);
    }
    assert_eq!(falco.post(path, agent, "{}"), 200, "Falco has lost its connection");
    assert_eq!(Poster::new(address).post(path, agent, "{}"), 200, "no connection is free");
    for stranger in &mut strangers {
        assert_eq!(stranger.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn two_reports_that_differ_are_no_answer() {
    let matches = asked(|secret| {
        let mut honest = honest(secret);
        Box::new(move |poster, alert| {
            if let Some(alert) = alert.filter(|alert| alert.is_seen) {
                let without = format!("{}:", alert.nonce);
                let (start, rest) = alert.body.split_once(&without).unwrap();
                let (_, end) = rest.split_once('"').unwrap();
                let empty = Alert { body: format!("{start}{without}\"{end}"), ..alert.clone() };
                honest(poster, Some(empty));
                honest(poster, Some(alert));
            }
        })
    });
    assert_eq!(matches, Err(EngineError::Contradiction));
}

#[test]
fn an_unknown_rule_is_no_answer() {
    let matches = asked(|secret| {
        let mut honest = honest(secret);
        Box::new(move |poster, alert| {
            let alert = alert.map(|alert| Alert {
                body: alert
                    .body
                    .replace(&format!("{}:", alert.nonce), &format!("{}:1,5", alert.nonce))
                    .replace("1,51", "1,5"),
                ..alert
            });
            honest(poster, alert);
        })
    });
    assert!(matches!(matches, Err(EngineError::Contradiction | EngineError::Late { .. })), "{matches:?}");
}

#[test]
fn a_falco_with_rules_of_another_generation_reports_nothing() {
    let rules = Rules::load();
    let castellan = Castellan::start(&rules);
    // The plugin has the new configuration, but the rule file is an old one.
    let old = rules.exported.yaml.replace(&rules.exported.generation, &"0".repeat(64));
    let falco = Falco::with(&[&old], Options::default(), &castellan, &rules);
    let mut script = honest(falco.secret());
    let matches = falco.beside(&mut script, || {
        while castellan.engine.ready(Instant::now()) == Err(SendError::Gone.into()) {}
        castellan.matches(&rows_of(1), SHORT)
    });
    assert_eq!(matches, Err(EngineError::Unready));
}

#[test]
fn a_falco_that_ends_gives_no_answer_and_the_next_one_is_taken() {
    let rules = Rules::load();
    let castellan = Castellan::start(&rules);
    assert_eq!(castellan.matches(&rows_of(1), LONG), Err(EngineError::Send(SendError::Gone)));
    let mut falco = Falco::start(&castellan, &rules);
    let is_over = AtomicBool::new(false);
    let lost = std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            assert!(castellan.engine.wait_for_engine(Instant::now() + LONG));
            castellan.matches(&rows_of(1), LONG)
        });
        // It judges the rows, and ends before it says so.
        falco.run(&is_over, &mut |_, alert| {
            if alert.is_some() {
                is_over.store(true, Ordering::SeqCst);
            }
        });
        drop(falco);
        call.join().unwrap()
    });
    assert_eq!(lost, Err(EngineError::Lost));
    let falco = Falco::start(&castellan, &rules);
    let mut script = honest(falco.secret());
    let matches = beside(falco, &castellan, &mut script, || castellan.matches(&rows_of(1), LONG));
    assert_eq!(matches, Ok(rules.native(&rows_of(1))));
}

#[test]
fn bad_requests_are_refused_and_large_alerts_are_not() {
    let rules = Rules::load();
    let castellan = Castellan::start(&rules);
    let (path, agent) = (castellan.secret.path(), castellan.secret.agent());
    let send = |bytes: &str| Poster::new(castellan.engine.address()).send(bytes.as_bytes());
    let known = format!("{path} HTTP/1.1\r\nUser-Agent: {agent}\r\n");
    for (request, status) in [
        (format!("POST {known}Content-Length: 2\r\n\r\n{{}}"), 200),
        (format!("POST {known}Content-Length: 2\r\n\r\nxx"), 200),
        (format!("POST {known}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{{}}"), 100),
        (format!("GET {known}Content-Length: 2\r\n\r\n{{}}"), 0),
        (format!("POST {known}\r\n"), 0),
        (format!("POST {known}Content-Length: -1\r\n\r\n"), 0),
        (format!("POST {known}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{{}}"), 0),
        (format!("POST {known}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{{}}"), 0),
        (format!("POST {known}User-Agent: {agent}\r\nContent-Length: 2\r\n\r\n{{}}"), 0),
        (format!("POST {known}X: {}\r\nContent-Length: 2\r\n\r\n{{}}", "x".repeat(10_000)), 0),
        ("\0\0\0\r\n\r\n".to_owned(), 0),
    ] {
        assert_eq!(send(&request), status, "{}", request.get(..200).unwrap_or(&request));
    }
    // A rule whose output repeats a large input.
    let mut poster = Poster::new(castellan.engine.address());
    let body = format!(r#"{{"output":"{}","output_fields":{{}}}}"#, "x".repeat(8 << 20));
    assert_eq!(poster.post(path, agent, &body), 200);
    assert_eq!(poster.post(path, agent, "{}"), 200, "on the same connection");
}
