//! [`Replay`]: judges recorded calls again by one or several policies, the calls of each session in order. Must not
//! depend on where the records are stored or on how the results are compared.

use std::collections::HashMap;

use castellan_agents::{self as agents, AgentId, Incoming, Origin, Question};
use castellan_audit::CallRecord;
use castellan_daemon::{Explanation, OneSession, RecordedWorld};
use castellan_event::{Call, Facts, ObligationKind, Recorder, Session, Verdict, rows};
use castellan_policy::{Decision, Failed, Policy, State, drive};
use serde_json::Value as Json;

use crate::limits::SESSIONS_MAX;

mod outcome;

pub use outcome::{Outcome, unknown_obligations};

/// The mark at the end of a long value in a record, and the placeholder of a secret.
const CUT: &str = "…[cut ";
const REDACTED: &str = "[redacted ";

/// The reason why a recorded call cannot be judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unjudged {
    /// The input had a secret, and castellan does not record secrets.
    Redacted,
    /// The input was too long to be recorded completely.
    Cut,
    /// This version does not support the agent.
    UnknownAgent,
    /// No agent would report the call so.
    NoCall,
}

impl Unjudged {
    /// All reasons, in the order of the report.
    pub const ALL: [Unjudged; 4] =
        [Unjudged::Redacted, Unjudged::Cut, Unjudged::UnknownAgent, Unjudged::NoCall];

    /// Returns the word for scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Unjudged::Redacted => "redacted",
            Unjudged::Cut => "cut",
            Unjudged::UnknownAgent => "unknown_agent",
            Unjudged::NoCall => "no_call",
        }
    }

    /// Returns the description for a person.
    pub fn meaning(self) -> &'static str {
        match self {
            Unjudged::Redacted => "a secret stood in the input, and is not in the log",
            Unjudged::Cut => "the input was too long for the log to hold all of it",
            Unjudged::UnknownAgent => "the agent is none that this castellan knows",
            Unjudged::NoCall => "the record cannot be read as a call of its agent",
        }
    }
}

/// A call that was judged again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The outcome of each policy, in the order of the policies.
    pub outcomes: Vec<Outcome>,
    /// Files that the call reads and that have changed since. Their contents are unknown.
    pub files_changed: usize,
    /// Queries that the record does not answer. The present machine answered them.
    pub asked_now: usize,
}

/// Judges the calls of a log again.
#[derive(Debug)]
pub struct Replay<'p> {
    policies: Vec<&'p Policy>,
    own: Vec<String>,
    /// The state that each session's calls left, for each policy. The written files are the same for all policies.
    sessions: HashMap<(String, String), Vec<OneSession>>,
}

impl<'p> Replay<'p> {
    /// Compares `policies`. `own` are castellan's own files.
    pub fn new(policies: Vec<&'p Policy>, own: Vec<String>) -> Replay<'p> {
        Replay { policies, own, sessions: HashMap::new() }
    }

    /// Judges the next call of the log in the recorded world. A person can be asked, there are no grants, and the
    /// session's workspace is trusted, because the comparison is of rules and settings only.
    pub fn judge(&mut self, record: &CallRecord, world: &RecordedWorld<'_>) -> Result<Replayed, Unjudged> {
        let (agent, call) = call(record)?;
        let key = (record.agent.to_string(), record.session_id.to_string());
        if self.sessions.len() >= SESSIONS_MAX && !self.sessions.contains_key(&key) {
            self.sessions.clear();
        }
        let begin = || self.policies.iter().map(|_| OneSession::in_workspace(&record.workspace)).collect();
        let sessions: &mut Vec<OneSession> = self.sessions.entry(key).or_insert_with(begin);
        let mut known = Recorder::new(world);
        let facts = sessions.first().map(|session| session.facts(&call, &self.own, &mut known));
        let facts = facts.unwrap_or_default();
        let mut outcomes = Vec::new();
        for (policy, session) in self.policies.iter().zip(sessions) {
            let before = session.session();
            let failed = failed(record);
            let state = State { failed: &failed, ..state(agent, record, &call, &facts, &before) };
            let (decision, change) = drive(&call, &facts, policy, &state, &mut known);
            outcomes.push(Outcome::of(decision.verdict, &decision.findings));
            // A call that was denied then did not run, so it leaves nothing now. Without room for the marks, a call
            // sets none.
            if record.answer != Verdict::Deny.as_str() {
                let marked = session.done(&call, facts.clone(), &change.marks);
                let _ = marked.or_else(|_| session.done(&call, facts.clone(), &[]));
            }
        }
        Ok(Replayed { outcomes, files_changed: world.changed(), asked_now: world.asked_now() })
    }

    /// Explains a call after the calls of its session that were judged so far, and decides it by `policy`. Like
    /// [`Replay::judge`], but the call leaves nothing in its session.
    pub fn explain(
        &self,
        policy: &Policy,
        record: &CallRecord,
        world: &RecordedWorld<'_>,
    ) -> Result<(Explanation, Decision), Unjudged> {
        let (agent, call) = call(record)?;
        let begun = OneSession::in_workspace(&record.workspace);
        let key = (record.agent.to_string(), record.session_id.to_string());
        let session = self.sessions.get(&key).and_then(|sessions| sessions.first()).unwrap_or(&begun);
        let mut known = Recorder::new(world);
        let facts = session.facts(&call, &self.own, &mut known);
        let before = session.session();
        let failed = failed(record);
        let state = State { failed: &failed, ..state(agent, record, &call, &facts, &before) };
        let (decision, _) = drive(&call, &facts, policy, &state, &mut known);
        let answers = known.into_answers();
        // If the decision could not be completed, the world had no answer for it, and there are no rows.
        let rows = rows(&call, &facts, &before, &answers).unwrap_or_default();
        Ok((Explanation::of(&facts, &rows, &decision), decision))
    }
}

/// Returns the obligations that are not met: a review, unless a reviewer let the recorded call run.
fn failed(record: &CallRecord) -> Vec<Failed> {
    let was_met = record.obligations.iter().any(|one| one.kind == ObligationKind::Review.as_str());
    if was_met { Vec::new() } else { vec![Failed::review("a replay asks no reviewer")] }
}

/// Returns the state in which a recorded call is judged again.
fn state<'s>(
    agent: AgentId,
    record: &CallRecord,
    call: &Call,
    facts: &Facts,
    before: &'s Session,
) -> State<'s> {
    // The record does not contain the agent's version.
    let version = || Some(agents::measured_version(agent));
    State {
        agent_asks: agents::holds_ask(agent, version, call, facts),
        agent_prompts: agents::prompts(agent, call),
        honours_allow: agents::honours_allow(agent, call),
        // The record does not contain the command line.
        host_judges: agents::judges_intent::<&[u8]>(agent, &record.permission_mode, Some(&[])),
        ceiling: agents::ceiling(agent, &record.permission_mode),
        ..State::plain(before)
    }
}

/// Decodes the call in the form in which its agent reported it.
fn call(record: &CallRecord) -> Result<(AgentId, Call), Unjudged> {
    let agent = AgentId::named(&record.agent);
    let agent = agent.ok_or(Unjudged::UnknownAgent)?;
    if holds(&record.input, CUT) {
        return Err(Unjudged::Cut);
    }
    if holds(&record.input, REDACTED) {
        return Err(Unjudged::Redacted);
    }
    let question = Question {
        session_id: &record.session_id,
        cwd: &record.cwd,
        tool: &record.tool_raw,
        input: Json::clone(&record.input),
        use_id: &record.use_id,
    };
    let origin = Origin {
        correlation_id: record.correlation_id,
        agent_pid: record.agent_pid,
        hook_cwd: record.cwd.to_string(),
    };
    let event = agents::question_event(agent);
    let decoded = agents::decode(agent, event, question.payload(agent).as_bytes(), &origin);
    let Ok(Incoming::Question(mut call)) = decoded else { return Err(Unjudged::NoCall) };
    call.agent.event = record.event.to_string();
    call.agent.permission_mode = record.permission_mode.to_string();
    call.agent.subagent_id = record.subagent_id.to_string();
    Ok((agent, call))
}

/// Returns true if a text in the input contains `part`. The JSON reader limits the nesting.
fn holds(value: &Json, part: &str) -> bool {
    match value {
        Json::String(text) => text.contains(part),
        Json::Array(values) => values.iter().any(|value| holds(value, part)),
        Json::Object(map) => map.iter().any(|(key, value)| key.contains(part) || holds(value, part)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use castellan_daemon::{Config, KnownTexts, compile};
    use castellan_rules::Source;
    use serde_json::json;

    use super::*;

    const MARKING: &str = r#"- rule: See status
  desc: d
  condition: cmd.name = git and cmd.subcommand = status
  output: o
  priority: INFORMATIONAL
  source: coding_agent
  tags: ["coding_agent_mark:seen"]

- rule: Deny after status
  desc: d
  condition: session.mark_count[seen] > 0 and fx.kind = delete
  output: o
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

    fn record(session: &str, command: &str, answer: &str) -> CallRecord {
        CallRecord {
            agent: "claude_code".into(),
            event: "PreToolUse".into(),
            session_id: session.into(),
            cwd: "/no/such/place".into(),
            workspace: "/no/such/place".into(),
            tool: "Bash".into(),
            tool_raw: "Bash".into(),
            input: json!({ "command": command }).into(),
            verdict: answer.into(),
            answer: answer.into(),
            ..CallRecord::default()
        }
    }

    fn policy(text: &str) -> Policy {
        let sources = [Source { name: "mine.yaml".to_owned(), text: text.to_owned() }];
        let compiled = compile(&sources, &Config::default());
        assert_eq!(compiled.error(), None);
        compiled.policy
    }

    /// Returns the verdicts of each record by a policy with marks and by a policy without rules.
    fn verdicts(records: &[CallRecord]) -> Vec<Result<(Verdict, Verdict), Unjudged>> {
        let (marking, none) = (policy(MARKING), policy(""));
        let mut replay = Replay::new(vec![&marking, &none], Vec::new());
        let reported = KnownTexts::default();
        let judged = records.iter().map(|record| {
            let replayed = replay.judge(record, &RecordedWorld::new(record, &reported))?;
            let [one, other] = &replayed.outcomes[..] else { panic!("{replayed:?}") };
            Ok((one.verdict, other.verdict))
        });
        judged.collect()
    }

    #[test]
    fn a_session_is_judged_in_its_order() {
        let (defer, deny) = (Verdict::Defer, Verdict::Deny);
        for (records, expected) in [
            (vec![record("s", "git status", "defer"), record("s", "rm x", "defer")], (deny, defer)),
            // A mark of another session, of a call that was denied, or of no call.
            (vec![record("t", "git status", "defer"), record("s", "rm x", "defer")], (defer, defer)),
            (vec![record("s", "git status", "deny"), record("s", "rm x", "defer")], (defer, defer)),
            (vec![record("s", "ls", "defer"), record("s", "rm x", "defer")], (defer, defer)),
        ] {
            assert_eq!(verdicts(&records).last(), Some(&Ok(expected)), "{records:?}");
        }
    }

    /// A call is explained after the earlier calls of its session, as often as wanted.
    #[test]
    fn a_call_is_explained_in_its_session() {
        let marking = policy(MARKING);
        let mut replay = Replay::new(vec![&marking], Vec::new());
        let texts = KnownTexts::default();
        let (earlier, wanted) = (record("s", "git status", "defer"), record("s", "rm x", "deny"));
        let explain = |replay: &Replay<'_>| {
            let explained = replay.explain(&marking, &wanted, &RecordedWorld::new(&wanted, &texts)).unwrap();
            (explained.1.verdict, explained.0.commands[0].effects[0].kind.clone())
        };
        assert_eq!(explain(&replay), (Verdict::Defer, "delete".to_owned()));
        replay.judge(&earlier, &RecordedWorld::new(&earlier, &texts)).unwrap();
        for _ in 0..2 {
            assert_eq!(explain(&replay), (Verdict::Deny, "delete".to_owned()));
        }
    }

    #[test]
    fn what_is_not_in_the_log_is_not_judged() {
        let with = |change: fn(&mut CallRecord)| {
            let mut record = record("s", "ls", "defer");
            change(&mut record);
            verdicts(&[record]).remove(0).err()
        };
        for (change, expected) in [
            ((|_| {}) as fn(&mut CallRecord), None),
            (
                |record| record.input = json!({ "command": "x --token [redacted token]" }).into(),
                Some(Unjudged::Redacted),
            ),
            (
                |record| record.input = json!({ "a": [{ "b": "abc…[cut 9 bytes]" }] }).into(),
                Some(Unjudged::Cut),
            ),
            (|record| record.agent = "of_the_future".into(), Some(Unjudged::UnknownAgent)),
            (
                |record| record.input = json!("x".repeat(agents::PAYLOAD_BYTES_MAX)).into(),
                Some(Unjudged::NoCall),
            ),
        ] {
            assert_eq!(with(change), expected);
        }
    }
}
