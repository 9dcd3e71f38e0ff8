//! Rules that Falco must load before they come into force, with a stand-in for Falco. It rejects a rule whose condition
//! names `nativeonly`, and hangs on `hangs`.

use std::time::{Duration, Instant};

use castellan_event::Layer;

use super::super::tests::{Place, Served};
use super::*;
use crate::config::KeyEdit;
use crate::engine::{Engine, Limit};
use crate::file_set::FileSet;
use crate::store::PolicyOrigin;

const LIMIT: Duration = Duration::from_secs(20);

const FALCO: &str = "version = 1\n[engine]\nkind = \"falco\"\nfalco = \"/nonexistent/falco\"\n";

fn stand_in(wanted: &Wanted, limit: Limit<'_>) -> Result<(), String> {
    if wanted.rules.yaml.contains("nativeonly") {
        return Err("Falco rejects the rule `Own`: no such thing (LOAD_ERR)".to_owned());
    }
    if wanted.rules.yaml.contains("hangs") {
        while !limit.is_reached() {
            std::thread::yield_now();
        }
        return Err("`falco -V` did not end".to_owned());
    }
    Ok(())
}

/// A home with this configuration and these rules in force.
fn served(config: &str, word: &str) -> (Place, Served, std::sync::Arc<Engine>) {
    let place = Place::new();
    place.write(Layer::User, config.as_bytes());
    write_rule(&place, word);
    let engine = Engine::loading(stand_in);
    let served = place.serve_with(std::sync::Arc::clone(&engine));
    (place, served, engine)
}

fn write_rule(place: &Place, word: &str) {
    let file = place.layout.rules_user().join("own.yaml");
    std::fs::create_dir_all(place.layout.rules_user()).unwrap();
    let rule = format!(
        "- rule: Own\n  desc: d\n  condition: cmd.name = {word}\n  output: o\n  priority: CRITICAL\n  source: coding_agent\n  \
         tags: [coding_agent_deny]\n"
    );
    std::fs::write(file, rule).unwrap();
}

fn has_rule(served: &Served, word: &str) -> bool {
    let terms = served.judge.terms();
    terms.policy.rules().any(|of| of.rule.name == "Own" && of.rule.condition.contains(word))
}

fn apply(place: &Place, served: &Served) -> Result<(), String> {
    let hash = FileSet::read(&place.layout).unwrap().hash();
    served.state.apply(&served.judge, &hash, (0, 0))
}

fn rejects(why: &str) -> bool {
    why.contains("rejects the rule `Own`") && why.contains("no such thing")
}

#[test]
fn rules_that_falco_rejects_do_not_come_into_force_by_an_apply() {
    let (place, served, engine) = served(FALCO, "first");
    let before = served.state.files();
    write_rule(&place, "nativeonly");
    let why = apply(&place, &served).unwrap_err();
    assert!(rejects(&why) && why.contains("nothing was changed"), "{why}");
    assert!(has_rule(&served, "first") && served.state.files() == before);
    write_rule(&place, "second");
    assert_eq!(apply(&place, &served), Ok(()));
    assert!(has_rule(&served, "second"));
    engine.end();
}

#[test]
fn castellans_own_engine_asks_no_falco() {
    let (place, served, _) = served("version = 1\n", "first");
    write_rule(&place, "nativeonly");
    assert_eq!(apply(&place, &served), Ok(()));
    assert!(has_rule(&served, "nativeonly"));
}

/// Tries as housekeeping does, until Falco has loaded the rules.
fn reload(served: &Served) -> Result<(), String> {
    let until = Instant::now() + LIMIT;
    loop {
        let done = served.state.reload(&served.judge);
        if done.is_err() || !served.state.is_reload_due() {
            return done;
        }
        assert!(Instant::now() < until, "it is never done");
        std::thread::yield_now();
    }
}

#[test]
fn rules_that_falco_rejects_do_not_come_into_force_by_a_watch() {
    let config = format!("{FALCO}[rules]\nreload = \"watch\"\n");
    let (place, served, engine) = served(&config, "first");
    write_rule(&place, "nativeonly");
    assert!(rejects(&reload(&served).unwrap_err()));
    assert!(has_rule(&served, "first"));
    let report = served.state.report();
    assert!(matches!(&report.origin, PolicyOrigin::LastGood(why) if rejects(why)), "{report:?}");
    write_rule(&place, "second");
    assert_eq!(reload(&served), Ok(()));
    assert!(has_rule(&served, "second") && served.state.report().origin == PolicyOrigin::Current);
    engine.end();
}

/// The one way for which no person waits, and the daemon's only thread for its house.
#[test]
fn a_falco_that_hangs_keeps_no_status_and_no_other_change_waiting() {
    let config = format!("{FALCO}[rules]\nreload = \"watch\"\n");
    let (place, served, engine) = served(&config, "first");
    write_rule(&place, "hangs");
    let start = Instant::now();
    for _ in 0..3 {
        assert_eq!(served.state.reload(&served.judge), Ok(()));
        assert!(served.state.is_reload_due());
        assert_eq!(served.state.report().origin, PolicyOrigin::Current);
    }
    assert_eq!(served.state.tighten_mode(&served.judge, castellan_event::Mode::Enforce), Ok(()));
    assert!(has_rule(&served, "first"));
    assert!(start.elapsed() < crate::limits::ENGINE_VALIDATION_TIME, "it has waited");
    engine.end();
    assert!(start.elapsed() < crate::limits::ENGINE_VALIDATION_TIME, "the end waits");
}

#[test]
fn a_switch_to_falco_waits_until_falco_has_loaded_the_rules() {
    let edits = |engine: &str| vec![("engine.kind".to_owned(), KeyEdit::word(engine))];
    for (word, is_good) in [("first", true), ("nativeonly", false)] {
        let (_place, served, engine) = served("version = 1\n", word);
        let switch = || {
            let switch = served.state.prepare_switch(&edits("falco")).unwrap();
            assert!(switch.needs_person);
            served.state.switch(&served.judge, switch, None, (0, 0))
        };
        let Err(NotPut::Unchecked(wanted)) = switch() else { panic!("Falco was not asked") };
        assert_eq!(served.state.check(&wanted).is_ok(), is_good);
        assert_eq!(switch().is_ok(), is_good);
        let engine_now = served.judge.terms().policy.settings().engine.kind;
        assert_eq!(engine_now == EngineKind::Falco, is_good);
        engine.end();
    }
}

fn write_organisation(place: &Place, word: &str) {
    let config = place.layout.organisation().dir.join("config.toml");
    let rules = place.layout.organisation().dir.join("rules");
    std::fs::create_dir_all(&rules).unwrap();
    std::fs::write(config, "version = 1\n").unwrap();
    let rule = format!(
        "- rule: Own\n  desc: d\n  condition: cmd.name = {word}\n  output: o\n  priority: CRITICAL\n  source: coding_agent\n  \
         tags: [coding_agent_deny]\n"
    );
    std::fs::write(rules.join("own.yaml"), rule).unwrap();
}

/// Tries as housekeeping does, until Falco has answered.
fn reload_organisation(served: &Served) {
    let until = Instant::now() + LIMIT;
    served.state.reload_organisation(&served.judge);
    while served.state.is_organisation_due() {
        assert!(Instant::now() < until, "it is never done");
        std::thread::yield_now();
        served.state.reload_organisation(&served.judge);
    }
}

#[test]
fn the_organisations_rules_come_into_force_when_falco_has_loaded_them() {
    let (place, served, engine) = served(FALCO, "user");
    for (word, is_good) in [("nativeonly", false), ("second", true)] {
        write_organisation(&place, word);
        reload_organisation(&served);
        assert_eq!(has_rule(&served, word), is_good);
        let problem = served.state.organisation_problem();
        assert_eq!(problem.is_some_and(|why| rejects(&why)), !is_good);
        // Nobody is there to try again.
        let again = *served.state.organisation_due.lock().unwrap();
        assert_eq!(again.is_some(), !is_good);
    }
    engine.end();
}

/// The start of a daemon waits for no Falco.
#[test]
fn a_daemon_that_finds_new_rules_of_the_organisation_starts_with_the_applied_ones() {
    let (place, served, engine) = served(FALCO, "user");
    engine.end();
    drop(served);
    write_organisation(&place, "second");
    let engine = Engine::loading(stand_in);
    let served = place.serve_with(std::sync::Arc::clone(&engine));
    assert!(!has_rule(&served, "second") && has_rule(&served, "user"));
    assert_eq!(served.state.organisation_problem().as_deref(), Some(UNCHECKED));
    reload_organisation(&served);
    assert!(has_rule(&served, "second") && served.state.organisation_problem().is_none());
    engine.end();
}
