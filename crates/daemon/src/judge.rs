//! One call from payload to reply: decode, decide, record, encode, in this order. Whatever fails on the way is a decision
//! too, and is recorded.

mod consent;
mod hold;
mod scripts;
mod sessions;
mod ungoverned;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use castellan_agents::{self as agents, AgentId, Incoming, Malformed, Origin, Told};
use castellan_audit::{AuditError, Log, Record};
use castellan_event::{
    AccessLevel, Agent, Call, Decision, EffectKind, Facts, FileOrigin, Mode, Recorder, Session, Verdict,
};
use castellan_policy::{Policy, RequestId, Standing, State, agent_text, drive, user_text};
use castellan_wire::{Reply, Request};
use sha2::{Digest, Sha256};

use self::consent::{Settled, grantable};
pub(crate) use self::hold::{Holding, Outcome};
use crate::facts::facts_after;
use crate::held::Held;
use crate::lookout::LiveSessions;
use crate::memory::{Begun, CallKey, Consequence, Entered, Given, Memory, Workspace};
use crate::peers::AgentProcess;
use crate::process::arguments_of;
use crate::projects::Projects;
use crate::record::{self, Judged};
use crate::tally::Tally;
use crate::world::FileSystem;

// The hook sends what the decoder reads, and one byte more of what it refuses.
const _: () = assert!(agents::PAYLOAD_BYTES_MAX == castellan_wire::PAYLOAD_BYTES_MAX);

#[derive(Debug)]
pub(crate) struct Judge {
    terms: RwLock<Arc<Terms>>,
    memory: Mutex<Memory>,
    /// The sessions whose agents run.
    live: LiveSessions,
    /// When this process started, in the kernel's count.
    own_start: OnceLock<u64>,
    /// What is to be looked at when the answer is sent.
    due: Mutex<Vec<scripts::Check>>,
    /// Calls whose agents wait for a person.
    held: Held,
    log: Log,
    /// What its records have told.
    told: record::Told,
    /// castellan's own files.
    own: Vec<String>,
    tally: Tally,
}

/// What calls are judged by. What is put in force together stands here together: a call sees all of it or none.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) policy: Arc<Policy>,
    pub(crate) mode: Mode,
    /// What workspaces with files of their own are judged by instead.
    pub(crate) projects: Arc<Projects>,
}

#[cfg(test)]
impl Terms {
    /// Where no workspace has files of its own.
    pub(crate) fn new(policy: Arc<Policy>, mode: Mode) -> Terms {
        Terms { policy, mode, projects: Arc::default() }
    }
}

/// One call being judged: what the steps below share.
struct Asked<'a> {
    agent: AgentId,
    request: &'a Request,
    process: AgentProcess,
    started: Instant,
    /// Those that were in force when the call came in.
    in_force: Arc<Terms>,
    /// Those of its workspace, as soon as that is known.
    in_workspace: OnceCell<Arc<Terms>>,
    holding: Holding,
}

impl Asked<'_> {
    /// What the call is judged by.
    fn terms(&self) -> &Terms {
        self.in_workspace.get().unwrap_or(&self.in_force)
    }

    fn agent_pid(&self) -> u32 {
        if self.process.pid == 0 { self.request.parent_pid } else { self.process.pid }
    }

    /// What the decision must know besides the call.
    fn state<'s>(
        &self,
        next_request: RequestId,
        whose: &Whose,
        session: &'s Session,
        follows: &'s Consequence,
    ) -> State<'s> {
        State {
            mode: self.terms().mode,
            agent_asks: agents::can_ask(self.agent, &self.request.event),
            headless: self.terms().policy.settings().minds_headless() && self.is_headless(),
            ceiling: follows.ceiling.map_or(whose.ceiling, |level| level.min(whose.ceiling)),
            standing: whose.standing,
            bar: follows.bar.as_ref(),
            next_request,
            session,
            grant: None,
        }
    }

    /// Whether nobody is there to be asked. Of a process that cannot be looked at it is not known, and it counts as such.
    fn is_headless(&self) -> bool {
        let arguments = arguments_of(self.agent_pid());
        arguments.is_empty() || agents::is_headless(self.agent, &arguments)
    }
}

/// Whose event it is.
#[derive(Debug, Clone)]
struct Whose {
    session: Entered,
    /// Where the session works. `None` where that cannot be looked at.
    workspace: Option<Workspace>,
    /// What a person has said of that.
    standing: Standing,
    /// The highest access level that the agent gives itself, and the one that it works for.
    ceiling: AccessLevel,
}

impl Whose {
    /// The directory in which things count as the workspace's; empty where there is none.
    fn inside(&self) -> &str {
        self.workspace.as_ref().map_or("", Workspace::inside)
    }
}

/// A failure of our own.
struct Failure {
    /// One stable word for the record.
    code: &'static str,
    /// What the agent reads.
    what: &'static str,
    /// Why, for the user.
    why: String,
}

impl Failure {
    fn panicked() -> Failure {
        Failure { code: "panic", what: "an internal error", why: "a panic while it was judged".to_owned() }
    }

    /// A mark that was lost would be one that no later rule sees.
    fn unmarked(why: String) -> Failure {
        Failure { code: "marks", what: "the call could not be noted for later ones", why }
    }

    /// Nothing may be answered that the next daemon would not know of.
    fn unkept(why: String) -> Failure {
        Failure { code: "state", what: "the call could not be noted for later ones", why }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Failure {
        Failure { code: "log", what: "the call could not be recorded", why: error.to_string() }
    }
}

impl Judge {
    /// `own`: castellan's own files.
    pub(crate) fn new(terms: Terms, log: Log, own: Vec<String>, memory: Memory) -> Judge {
        Judge {
            terms: RwLock::new(Arc::new(terms)),
            memory: Mutex::new(memory),
            live: LiveSessions::default(),
            own_start: OnceLock::new(),
            due: Mutex::default(),
            held: Held::default(),
            log,
            told: record::Told::default(),
            own,
            tally: Tally::default(),
        }
    }

    /// Answers a hook, or says that it is to wait for a person. Always: a panic on the way denies.
    pub(crate) fn answer(
        &self,
        request: &Request,
        process: AgentProcess,
        started: Instant,
        holding: Holding,
    ) -> Outcome {
        let Ok(agent) = request.agent.parse::<AgentId>() else {
            self.fail("agent", &format!("a hook names the unknown agent `{}`", request.agent));
            return Outcome::Reply(Reply {
                exit: 2,
                stdout: Vec::new(),
                stderr: b"castellan: denied, unknown agent\n".to_vec(),
            });
        };
        let asked = Asked {
            agent,
            request,
            process,
            started,
            in_force: self.terms(),
            in_workspace: OnceCell::new(),
            holding,
        };
        self.caught(&asked, || {
            let done = self.judge(&asked).and_then(|outcome| self.save().map(|()| outcome));
            done.unwrap_or_else(|failure| Outcome::Reply(self.failed(&asked, &failure)))
        })
    }

    /// A panic is a decision: the failure's.
    fn caught(&self, asked: &Asked<'_>, work: impl FnOnce() -> Outcome) -> Outcome {
        let done = catch_unwind(AssertUnwindSafe(work));
        done.unwrap_or_else(|_| Outcome::Reply(self.failed(asked, &Failure::panicked())))
    }

    fn judge(&self, asked: &Asked<'_>) -> Result<Outcome, Failure> {
        let request = asked.request;
        let origin = Origin {
            correlation_id: random(),
            agent_pid: asked.agent_pid(),
            hook_cwd: String::from_utf8_lossy(&request.cwd).into_owned(),
        };
        match agents::decode(asked.agent, &request.event, &request.payload, &origin) {
            Ok(Incoming::Question(call)) => {
                let whose = self.whose(asked, &call.agent)?;
                self.hear(asked, &whose, &call.agent);
                self.question(asked, &call, &whose, None)
            }
            Ok(Incoming::Permission(call)) => {
                let whose = self.whose(asked, &call.agent)?;
                self.hear(asked, &whose, &call.agent);
                self.second_question(asked, &call, &whose)
            }
            Ok(Incoming::Done(done)) => {
                let whose = self.whose(asked, &done.call.agent)?;
                self.hear(asked, &whose, &done.call.agent);
                self.ran(asked, &whose, &done);
                let ended = self.memory().end(whose.session.root, &done.call.tool.use_id);
                self.check_later(&done.call.agent, ended);
                self.note(&record::done(&done)).map(Outcome::Reply)
            }
            Ok(Incoming::Session(event)) => {
                let whose = self.whose(asked, &event.agent)?;
                self.hear(asked, &whose, &event.agent);
                if event.agent.event == PROMPT {
                    let ended = self.memory().end_turn(whose.session.root);
                    self.check_later(&event.agent, ended);
                }
                self.note(&record::session_event(&event)).map(Outcome::Reply)
            }
            Err(malformed) => self.malformed(asked, &malformed).map(Outcome::Reply),
        }
    }

    /// The agent asks whether a call may run. When it has asked before, `before` is what it was answered then, and its marks
    /// are set.
    fn question(
        &self,
        asked: &Asked<'_>,
        call: &Call,
        whose: &Whose,
        before: Option<Given>,
    ) -> Result<Outcome, Failure> {
        let Terms { policy, .. } = asked.terms();
        let first = before.as_ref().map(|before| before.call);
        let mut consent = self.consent(asked, call, whose.session.id, first.is_none());
        let (session, before) = match before {
            Some(before) => (before.session, before.grant),
            None => (Arc::new(self.session(whose, policy)), None),
        };
        let taken = consent.taken().cloned().or(before);
        let grant = taken.as_ref().map(|taken| &taken.grant);
        let follows = self.consequence(asked, &whose.session.id);
        let state = State { grant, ..asked.state(consent.request, whose, &session, &follows) };
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let facts = self.facts(call, state.mode, (whose, first), &mut world);
        let (mut decision, mut change) = drive(call, &facts, policy, &state, &mut world);
        let answers = world.into_answers();
        asked.refuse(&mut decision, &mut change);
        let is_grantable = grantable(call, &facts, &decision, &change).is_some();
        let hold = asked.hold_time(&decision, first.is_none() && is_grantable);
        if first.is_some() || hold.is_some() {
            change.marks.clear();
        }
        if change.request.is_some() {
            change.request = Some(self.named(&mut consent, &facts, &decision));
        }
        let id = consent.request;
        let judged = Judged {
            call,
            decision: &decision,
            answers: &answers,
            change: &change,
            policy: policy.hash(),
            workspace: whose.inside(),
            is_held: hold.is_some(),
            told: &self.told,
        };
        let record = judged.record(asked.started.elapsed());
        self.commit(&record, whose, &change.marks)?;
        self.tell_unknown(whose, &call.agent, policy);
        let settled = Settled {
            call,
            facts: &facts,
            answers: &answers,
            session: &session,
            decision: &decision,
            change: &change,
        };
        self.settle(asked, consent, &settled, hold.is_some());
        if let Some(time) = hold {
            return Ok(Outcome::Hold { id, time });
        }
        self.tally.judged(decision.verdict);
        let number = first.unwrap_or(call.correlation_id);
        if change.answer != Verdict::Deny {
            let begun = begun(call, number, facts);
            let forgotten = self.memory().begin(whose.session.root, begun);
            self.check_later(&call.agent, forgotten);
        }
        let told = told(call, &decision, change.request);
        let (verdict, reason) = (change.answer, told.reason.clone());
        let grant = taken.filter(|_| change.used_grant);
        let given = Given { verdict, reason, session, call: number, grant, stands: true };
        let key = key(asked.agent, call);
        self.keep_decision(whose, call, key, verdict);
        self.memory().remember(key, given);
        Ok(Outcome::Reply(reply(agents::encode(asked.agent, &asked.request.event, &told))))
    }

    /// The agent asks again, at its own prompt, about a call that it has asked about before: the answer stands, and after
    /// an ask the prompt is the answer. A call that was not asked about is judged now, and so is one that would be answered
    /// more strictly by now: a symlink may have moved in between.
    fn second_question(&self, asked: &Asked<'_>, call: &Call, whose: &Whose) -> Result<Outcome, Failure> {
        let key = key(asked.agent, call);
        let given = self.memory().given(&key).cloned();
        let is_at_least =
            |given: &Given| given.stands && self.judge_now(asked, call, whose, given).answer <= given.verdict;
        match given {
            Some(given) if is_at_least(&given) => {
                let verdict = if given.verdict == Verdict::Ask { Verdict::Defer } else { given.verdict };
                let told = Told { verdict, reason: given.reason, user_note: String::new() };
                Ok(Outcome::Reply(reply(agents::encode(asked.agent, &asked.request.event, &told))))
            }
            // A denied call set no marks: allowed by another policy, it is a new one.
            Some(given) if given.verdict == Verdict::Deny => self.question(asked, call, whose, None),
            Some(given) => self.question(asked, call, whose, Some(given)),
            None => self.question(asked, call, whose, None),
        }
    }

    /// The decision as it would be now, for comparison only.
    fn judge_now(&self, asked: &Asked<'_>, call: &Call, whose: &Whose, given: &Given) -> Decision {
        let grant = given.grant.as_ref().map(|taken| &taken.grant);
        let follows = self.consequence(asked, &whose.session.id);
        let state = asked.state(RequestId::from_seed(0), whose, &given.session, &follows);
        let state = State { grant, ..state };
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let facts = self.facts(call, state.mode, (whose, Some(given.call)), &mut world);
        drive(call, &facts, &asked.terms().policy, &state, &mut world).0
    }

    /// What the call would do, after what its session has written; `but` for the call itself, when it is asked about again.
    /// Passthrough looks at nothing.
    fn facts(
        &self,
        call: &Call,
        mode: Mode,
        (whose, but): (&Whose, Option<u64>),
        world: &mut Recorder<'_>,
    ) -> Facts {
        if mode == Mode::Passthrough {
            return Facts::default();
        }
        let changed = self.memory().changed(&whose.session.root, but);
        facts_after(call, &self.own, whose.inside(), changed, world)
    }

    /// Writes a call's record, and then sets its marks, as one step: no other call's marks come between the look for room
    /// and the marks.
    fn commit(&self, record: &Record, whose: &Whose, marks: &[String]) -> Result<(), Failure> {
        if marks.is_empty() {
            return Ok(self.append(record)?);
        }
        let mut memory = self.memory();
        memory.check_room(&whose.session.root, marks).map_err(Failure::unmarked)?;
        self.append(record)?;
        memory.mark(whose.session.root, marks);
        Ok(())
    }

    /// Nothing waits for an answer: recorded, and no opinion.
    fn note(&self, record: &Record) -> Result<Reply, Failure> {
        self.append(record)?;
        Ok(Reply::default())
    }

    fn malformed(&self, asked: &Asked<'_>, malformed: &Malformed) -> Result<Reply, Failure> {
        self.append(&record::malformed(malformed, &asked.request.event, asked.terms().mode))?;
        Ok(self.failure_reply(asked, &malformed.message))
    }

    /// A failure of our own: recorded as far as possible, denied in enforce, left to the agent else. The agent reads what
    /// failed; why, and what to do about it, is for the user.
    fn failed(&self, asked: &Asked<'_>, Failure { code, what, why }: &Failure) -> Reply {
        let message = format!("{what}: {why}");
        self.tally.failed(&message);
        let (agent, event) = (asked.agent.name(), &asked.request.event);
        let record =
            record::failed_answer(code, &message, agent, event, asked.agent_pid(), asked.terms().mode);
        // That the record fails as well shows in the status.
        let _ = self.append(&record);
        self.failure_reply(asked, what)
    }

    fn failure_reply(&self, asked: &Asked<'_>, message: &str) -> Reply {
        // A session without tools has none in any mode.
        let mode = if asked.terms().policy.settings().tools { asked.terms().mode } else { Mode::Enforce };
        match mode {
            Mode::Enforce => reply(agents::encode_failure(asked.agent, &asked.request.event, message)),
            Mode::Monitor | Mode::Passthrough => Reply::default(),
        }
    }
}

/// What the rest of the daemon does with the judge: live changes and a look at its state.
impl Judge {
    /// What is in force.
    pub(crate) fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.terms.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts terms in force that were made under the mode `seen`. One that somebody has set since holds on if it is stricter.
    pub(crate) fn put(&self, seen: Mode, new: Terms) {
        self.swap(|terms| {
            let since = Some(terms.mode).filter(|since| *since > seen);
            Terms { mode: since.map_or(new.mode, |since| since.max(new.mode)), ..new }
        });
    }

    /// Tightens the mode alone: a stricter one holds on.
    pub(crate) fn tighten(&self, mode: Mode) {
        self.swap(|Terms { policy, projects, mode: before }| Terms {
            policy: Arc::clone(policy),
            mode: mode.max(*before),
            projects: Arc::clone(projects),
        });
    }

    /// Changes the mode alone.
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.swap(|Terms { policy, projects, .. }| Terms {
            policy: Arc::clone(policy),
            mode,
            projects: Arc::clone(projects),
        });
    }

    fn swap(&self, change: impl FnOnce(&Terms) -> Terms) {
        let mut terms = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        *terms = Arc::new(change(&terms));
        drop(terms);
        self.memory().outdate();
    }

    /// Calls whose agents wait for a person.
    pub(crate) fn held(&self) -> &Held {
        &self.held
    }

    /// The log.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// What was done so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Records a failure that concerns no call: `code` is one stable word. That the record itself fails shows in the
    /// status.
    pub(crate) fn fail(&self, code: &str, message: &str) {
        self.tally.failed(message);
        let _ = self.append(&record::failure(code, message));
    }

    /// Writes a record.
    pub(crate) fn append(&self, record: &Record) -> Result<(), AuditError> {
        let appended = self.log.append(record, SystemTime::now());
        if appended.is_err() {
            self.told.forget();
        }
        appended.map(|_sequence| ())
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a call that may run from now on. `number`: that of its record.
pub(crate) fn begun(call: &Call, number: u64, facts: Facts) -> Begun<'_> {
    Begun {
        call: number,
        id: &call.tool.use_id,
        paths: written(&facts),
        downloaded: downloaded(&facts),
        in_background: in_background(call, &facts),
        scripts: facts.scripts,
    }
}

/// What runs later may be what is written now.
fn written(facts: &Facts) -> BTreeSet<String> {
    let writes = facts
        .effects
        .iter()
        .filter(|effect| matches!(effect.kind, EffectKind::Write | EffectKind::Link | EffectKind::Download));
    writes.filter_map(|effect| effect.path.clone()).collect()
}

/// What of it came from the network.
fn downloaded(facts: &Facts) -> BTreeSet<String> {
    let fetched = facts.effects.iter().filter(|effect| {
        effect.kind == EffectKind::Write && effect.file_origin == Some(FileOrigin::Downloaded)
    });
    fetched.filter_map(|effect| effect.path.clone()).collect()
}

/// What agents call the event that a prompt of the user begins a turn with.
const PROMPT: &str = "UserPromptSubmit";

/// Whether the call may go on when the agent's turn is over: as the agent was asked to let it, by its own means, as `&` and
/// wrappers such as `setsid` are, or in a sub-agent, which works while the user talks to the main one.
fn in_background(call: &Call, facts: &Facts) -> bool {
    let foreground = [None, Some(&serde_json::Value::Bool(false))];
    !foreground.contains(&call.input.get("run_in_background"))
        || !call.agent.subagent_id.is_empty()
        || facts.effects.iter().any(|effect| effect.kind == EffectKind::Detach)
        || facts.commands.iter().any(|command| command.background || !command.wrappers.is_empty())
}

fn told(call: &Call, decision: &Decision, request: Option<RequestId>) -> Told {
    match request {
        Some(request) if decision.answer >= Verdict::Ask => Told {
            verdict: decision.answer,
            reason: agent_text(decision, request, call.correlation_id),
            user_note: user_text(decision, request),
        },
        _ => Told { verdict: decision.answer, reason: decision.reason.clone(), user_note: String::new() },
    }
}

fn key(agent: AgentId, call: &Call) -> CallKey {
    let Agent { session_id, subagent_id, cwd, .. } = &call.agent;
    CallKey(digest(&[agent.word(), session_id, subagent_id, cwd, &agents::call_key_input(call)]))
}

/// Lengths go in so that no two lists run together.
pub(crate) fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

fn reply(reply: agents::Reply) -> Reply {
    Reply { exit: reply.exit, stdout: reply.stdout, stderr: reply.stderr }
}

/// A random number that is not 0. Ids need not be secret, only different: without a random source, time will do.
pub(crate) fn random() -> u64 {
    let clock = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(1, |since| since.subsec_nanos().into())
    };
    getrandom::u64().unwrap_or_else(|_| clock()).max(1)
}

#[cfg(test)]
mod tests;
