//! Proposed exceptions: repeated asks that were always approved, as short rules for the configuration. A short rule is
//! tried on the log. It is dropped if it still stops these calls, or allows a call that a person refused. There are no
//! exceptions from rules that deny, castellan's own rules and the organisation's.

use std::collections::BTreeMap;
use std::path::Path;

use castellan_audit::Record;
use castellan_daemon::{KnownTexts, RecordedWorld, pack_of_file};
use castellan_event::{Layer, Verdict};
use castellan_policy::{Policy, RuleVerdict};
use castellan_trial::Replay;

use crate::global::Global;
use crate::history::{self, Ask, Fate, Part, Seen, Tally};
use crate::history::{short_rule, subject};
use crate::in_force::InForce;
use crate::progress::Progress;

/// Minimum number of approvals: fewer are no habit.
const APPROVED_MIN: usize = 3;

/// Maximum number of tried exceptions: each adds one more policy that judges every call.
const TRIED_MAX: usize = 8;

/// The pack without exceptions, in any file.
const OWN_PACK: &str = "self";

/// Calls that were asked for the same reason and always approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exception {
    /// The rules that asked.
    pub(crate) by: Vec<String>,
    pub(crate) approved: usize,
    /// An example of the calls, as shown in the log.
    pub(crate) example: String,
    /// The short rule for `allow` in the configuration; `None` if no short rule matches just these calls.
    pub(crate) allow: Option<String>,
    /// Other logged calls that the short rule would no longer stop.
    pub(crate) others: usize,
    /// Record numbers of the matching calls, and of calls that a person refused.
    numbers: Vec<u64>,
    refused: Vec<u64>,
    /// True if the short rule still stops its own calls, or allows a refused one.
    is_broken: bool,
}

/// The key of a group: the rules that asked, the short rule, and without a short rule the whole call text.
type Same<'a> = (&'a [String], Option<String>, String);

/// Returns groups approved often enough and never refused, most approvals first.
pub(super) fn candidates(tally: &Tally, policy: &Policy) -> Vec<Exception> {
    let mut groups: BTreeMap<Same<'_>, Vec<&Ask>> = BTreeMap::new();
    for ask in tally.asks.iter().filter(|ask| may_be_excepted_from(&ask.by, policy)) {
        let allow = short_rule(&ask.record);
        // Without a short rule, only identical calls form a group.
        let rest = if allow.is_some() { String::new() } else { subject(&ask.record) };
        groups.entry((&ask.by, allow, rest)).or_default().push(ask);
    }
    let refused: Vec<u64> = tally.asks.iter().filter(|ask| ask.fate == Fate::Refused).map(number).collect();
    let mut candidates: Vec<Exception> = groups
        .into_iter()
        .filter_map(|((by, allow, _), asks)| {
            let is_habit = asks.len() >= APPROVED_MIN && asks.iter().all(|ask| ask.fate == Fate::Approved);
            let example = asks.last().filter(|_| is_habit)?;
            Some(Exception {
                by: by.to_vec(),
                approved: asks.len(),
                example: subject(&example.record),
                allow,
                others: 0,
                numbers: asks.iter().map(|ask| number(ask)).collect(),
                refused: refused.clone(),
                is_broken: false,
            })
        })
        .collect();
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.approved));
    candidates.truncate(TRIED_MAX);
    candidates
}

fn number(ask: &Ask) -> u64 {
    ask.record.correlation_id
}

/// Reports whether the rules may have exceptions: each must exist, ask, and be the user's own to change.
fn may_be_excepted_from(by: &[String], policy: &Policy) -> bool {
    let may = |name: &String| {
        if name.starts_with('(') {
            // An Opaque part or a missing level is no rule.
            return true;
        }
        let mut rules = policy.rules().filter(|of| of.rule.name == *name).peekable();
        rules.peek().is_some()
            && rules.all(|of| {
                matches!(of.verdict, RuleVerdict::Ask | RuleVerdict::Contain | RuleVerdict::Review)
                    && of.layer == Layer::User
                    && !of.is_firm
                    && pack_of_file(&of.rule.file) != OWN_PACK
            })
    };
    !by.is_empty() && by.iter().all(may)
}

/// Tries the candidates on the log. Removes a short rule that stops one of its calls, or allows a refused one.
pub(super) fn tried(
    global: &Global,
    log: &Path,
    part: Part,
    in_force: &InForce,
    own: Vec<String>,
    mut candidates: Vec<Exception>,
) -> anyhow::Result<Vec<Exception>> {
    let mut policies = vec![in_force.compile()?.policy];
    for candidate in &mut candidates {
        match candidate.allow.as_deref().and_then(|allow| in_force.allowing_also(allow)) {
            Some(policy) => policies.push(policy),
            None => candidate.allow = None,
        }
    }
    if policies.len() == 1 {
        return Ok(candidates);
    }
    let calls = history::count(log, part)?;
    let mut progress = Progress::begin(global, "tried", calls.min(part.calls_max));
    let mut reported = KnownTexts::default();
    let mut replay = Replay::new(policies.iter().collect(), own);
    history::read(log, part, calls, |Seen { entry, is_wanted }| {
        let Record::Call(record) = &entry.record else { return Ok(()) };
        reported.learn(record);
        if !is_wanted {
            return Ok(());
        }
        progress.step();
        let Ok(replayed) = replay.judge(record, &RecordedWorld::new(record, &reported)) else {
            return Ok(());
        };
        let Some((before, with)) = replayed.outcomes.split_first() else { return Ok(()) };
        let with_rule = candidates.iter_mut().filter(|candidate| candidate.allow.is_some());
        let freed = with_rule.zip(with).collect::<Vec<_>>();
        for (candidate, after) in freed {
            candidate.hold(record.correlation_id, before.verdict, after.verdict);
        }
        Ok(())
    })?;
    for candidate in candidates.iter_mut().filter(|candidate| candidate.is_broken) {
        candidate.allow = None;
        candidate.others = 0;
    }
    Ok(candidates)
}

impl Exception {
    /// Records the verdict of a call with the short rule.
    fn hold(&mut self, number: u64, before: Verdict, after: Verdict) {
        let is_freed = before >= Verdict::Ask && after < Verdict::Ask;
        if self.numbers.contains(&number) {
            // The short rule must allow this call.
            self.is_broken |= after >= Verdict::Ask;
        } else if is_freed {
            self.others += 1;
            self.is_broken |= self.refused.contains(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_daemon::{Config, compile};
    use castellan_rules::Source;

    use super::*;

    fn policy(name: &str, tag: &str, file: &str) -> Policy {
        let text = format!(
            "- rule: {name}\n  desc: d\n  condition: cmd.name = ls\n  output: o\n  priority: WARNING\n  source: coding_agent\n  tags: [{tag}]\n"
        );
        let compiled = compile(&[Source { name: file.to_owned(), text }], &Config::default());
        assert_eq!(compiled.error(), None);
        compiled.policy
    }

    /// No exception from a rule that denies, from castellan's own rules or from a rule that no longer exists.
    #[test]
    fn some_rules_are_never_excepted_from() {
        let own = castellan_daemon::organisation_rules();
        assert!(!own.is_empty());
        let built_in = compile(&[], &Config::default()).policy;
        let asks = built_in
            .rules()
            .find(|of| matches!(of.verdict, RuleVerdict::Ask | RuleVerdict::Contain | RuleVerdict::Review));
        if let Some(asks) = asks {
            assert!(
                !may_be_excepted_from(std::slice::from_ref(&asks.rule.name), &built_in),
                "{}",
                asks.rule.name
            );
        }
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (names, tag, file, expected) in [
            (&["Mine"][..], "coding_agent_ask", "mine.yaml", true),
            (&["Mine"], "coding_agent_review", "mine.yaml", true),
            (&["Mine", "(access)"], "coding_agent_ask", "mine.yaml", true),
            (&["Mine"], "coding_agent_deny", "mine.yaml", false),
            (&["Mine"], "coding_agent_ask", "10-self.yaml", false),
            (&["Gone"], "coding_agent_ask", "mine.yaml", false),
            (&["Mine", "Gone"], "coding_agent_ask", "mine.yaml", false),
            (&[], "coding_agent_ask", "mine.yaml", false),
        ] {
            let policy = policy("Mine", tag, file);
            assert_eq!(may_be_excepted_from(&named(names), &policy), expected, "{names:?} {tag} {file}");
        }
    }
}
