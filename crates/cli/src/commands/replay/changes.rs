//! Changes by other rules, grouped by kind and deciding rules. This module must not know how they are shown.

use std::collections::BTreeMap;
use std::time::SystemTime;

use castellan_audit::CallRecord;
use castellan_event::Verdict;
use castellan_trial::{ReplayOutcome, Replayed, Unjudged, unknown_obligations};

use crate::history::subject;

/// Examples stored for a group. Nobody reads more; the log has them all.
const EXAMPLES: usize = 3;

/// The kind of change for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    NewlyDenied,
    NewlyAsked,
    AskedNotDenied,
    NewlyLetThrough,
    NewlyAllowed,
    NoLongerAllowed,
}

impl Kind {
    /// Returns the kind for two verdicts; `None` if they are equal.
    fn of(before: Verdict, after: Verdict) -> Option<Kind> {
        Some(match (before, after) {
            (Verdict::Deny, Verdict::Deny)
            | (Verdict::Ask, Verdict::Ask)
            | (Verdict::Allow, Verdict::Allow)
            | (Verdict::Defer, Verdict::Defer) => return None,
            (_, Verdict::Deny) => Kind::NewlyDenied,
            (Verdict::Deny, Verdict::Ask) => Kind::AskedNotDenied,
            (Verdict::Allow | Verdict::Defer, Verdict::Ask) => Kind::NewlyAsked,
            (Verdict::Deny | Verdict::Ask, Verdict::Allow | Verdict::Defer) => Kind::NewlyLetThrough,
            (Verdict::Defer, Verdict::Allow) => Kind::NewlyAllowed,
            (Verdict::Allow, Verdict::Defer) => Kind::NoLongerAllowed,
        })
    }

    /// Returns the word for scripts.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::NewlyDenied => "newly_denied",
            Kind::NewlyAsked => "newly_asked",
            Kind::AskedNotDenied => "asked_not_denied",
            Kind::NewlyLetThrough => "newly_let_through",
            Kind::NewlyAllowed => "newly_allowed",
            Kind::NoLongerAllowed => "no_longer_allowed",
        }
    }

    /// Returns the title for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Kind::NewlyDenied => "newly denied",
            Kind::NewlyAsked => "newly asked",
            Kind::AskedNotDenied => "asked, no longer denied",
            Kind::NewlyLetThrough => "newly let through",
            Kind::NewlyAllowed => "newly allowed without the agent's prompt",
            Kind::NoLongerAllowed => "left to the agent, no longer allowed",
        }
    }

    /// Reports whether the new verdict is milder. Milder changes are grouped by the old rules, others by the new ones.
    fn is_looser(self) -> bool {
        matches!(self, Kind::AskedNotDenied | Kind::NewlyLetThrough | Kind::NoLongerAllowed)
    }
}

/// Calls with the same kind of change and the same deciding rules.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) calls: usize,
    pub(super) examples: Vec<Example>,
}

/// A call whose verdict would change.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) seq: u64,
    pub(super) time: SystemTime,
    pub(super) agent: String,
    pub(super) tool: String,
    /// The command, the paths or the input, in one line.
    pub(super) subject: String,
    pub(super) before: ReplayOutcome,
    pub(super) after: ReplayOutcome,
}

#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) groups: BTreeMap<(Kind, Vec<String>), Group>,
    pub(super) judged: usize,
    pub(super) unjudged: BTreeMap<Unjudged, usize>,
    /// Records with a verdict that this version does not know.
    pub(super) without_verdict: usize,
    /// Calls that the rules in force now judge differently than recorded.
    pub(super) drifted: usize,
    /// Calls whose files have changed since.
    pub(super) with_changed_files: usize,
    /// Calls that were judged with the machine's present state.
    pub(super) asked_now: usize,
    /// Calls with an obligation that this version does not know.
    pub(super) with_unknown_obligations: usize,
}

impl Changes {
    /// Compares the outcome under the rules in force, or else the recorded outcome, with that under the tried rules.
    pub(super) fn add(
        &mut self,
        seq: u64,
        time: SystemTime,
        record: &CallRecord,
        recorded: &ReplayOutcome,
        replayed: &Replayed,
    ) {
        let (before, after) = match &replayed.outcomes[..] {
            [before, after] => (before, after),
            [after] => (recorded, after),
            _ => return,
        };
        self.judged += 1;
        self.drifted += usize::from(before.verdict != recorded.verdict);
        self.with_changed_files += usize::from(replayed.files_changed > 0);
        self.asked_now += usize::from(replayed.asked_now > 0);
        self.with_unknown_obligations += usize::from(!unknown_obligations(record).is_empty());
        let Some(kind) = Kind::of(before.verdict, after.verdict) else { return };
        let by = if kind.is_looser() { &before.by } else { &after.by };
        let group = self.groups.entry((kind, by.clone())).or_default();
        group.calls += 1;
        if group.examples.len() < EXAMPLES {
            group.examples.push(Example {
                seq,
                time,
                agent: record.agent.to_string(),
                tool: record.tool_raw.to_string(),
                subject: subject(record),
                before: before.clone(),
                after: after.clone(),
            });
        }
    }

    pub(super) fn add_unjudged(&mut self, why: Unjudged) {
        *self.unjudged.entry(why).or_default() += 1;
    }

    pub(super) fn add_without_verdict(&mut self) {
        self.without_verdict += 1;
    }

    /// Reports whether every call of the part was judged again.
    pub(super) fn is_whole(&self) -> bool {
        self.unjudged.is_empty() && self.without_verdict == 0
    }

    /// Returns the number of calls of a kind, and its groups, largest first.
    pub(super) fn of_kind(&self, kind: Kind) -> (usize, Vec<(&[String], &Group)>) {
        let of_kind = self.groups.iter().filter(|((of, _), _)| *of == kind);
        let mut groups: Vec<(&[String], &Group)> = of_kind.map(|((_, by), group)| (&by[..], group)).collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.calls));
        (groups.iter().map(|(_, group)| group.calls).sum(), groups)
    }

    /// Returns the kinds found, stricter ones first.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.groups.keys().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_verdicts_is_of_one_kind() {
        let (defer, allow, ask, deny) = (Verdict::Defer, Verdict::Allow, Verdict::Ask, Verdict::Deny);
        for (before, after, expected) in [
            (defer, deny, Some(Kind::NewlyDenied)),
            (ask, deny, Some(Kind::NewlyDenied)),
            (defer, ask, Some(Kind::NewlyAsked)),
            (allow, ask, Some(Kind::NewlyAsked)),
            (deny, ask, Some(Kind::AskedNotDenied)),
            (deny, defer, Some(Kind::NewlyLetThrough)),
            (ask, allow, Some(Kind::NewlyLetThrough)),
            (defer, allow, Some(Kind::NewlyAllowed)),
            (allow, defer, Some(Kind::NoLongerAllowed)),
        ] {
            assert_eq!(Kind::of(before, after), expected, "{before} {after}");
        }
        for verdict in Verdict::ALL {
            assert_eq!(Kind::of(verdict, verdict), None);
        }
    }

    #[test]
    fn groups_are_by_the_rules_that_stop_and_the_largest_comes_first() {
        let outcome = |verdict, by: &str| ReplayOutcome { verdict, by: vec![by.to_owned()] };
        let mut changes = Changes::default();
        let mut add = |times: usize, before: &ReplayOutcome, after: &ReplayOutcome| {
            let replayed =
                Replayed { outcomes: vec![before.clone(), after.clone()], files_changed: 0, asked_now: 0 };
            for _ in 0..times {
                changes.add(7, SystemTime::UNIX_EPOCH, &CallRecord::default(), before, &replayed);
            }
        };
        let nothing = ReplayOutcome { verdict: Verdict::Defer, by: Vec::new() };
        add(1, &nothing, &outcome(Verdict::Deny, "A"));
        add(5, &nothing, &outcome(Verdict::Deny, "B"));
        add(2, &outcome(Verdict::Deny, "C"), &nothing);
        add(4, &nothing, &nothing);
        let reported = |kind| {
            let (calls, groups) = changes.of_kind(kind);
            let groups =
                groups.into_iter().map(|(by, group)| (by.join(" "), group.calls, group.examples.len()));
            (calls, groups.collect::<Vec<_>>())
        };
        assert_eq!(changes.kinds(), [Kind::NewlyDenied, Kind::NewlyLetThrough]);
        assert_eq!(reported(Kind::NewlyDenied), (6, vec![("B".to_owned(), 5, 3), ("A".to_owned(), 1, 1)]));
        assert_eq!(reported(Kind::NewlyLetThrough), (2, vec![("C".to_owned(), 2, 2)]));
        assert_eq!(changes.judged, 12);
    }
}
