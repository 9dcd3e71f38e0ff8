//! One call from payload to reply: decode, decide, record, encode, in this order. Whatever fails on the way is a decision
//! too, and is recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use castellan_agents::{self as agents, AgentId, Incoming, Malformed, Origin, Told};
use castellan_audit::{AuditError, Log, Record};
use castellan_event::{Call, Decision, Mode, Verdict};
use castellan_policy::{Policy, RequestId, State, agent_text, drive, user_text};
use castellan_wire::{Reply, Request};
use sha2::{Digest, Sha256};

use crate::memory::{CallKey, Given, Memory};
use crate::peers::AgentProcess;
use crate::record::{self, Judged};
use crate::tally::Tally;
use crate::world::FileSystem;

// The hook sends what the decoder reads, and one byte more of what it refuses.
const _: () = assert!(agents::PAYLOAD_BYTES_MAX == castellan_wire::PAYLOAD_BYTES_MAX);

#[derive(Debug)]
pub(crate) struct Judge {
    policy: RwLock<Arc<Policy>>,
    mode: RwLock<Mode>,
    memory: Mutex<Memory>,
    log: Log,
    tally: Tally,
}

/// One call being judged: what the steps below share.
struct Asked<'a> {
    agent: AgentId,
    request: &'a Request,
    process: AgentProcess,
    started: Instant,
    mode: Mode,
}

impl Asked<'_> {
    fn agent_pid(&self) -> u32 {
        if self.process.pid == 0 { self.request.parent_pid } else { self.process.pid }
    }
}

/// What the agent reads when a record fails. Why it failed is for the user.
const NOT_RECORDED: &str = "the call could not be recorded";

impl Judge {
    pub(crate) fn new(policy: Policy, mode: Mode, log: Log) -> Judge {
        Judge {
            policy: RwLock::new(Arc::new(policy)),
            mode: RwLock::new(mode),
            memory: Mutex::new(Memory::new(random())),
            log,
            tally: Tally::default(),
        }
    }

    /// Answers a hook. Always: a panic on the way denies.
    pub(crate) fn answer(&self, request: &Request, process: AgentProcess, started: Instant) -> Reply {
        let Ok(agent) = request.agent.parse::<AgentId>() else {
            self.fail("agent", &format!("a hook names the unknown agent `{}`", request.agent));
            return Reply {
                exit: 2,
                stdout: Vec::new(),
                stderr: b"castellan: denied, unknown agent\n".to_vec(),
            };
        };
        let asked = Asked { agent, request, process, started, mode: self.mode() };
        self.caught(&asked, || self.judge(&asked))
    }

    /// A panic is a decision: the failure's.
    fn caught(&self, asked: &Asked<'_>, work: impl FnOnce() -> Reply) -> Reply {
        let done = catch_unwind(AssertUnwindSafe(work));
        done.unwrap_or_else(|_| {
            self.failed(asked, "panic", "an internal error", "a panic while it was judged")
        })
    }

    fn judge(&self, asked: &Asked<'_>) -> Reply {
        let request = asked.request;
        let origin = Origin {
            correlation_id: random(),
            agent_pid: asked.agent_pid(),
            hook_cwd: String::from_utf8_lossy(&request.cwd).into_owned(),
        };
        match agents::decode(asked.agent, &request.event, &request.payload, &origin) {
            Ok(Incoming::Question(call)) => self.question(asked, &call),
            Ok(Incoming::Permission(call)) => self.second_question(asked, &call),
            Ok(Incoming::Done(done)) => self.note(asked, record::done(&done)),
            Ok(Incoming::Session(event)) => self.note(asked, record::session_event(&event)),
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
        let (decision, change, answers) = drive(call, &policy, &state, &FileSystem::default());
        let request = change.request;
        let judged = Judged { call, decision: &decision, answers: &answers, request, policy: policy.hash() };
        if let Err(error) = self.append(&judged.record(asked.started.elapsed())) {
            return self.failed(asked, "log", NOT_RECORDED, &error.to_string());
        }
        self.tally.judged(decision.verdict);
        let told = told(call, &decision, request);
        let given = Given { verdict: change.answer, reason: told.reason.clone() };
        let key = key(asked.agent, call);
        self.memory().remember(key, given);
        reply(agents::encode(asked.agent, &asked.request.event, &told))
    }

    /// The agent asks again, at its own prompt, about a call that it has asked about before: the answer stands, and after
    /// an ask the prompt is the answer. A call that was not asked about is judged now, and so is one that would be answered
    /// more strictly by now: a symlink may have moved in between.
    fn second_question(&self, asked: &Asked<'_>, call: &Call) -> Reply {
        let key = key(asked.agent, call);
        let given = self.memory().given(&key).cloned();
        match given {
            Some(Given { verdict, reason }) if self.judge_now(asked, call).answer <= verdict => {
                let verdict = if verdict == Verdict::Ask { Verdict::Defer } else { verdict };
                let told = Told { verdict, reason, user_note: String::new() };
                reply(agents::encode(asked.agent, &asked.request.event, &told))
            }
            Some(_) | None => self.question(asked, call),
        }
    }

    /// The decision as it would be now, for comparison only.
    fn judge_now(&self, asked: &Asked<'_>, call: &Call) -> Decision {
        let agent_asks = agents::can_ask(asked.agent, &asked.request.event);
        let state = State { mode: asked.mode, agent_asks, next_request: RequestId::from_seed(0) };
        drive(call, &self.policy(), &state, &FileSystem::default()).0
    }

    /// Nothing waits for an answer: recorded, and no opinion.
    fn note(&self, asked: &Asked<'_>, record: Record) -> Reply {
        match self.append(&record) {
            Ok(()) => Reply::default(),
            Err(error) => self.failed(asked, "log", NOT_RECORDED, &error.to_string()),
        }
    }

    fn malformed(&self, asked: &Asked<'_>, malformed: &Malformed) -> Reply {
        match self.append(&record::malformed(malformed, &asked.request.event, asked.mode)) {
            Ok(()) => self.failure_reply(asked, &malformed.message),
            Err(error) => self.failed(asked, "log", NOT_RECORDED, &error.to_string()),
        }
    }

    /// A failure of our own: recorded as far as possible, denied in enforce, left to the agent else. The agent reads what
    /// failed; why, and what to do about it, is for the user.
    fn failed(&self, asked: &Asked<'_>, code: &str, what: &str, why: &str) -> Reply {
        let message = format!("{what}: {why}");
        self.tally.failed(&message);
        let (agent, event) = (asked.agent.name(), &asked.request.event);
        let record = record::failed_answer(code, &message, agent, event, asked.agent_pid(), asked.mode);
        // That the record fails as well shows in the status.
        let _ = self.append(&record);
        self.failure_reply(asked, what)
    }

    fn failure_reply(&self, asked: &Asked<'_>, message: &str) -> Reply {
        match asked.mode {
            Mode::Enforce => reply(agents::encode_failure(asked.agent, &asked.request.event, message)),
            Mode::Monitor | Mode::Passthrough => Reply::default(),
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
        self.log.append(record, SystemTime::now()).map(|_sequence| ())
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    let mut hasher = Sha256::new();
    for text in [agent.word(), &call.agent.session_id, &call.agent.subagent_id, &call.agent.cwd] {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher.update(agents::call_key_input(call));
    CallKey(hasher.finalize().into())
}

fn reply(reply: agents::Reply) -> Reply {
    Reply { exit: reply.exit, stdout: reply.stdout, stderr: reply.stderr }
}

/// A random number that is not 0. Ids need not be secret, only different: without a random source, time will do.
fn random() -> u64 {
    let clock = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(1, |since| since.subsec_nanos().into())
    };
    getrandom::u64().unwrap_or_else(|_| clock()).max(1)
}

#[cfg(test)]
mod tests {
    use castellan_audit::{Config, Filter};

    use super::*;

    /// Lets the judge panic in `mode` and checks the exit code of the reply and the record.
    fn check_panic(mode: Mode, exit: u8, answer: &str) {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(dir.path(), Config::default(), SystemTime::now()).unwrap();
        let judge = Judge::new(Policy::missing("test"), mode, log);
        let request = Request {
            agent: "claude".into(),
            event: "PreToolUse".into(),
            parent_pid: 7,
            cwd: vec![],
            payload: vec![],
        };
        let process = AgentProcess::default();
        let asked =
            Asked { agent: AgentId::Claude, request: &request, process, started: Instant::now(), mode };
        let reply = judge.caught(&asked, || panic!("a test"));
        assert_eq!(reply.exit, exit);
        let entries = castellan_audit::read(dir.path(), &Filter::default()).unwrap().entries;
        let [entry] = &entries[..] else { panic!("{entries:?}") };
        let Record::Failure(failure) = &entry.record else { panic!("{entry:?}") };
        let got = (failure.code.as_str(), failure.agent.as_str(), failure.peer_pid, failure.answer.as_str());
        assert_eq!(got, ("panic", "claude_code", 7, answer));
    }

    #[test]
    fn a_panic_denies_and_is_recorded() {
        check_panic(Mode::Enforce, 2, "deny");
        check_panic(Mode::Monitor, 0, "defer");
    }
}
