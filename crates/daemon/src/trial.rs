//! Rules on trial: rules of an upgrade, which are only observed at first. The trial is part of the applied set, so that
//! it is stored, hashed and recorded with the set. Does not depend on the time when a set is put in force.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use castellan_policy::{Policy, PolicyRule};
use serde::{Deserialize, Serialize};

use crate::file_set::FileSet;
use crate::limits::TRIAL_S;
use crate::packs::{is_of_shipped_folder, pack_of, trial_name};
use crate::shipped::{is_shipped_text, shipped_hash};

/// The rules on trial, and the shipped rules at the time of that choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The rules as `pack/name` with their start in seconds since 1970.
    pub rules: BTreeMap<String, u64>,
    /// [`shipped_hash`] of the castellan that made the choice; empty if none did. Only an upgrade puts rules on trial.
    /// A rule that a person removes from a shipped file and restores is enforced at once.
    shipped: String,
}

impl Trial {
    /// An empty trial of this castellan.
    pub fn new() -> Trial {
        Trial { rules: BTreeMap::new(), shipped: shipped_hash() }
    }

    /// The trial of a castellan that stored none. The next upgrade enforces everything.
    pub(crate) fn unknown() -> Trial {
        Trial { rules: BTreeMap::new(), shipped: String::new() }
    }

    pub(crate) fn with(&self, rules: BTreeMap<String, u64>) -> Trial {
        Trial { rules, shipped: self.shipped.clone() }
    }

    /// Reports whether a castellan with other shipped rules made the choice.
    fn is_of_another(&self) -> bool {
        !self.shipped.is_empty() && self.shipped != shipped_hash()
    }
}

impl Default for Trial {
    fn default() -> Trial {
        Trial::new()
    }
}

/// The trial after a change of policy: rules on trial that are still as shipped, and the new rules of an upgrade.
pub(crate) fn after(before: (&Trial, &Policy), after: (&FileSet, &Policy), now: SystemTime) -> Trial {
    let ((trial, old), (files, new)) = (before, after);
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let brought = if trial.is_of_another() { brought(old, new) } else { BTreeSet::new() };
    let mut next = Trial::new();
    for of in new.rules().filter(|of| is_as_shipped(files, &of.rule.file)) {
        let Some(name) = trial_name(&of) else { continue };
        let began = trial.rules.get(&name).copied().or_else(|| brought.contains(&name).then_some(since));
        next.rules.extend(began.map(|began| (name, began)));
    }
    next
}

/// Returns the new rules of an upgrade for the trial. A rule that was enforced under another name, in another pack or
/// as part of another rule must not be observed only. So there is no trial if an old shipped rule is missing or if
/// there were no shipped rules. A pack with a changed old rule has no trial, and a name that existed before has none.
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
    new.rules().filter(is_brought).filter_map(|of| trial_name(&of)).collect()
}

/// Reports whether the trial is over. A clock that was set back at most doubles its time.
pub(crate) fn is_over(since: u64, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    now.abs_diff(since) >= TRIAL_S
}

/// Reports whether a rule's file has a shipped text. A user's own text is enforced.
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
    use std::time::Duration;

    use castellan_policy::RuleVerdict;
    use castellan_rules::Source;

    use super::*;
    use crate::compile::compile;
    use crate::config::Config;
    use crate::packs::trial_end;
    use crate::shipped::shipped_rules;

    fn shipped(name: &str) -> Source {
        at_home(shipped_rules().into_iter().find(|rules| rules.name.contains(name)).unwrap())
    }

    fn at_home(rules: Source) -> Source {
        Source { name: format!("/h/rules/default/{}", rules.name), ..rules }
    }

    /// The web pack without its first asking rule, and the name of that rule.
    fn older(text: &str) -> (Source, String) {
        let config = Config::default();
        let policy = compile(
            &[Source { name: "/h/rules/default/26-web.yaml".into(), text: text.to_owned() }],
            &config,
        )
        .policy;
        let first = policy.rules().find_map(|of| trial_name(&of).map(|_| of.rule.name.clone())).unwrap();
        let text = without(text, &first);
        (Source { name: "/h/rules/default/26-web.yaml".into(), text }, first)
    }

    /// Checks the trial after a change of files.
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
        // The trial continues with its start, and ends if the rule is gone or a person's file contains it.
        check(from_ref(&new), &earlier(&[(&name, 5), ("web/gone", 6)]), from_ref(&new), &[(&name, 5)]);
        let changed = Source { text: format!("{}# mine\n", new.text), ..new.clone() };
        check(from_ref(&new), &earlier(&[(&name, 5)]), from_ref(&changed), &[]);
        // A home without packs enforces all rules, and so does a changed file.
        check(&[], &earlier(&[]), from_ref(&new), &[]);
        check(&[old], &earlier(&[]), &[changed], &[]);
    }

    #[test]
    fn what_no_upgrade_brings_counts() {
        let new = shipped("26-web");
        let (old, first) = older(&new.text);
        // A person has restored it.
        check(from_ref(&old), &Trial::new(), from_ref(&new), &[]);
        check(from_ref(&old), &Trial::new().with(earlier(&[("web/gone", 6)]).rules), from_ref(&new), &[]);
        // The earlier shipped rules are unknown.
        check(&[old], &Trial::unknown(), from_ref(&new), &[]);
        // The rule was a user's own.
        let own = Source { name: "/h/rules/user/a.yaml".into(), text: rule(&first, "never") };
        let (old, _) = older(&new.text);
        check(&[old, own], &earlier(&[]), &[new], &[]);
    }

    #[test]
    fn what_has_counted_before_under_another_name_counts() {
        let new = shipped("26-web");
        let (old, _) = older(&new.text);
        let with = |text: &str| Source { text: format!("{}\n{text}", old.text), ..old.clone() };
        // Renamed in its pack, moved from another one, or from a file that is no longer shipped.
        check(&[with(&rule("Old name", "x"))], &earlier(&[]), from_ref(&new), &[]);
        for file in ["12-git.yaml", "30-destructive.yaml"] {
            let other = Source { name: format!("/h/rules/default/{file}"), text: rule("Old name", "x") };
            check(&[old.clone(), other], &earlier(&[]), from_ref(&new), &[]);
        }
        // A part of another rule of its pack.
        let config = Config::default();
        let policy = compile(from_ref(&old), &config).policy;
        let kept = policy.rules().find_map(|of| trial_name(&of).map(|_| of.rule.name.clone())).unwrap();
        let split = with(&format!("- rule: {kept}\n  condition: or tool.name = x\n  append: true\n"));
        check(&[split], &earlier(&[]), &[new], &[]);
    }

    fn rule(name: &str, tool: &str) -> String {
        format!(
            "- rule: {name}\n  desc: d\n  condition: tool.name = {tool}\n  output: o\n  priority: WARNING\n  \
             source: coding_agent\n  tags: [coding_agent_ask]\n"
        )
    }

    #[test]
    fn what_denies_is_never_on_trial() {
        let config = Config::default();
        let all: Vec<Source> = shipped_rules().into_iter().map(at_home).collect();
        let policy = compile(&all, &config).policy;
        for of in policy.rules().filter(|of| of.verdict == RuleVerdict::Deny) {
            assert_eq!(trial_name(&of), None, "{}", of.rule.name);
        }
        assert!(policy.rules().filter_map(|of| trial_name(&of)).count() > 50);
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
        assert_eq!(trial_end(1000), at(1000 + TRIAL_S));
        // The trial is over now.
        assert_eq!(trial_end(u64::MAX), UNIX_EPOCH);
    }
}
