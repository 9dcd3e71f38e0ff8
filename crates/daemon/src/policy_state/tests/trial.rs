//! Upgrades: new rules are observed at first. No change to the applied set makes other rules observed.

use castellan_policy::RuleState;
use castellan_rules::Source;

use super::*;
use crate::compile::compile;
use crate::shipped::{SHIPPED_PACKS, ShippedPack, shipped_hash};

/// A pack in which an upgrade adds a rule.
struct Pack {
    /// Name and text of its file.
    file: &'static str,
    new: &'static str,
    /// Its text before the upgrade.
    old: String,
    /// The new rule, which asks.
    rule: String,
}

fn pack() -> Pack {
    let &ShippedPack { file, rules: new, .. } = SHIPPED_PACKS.iter().find(|pack| pack.name == "web").unwrap();
    let source = Source { name: format!("default/{file}"), text: new.to_owned() };
    let policy = compile(&[source], &Config::default()).policy;
    let rule = policy.rules().find(|of| crate::packs::trial_name(of).is_some()).unwrap().rule.name.clone();
    Pack { file, new, old: crate::trial::without(new, &rule), rule }
}

impl Place {
    /// A home after an upgrade from a castellan without the pack's rule. The new file exists but is not applied yet.
    fn upgraded(pack: &Pack) -> Place {
        let place = Place::new();
        place.ship(pack.file, &pack.old);
        drop(place.serve());
        place.tamper(&shipped_hash(), "of an earlier one");
        place.ship(pack.file, pack.new);
        place
    }

    fn ship(&self, file: &str, text: &str) {
        std::fs::write(self.layout.rules_shipped().join(file), text).unwrap();
    }

    /// Changes the text of the applied set.
    fn tamper(&self, from: &str, to: &str) {
        let file = self.layout.applied().join("policy.json");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replace(from, to)).unwrap();
    }
}

impl Served {
    /// The state of a rule; `None` if it does not exist.
    fn state_of(&self, rule: &str) -> Option<RuleState> {
        self.judge.terms().policy.rules().find(|of| of.rule.name == rule).map(|of| of.state)
    }

    /// Number of rules that are not enforced.
    fn observed(&self) -> usize {
        self.judge.terms().policy.rules().filter(|of| of.state != RuleState::Enforce).count()
    }
}

#[test]
fn a_first_installation_enforces_everything() {
    let place = Place::new();
    let served = place.serve();
    served.apply(&place.layout).unwrap();
    assert_eq!((served.observed(), served.state.trial()), (0, Trial::new()));
}

#[test]
fn what_an_upgrade_brings_is_observed_until_a_person_or_its_time_ends_that() {
    let pack = pack();
    let place = Place::upgraded(&pack);
    let served = place.serve();
    assert_eq!(served.state_of(&pack.rule), None);
    served.apply(&place.layout).unwrap();
    assert_eq!((served.state_of(&pack.rule), served.observed()), (Some(RuleState::Observe), 1));
    // A later apply, the organisation's files, a switch, a restart and a round of housekeeping leave the rule observed.
    served.apply(&place.layout).unwrap();
    let switch = served.state.prepare_switch(&[("packs.git".to_owned(), KeyEdit::word("enforce"))]).unwrap();
    served.state.switch(&served.judge, switch, None, (0, 0)).unwrap();
    place.write(Layer::Organisation, GOOD.as_bytes());
    served.state.reload_organisation(&served.judge);
    served.state.end_due_trial(&served.judge).unwrap();
    drop(served);
    let served = place.serve();
    assert_eq!((served.state_of(&pack.rule), served.observed()), (Some(RuleState::Observe), 1));
    served.state.end_trial(&served.judge, (0, 0)).unwrap();
    assert_eq!(served.observed(), 0);
    served.apply(&place.layout).unwrap();
    drop(served);
    assert_eq!(place.serve().observed(), 0);
}

#[test]
fn what_a_person_puts_back_counts_at_once() {
    let pack = pack();
    let place = Place::upgraded(&pack);
    let served = place.serve();
    served.apply(&place.layout).unwrap();
    served.state.end_trial(&served.judge, (0, 0)).unwrap();
    for text in [&pack.old, pack.new] {
        place.ship(pack.file, text);
        served.apply(&place.layout).unwrap();
    }
    assert_eq!((served.state_of(&pack.rule), served.observed()), (Some(RuleState::Enforce), 0));
}

/// Changes the text of an applied set with one rule on trial. Then nothing is in force, only reading works, and the
/// next apply enforces everything.
fn check_tampered(from: &str, to: &str) {
    let pack = pack();
    let place = Place::upgraded(&pack);
    let served = place.serve();
    served.apply(&place.layout).unwrap();
    drop(served);
    place.tamper(from, to);
    let served = place.serve();
    assert!(served.judge.terms().policy.problem().is_some(), "{from} -> {to}");
    served.apply(&place.layout).unwrap();
    assert_eq!((served.state_of(&pack.rule), served.observed()), (Some(RuleState::Enforce), 0), "{to}");
}

#[test]
fn a_damaged_or_newer_or_changed_set_enforces_everything() {
    let rules = "\"trial\":{\"rules\":{";
    check_tampered(rules, &format!("{rules}\"git/Ask before a force push\":1,"));
    check_tampered(rules, &format!("{rules}\"git/x\":-1,"));
    check_tampered(rules, &format!("{rules}\"git/x\":\"1\","));
    check_tampered(rules, &format!("{rules},"));
    check_tampered(rules, "\"trial\":{\"newer\":1,\"rules\":{");
    check_tampered("\"trial\":{", "\"trials\":{");
    check_tampered("{\"version\":2,", "{\"version\":3,");
}

#[test]
fn a_set_of_a_castellan_that_kept_no_trials_enforces_everything() {
    let pack = pack();
    let place = Place::upgraded(&pack);
    place.tamper("{\"version\":2,", "{\"version\":1,");
    place.tamper(",\"trial\":{\"rules\":{},\"shipped\":\"of an earlier one\"}", "");
    let served = place.serve();
    assert_eq!(served.judge.terms().policy.problem(), None);
    served.apply(&place.layout).unwrap();
    assert_eq!((served.state_of(&pack.rule), served.observed()), (Some(RuleState::Enforce), 0));
}
