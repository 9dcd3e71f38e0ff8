//! Invariant of the log: after any sequence of appends, rotations, deletions, restarts and torn lines it verifies.

use std::fs::OpenOptions;
use std::io::Write as _;

use castellan_audit::{Config, Stream, verify};
use proptest::prelude::*;

use crate::support::*;

/// A step in the history of a log.
#[derive(Debug, Clone)]
enum Step {
    Append {
        verdict: &'static str,
        text: String,
    },
    Maintain {
        day: u64,
    },
    Reopen,
    /// A crash in the middle of a line.
    Tear {
        stream: Stream,
        bytes: Vec<u8>,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    let verdict = prop_oneof![Just("allow"), Just("defer"), Just("ask"), Just("deny")];
    let stream = prop_oneof![Just(Stream::Routine), Just(Stream::Notable)];
    let bytes =
        proptest::collection::vec(any::<u8>().prop_filter("no newline", |byte| *byte != b'\n'), 1..40);
    prop_oneof![
        12 => (verdict, "(?s).{0,400}").prop_map(|(verdict, text)| Step::Append { verdict, text }),
        2 => (0u64..400).prop_map(|day| Step::Maintain { day }),
        2 => Just(Step::Reopen),
        1 => (stream, bytes).prop_map(|(stream, bytes)| Step::Tear { stream, bytes }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_life_of_a_log_verifies(steps in proptest::collection::vec(any_step(), 1..60)) {
        let dir = TestDir::new();
        let config = Config { notable_bytes: 6_000, ..small() };
        let mut log = Some(dir.open(config.clone()));
        let mut last = 0;
        for step in steps {
            match step {
                Step::Append { verdict, text } => {
                    let seq = log.as_ref().unwrap().append(&with_text(verdict, text), at(1)).unwrap();
                    prop_assert!(seq > last);
                    last = seq;
                }
                Step::Maintain { day } => log.as_ref().unwrap().maintain(at(day)).unwrap(),
                Step::Reopen => {
                    drop(log.take());
                    log = Some(dir.open(config.clone()));
                }
                Step::Tear { stream, bytes } => {
                    drop(log.take());
                    let mut file = OpenOptions::new().append(true).open(dir.live(stream)).unwrap();
                    file.write_all(&bytes).unwrap();
                    log = Some(dir.open(config.clone()));
                }
            }
            let verification = verify(dir.path()).unwrap();
            prop_assert!(verification.ok(), "{verification:?}");
        }
    }
}
