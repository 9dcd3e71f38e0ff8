//! Rules on trial: those that an upgrade has brought, which are only observed at first. What is on trial is part of the applied
//! set, so that it is kept, hashed and recorded with it. It must not know when a set is put in force.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castellan_policy::{Policy, PolicyRule, RuleVerdict};
use serde::{Deserialize, Serialize};

use crate::file_set::FileSet;
use crate::limits::TRIAL_S;
use crate::packs::{is_of_shipped_folder, pack_of};
use crate::shipped::{is_shipped_text, shipped_hash};

/// What is on trial, and which shipped rules were there when that was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The rules, `pack/name`, and since when: seconds since 1970.
    pub rules: BTreeMap<String, u64>,
    /// [`shipped_hash`] of the castellan that settled it; empty where none did. Only an upgrade brings rules on trial: what a person
    /// takes out of a shipped file and puts back counts at once.
    shipped: String,
}

impl Trial {
    /// Nothing is on trial as of this castellan.
    pub fn new() -> Trial {
        Trial { rules: BTreeMap::new(), shipped: shipped_hash() }
    }

    /// Nothing is on trial, and what was known is not: of a castellan that kept no trials. The next upgrade enforces everything.
    pub(crate) fn unknown() -> Trial {
        Trial { rules: BTreeMap::new(), shipped: String::new() }
    }

    /// The same with these rules only.
    pub(crate) fn with(&self, rules: BTreeMap<String, u64>) -> Trial {
        Trial { rules, shipped: self.shipped.clone() }
    }

    /// Whether it was settled by a castellan that ships other rules.
    fn is_of_another(&self) -> bool {
        !self.shipped.is_empty() && self.shipped != shipped_hash()
    }
}

impl Default for Trial {
    fn default() -> Trial {
        Trial::new()
    }
}

/// What a rule on trial is called; nothing of one that can be none: a user's, and those that deny.
pub(crate) fn name_of(of: &PolicyRule<'_>) -> Option<String> {
    let pack = pack_of(of).filter(|_| of.verdict != RuleVerdict::Deny)?;
    Some(format!("{pack}/{}", of.rule.name))
}

/// What is on trial after one policy is followed by another: what was before, as far as it is there still as castellan ships it,
/// and what an upgrade has brought.
pub(crate) fn after(before: (&Trial, &Policy), after: (&FileSet, &Policy), now: SystemTime) -> Trial {
    let ((trial, old), (files, new)) = (before, after);
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let brought = if trial.is_of_another() { brought(old, new) } else { BTreeSet::new() };
    let mut next = Trial::new();
    for of in new.rules().filter(|of| is_as_shipped(files, &of.rule.file)) {
        let Some(name) = name_of(&of) else { continue };
        let began = trial.rules.get(&name).copied().or_else(|| brought.contains(&name).then_some(since));
        next.rules.extend(began.map(|began| (name, began)));
    }
    next
}

/// What may be on trial of an upgrade: it must not be what has counted before under another name, in another pack or in another rule.
/// So nothing may be where a shipped rule is gone, nor in a pack of which an old rule says something else now, nor under a name that
/// was there before, nor where no shipped rule was.
fn brought(old: &Policy, new: &Policy) -> BTreeSet<String> {
    let shipped = |policy: &Policy| -> BTreeMap<String, String> {
        let rules = policy.rules().filter(is_of_shipped_folder);
        rules.map(|of| (of.rule.name.clone(), of.rule.condition.clone())).collect()
    };
    let (was, is) = (shipped(old), shipped(new));
    if was.is_empty() || was.keys().any(|name| !is.contains_key(name)) {
        return BTreeSet::new();
    }
    let known: BTreeSet<&String> = old.rules().map(|of| &of.rule.name).collect();
    let changed = |of: &PolicyRule<'_>| was.get(&of.rule.name).is_some_and(|text| *text != of.rule.condition);
    let changed: BTreeSet<&str> = new.rules().filter(changed).filter_map(|of| pack_of(&of)).collect();
    let is_brought = |of: &PolicyRule<'_>| {
        !known.contains(&of.rule.name) && pack_of(of).is_some_and(|pack| !changed.contains(pack))
    };
    new.rules().filter(is_brought).filter_map(|of| name_of(&of)).collect()
}

/// When the time of one is over that began then: seconds since 1970.
pub(crate) fn ends(since: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(since.saturating_add(TRIAL_S))).unwrap_or(UNIX_EPOCH)
}

/// Those whose time is over. A clock that was set back lengthens it by no more than the same time again.
pub(crate) fn is_over(since: u64, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    now.abs_diff(since) >= TRIAL_S
}

/// Whether a rule's file says what castellan ships: what a user has put there is meant to count.
fn is_as_shipped(files: &FileSet, file: &str) -> bool {
    files.rules.iter().any(|source| source.name == file && is_shipped_text(&source.text))
}

/// A rule file's text without one of its rules.
#[cfg(test)]
pub(crate) fn without(text: &str, rule: &str) -> String {
    let first_line = format!("rule: {rule}\n");
    let items: Vec<&str> = text.split("\n- ").filter(|item| !item.starts_with(&first_line)).collect();
    items.join("\n- ")
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use castellan_rules::Source;

    use super::*;
    use crate::compile::compile;
    use crate::config::Config;
    use crate::shipped::shipped_rules;

    fn shipped(name: &str) -> Source {
        let (name, text) = shipped_rules().iter().find(|(file, _)| file.contains(name)).unwrap();
        Source { name: format!("/h/rules/default/{name}"), text: (*text).to_owned() }
    }

    /// The web pack, without the first rule that asks.
    fn older(text: &str) -> (Source, String) {
        let config = Config::default();
        let policy = compile(
            &[Source { name: "/h/rules/default/26-web.yaml".into(), text: text.to_owned() }],
            &config,
        )
        .policy;
        let first = policy.rules().find_map(|of| name_of(&of).map(|_| of.rule.name.clone())).unwrap();
        let text = without(text, &first);
        (Source { name: "/h/rules/default/26-web.yaml".into(), text }, first)
    }

    /// What is on trial after one set of files is followed by another.
    fn check(before: &[Source], trial: &Trial, next: &[Source], expected: &[(&str, u64)]) {
        let config = Config::default();
        let (old, new) = (compile(before, &config), compile(next, &config));
        assert_eq!((old.error(), new.error()), (None, None));
        let files = FileSet { config: String::new(), rules: next.to_vec() };
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let got = after((trial, &old.policy), (&files, &new.policy), now);
        let expected = expected.iter().map(|(name, since)| ((*name).to_owned(), *since)).collect();
        assert_eq!(got, Trial::new().with(expected));
    }

    /// What an earlier castellan has settled.
    fn earlier(rules: &[(&str, u64)]) -> Trial {
        let rules = rules.iter().map(|(name, since)| ((*name).to_owned(), *since)).collect();
        Trial { rules, shipped: "of another".to_owned() }
    }

    #[test]
    fn what_an_upgrade_brings_is_on_trial() {
        let new = shipped("26-web");
        let (old, first) = older(&new.text);
        let name = format!("web/{first}");
        check(from_ref(&old), &earlier(&[]), from_ref(&new), &[(&name, 1000)]);
        // It goes on as it began, and ends where the rule is gone or a person's file says it.
        check(from_ref(&new), &earlier(&[(&name, 5), ("web/gone", 6)]), from_ref(&new), &[(&name, 5)]);
        let changed = Source { text: format!("{}# mine\n", new.text), ..new.clone() };
        check(from_ref(&new), &earlier(&[(&name, 5)]), from_ref(&changed), &[]);
        // A home without packs enforces all, and so does a file that a user has changed.
        check(&[], &earlier(&[]), from_ref(&new), &[]);
        check(&[old], &earlier(&[]), &[changed], &[]);
    }

    #[test]
    fn what_no_upgrade_brings_counts() {
        let new = shipped("26-web");
        let (old, first) = older(&new.text);
        // A person has put it back.
        check(from_ref(&old), &Trial::new(), from_ref(&new), &[]);
        check(from_ref(&old), &Trial::new().with(earlier(&[("web/gone", 6)]).rules), from_ref(&new), &[]);
        // Nothing is known of what was shipped.
        check(&[old], &Trial::unknown(), from_ref(&new), &[]);
        // It was a user's own.
        let own = Source { name: "/h/rules/user/a.yaml".into(), text: rule(&first, "never") };
        let (old, _) = older(&new.text);
        check(&[old, own], &earlier(&[]), &[new], &[]);
    }

    #[test]
    fn what_has_counted_before_under_another_name_counts() {
        let new = shipped("26-web");
        let (old, _) = older(&new.text);
        let with = |text: &str| Source { text: format!("{}\n{text}", old.text), ..old.clone() };
        // Renamed in its pack, moved from another one, and from a file that is shipped no more.
        check(&[with(&rule("Old name", "x"))], &earlier(&[]), from_ref(&new), &[]);
        for file in ["12-git.yaml", "30-destructive.yaml"] {
            let other = Source { name: format!("/h/rules/default/{file}"), text: rule("Old name", "x") };
            check(&[old.clone(), other], &earlier(&[]), from_ref(&new), &[]);
        }
        // A part of another rule of its pack.
        let config = Config::default();
        let policy = compile(from_ref(&old), &config).policy;
        let kept = policy.rules().find_map(|of| name_of(&of).map(|_| of.rule.name.clone())).unwrap();
        let split = with(&format!("- rule: {kept}\n  condition: or tool.name = x\n  append: true\n"));
        check(&[split], &earlier(&[]), &[new], &[]);
    }

    /// A rule that asks about a tool.
    fn rule(name: &str, tool: &str) -> String {
        format!(
            "- rule: {name}\n  desc: d\n  condition: tool.name = {tool}\n  output: o\n  priority: WARNING\n  \
             source: coding_agent\n  tags: [coding_agent_ask]\n"
        )
    }

    #[test]
    fn what_denies_is_never_on_trial() {
        let config = Config::default();
        let all: Vec<Source> = shipped_rules().iter().map(|(name, _)| shipped(name)).collect();
        let policy = compile(&all, &config).policy;
        for of in policy.rules().filter(|of| of.verdict == RuleVerdict::Deny) {
            assert_eq!(name_of(&of), None, "{}", of.rule.name);
        }
        assert!(policy.rules().filter_map(|of| name_of(&of)).count() > 50);
    }

    #[test]
    fn a_trial_is_over_after_its_time() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(!is_over(1000, at(1000 + TRIAL_S - 1)));
        assert!(is_over(1000, at(1000 + TRIAL_S)));
        // A clock that was set back.
        assert!(!is_over(1000, at(0)));
        assert!(is_over(1000 + TRIAL_S, at(1000)));
        assert!(is_over(u64::MAX, at(1000)));
        assert_eq!(ends(1000), at(1000 + TRIAL_S));
        // It is over now.
        assert_eq!(ends(u64::MAX), UNIX_EPOCH);
    }
}
