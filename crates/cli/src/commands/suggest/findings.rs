//! [`Suggestions`]: all proposed changes with their counts. This module must not know how they are shown.

use castellan_daemon::{pack_names, pack_of_file};
use castellan_event::Layer;
use castellan_policy::{Policy, PolicyRule, RuleState, RuleVerdict};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::exceptions::Exception;
use crate::history::Tally;

/// A rule stops often if it stops one call in this many.
const OFTEN_ONE_IN: usize = 20;

/// Minimum number of stopped calls before a rule is reported as stopping often.
const OFTEN_CALLS_MIN: usize = 10;

/// Minimum number of calls before a silent rule is reported.
const NEVER_CALLS_MIN: usize = 200;

#[derive(Debug)]
pub(crate) struct Suggestions {
    pub(crate) calls: usize,
    pub(crate) exceptions: Vec<Exception>,
    pub(crate) often: Vec<Often>,
    /// Rules of the user that did not fire; `None` if there were too few calls.
    pub(crate) never: Option<Vec<Silent>>,
    pub(crate) unknown_tools: Vec<UnknownTool>,
    /// Calls that were stopped because of an Opaque part, and an example.
    pub(crate) opaque: usize,
    pub(crate) opaque_example: String,
}

/// A rule that stops a large share of all calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Often {
    pub(crate) rule: String,
    pub(crate) stopped: usize,
    pub(crate) example: String,
    /// True if the user can change the rule.
    pub(crate) is_users: bool,
}

/// A rule that did not fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Silent {
    pub(crate) rule: String,
    pub(crate) pack: String,
    /// True if the rule denies; then it is good that it did not fire.
    pub(crate) denies: bool,
    /// True if the rule belongs to a shipped pack.
    #[serde(rename = "shipped")]
    pub(crate) is_shipped: bool,
}

/// A tool that castellan does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct UnknownTool {
    pub(crate) agent: String,
    pub(crate) tool: String,
    pub(crate) calls: usize,
}

impl Suggestions {
    pub(super) fn of(tally: &Tally, policy: &Policy, exceptions: Vec<Exception>) -> Suggestions {
        let is_enough = tally.calls >= NEVER_CALLS_MIN;
        let unknown = tally.unknown_tools.iter().map(|((agent, tool), calls)| UnknownTool {
            agent: agent.clone(),
            tool: tool.clone(),
            calls: *calls,
        });
        let mut unknown_tools: Vec<UnknownTool> = unknown.collect();
        unknown_tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        Suggestions {
            calls: tally.calls,
            exceptions,
            often: often(tally, policy),
            never: is_enough.then(|| never(tally, policy)),
            unknown_tools,
            opaque: tally.opaque,
            opaque_example: tally.opaque_example.clone(),
        }
    }

    /// Reports whether there is nothing to propose. Shipped rules that do not fire are no reason for a change.
    pub(crate) fn is_empty(&self) -> bool {
        self.exceptions.is_empty()
            && self.often.is_empty()
            && self.unknown_tools.is_empty()
            && self.never.iter().flatten().all(|silent| silent.is_shipped)
    }

    /// Returns only the counts: an agent that reads the proposals would learn how to loosen the rules.
    pub(crate) fn counts_json(&self) -> Json {
        json!({
            "version": 1,
            "within_agent": true,
            "calls": self.calls,
            "always_approved": self.exceptions.len(),
            "too_often": self.often.len(),
            "never_fired": self.never.as_ref().map(Vec::len),
            "unknown_tools": self.unknown_tools.len(),
            "not_understood": self.opaque,
        })
    }

    pub(crate) fn json(&self) -> Json {
        let exceptions = self.exceptions.iter().map(|exception| {
            json!({
                "by": exception.by, "approved": exception.approved, "example": exception.example,
                "allow": exception.allow, "others_let_through": exception.others,
            })
        });
        let often = self.often.iter().map(|often| {
            json!({
                "rule": often.rule, "stopped": often.stopped, "share": share(often.stopped, self.calls),
                "example": often.example, "can_be_changed": often.is_users,
            })
        });
        json!({
            "version": 1,
            "calls": self.calls,
            "always_approved": exceptions.collect::<Vec<_>>(),
            "too_often": often.collect::<Vec<_>>(),
            "never_fired": self.never,
            "unknown_tools": self.unknown_tools,
            "not_understood": { "calls": self.opaque, "example": self.opaque_example },
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown to a digit behind the point")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn often(tally: &Tally, policy: &Policy) -> Vec<Often> {
    let stopping = tally.rules.iter().filter(|(name, _)| !name.starts_with('('));
    let mut often: Vec<Often> = stopping
        .map(|(rule, count)| Often {
            rule: rule.clone(),
            stopped: count.denied + count.asked,
            example: count.example.clone(),
            is_users: policy.rules().any(|of| of.rule.name == *rule && is_users(&of)),
        })
        .filter(|often| often.stopped >= OFTEN_CALLS_MIN)
        .filter(|often| often.stopped.saturating_mul(OFTEN_ONE_IN) >= tally.calls)
        .collect();
    often.sort_by_key(|often| std::cmp::Reverse(often.stopped));
    often
}

/// Reports whether the user may change a rule. Denying rules, castellan's own and the organisation's are excluded.
fn is_users(of: &PolicyRule<'_>) -> bool {
    of.layer == Layer::User && of.verdict != RuleVerdict::Deny && pack_of_file(&of.rule.file) != "self"
}

/// Returns the user's and the shipped rules with a verdict that did not fire.
fn never(tally: &Tally, policy: &Policy) -> Vec<Silent> {
    let says = |of: &PolicyRule<'_>| !matches!(of.verdict, RuleVerdict::Seen | RuleVerdict::Notice);
    let counts = |of: &PolicyRule<'_>| of.rule.enabled && of.state != RuleState::Off;
    let fired = |name: &str| tally.rules.get(name).is_some_and(|count| count.fired > 0);
    let rules = policy.rules().filter(|of| of.layer == Layer::User && counts(of) && says(of));
    let silent = rules.filter(|of| !fired(&of.rule.name)).map(|of| {
        let pack = pack_of_file(&of.rule.file).to_owned();
        Silent {
            rule: of.rule.name.clone(),
            denies: of.verdict == RuleVerdict::Deny,
            is_shipped: pack_names().any(|name| name == pack),
            pack,
        }
    });
    silent.collect()
}
