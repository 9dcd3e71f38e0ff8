//! Shipped packs: the pack of a rule, and the rule's state by the configuration. Independent of the state's effects.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castellan_event::Layer;
use castellan_policy::{PolicyRule, RuleState, RuleVerdict, Tiers};

use crate::limits::TRIAL_S;
use crate::shipped::SHIPPED_PACKS;

/// States of the rules of shipped packs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packs {
    /// State by pack; a pack without entry is enforced.
    pub(crate) states: BTreeMap<&'static str, RuleState>,
    pub(crate) tiers: Tiers,
    /// Rules on trial, which are at most observed.
    pub(crate) trial: BTreeMap<String, u64>,
}

impl Packs {
    /// The state of a pack.
    pub fn state(&self, pack: &str) -> RuleState {
        self.states.get(pack).copied().unwrap_or_default()
    }

    /// The state of rules that ask.
    pub fn tier_ask(&self) -> RuleState {
        self.tiers.ask
    }

    /// The state of review rules.
    pub fn tier_review(&self) -> RuleState {
        self.tiers.review
    }

    /// Rules of an upgrade that are only observed so far, with the time of the upgrade.
    pub fn trial(&self) -> &BTreeMap<String, u64> {
        &self.trial
    }

    /// These rules with the time from which each is enforced.
    pub fn trial_ends(&self) -> impl Iterator<Item = (&str, SystemTime)> {
        self.trial.iter().map(|(rule, since)| (rule.as_str(), trial_end(*since)))
    }

    /// The mildest state of a rule's pack, tier and trial. A rule of no shipped pack is always enforced.
    pub(crate) fn state_of(&self, of: &PolicyRule<'_>) -> RuleState {
        let Some(pack) = pack_of(of) else { return RuleState::Enforce };
        let tier = match of.verdict {
            RuleVerdict::Ask | RuleVerdict::Contain => self.tiers.ask,
            RuleVerdict::Review => self.tiers.review,
            RuleVerdict::Deny | RuleVerdict::Allow | RuleVerdict::Seen | RuleVerdict::Notice => {
                RuleState::Enforce
            }
        };
        let on_trial = trial_name(of).is_some_and(|name| self.trial.contains_key(&name));
        let trial = if on_trial { RuleState::Observe } else { RuleState::Enforce };
        self.state(pack).min(tier).min(trial)
    }
}

/// Shipped packs that can be switched, in load order. `self` is not among them, because it is built in.
pub fn pack_names() -> impl Iterator<Item = &'static str> {
    SHIPPED_PACKS.iter().map(|pack| pack.name)
}

/// The shipped pack of a rule, by the rule's file. A rule that a user's own file redefines is the user's.
pub fn pack_of(of: &PolicyRule<'_>) -> Option<&'static str> {
    if of.layer != Layer::User {
        return None;
    }
    let mut parts = of.rule.file.rsplit('/');
    let name = parts.next()?;
    // Without a folder the rules are those of a home that does not exist yet.
    parts.next().is_none_or(|folder| folder == SHIPPED_FOLDER).then_some(())?;
    SHIPPED_PACKS.iter().find(|pack| pack.file == name).map(|pack| pack.name)
}

/// Reports whether a rule's file is in the folder of shipped rules. Includes packs that are no longer shipped.
pub(crate) fn is_of_shipped_folder(of: &PolicyRule<'_>) -> bool {
    of.layer == Layer::User && of.rule.file.rsplit('/').nth(1).is_none_or(|folder| folder == SHIPPED_FOLDER)
}

/// The folder of shipped rule files.
const SHIPPED_FOLDER: &str = "default";

/// Pack name of a file: `10-secrets.yaml` is the pack `secrets`.
pub fn pack_of_file(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    stem.trim_start_matches(|first: char| first.is_ascii_digit() || first == '-')
}

/// The name of a rule on trial; `None` for rules that are never on trial: a user's rules, and rules that deny.
pub(crate) fn trial_name(of: &PolicyRule<'_>) -> Option<String> {
    let pack = pack_of(of).filter(|_| of.verdict != RuleVerdict::Deny)?;
    Some(format!("{pack}/{}", of.rule.name))
}

/// End of a trial that began at `since`, in seconds since 1970.
pub(crate) fn trial_end(since: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(since.saturating_add(TRIAL_S))).unwrap_or(UNIX_EPOCH)
}
