//! Rules on trial: those that an upgrade has brought, which are only observed at first. What is on trial is part of the applied
//! set, so that it is kept, hashed and recorded with it. It must not know when a set is put in force.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use castellan_policy::{Policy, PolicyRule, RuleVerdict};

use crate::file_set::FileSet;
use crate::limits::TRIAL_S;
use crate::packs::pack_of;
use crate::shipped::is_shipped_text;

/// The rules on trial, `pack/name`, and since when: seconds since 1970.
pub type Trial = BTreeMap<String, u64>;

/// What a rule on trial is called; nothing of one that can be none: a user's, and those that deny.
pub(crate) fn name_of(of: &PolicyRule<'_>) -> Option<String> {
    let pack = pack_of(of).filter(|_| of.verdict != RuleVerdict::Deny)?;
    Some(format!("{pack}/{}", of.rule.name))
}

/// What is on trial after an upgrade from one policy to another: what was before, as far as it is there still, and what is new in
/// packs as castellan ships them. A pack that has lost a rule may have it under another name: of that one, all counts at once, and
/// so does everything where no pack was there before.
pub(crate) fn after(before: (&Trial, &Policy), after: (&FileSet, &Policy), now: SystemTime) -> Trial {
    let ((trial, old), (files, new)) = (before, after);
    let (old_names, new_names) = (names(old), names(new));
    let lost: BTreeSet<&str> =
        old_names.difference(&new_names).filter_map(|name| Some(name.split_once('/')?.0)).collect();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let is_candidate = |of: &PolicyRule<'_>, name: &String| {
        let pack = name.split_once('/').map_or("", |(pack, _)| pack);
        !old_names.is_empty()
            && !old_names.contains(name)
            && !lost.contains(pack)
            && is_as_shipped(files, &of.rule.file)
    };
    let mut next = Trial::new();
    for of in new.rules() {
        let Some(name) = name_of(&of) else { continue };
        if let Some(since) = trial.get(&name) {
            next.insert(name, *since);
        } else if is_candidate(&of, &name) {
            next.insert(name, since);
        }
    }
    next
}

/// Those whose time is over.
pub(crate) fn is_over(since: u64, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    now.saturating_sub(since) >= TRIAL_S
}

/// Every rule of a shipped pack, those that deny too.
fn names(policy: &Policy) -> BTreeSet<String> {
    policy.rules().filter_map(|of| Some(format!("{}/{}", pack_of(&of)?, of.rule.name))).collect()
}

/// Whether a rule's file says what castellan ships: what a user has put there is meant to count.
fn is_as_shipped(files: &FileSet, file: &str) -> bool {
    files.rules.iter().any(|source| source.name == file && is_shipped_text(&source.text))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        let start = text.find(&format!("- rule: {first}\n")).unwrap();
        let end = text[start + 1..].find("\n- ").map_or(text.len(), |end| start + end + 2);
        let text = format!("{}{}", &text[..start], &text[end..]);
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
        let expected: Trial = expected.iter().map(|(name, since)| ((*name).to_owned(), *since)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn what_an_upgrade_brings_is_on_trial() {
        let new = shipped("26-web");
        let (old, first) = older(&new.text);
        let name = format!("web/{first}");
        let none = Trial::new();
        check(&[old.clone()], &none, &[new.clone()], &[(&name, 1000)]);
        // It goes on as it began, and ends where the rule is gone or a person's file says it.
        let trial = Trial::from([(name.clone(), 5), ("web/gone".to_owned(), 6)]);
        check(&[new.clone()], &trial, &[new.clone()], &[(&name, 5)]);
        // A first installation enforces all, and so do a home without packs and a file that a user has changed.
        check(&[], &none, &[new.clone()], &[]);
        let changed = Source { text: format!("{}# mine\n", new.text), ..new.clone() };
        check(&[old.clone()], &none, &[changed], &[]);
        // A rule that is gone may have another name now.
        let renamed = Source {
            text: old.text.clone()
                + &new.text[new.text.find(&format!("- rule: {first}\n")).unwrap()..]
                    .replacen(&first, "Old name", 1)
                    .split("\n- ")
                    .next()
                    .unwrap()
                    .to_owned()
                + "\n",
            ..old
        };
        check(&[renamed], &none, &[new], &[]);
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
        // A clock that was set back ends nothing, and lengthens nothing by more than that.
        assert!(!is_over(1000, at(0)));
    }
}
