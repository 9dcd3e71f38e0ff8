//! [`Tally`]: counts for a part of the log: verdicts by day and agent, the effect of each rule, asks with the person's
//! answers, and ungoverned runs. This module must not know how the counts are used.

use super::subject::subject;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use castellan_audit::{CallRecord, ControlRecord, Entry, Record, SessionRecord};
use castellan_daemon::CANARY_TOOL;
use jiff::civil::Date;
use serde::Serialize;

use super::is_held;
use crate::times::local_day;

/// Asked calls that are stored whole: more than a person is asked in a month, some KiB each.
const ASKS_KEPT: usize = 5_000;

/// The number of calls for each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Verdicts {
    pub(crate) deny: usize,
    pub(crate) ask: usize,
    pub(crate) allow: usize,
    pub(crate) defer: usize,
}

/// The effects of one rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleCount {
    /// Calls on which the rule fired.
    pub(crate) fired: usize,
    /// Calls that the rule denied, and calls for which the rule asked.
    pub(crate) denied: usize,
    pub(crate) asked: usize,
    /// Answers of the person to the asks of this rule.
    pub(crate) approved: usize,
    pub(crate) refused: usize,
    /// Verdicts that the rule would have given in observe state.
    pub(crate) observed: BTreeMap<String, usize>,
    /// An example call on which the rule fired, as shown in the log.
    pub(crate) example: String,
}

/// The outcome of a call with verdict ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A person approved it, or it ran after the agent's own prompt.
    Approved,
    /// A person refused it.
    Refused,
    /// The log has no answer: a no at the agent's own prompt leaves no record.
    Open,
}

/// A call with verdict ask.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) record: CallRecord,
    pub(crate) time: SystemTime,
    pub(crate) by: Vec<String>,
    pub(crate) fate: Fate,
}

/// Identifies a call by its agent, session and use id.
type Key = (String, String, String);

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) calls: usize,
    pub(crate) verdicts: Verdicts,
    /// By local day.
    pub(crate) days: BTreeMap<Date, Verdicts>,
    pub(crate) agents: BTreeMap<String, Verdicts>,
    pub(crate) rules: BTreeMap<String, RuleCount>,
    pub(crate) asks: Vec<Ask>,
    /// Asked calls beyond [`ASKS_KEPT`].
    pub(crate) asks_dropped: usize,
    /// The time until `castellan approve` or `refuse` answered each call.
    pub(crate) waits: Vec<Duration>,
    /// By reason.
    pub(crate) ungoverned: BTreeMap<String, usize>,
    /// Calls of tools that castellan does not know, by agent and tool.
    pub(crate) unknown_tools: BTreeMap<(String, String), usize>,
    /// Calls whose verdict an Opaque part decided, and an example.
    pub(crate) opaque: usize,
    pub(crate) opaque_example: String,
    by_number: HashMap<u64, usize>,
    by_key: HashMap<Key, usize>,
}

impl Tally {
    pub(crate) fn add(&mut self, entry: &Entry) {
        match &entry.record {
            Record::Call(call) => self.add_call(entry.time, call),
            Record::Session(session) if !session.tool.is_empty() => self.add_done(session),
            Record::Control(control) if control.accepted && control.call != 0 => {
                self.add_word(entry.time, control);
            }
            Record::Ungoverned(record) => *self.ungoverned.entry(record.why.to_string()).or_default() += 1,
            Record::Session(_)
            | Record::Control(_)
            | Record::Failure(_)
            | Record::Gap(_)
            | Record::Retention(_)
            | Record::Recovery(_) => {}
        }
    }

    fn add_call(&mut self, time: SystemTime, call: &CallRecord) {
        // Ignores the canary calls of `castellan doctor`.
        if call.tool_raw == CANARY_TOOL {
            return;
        }
        let key = (call.agent.to_string(), call.session_id.to_string(), call.use_id.to_string());
        let held = self.by_key.get(&key).copied().filter(|_| !call.use_id.is_empty());
        let held = held.filter(|at| self.asks.get(*at).is_some_and(|ask| is_held(&ask.record.answer)));
        let by = decisive(call);
        if call.verdict == "ask" && held.is_none() {
            self.add_ask(time, call, key, &by);
        }
        // A pending call gets a second record, which is counted.
        if is_held(&call.answer) {
            return;
        }
        self.calls += 1;
        self.verdicts.add(&call.verdict);
        self.days.entry(local_day(time)).or_default().add(&call.verdict);
        self.agents.entry(call.agent.to_string()).or_default().add(&call.verdict);
        self.add_rules(call, &by);
        if call.findings.iter().any(|finding| finding.code == "unknown_tool") {
            let tool = (call.agent.to_string(), call.tool_raw.to_string());
            *self.unknown_tools.entry(tool).or_default() += 1;
        }
        if by.iter().any(|name| name == "(opaque)") {
            self.opaque += 1;
            self.opaque_example = subject(call);
        }
    }

    fn add_ask(&mut self, time: SystemTime, call: &CallRecord, key: Key, by: &[String]) {
        for name in by {
            self.rules.entry(name.clone()).or_default().asked += 1;
        }
        if self.asks.len() >= ASKS_KEPT {
            self.asks_dropped += 1;
            return;
        }
        let at = self.asks.len();
        self.by_number.insert(call.correlation_id, at);
        if !call.use_id.is_empty() {
            self.by_key.insert(key, at);
        }
        let ask = Ask { record: call.clone(), time, by: by.to_vec(), fate: Fate::Open };
        self.asks.push(ask);
    }

    fn add_rules(&mut self, call: &CallRecord, by: &[String]) {
        let mut seen: Vec<&str> = Vec::new();
        for finding in call.findings.iter().filter(|finding| !finding.rule.is_empty()) {
            let count = self.rules.entry(finding.rule.clone()).or_default();
            if finding.lifted == OBSERVED {
                *count.observed.entry(finding.verdict.clone()).or_default() += 1;
            }
            if !seen.contains(&finding.rule.as_str()) {
                seen.push(&finding.rule);
                count.fired += 1;
                count.example = subject(call);
            }
        }
        if call.verdict == "deny" {
            for name in by {
                self.rules.entry(name.clone()).or_default().denied += 1;
            }
        }
    }

    /// Records that a call has run: the agent reports it as done, so a person approved it.
    fn add_done(&mut self, session: &SessionRecord) {
        let key = (session.agent.to_string(), session.session_id.to_string(), session.use_id.to_string());
        if let Some(at) = self.by_key.get(&key).copied() {
            self.settle(at, Fate::Approved);
        }
    }

    fn add_word(&mut self, time: SystemTime, control: &ControlRecord) {
        let fate = match control.action.as_str() {
            "approve" => Fate::Approved,
            "refuse" => Fate::Refused,
            _ => return,
        };
        let Some(at) = self.by_number.get(&control.call).copied() else { return };
        if let Some(ask) = self.asks.get(at)
            && let Ok(wait) = time.duration_since(ask.time)
            && ask.fate == Fate::Open
        {
            self.waits.push(wait);
        }
        self.settle(at, fate);
    }

    /// Stores the first outcome. A grant that is revoked later was still given.
    fn settle(&mut self, at: usize, fate: Fate) {
        let Some(ask) = self.asks.get_mut(at).filter(|ask| ask.fate == Fate::Open) else { return };
        ask.fate = fate;
        for name in ask.by.clone() {
            let count = self.rules.entry(name).or_default();
            match fate {
                Fate::Approved => count.approved += 1,
                Fate::Refused => count.refused += 1,
                Fate::Open => {}
            }
        }
    }

    /// Returns the rules that asked, most asks first.
    pub(crate) fn asking(&self) -> Vec<(&str, &RuleCount)> {
        let mut asking: Vec<(&str, &RuleCount)> = self
            .rules
            .iter()
            .filter(|(_, count)| count.asked > 0)
            .map(|(name, count)| (&**name, count))
            .collect();
        asking.sort_by_key(|(_, count)| std::cmp::Reverse(count.asked));
        asking
    }
}

/// The `lifted` value of a finding from a rule in observe state.
const OBSERVED: &str = "observe";

/// Returns the distinct rules that decided the verdict; for a finding without a rule its code, such as `(opaque)`.
fn decisive(call: &CallRecord) -> Vec<String> {
    let decisive =
        call.findings.iter().filter(|finding| call.verdict == *finding.verdict && finding.lifted.is_empty());
    let mut names: Vec<String> = decisive
        .map(|finding| match finding.rule.as_str() {
            "" => format!("({})", finding.code),
            rule => rule.to_owned(),
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

impl Verdicts {
    fn add(&mut self, verdict: &str) {
        match verdict {
            "deny" => self.deny += 1,
            "ask" => self.ask += 1,
            "allow" => self.allow += 1,
            _ => self.defer += 1,
        }
    }

    pub(crate) fn all(self) -> usize {
        self.deny + self.ask + self.allow + self.defer
    }
}

#[cfg(test)]
mod tests {
    use castellan_audit::{FindingRecord, Stream};

    use super::*;

    fn ask(number: u64, use_id: &str, answer: &str) -> Record {
        let finding = FindingRecord {
            verdict: "ask".to_owned(),
            code: "ask_rule".to_owned(),
            rule: "Ask".to_owned(),
            ..FindingRecord::default()
        };
        Record::Call(CallRecord {
            correlation_id: number,
            agent: "a".into(),
            session_id: "s".into(),
            use_id: use_id.into(),
            verdict: "ask".into(),
            answer: answer.into(),
            findings: vec![finding],
            ..CallRecord::default()
        })
    }

    fn said(action: &str, call: u64) -> Record {
        Record::Control(ControlRecord {
            action: action.into(),
            accepted: true,
            call,
            ..ControlRecord::default()
        })
    }

    fn done(use_id: &str) -> Record {
        Record::Session(SessionRecord {
            agent: "a".into(),
            session_id: "s".into(),
            tool: "Bash".into(),
            use_id: use_id.into(),
            ..SessionRecord::default()
        })
    }

    /// Checks the number of calls, the outcomes of asked ones and their waits in seconds, with one record per second.
    fn check(records: &[Record], calls: usize, fates: &[Fate], waits: &[u64]) {
        let mut tally = Tally::default();
        for (second, record) in (0..).zip(records) {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            let (record, line) = (record.clone(), String::new());
            tally.add(&Entry { seq: second, time, stream: Stream::Notable, record, line });
        }
        let found: Vec<Fate> = tally.asks.iter().map(|ask| ask.fate).collect();
        let waited: Vec<u64> = tally.waits.iter().map(Duration::as_secs).collect();
        assert_eq!((tally.calls, &found[..], &waited[..]), (calls, fates, waits), "{records:?}");
        let count = tally.rules.get("Ask").cloned().unwrap_or_default();
        let of = |fate| fates.iter().filter(|one| **one == fate).count();
        let expected = (fates.len(), of(Fate::Approved), of(Fate::Refused));
        assert_eq!((count.asked, count.approved, count.refused), expected);
    }

    #[test]
    fn what_became_of_a_call_that_was_asked_about() {
        check(&[ask(1, "u", "ask")], 1, &[Fate::Open], &[]);
        check(&[ask(1, "u", "ask"), done("u")], 1, &[Fate::Approved], &[]);
        check(&[ask(1, "u", "ask"), done("other")], 1, &[Fate::Open], &[]);
        check(&[ask(1, "u", "ask"), said("status", 1), said("approve", 1)], 1, &[Fate::Approved], &[2]);
        check(&[ask(1, "u", "ask"), said("refuse", 1)], 1, &[Fate::Refused], &[1]);
        // A revoked grant was still given.
        check(&[ask(1, "u", "ask"), said("approve", 1), said("refuse", 1)], 1, &[Fate::Approved], &[1]);
        // Pending: two records are one call.
        let held = [ask(1, "u", "hold"), said("approve", 1), ask(2, "u", "ask"), done("u")];
        check(&held, 1, &[Fate::Approved], &[1]);
        // Calls without a use id are separate calls.
        check(
            &[ask(1, "", "ask"), ask(2, "", "ask"), said("approve", 2)],
            2,
            &[Fate::Open, Fate::Approved],
            &[1],
        );
    }
}
