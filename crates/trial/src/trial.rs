//! [`Trial`]: judges a described call as the daemon judges a real call. It decodes the agent's own JSON, derives the
//! effects, and lets the policy decide. The world is a [`Machine`]. Must not depend on the expected verdict.

use std::time::{Duration, Instant};

use castellan_agents::{self as agents, AgentId, Incoming, Origin, Question};
use castellan_daemon::{Explanation, OneSession};
use castellan_event::{
    Answer, Answers, Call, Change, EffectKind, Facts, FileKind, Finding, Query, Recorder, Session, World,
    lexical_path, rows,
};
use castellan_policy::{Decision, Policy, State, StateChange, drive};

use crate::case::{Asked, Case};
use crate::machine::{Machine, There};

const PID: u32 = 4242;

/// Judges described calls by a policy.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'p> {
    policy: &'p Policy,
    headless: bool,
    /// The permission mode of the agent is one in which it runs commands without a prompt of its own.
    skips_prompts: bool,
}

/// A described call with its analysis and decision.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The call decoded from the agent's payload.
    pub call: Call,
    /// The effects of the call.
    pub facts: Facts,
    /// The decision.
    pub decision: Decision,
    /// The state change that the decision causes.
    pub change: StateChange,
    /// The machine's answers to the queries.
    pub answers: Answers,
    /// The session state that earlier calls left.
    pub session: Session,
    /// The time from the agent's JSON to the decision.
    pub took: Duration,
}

impl Judged {
    /// Returns the rules of the strictest findings. Their order depends on the order of the files and has no effect on
    /// the decision. A finding without a rule is named by its code, in parentheses.
    pub fn by(&self) -> Vec<String> {
        let name = |finding: &Finding| match finding.rule.as_str() {
            "" => format!("({})", finding.code.as_str()),
            rule => rule.to_owned(),
        };
        let mut names: Vec<String> = self.strictest().map(name).collect();
        names.dedup();
        names
    }

    /// Returns the messages of the strictest findings.
    pub fn because(&self) -> Vec<String> {
        self.strictest().map(|finding| finding.message.clone()).collect()
    }

    fn strictest(&self) -> impl Iterator<Item = &Finding> {
        let verdict = self.decision.verdict;
        self.decision.findings.iter().filter(move |finding| finding.verdict == verdict && finding.counts())
    }

    /// Returns the explanation for a person.
    pub fn explanation(&self) -> Explanation {
        // An incomplete decision has asked queries without an answer; there are no rows then.
        let rows = rows(&self.call, &self.facts, &self.session, &self.answers).unwrap_or_default();
        Explanation::of(&self.facts, &rows, &self.decision)
    }
}

impl<'p> Trial<'p> {
    /// Returns a trial in which a person can be asked.
    pub fn new(policy: &'p Policy) -> Trial<'p> {
        Trial { policy, headless: false, skips_prompts: false }
    }

    /// Returns the trial with nobody to be asked.
    pub fn unattended(self) -> Trial<'p> {
        Trial { headless: true, ..self }
    }

    /// Returns the trial with an agent that runs commands without a prompt of its own.
    pub fn without_prompts(self) -> Trial<'p> {
        Trial { skips_prompts: true, ..self }
    }

    /// Judges a call after its earlier calls. Returns an error if no agent would report one of these calls so.
    pub fn judge(&self, case: &Case) -> Result<Judged, String> {
        let mut machine = case.machine();
        let mut session = OneSession::begin(&case.cwd, PID, &mut Recorder::new(&machine));
        for (at, asked) in case.earlier.iter().enumerate() {
            let number = at + 1;
            let call = decode(case, asked, number).map_err(|why| format!("earlier call {number}: {why}"))?;
            let judged = self.one(case.agent, &call, &machine, &session);
            change(&mut machine, &judged);
            let Judged { facts, change, .. } = judged;
            session
                .done(&call, facts, &change.marks)
                .map_err(|why| format!("earlier call {number}: {why}"))?;
        }
        let started = Instant::now();
        let call = decode(case, &case.call, case.earlier.len() + 1)?;
        if let (Some(real), Some(file)) = (&case.real_path, call.files.first()) {
            machine.put(&lexical_path(&case.cwd, &file.path), There::Link(real.clone()));
        }
        let judged = self.one(case.agent, &call, &machine, &session);
        Ok(Judged { took: started.elapsed(), ..judged })
    }

    fn one(&self, agent: AgentId, call: &Call, machine: &Machine, session: &OneSession) -> Judged {
        let mut world = Recorder::new(machine);
        let facts = session.facts(call, &Machine::own(), &mut world);
        let session = session.session();
        let version = || Some(agents::measured_version(agent));
        let agent_asks = agents::holds_ask(agent, version, call, &facts);
        let agent_prompts = !self.skips_prompts && !self.headless && agents::prompts(agent, call);
        let state = State { headless: self.headless, agent_asks, agent_prompts, ..State::plain(&session) };
        let (decision, change) = drive(call, &facts, self.policy, &state, &mut world);
        let answers = world.into_answers();
        Judged { call: call.clone(), facts, decision, change, answers, session, took: Duration::ZERO }
    }
}

/// Decodes the payload that the agent would send.
fn decode(case: &Case, asked: &Asked, number: usize) -> Result<Call, String> {
    let use_id = format!("call-{number}");
    let input = asked.input.clone().into();
    let question =
        Question { session_id: "trial", cwd: &case.cwd, tool: &asked.tool, input, use_id: &use_id };
    let payload = question.payload(case.agent);
    let origin = Origin { correlation_id: number as u64, agent_pid: PID, hook_cwd: case.cwd.clone() };
    let event = agents::question_event(case.agent);
    match agents::decode(case.agent, event, payload.as_bytes(), &origin) {
        Ok(Incoming::Question(call)) => Ok(call),
        Ok(Incoming::Permission(_) | Incoming::Done(_) | Incoming::Session(_)) => {
            Err(format!("`{event}` was not read as a question"))
        }
        Err(malformed) => Err(malformed.to_string()),
    }
}

/// Updates the machine after a call. A file that a file tool wrote completely has the new text; other written files
/// have unknown contents. An entry of the case stays, because the case gives the contents at that time.
fn change(machine: &mut Machine, judged: &Judged) {
    for file in &judged.call.files {
        if let Change::Whole(text) = &file.change {
            machine.put(&lexical_path(&judged.call.agent.cwd, &file.path), There::Text(text.clone()));
        }
    }
    let written = judged.facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Write);
    for path in written.filter_map(|effect| effect.path()) {
        let kind = machine.answer(&Query::FileKind { path: path.to_owned() });
        if kind == Some(Answer::FileKind(FileKind::Missing)) {
            machine.put(path, There::Unknown);
        }
    }
}
