//! Calls whose time is over before a new Falco has shown that it tests all rules.

use std::sync::Barrier;
use std::time::Instant;

use castellan_engine::EngineError;
use castellan_rows::SendError;

use crate::falco::{Falco, honest};
use crate::world::{Castellan, LONG, Rules, rows};

const TIMES: usize = 30;
const PAIRS: usize = 4;

#[test]
fn a_call_without_time_takes_no_roll_call_from_others() {
    let rules = Rules::load();
    let rows = rows("rm", &["x"], "write", "/etc/x");
    for _ in 0..TIMES {
        let castellan = Castellan::start(&rules);
        let secret = (castellan.secret.path().to_owned(), castellan.secret.agent().to_owned());
        let falco = Falco::start(&castellan, &rules);
        falco.beside(&mut honest(secret), || {
            let (until, start) = (Instant::now() + LONG, Barrier::new(2 * PAIRS));
            // Without time, so it begins nothing.
            while castellan.engine.ready(Instant::now()) == Err(EngineError::Send(SendError::Gone)) {
                assert!(Instant::now() < until, "no Falco connects");
                std::thread::yield_now();
            }
            assert_eq!(castellan.engine.ready(Instant::now()), Err(EngineError::Unready));
            std::thread::scope(|scope| {
                for _ in 0..PAIRS {
                    scope.spawn(|| {
                        start.wait();
                        let late = (0..20).map(|_| castellan.engine.ready(Instant::now()));
                        assert!(
                            late.into_iter().all(|found| matches!(found, Ok(1) | Err(EngineError::Unready)))
                        );
                    });
                    scope.spawn(|| {
                        start.wait();
                        assert_eq!(castellan.matches(&rows, LONG), Ok(rules.native(&rows)));
                    });
                }
            });
        });
    }
}
