//! [`Trial`]: judges a described call as the daemon judges a real call. It decodes the agent's own JSON, derives the
//! effects, and lets the policy decide. The world is a [`Machine`]. Must not depend on the expected verdict.

use std::time::{Duration, Instant};

use castellan_agents::{self as agents, AgentId, Incoming, Origin, Question};
use castellan_daemon::{Explanation, OneSession};
use castellan_event::{
    Answer, Answers, Call, Change, EffectKind, Facts, FileKind, Finding, Obligation, ObligationKind, Query,
    Recorder, Replacement, Session, Verdict, World, lexical_path, rows,
};
use castellan_policy::{Decision, Failed, Policy, State, StateChange, drive};

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

/// Calls in the order in which they are made, in sessions that follow each other on one machine.
#[derive(Debug)]
pub struct Sequence<'p> {
    trial: Trial<'p>,
    agent: AgentId,
    cwd: String,
    machine: Machine,
    session: OneSession,
    /// Number of calls that have run.
    run: u64,
}

/// A described call with its analysis and decision.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The call decoded from the agent's payload.
    pub call: Call,
    /// The effects of the call.
    pub facts: Facts,
    /// The decision. No call runs in a sandbox.
    pub decision: Decision,
    /// The decision about a call that is not let through, where castellan can run it in a sandbox; `None` if it does not.
    pub contained: Option<Decision>,
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
        let mut sequence = self.begin(case);
        for (at, asked) in case.earlier.iter().enumerate() {
            sequence.begin(asked).map_err(|why| format!("earlier call {}: {why}", at + 1))?;
        }
        let started = Instant::now();
        let call = sequence.decode(&case.call)?;
        if let (Some(real), Some(file)) = (&case.real_path, call.files.first()) {
            sequence.machine.put(&lexical_path(&case.cwd, &file.path), There::Link(real.clone()));
        }
        let judged = sequence.judge(&call);
        Ok(Judged { took: started.elapsed(), ..judged })
    }

    /// Begins a sequence of calls on the machine of a case. The call of the case and its earlier calls are ignored.
    pub fn sequence(&self, case: &Case) -> Sequence<'p> {
        let sequence = self.begin(case);
        Sequence { session: sequence.session.among_others(), ..sequence }
    }

    fn begin(&self, case: &Case) -> Sequence<'p> {
        let machine = case.machine();
        let session = OneSession::begin(&case.cwd, PID, &mut Recorder::new(&machine));
        Sequence { trial: *self, agent: case.agent, cwd: case.cwd.clone(), machine, session, run: 0 }
    }

    fn one(&self, agent: AgentId, call: &Call, machine: &Machine, session: &OneSession) -> Judged {
        let mut world = Recorder::new(machine);
        let facts = session.facts(call, &Machine::own(), &mut world);
        let session = session.session();
        let version = || Some(agents::measured_version(agent));
        let agent_asks = agents::holds_ask(agent, version, call, &facts);
        let agent_prompts = !self.skips_prompts && !self.headless && agents::prompts(agent, call);
        let failed = [Failed::review("a trial asks no reviewer")];
        let plain = State { failed: &failed, ..State::plain(&session) };
        let state = State { headless: self.headless, agent_asks, agent_prompts, ..plain };
        let (decision, change) = drive(call, &facts, self.policy, &state, &mut world);
        let able = [state.able, &[ObligationKind::Contain]].concat();
        let state = State { able: &able, ..state };
        let is_stopped = decision.answer >= Verdict::Ask && agents::can_rewrite(agent, call);
        let contained = is_stopped.then(|| drive(call, &facts, self.policy, &state, &mut world).0);
        let is_contained = |one: &Obligation| one.action.kind() == ObligationKind::Contain;
        let contained = contained.filter(|decision| decision.due().iter().any(is_contained));
        let answers = world.into_answers();
        let (call, took) = (call.clone(), Duration::ZERO);
        Judged { call, facts, decision, contained, change, answers, session, took }
    }
}

impl Sequence<'_> {
    /// Judges the next call. The call then runs, whatever the answer: a person approves a call that is interrupted. The
    /// agent reports its end. Returns an error if no agent would report the call so.
    pub fn run(&mut self, asked: &Asked) -> Result<Judged, String> {
        let judged = self.begin(asked)?;
        self.session.reported(&judged.call);
        Ok(judged)
    }

    /// Judges and runs the next call, without a report of its end: what it left in the background may still run.
    fn begin(&mut self, asked: &Asked) -> Result<Judged, String> {
        let started = Instant::now();
        let call = self.decode(asked)?;
        let judged = self.judge(&call);
        let judged = Judged { took: started.elapsed(), ..judged };
        change(&mut self.machine, &judged);
        self.session
            .done(&call, judged.facts.clone(), &judged.change.marks)
            .map_err(|why| why.to_string())?;
        self.run += 1;
        Ok(judged)
    }

    /// Ends the session. The next call begins another session in the same workspace of the same machine.
    pub fn end_session(&mut self) {
        self.session.end();
    }

    /// Puts a file onto the machine that the last call made and that its effects do not show.
    pub fn put(&mut self, path: &str, text: &str) {
        self.machine.put(&lexical_path(&self.cwd, path), There::Text(text.to_owned()));
    }

    fn judge(&self, call: &Call) -> Judged {
        self.trial.one(self.agent, call, &self.machine, &self.session)
    }

    /// Decodes the payload that the agent would send.
    fn decode(&self, asked: &Asked) -> Result<Call, String> {
        let number = self.run + 1;
        let use_id = format!("call-{number}");
        let input = asked.input.clone().into();
        let question =
            Question { session_id: "trial", cwd: &self.cwd, tool: &asked.tool, input, use_id: &use_id };
        let payload = question.payload(self.agent);
        let origin = Origin { correlation_id: number, agent_pid: PID, hook_cwd: self.cwd.clone() };
        let event = agents::question_event(self.agent);
        match agents::decode(self.agent, event, payload.as_bytes(), &origin) {
            Ok(Incoming::Question(call)) => Ok(call),
            Ok(Incoming::Permission(_) | Incoming::Done(_) | Incoming::Session(_)) => {
                Err(format!("`{event}` was not read as a question"))
            }
            Err(malformed) => Err(malformed.to_string()),
        }
    }
}

/// Updates the machine after a call. A file has the text that a file tool wrote or replaced in it; other new files have
/// unknown contents. Any other entry stays, because the case gives the contents at that time.
fn change(machine: &mut Machine, judged: &Judged) {
    for file in &judged.call.files {
        let path = lexical_path(&judged.call.agent.cwd, &file.path);
        match &file.change {
            Change::Whole(text) => machine.put(&path, There::Text(text.clone())),
            Change::Edited { of, replacements } => {
                let of = lexical_path(&judged.call.agent.cwd, of);
                let Some(Answer::Contents(Some(before))) = machine.answer(&Query::Contents { path: of })
                else {
                    continue;
                };
                let before = String::from_utf8_lossy(&before).into_owned();
                machine.put(&path, There::Text(replacements.iter().fold(before, edited)));
            }
            Change::Unsaid => {}
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

fn edited(text: String, Replacement { old, new, everywhere }: &Replacement) -> String {
    match old.as_str() {
        "" => text + new,
        old if *everywhere => text.replace(old, new),
        old => text.replacen(old, new, 1),
    }
}
