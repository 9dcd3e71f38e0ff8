//! Handles a call: decode, decide, record, encode, in this order. A failure on the way is a recorded decision too.

mod asked;
mod begun;
mod checkpoint;
mod consent;
mod contained;
mod containment;
mod delivered;
mod failure;
mod grounds;
mod halt;
mod hold;
mod host;
mod outcome;
mod pause;
mod plan;
mod planned;
mod question;
mod review;
mod runs;
mod scripts;
mod sessions;
mod settled;
mod terms;
mod ungoverned;
mod weighed;

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use castellan_agents::{self as agents, AgentId, Incoming, Moment, Origin};
use castellan_audit::{AuditError, Log, Record};
use castellan_policy::RequestId;
use castellan_wire::{Reply, Request};

use self::asked::{Asked, Whose};
pub(crate) use self::begun::begun;
pub use self::checkpoint::checkpoint_id;
pub(crate) use self::contained::counted;
use self::containment::Containing;
use self::failure::Failure;
pub(crate) use self::halt::{HaltCount, Halting};
pub(crate) use self::hold::Holding;
use self::outcome::Attempt;
pub(crate) use self::outcome::Outcome;
pub(crate) use self::runs::{CONFIGURED, HeldProfile};
use self::sessions::Look;
pub(crate) use self::settled::fixed_directory;
pub(crate) use self::terms::Terms;
use crate::clock::wall;
use crate::containment::Containment;
use crate::control::OutsideStatus;
use crate::deliveries::Deliveries;
use crate::engine::Engine;
use crate::held::HeldCalls;
use crate::limits::JUDGED_AGAIN_MAX;
use crate::live::{LiveSessions, Own, asks_by_its_own_hook};
use crate::memory::Memory;
use crate::notification;
use crate::outside::Outside;
use crate::peers::{AgentProcess, Peers, Sender};
use crate::plans::Plans;
use crate::prompts::Prompts;
use crate::recent::Recent;
use crate::record;
use crate::requests::Over;
use crate::reviews::Reviews;
use crate::sight;
use crate::tally::Tally;
use crate::undo::Undo;

// The hook sends as much as the decoder reads. Of a payload over the limit, which is rejected, it sends one byte more.
const _: () = assert!(agents::PAYLOAD_BYTES_MAX == castellan_wire::PAYLOAD_BYTES_MAX);

#[derive(Debug)]
pub(crate) struct Judge {
    terms: RwLock<Arc<Terms>>,
    memory: Mutex<Memory>,
    /// Sessions with a running agent.
    live: LiveSessions,
    /// Start time of this process in the kernel's unit.
    own_start: OnceLock<u64>,
    /// Scripts to check after the reply is sent.
    due: Mutex<Vec<scripts::Check>>,
    /// Calls whose agents wait for a person.
    held: HeldCalls,
    halting: Halting,
    log: Log,
    /// The contents of earlier records that later records can refer to.
    seen_texts: record::SeenTexts,
    /// castellan's own files.
    own: Vec<String>,
    tally: Tally,
    recent: Recent,
    /// The time of the start, or of the last change of the mode or pause.
    since: Mutex<SystemTime>,
    plans: Plans,
    peers: Arc<Peers>,
    /// It tests the rules if a Falco does.
    engine: Arc<Engine>,
    prompts: Prompts,
    reviews: Reviews,
    containing: Containing,
    /// `None`: no call is contained.
    containment: OnceLock<Arc<Containment>>,
    undo: Undo,
    deliveries: Deliveries,
    /// Reports whether an agent's process asks by its own hook.
    asks_by_its_own_hook: fn(AgentId, AgentProcess, &[String]) -> bool,
    /// `None`: the record has no copy.
    outside: OnceLock<Arc<Outside>>,
    /// Shows a pending call on the desktop.
    notify: fn(AgentId, &str, RequestId, &[String]),
}

impl Judge {
    /// `own` are castellan's own files.
    pub(crate) fn new(
        terms: Terms,
        log: Log,
        own: Vec<String>,
        memory: Memory,
        plans: Plans,
        peers: Arc<Peers>,
    ) -> Judge {
        let prompts = Prompts::new(memory.processes().filter(AgentProcess::lives));
        Judge {
            terms: RwLock::new(Arc::new(terms)),
            memory: Mutex::new(memory),
            live: LiveSessions::new(Own::of(&own)),
            own_start: OnceLock::new(),
            due: Mutex::default(),
            held: HeldCalls::default(),
            halting: Halting::default(),
            log,
            seen_texts: record::SeenTexts::default(),
            own,
            tally: Tally::default(),
            recent: Recent::default(),
            since: Mutex::new(wall()),
            plans,
            peers,
            engine: Arc::default(),
            prompts,
            reviews: Reviews::default(),
            containing: Containing::BY_TICKET,
            containment: OnceLock::new(),
            undo: Undo::default(),
            deliveries: Deliveries::default(),
            asks_by_its_own_hook,
            outside: OnceLock::new(),
            notify: notification::show,
        }
    }

    /// Returns the same judge with the engine of its daemon. Without it, a policy for Falco denies.
    pub(crate) fn with_engine(self, engine: Arc<Engine>) -> Judge {
        Judge { engine, ..self }
    }

    /// Replies to a hook, or returns that the hook must wait for a person. A panic on the way denies. A question that two hooks of
    /// one agent deliver is judged once.
    pub(crate) fn answer(
        &self,
        request: &Request,
        sender: Sender,
        started: Instant,
        holding: Holding,
    ) -> Outcome {
        let answer = || self.answer_alone(request, sender, started, holding);
        self.answered_once(request, sender, holding, answer)
    }

    fn answer_alone(&self, request: &Request, sender: Sender, started: Instant, holding: Holding) -> Outcome {
        let reviewed = Rc::default();
        let Ok(agent) = request.agent.parse::<AgentId>() else {
            self.fail("agent", &format!("a hook names the unknown agent `{}`", request.agent));
            return Outcome::Decided(Reply {
                exit: 2,
                stdout: Vec::new(),
                stderr: b"castellan blocked this: its hook names an unknown agent. Tell the user\n".to_vec(),
            });
        };
        let ancestors = self.ancestors(sender.connected);
        let run = self.run_above(ancestors.as_ref());
        let asked = || {
            let epoch = self.memory().epoch();
            let (in_force, in_workspace) = (self.terms_below(ancestors.as_ref()), OnceCell::new());
            let reviewed = Rc::clone(&reviewed);
            Asked { agent, request, sender, run, started, epoch, in_force, in_workspace, holding, reviewed }
        };
        // castellan's own sandboxes have the paths of outside.
        if sender.is_elsewhere && !self.is_sandboxed(sender.connected) {
            return Outcome::Decided(self.failed(&asked(), &Failure::elsewhere()));
        }
        for _ in 0..JUDGED_AGAIN_MAX {
            let asked = asked();
            let attempt = self.caught(&asked, || {
                let seen = sees();
                let judged = seen.and_then(|seen| {
                    let judged = self.join_runs(&asked, ancestors.as_ref()).and_then(|()| self.judge(&asked));
                    judged.and_then(|attempt| has_seen(seen).map(|()| attempt))
                });
                let done = judged.and_then(|attempt| self.save().map(|()| attempt));
                done.unwrap_or_else(|failure| self.failed(&asked, &failure).into())
            });
            match attempt {
                Attempt::Settled(outcome) => return outcome,
                Attempt::JudgeAgain => {}
            }
        }
        Outcome::Decided(self.failed(&asked(), &Failure::unsettled()))
    }

    /// Runs `work`. A panic becomes the decision of a failure.
    fn caught(&self, asked: &Asked<'_>, work: impl FnOnce() -> Attempt) -> Attempt {
        let done = catch_unwind(AssertUnwindSafe(work));
        done.unwrap_or_else(|_| self.failed(asked, &Failure::panicked()).into())
    }

    fn judge(&self, asked: &Asked<'_>) -> Result<Attempt, Failure> {
        let request = asked.request;
        let origin = Origin {
            correlation_id: random(),
            agent_pid: asked.agent_pid(),
            hook_cwd: String::from_utf8_lossy(&request.cwd).into_owned(),
        };
        let decoded = agents::decode(asked.agent, &request.event, &request.payload, &origin);
        match decoded {
            Ok(Incoming::Question(call)) => {
                let whose = self.whose(asked, &call.agent)?;
                self.hear(asked, &whose, &call.agent);
                self.prompts.begin(asked.sender.agent, &call.tool.use_id);
                self.end_outlasting(Some(asked.sender.connected));
                let answered = self.question(asked, &call, &whose, None);
                // Only now, because the same call of the previous turn keeps its id.
                if !call.agent.turn_id.is_empty() {
                    self.wait_no_more(&whose, Over::Turn(&call.agent.turn_id));
                }
                answered
            }
            Ok(Incoming::Permission(call)) => {
                let whose = self.whose(asked, &call.agent)?;
                self.hear(asked, &whose, &call.agent);
                self.second_question(asked, &call, &whose)
            }
            Ok(Incoming::Done(done)) => {
                let whose = self.whose(asked, &done.call.agent)?;
                self.hear(asked, &whose, &done.call.agent);
                self.prompts.end(asked.sender.agent, &done.call.tool.use_id);
                self.ran(asked, &whose, &done);
                self.used_server(&whose, &done.call);
                self.over(asked, &whose, &done.call);
                let ended = self.memory().end(whose.session.root, &done.call.tool.use_id);
                self.check_later(&done.call.agent, ended);
                self.append(&record::done(&done))?;
                Ok(self.risks_for_host(asked, &whose, &done).into())
            }
            Ok(Incoming::Session(event)) => {
                let whose = self.whose(asked, &event.agent)?;
                self.hear(asked, &whose, &event.agent);
                self.hear_prompt(asked, &whose, &event);
                match event.moment {
                    Moment::Prompt => {
                        let ended = self.memory().end_turn(whose.session.root);
                        self.check_later(&event.agent, ended);
                        self.tell_trust(&whose, &event.agent, &asked.terms().policy, Look::Prompt);
                        self.wait_no_more(&whose, Over::Prompt);
                    }
                    Moment::End => {
                        self.prompts.forget(asked.sender.agent, whose.session.id);
                        self.wait_no_more(&whose, Over::Session);
                    }
                    Moment::Start | Moment::SubagentEnd | Moment::Notice => {}
                }
                self.note(&record::session_event(asked.agent, &event, self.log.keeps_prompts()))
            }
            Err(malformed) => self.delivered_elsewhere(asked, &malformed),
        }
    }

    /// Records an event that needs no decision and returns an empty reply.
    fn note(&self, record: &Record) -> Result<Attempt, Failure> {
        self.append(record)?;
        Ok(Reply::default().into())
    }
}

/// Interface for the rest of the daemon.
impl Judge {
    /// Returns the calls whose agents wait for a person.
    pub(crate) fn held(&self) -> &HeldCalls {
        &self.held
    }

    /// Returns the log.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the files of plans, and proposals.
    pub(crate) fn plans(&self) -> &Plans {
        &self.plans
    }

    /// Returns the counters.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the counts of the last day.
    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Returns the time of the start, or of the last change of the mode or pause.
    pub(crate) fn since(&self) -> SystemTime {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a change of the mode or pause.
    fn begin_anew(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = wall();
    }

    /// Records a failure that concerns no call; `code` is a stable word. If the record fails too, the status shows it.
    pub(crate) fn fail(&self, code: &str, message: &str) {
        self.tally.failed(message);
        let _ = self.append(&record::failure(code, message));
    }

    /// Records a failure that the status shows as long as it lasts. It is therefore not counted.
    pub(crate) fn record_problem(&self, code: &str, message: &str) {
        let _ = self.append(&record::failure(code, message));
    }

    /// Sets the receiver of the log's copies, so that its problems are recorded and shown.
    pub(crate) fn copy_to(&self, outside: Arc<Outside>) {
        let _ = self.outside.set(outside);
    }

    /// Sends the copies that wait, and records the first failure.
    pub(crate) fn retry_outside(&self) {
        if let Some(problem) = self.outside.get().and_then(|outside| outside.retry()) {
            self.record_problem("outside", &format!("the copy of the record in the system's log: {problem}"));
        }
    }

    /// Returns the state of the copy.
    pub(crate) fn outside(&self) -> OutsideStatus {
        self.outside.get().map(|outside| outside.status()).unwrap_or_default()
    }

    /// Writes a record.
    pub(crate) fn append(&self, record: &Record) -> Result<(), AuditError> {
        let now = wall();
        let appended = self.log.append(record, now);
        match &appended {
            Ok(_) => self.recent.add(record, now),
            Err(_) => self.seen_texts.forget(),
        }
        appended.map(|_sequence| ())
    }

    /// Leaves state and log to another process. Every later call is denied, because nothing about it can be stored.
    pub(crate) fn close(&self) -> Result<(), String> {
        let mut memory = self.memory();
        let saved = memory.close().map_err(|error| format!("the state: {error}"));
        // Threads without a call may still write a record.
        saved.and(self.log.close().map_err(|error| error.to_string()))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that the guarded user's files can be read, and returns the number of failures so far.
fn sees() -> Result<u64, Failure> {
    let before = sight::failures();
    sight::check().map(|()| before).map_err(|gone| Failure::blind(gone.to_string()))
}

/// Checks that no question was left without an answer since [`sees`]. castellan would take a file for an unreadable one.
fn has_seen(before: u64) -> Result<(), Failure> {
    if sight::failures() == before {
        return Ok(());
    }
    Err(Failure::blind("the reader of the user's files failed while the call was judged".to_owned()))
}

fn reply(reply: agents::Reply) -> Reply {
    Reply { exit: reply.exit, stdout: reply.stdout, stderr: reply.stderr }
}

/// Returns a random number other than 0. Ids must be different, not secret: without a random source the time is used.
pub(crate) fn random() -> u64 {
    let clock =
        || wall().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |since| since.subsec_nanos().into());
    getrandom::u64().unwrap_or_else(|_| clock()).max(1)
}

#[cfg(test)]
mod tests;
