//! Shipped packs: which one a rule is of, and how far its rules count by the configuration. It must not know what follows
//! from a rule's state.

use std::collections::BTreeMap;
use std::time::SystemTime;

use castellan_event::Layer;
use castellan_policy::{PolicyRule, RuleState, RuleVerdict, Tiers};

use crate::shipped::shipped_rules;
use crate::trial;

/// How far the rules of shipped packs count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packs {
    /// By pack; one that is not named is enforced.
    pub(crate) states: BTreeMap<&'static str, RuleState>,
    pub(crate) tiers: Tiers,
    /// Rules on trial: they are observed at most.
    pub(crate) trial: BTreeMap<String, u64>,
}

impl Packs {
    /// How far a pack counts.
    pub fn state(&self, pack: &str) -> RuleState {
        self.states.get(pack).copied().unwrap_or_default()
    }

    /// How far rules count that ask.
    pub fn tier_ask(&self) -> RuleState {
        self.tiers.ask
    }

    /// How far rules count that ask unless the user wanted the call.
    pub fn tier_review(&self) -> RuleState {
        self.tiers.review
    }

    /// The rules that an upgrade has brought and that are only observed yet, and since when.
    pub fn trial(&self) -> &BTreeMap<String, u64> {
        &self.trial
    }

    /// The same with the time from which each is enforced.
    pub fn trial_ends(&self) -> impl Iterator<Item = (&str, SystemTime)> {
        self.trial.iter().map(|(rule, since)| (rule.as_str(), trial::ends(*since)))
    }

    /// How far a rule counts: the mildest of what is said of its pack, of its tier, and of rules that an upgrade has brought. Rules
    /// that are of no shipped pack always do.
    pub(crate) fn state_of(&self, of: &PolicyRule<'_>) -> RuleState {
        let Some(pack) = pack_of(of) else { return RuleState::Enforce };
        let tier = match of.verdict {
            RuleVerdict::Ask => self.tiers.ask,
            RuleVerdict::Review => self.tiers.review,
            RuleVerdict::Deny | RuleVerdict::Allow | RuleVerdict::Seen | RuleVerdict::Notice => {
                RuleState::Enforce
            }
        };
        let on_trial = trial::name_of(of).is_some_and(|name| self.trial.contains_key(&name));
        let trial = if on_trial { RuleState::Observe } else { RuleState::Enforce };
        self.state(pack).min(tier).min(trial)
    }
}

/// The shipped packs that can be switched, in the order in which they load. `self` is none: it is built in.
pub fn pack_names() -> impl Iterator<Item = &'static str> {
    shipped_rules().iter().map(|(name, _)| pack_of_file(name))
}

/// The shipped pack that a rule is of, where it stands in its file: one that a user's own file defines anew is the user's.
pub fn pack_of(of: &PolicyRule<'_>) -> Option<&'static str> {
    if of.layer != Layer::User {
        return None;
    }
    let mut parts = of.rule.file.rsplit('/');
    let name = parts.next()?;
    // Without a folder they are those of a home that does not exist yet.
    parts.next().is_none_or(|folder| folder == SHIPPED_FOLDER).then_some(())?;
    shipped_rules().iter().find(|(shipped, _)| *shipped == name).map(|(shipped, _)| pack_of_file(shipped))
}

/// Whether a rule stands in a file of the shipped ones' folder, of a pack that is shipped no more too.
pub(crate) fn is_of_shipped_folder(of: &PolicyRule<'_>) -> bool {
    of.layer == Layer::User && of.rule.file.rsplit('/').nth(1).is_none_or(|folder| folder == SHIPPED_FOLDER)
}

/// The folder of shipped rule files.
const SHIPPED_FOLDER: &str = "default";

/// `10-secrets.yaml` is the pack `secrets`.
pub fn pack_of_file(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    stem.trim_start_matches(|first: char| first.is_ascii_digit() || first == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn every_shipped_pack_has_its_key() {
        let mut packs: Vec<_> = pack_names().collect();
        let mut keys: Vec<_> = KEYS.iter().filter_map(|key| key.name.strip_prefix("packs.")).collect();
        packs.sort_unstable();
        keys.sort_unstable();
        assert_eq!(packs, keys);
        assert!(!packs.contains(&"self"));
    }
}
