//! The state of the engine without a Falco: each has a reason for the denial, in time.

use std::time::Instant;

use castellan_engine::EngineError;
use castellan_policy::EngineKind;

use super::*;

pub(super) fn engine() -> Arc<Engine> {
    Arc::default()
}

pub(super) fn wanted(refusal: Option<&'static str>) -> (Wanted, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let settings = EngineSettings {
        kind: EngineKind::Falco,
        falco: home.path().join("falco").display().to_string(),
        plugin: home.path().join("plugin").display().to_string(),
        events: false,
    };
    let rules = EngineRules { yaml: String::new(), generation: "ab".repeat(32), count: 0, roll: Vec::new() };
    let place = home.path().join("place");
    (Wanted { settings, rules, language: Language::V0_43, place, refusal }, home)
}

/// Asks with a time that is over, so that only a state without hope has its own reason.
fn reason(engine: &Arc<Engine>, generation: &str) -> String {
    engine.ready(generation, Instant::now()).unwrap_err()
}

fn wait_for(engine: &Arc<Engine>, state: EngineState) {
    let mut inner = engine.lock();
    let until = Instant::now() + Duration::from_secs(20);
    while inner.state != state {
        assert!(Instant::now() < until, "{inner:?}");
        inner = engine.wait(inner, Duration::from_millis(50));
    }
}

#[test]
fn each_state_without_a_falco_has_its_reason() {
    let generation = "ab".repeat(32);
    let engine = engine();
    assert!(reason(&engine, &generation).contains("not the engine any more"));
    let (of_system, _home) = wanted(refusal(true));
    engine.want(Some(of_system));
    wait_for(&engine, EngineState::Refused);
    assert!(reason(&engine, &generation).contains("for the system"));
    assert!(reason(&engine, &"cd".repeat(32)).contains("other rules"));
    let status = engine.status(EngineKind::Falco);
    assert!(status.state == EngineState::Refused && status.problem.contains("`--system`"), "{status:?}");
    // castellan's own engine judges, whatever Falco does.
    assert_eq!(engine.status(EngineKind::Native).state, EngineState::Judging);
    let (missing, _home) = wanted(None);
    engine.want(Some(missing));
    wait_for(&engine, EngineState::Pausing);
    let why = reason(&engine, &generation);
    assert!(why.starts_with("Falco does not run: the program `") && why.contains("does not exist"), "{why}");
    engine.want(None);
    assert!(reason(&engine, &generation).contains("not the engine any more"));
    engine.end();
    assert!(reason(&engine, &generation).contains("castellan ends"));
    let (late, _home) = wanted(None);
    engine.want(Some(late));
    assert!(engine.lock().thread.is_none(), "nothing starts after the end");
}

#[test]
fn the_same_wish_starts_nothing_anew() {
    let engine = engine();
    let (one, _home) = wanted(Some("a test"));
    engine.want(Some(one.clone()));
    engine.want(Some(one.clone()));
    assert_eq!(engine.lock().round, 1);
    let plugin = "/another".to_owned();
    let other = Wanted { settings: EngineSettings { plugin, ..one.settings.clone() }, ..one };
    engine.want(Some(other));
    assert_eq!(engine.lock().round, 2);
    engine.end();
}

/// A report about a Falco of before says nothing about the present one.
#[test]
fn late_answers_are_counted_in_a_row_and_in_their_round() {
    let engine = engine();
    let (one, _home) = wanted(Some("a test"));
    engine.want(Some(one));
    let late = EngineError::Late { missing: 1, rows: 2 };
    let count = |round: u64, error: Option<&EngineError>| {
        engine.judged(round, error);
        engine.lock().late
    };
    assert_eq!(count(1, Some(&late)), 1);
    assert_eq!(count(0, Some(&late)), 1);
    assert_eq!(count(1, Some(&EngineError::Full)), 1);
    assert_eq!(count(1, Some(&EngineError::Contradiction)), 2);
    assert!(!engine.lock().problem.is_empty());
    assert_eq!(count(1, None), 0);
    assert!(engine.lock().problem.is_empty(), "Falco judges again");
    assert_eq!(count(1, Some(&EngineError::Lost)), 0);
    engine.end();
}

#[test]
fn a_failure_before_the_record_is_recorded_later() {
    let engine = engine();
    let (one, _home) = wanted(Some("a test"));
    engine.want(Some(one));
    wait_for(&engine, EngineState::Refused);
    // The supervisor records it after the change of the state.
    let (send, recorded) = std::sync::mpsc::channel();
    engine.record_by(move |line| send.send(line.to_owned()).unwrap());
    assert_eq!(recorded.recv_timeout(Duration::from_secs(20)).as_deref(), Ok("a test"));
    engine.end();
}

/// Rules that Falco has, and rules that it has loaded last, need no second check.
#[test]
fn only_new_rules_are_to_be_checked() {
    let engine = engine();
    let (one, _home) = wanted(Some("a test"));
    assert!(engine.is_to_check(&one));
    engine.want(Some(one.clone()));
    assert!(!engine.is_to_check(&one));
    let mut other = one;
    other.rules.yaml.push('x');
    assert!(engine.is_to_check(&other));
    engine.end();
}
