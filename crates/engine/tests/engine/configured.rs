//! A Falco with more configuration than castellan wrote: other rule files, other settings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use castellan_engine::EngineError;
use castellan_rows::{Nonce, Seen, SendError};
use castellan_rules::{Options, Priority, Selected, Selection};
use castellan_scripted_falco::{Alert, Poster};

use crate::falco::{Falco, honest};
use crate::world::{Castellan, LONG, Rules, rows};

const SHORT: Duration = Duration::from_millis(300);

/// The enabled rules of the world.
const RULES: usize = 4;

/// A rule of a person. It has the name of castellan's rule that reports rows.
const SHADOW: &str = r#"
- rule: castellan has seen the row (2)
  desc: d
  condition: tool.name = never
  output: o
  priority: INFO
  source: coding_agent
"#;

/// A part of a rule of castellan, anew.
fn again(keys: &str) -> String {
    format!("- rule: deletes\n{keys}")
}

struct Case {
    name: &'static str,
    before: String,
    after: String,
    options: Options,
    /// Rules that are missing; `None` if it is as good as castellan's own engine.
    missing: Option<usize>,
}

fn cases() -> Vec<Case> {
    let case = |name, missing| Case {
        name,
        before: String::new(),
        after: String::new(),
        options: Options::default(),
        missing,
    };
    let disable = |of| Options { selection: vec![Selection { enable: false, of }], ..Options::default() };
    vec![
        case("castellan's rules alone", None),
        Case {
            after: again("  enabled: false\n  override: {enabled: replace}\n"),
            ..case("a disabled rule", Some(1))
        },
        Case {
            options: disable(Selected::Tag("coding_agent_deny".to_owned())),
            ..case("rules disabled by their tag", Some(1))
        },
        Case {
            options: disable(Selected::Rule("*".to_owned())),
            ..case("all rules disabled, so that nothing is reported", Some(RULES))
        },
        Case {
            after: again("  condition: tool.name = never\n  override: {condition: replace}\n"),
            ..case("another condition", Some(1))
        },
        Case {
            after: again(
                "  desc: d\n  condition: tool.name = never\n  output: o\n  priority: INFO\n  source: coding_agent\n",
            ),
            ..case("another rule of the name", Some(1))
        },
        Case { before: SHADOW.to_owned(), ..case("rows are reported before rules are tested", Some(RULES)) },
        Case { after: SHADOW.to_owned(), ..case("no row is reported", Some(RULES)) },
        Case {
            options: Options { priority: Priority::Warning, ..Options::default() },
            ..case("the less severe rules are left out", Some(RULES))
        },
    ]
}

#[test]
fn a_falco_that_does_not_test_every_rule_before_its_report_judges_nothing() {
    for Case { name, before, after, options, missing } in cases() {
        let rules = Rules::load();
        let castellan = Castellan::start(&rules);
        let files: Vec<&str> = [&before, &rules.exported.yaml, &after]
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| &**text)
            .collect();
        let falco = Falco::with(&files, options, &castellan, &rules);
        let mut script = honest(falco.secret());
        let denied = rows("rm", &["x"], "delete", "/etc/x");
        let wait = if missing.is_some() { SHORT } else { LONG };
        let (ready, matches) = falco.beside(&mut script, || {
            // Before the connection there is no roll call.
            while castellan.engine.ready(Instant::now()) == Err(SendError::Gone.into()) {}
            (castellan.engine.ready(Instant::now() + wait), castellan.matches(&denied, wait))
        });
        match missing {
            None => assert_eq!((ready, matches), (Ok(1), Ok(rules.native(&denied))), "{name}"),
            Some(missing) => {
                let problem = matches.unwrap_err();
                assert_eq!(ready, Err(problem.clone()), "{name}");
                let all = EngineError::Rules { missing, rules: RULES };
                assert!(
                    problem == all || (problem == EngineError::Unready && missing == RULES),
                    "{name}: {problem}"
                );
            }
        }
    }
}

#[test]
fn a_roll_call_that_is_lost_forged_or_contradictory_is_no_proof() {
    let castellan_has = Rules::load().exported.roll;
    let report = |nonce: &str, rules: &[u64]| {
        let seen = Seen { nonce: Nonce::parse(nonce).unwrap(), rules: rules.to_vec() };
        format!(r#"{{"output_fields":{{"row.seen":"{seen}"}}}}"#)
    };
    let none: &[&[u64]] = &[];
    for (reports, is_stranger, expected) in [
        (none, false, Err(EngineError::Unready)),
        (&[&castellan_has], true, Err(EngineError::Unready)),
        (&[&[0, 1]], false, Err(EngineError::Rules { missing: 2, rules: RULES })),
        (&[&castellan_has, &[0, 1]], false, Err(EngineError::Contradiction)),
        (&[&castellan_has, &castellan_has], false, Ok(1)),
    ] {
        let rules = Rules::load();
        let castellan = Castellan::start(&rules);
        let mut falco = Falco::start(&castellan, &rules);
        falco.spoils_roll_call = true;
        let (path, agent) = falco.secret();
        let is_posted = AtomicBool::new(false);
        let mut script = |poster: &mut Poster, alert: Option<Alert>| {
            let Some(alert) = alert.filter(|alert| alert.is_seen) else { return };
            for numbers in reports {
                let path = if is_stranger { "/" } else { &path };
                let status = poster.post(path, &agent, &report(&alert.nonce, numbers));
                assert_eq!(status, if is_stranger { 0 } else { 200 });
            }
            // castellan reads the next alert of a connection after it has taken the one before.
            if !is_stranger {
                assert_eq!(poster.post(&path, &agent, "{}"), 200);
            }
            is_posted.store(true, Ordering::SeqCst);
        };
        let ready = falco.beside(&mut script, || {
            let until = Instant::now() + LONG;
            while !is_posted.load(Ordering::SeqCst) && Instant::now() < until {
                // The first question after the connection makes the roll call.
                castellan.engine.ready(Instant::now() + SHORT / 10).unwrap_or_default();
            }
            castellan.engine.ready(Instant::now() + SHORT)
        });
        assert_eq!(ready, expected, "{reports:?}");
    }
}
