//! One call from payload to reply: decode, decide, record, encode, in this order. Whatever fails on the way is a decision
//! too, and is recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use castellan_agents::{self as agents, AgentId, Incoming, Malformed, Origin, Told};
use castellan_audit::{Log, Record};
use castellan_event::{Call, Decision, Mode, Verdict};
use castellan_policy::{Policy, RequestId, State, StateChange, agent_text, drive, user_text};
use castellan_wire::{Reply, Request};
use sha2::{Digest, Sha256};

use crate::memory::{CallKey, Given, Memory};
use crate::peers::{AgentProcess, Peers};
use crate::record::{self, Judged};
use crate::world::FileSystem;

// The hook sends what the decoder reads, and one byte more of what it refuses.
const _: () = assert!(agents::PAYLOAD_BYTES_MAX == castellan_wire::PAYLOAD_BYTES_MAX);

#[derive(Debug)]
pub(crate) struct Judge {
    policy: RwLock<Arc<Policy>>,
    mode: RwLock<Mode>,
    memory: Mutex<Memory>,
    log: Log,
    peers: Peers,
    counts: [AtomicU64; 4],
    failures: AtomicU64,
    last_failure: Mutex<String>,
}

const NOT_RECORDED: &str = "the call could not be recorded";

/// One call being judged: what the steps below share.
struct Asked<'a> {
    agent: AgentId,
    request: &'a Request,
    process: AgentProcess,
    started: Instant,
    mode: Mode,
}

impl Judge {
    pub(crate) fn new(policy: Policy, mode: Mode, log: Log) -> Judge {
        Judge {
            policy: RwLock::new(Arc::new(policy)),
            mode: RwLock::new(mode),
            memory: Mutex::new(Memory::new(random())),
            log,
            peers: Peers::default(),
            counts: Default::default(),
            failures: AtomicU64::new(0),
            last_failure: Mutex::default(),
        }
    }

    /// Answers a hook. Always: a panic on the way denies.
    pub(crate) fn answer(&self, request: &Request, process: AgentProcess, started: Instant) -> Reply {
        let Ok(agent) = request.agent.parse::<AgentId>() else {
            self.fail(&format!("a hook names the unknown agent `{}`", request.agent));
            return Reply {
                exit: 2,
                stdout: Vec::new(),
                stderr: b"castellan: denied, unknown agent\n".to_vec(),
            };
        };
        let asked = Asked { agent, request, process, started, mode: self.mode() };
        catch_unwind(AssertUnwindSafe(|| self.judge(&asked)))
            .unwrap_or_else(|_| self.failed(&asked, "an internal error", "a panic while it was judged"))
    }

    fn judge(&self, asked: &Asked<'_>) -> Reply {
        let request = asked.request;
        let origin = Origin {
            correlation_id: random(),
            agent_pid: if asked.process.pid == 0 { request.parent_pid } else { asked.process.pid },
            hook_cwd: String::from_utf8_lossy(&request.cwd).into_owned(),
        };
        match agents::decode(asked.agent, &request.event, &request.payload, &origin) {
            Ok(Incoming::Question(call)) => self.question(asked, &call),
            Ok(Incoming::Permission(call)) => self.second_question(asked, &call),
            Ok(Incoming::Done(done)) => self.note(asked, record::done(&done)),
            Ok(Incoming::Notice(notice)) => self.note(asked, record::notice(&notice)),
            Err(malformed) => self.malformed(asked, &malformed),
        }
    }

    /// The agent asks whether a call may run.
    fn question(&self, asked: &Asked<'_>, call: &Call) -> Reply {
        let policy = self.policy();
        let state = State {
            mode: asked.mode,
            agent_asks: agents::can_ask(asked.agent, &asked.request.event),
            next_request: self.memory().take_request(),
        };
        let (decision, changes, answers) = drive(call, &policy, &state, &FileSystem);
        let request = changes.iter().find_map(|change| match change {
            StateChange::TakeRequest(id) => Some(*id),
            StateChange::RememberAnswer(_) => None,
        });
        let judged = Judged { call, decision: &decision, answers: &answers, request, policy: policy.hash() };
        if let Err(error) = self.append(&judged.record(asked.started.elapsed())) {
            return self.failed(asked, NOT_RECORDED, &error.to_string());
        }
        self.count(decision.verdict);
        let told = self.tell(call, &decision, request);
        if let Some(StateChange::RememberAnswer(verdict)) =
            changes.iter().find(|change| matches!(change, StateChange::RememberAnswer(_)))
        {
            self.memory()
                .remember(key(asked.agent, call), Given { verdict: *verdict, reason: told.reason.clone() });
        }
        reply(agents::encode(asked.agent, &asked.request.event, &told))
    }

    /// The agent asks again, at its own prompt, about a call that it has asked about before: the answer stands, and after
    /// an ask the prompt is the answer. A call that was not asked about is judged now.
    fn second_question(&self, asked: &Asked<'_>, call: &Call) -> Reply {
        let given = self.memory().given(&key(asked.agent, call)).cloned();
        match given {
            Some(Given { verdict, reason }) => {
                let verdict = if verdict == Verdict::Ask { Verdict::Defer } else { verdict };
                let told = Told { verdict, reason, user_note: String::new() };
                reply(agents::encode(asked.agent, &asked.request.event, &told))
            }
            None => self.question(asked, call),
        }
    }

    /// Nothing waits for an answer: recorded, and no opinion.
    fn note(&self, asked: &Asked<'_>, record: Record) -> Reply {
        match self.append(&record) {
            Ok(()) => Reply::default(),
            Err(error) => self.failed(asked, NOT_RECORDED, &error.to_string()),
        }
    }

    fn malformed(&self, asked: &Asked<'_>, malformed: &Malformed) -> Reply {
        let recorded = self.append(&record::malformed(malformed, &asked.request.event, asked.mode));
        if let Err(error) = recorded {
            return self.failed(asked, NOT_RECORDED, &error.to_string());
        }
        self.failed_reply(asked, &malformed.message)
    }

    /// A failure of our own: recorded as far as possible, denied in enforce, left to the agent else. The agent reads what
    /// failed; why, and what to do about it, is for the user.
    fn failed(&self, asked: &Asked<'_>, what: &str, why: &str) -> Reply {
        self.fail(&format!("{what}: {why}"));
        self.failed_reply(asked, what)
    }

    fn failed_reply(&self, asked: &Asked<'_>, message: &str) -> Reply {
        match asked.mode {
            Mode::Enforce => reply(agents::encode_failure(asked.agent, &asked.request.event, message)),
            Mode::Monitor | Mode::Passthrough => Reply::default(),
        }
    }

    fn tell(&self, call: &Call, decision: &Decision, request: Option<RequestId>) -> Told {
        match request {
            Some(request) if decision.answer >= Verdict::Ask => Told {
                verdict: decision.answer,
                reason: agent_text(decision, request, call.correlation_id),
                user_note: user_text(decision, request),
            },
            _ => Told { verdict: decision.answer, reason: decision.reason.clone(), user_note: String::new() },
        }
    }
}

/// What the rest of the daemon does with the judge: live changes and a look at its state.
impl Judge {
    /// The policy in force.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Swaps the policy; calls in flight finish on the one they began with.
    pub(crate) fn set_policy(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
        self.memory().forget();
    }

    /// The mode in force.
    pub(crate) fn mode(&self) -> Mode {
        *self.mode.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the mode.
    pub(crate) fn set_mode(&self, mode: Mode) {
        *self.mode.write().unwrap_or_else(PoisonError::into_inner) = mode;
        self.memory().forget();
    }

    /// The agents that are connected.
    pub(crate) fn peers(&self) -> &Peers {
        &self.peers
    }

    /// The log.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Calls judged so far with this verdict.
    pub(crate) fn judged(&self, verdict: Verdict) -> u64 {
        self.counts.get(verdict as usize).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Failures of our own so far.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// What failed last, for the user; empty when nothing has.
    pub(crate) fn last_failure(&self) -> String {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that a connection was closed unanswered; its hook denies by itself.
    pub(crate) fn refuse_connection(&self, why: &str) {
        self.fail(why);
    }

    /// Records a failure. That the record itself fails shows in the status.
    pub(crate) fn fail(&self, message: &str) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        message.clone_into(&mut self.last_failure.lock().unwrap_or_else(PoisonError::into_inner));
        let _ = self.append(&record::failure(message));
    }

    /// Writes a record.
    pub(crate) fn append(&self, record: &Record) -> Result<(), castellan_audit::AuditError> {
        self.log.append(record, SystemTime::now()).map(|_sequence| ())
    }

    fn count(&self, verdict: Verdict) {
        if let Some(count) = self.counts.get(verdict as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(agent: AgentId, call: &Call) -> CallKey {
    let input = Sha256::digest(agents::call_key_input(call).as_bytes()).into();
    CallKey { agent: agent.word(), session: call.agent.session_id.clone(), input }
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
