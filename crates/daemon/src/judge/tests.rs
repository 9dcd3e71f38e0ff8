//! Tests of the judge without sockets: a payload goes in, a reply and records come out.

mod consent;
mod contained;
mod delivered;
mod elsewhere;
mod friction;
mod hold;
mod host;
mod over;
mod pause;
mod second;
mod trust;
mod unattended;
mod undo;
mod ungoverned;

use std::collections::BTreeSet;
use std::path::Path;

use castellan_audit::{CallRecord, Config as LogConfig, Filter};
use castellan_event::{Agent, Call, Effect, EffectKind, Facts, Mode, PartsHash, Tool, ToolKind};
use castellan_policy::{Policy, StateChange};
use castellan_rules::Source;
use serde_json::{Value as Json, json};

use super::begun::in_background;
use super::*;
use crate::compile::compile;
use crate::config::Config;
use crate::limits::MARKS_PER_SESSION_MAX;
use crate::plans::Plans;
use crate::session_key::SessionKey;

/// A judge, and the directory of its log.
struct Bench {
    judge: Judge,
    /// The agent's process; by default one that cannot be inspected.
    process: AgentProcess,
    dir: tempfile::TempDir,
}

const RULES: &[(&str, &str, &str)] = &[
    ("secret", "tool.input_command contains secret", "\"coding_agent_mark:secret\""),
    ("forbidden", "tool.input_command contains forbidden", "coding_agent_deny, \"coding_agent_mark:denied\""),
    ("asked", "tool.input_command contains doubtful", "coding_agent_ask, \"coding_agent_mark:asked\""),
    ("leak", "tool.input_command contains push and session.mark_count[secret] > 0", "coding_agent_deny"),
    ("third", "tool.input_command contains third and session.mark_count[secret] >= 2", "coding_agent_ask"),
];

fn policy(rules: &[(&str, &str, &str)]) -> Policy {
    let rule = |(name, condition, tags): &(&str, &str, &str)| {
        format!(
            "- rule: {name}\n  desc: d\n  condition: {condition}\n  output: out\n  priority: NOTICE\n  source: \
             coding_agent\n  tags: [{tags}]\n"
        )
    };
    let sources = [Source { name: "test.yaml".into(), text: rules.iter().map(rule).collect() }];
    // These agents' processes cannot be inspected, so all programs are opaque. Only the rules must decide here.
    let config = Config::parse("version = 1\nopaque = \"defer\"").unwrap();
    let compiled = compile(&sources, &config);
    assert_eq!(compiled.error(), None);
    compiled.policy
}

fn judge_at(dir: &Path, policy: Policy, mode: Mode) -> Judge {
    let (memory, trouble) = Memory::open(dir.join("journal"), !dir.join("journal").exists(), 1).unwrap();
    assert_eq!(trouble, None);
    // A process that another test has just started has the log's lock until it executes its own program.
    let until = Instant::now() + std::time::Duration::from_secs(20);
    let log = loop {
        match Log::open(&dir.join("log"), LogConfig::default(), SystemTime::now()) {
            Err(AuditError::Locked { .. }) if Instant::now() < until => std::thread::yield_now(),
            opened => break opened.unwrap(),
        }
    };
    Judge::new(Terms::new(Arc::new(policy), mode), log, Vec::new(), memory, Plans::new(dir), Arc::default())
}

/// Returns a request of Claude Code's hook, started in `/`.
fn claude(event: &str, payload: &Json) -> Request {
    Request {
        agent: "claude".into(),
        event: event.into(),
        parent_pid: 7,
        cwd: b"/".to_vec(),
        payload: payload.to_string().into_bytes(),
    }
}

impl Bench {
    fn new(policy: Policy, mode: Mode) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let judge = judge_at(dir.path(), policy, mode);
        Bench { judge, process: AgentProcess::default(), dir }
    }

    /// Starts another daemon in the same home, after the first was killed.
    fn restarted(self, policy: Policy) -> Bench {
        let mode = self.judge.terms().mode;
        drop(self.judge);
        Bench { judge: judge_at(self.dir.path(), policy, mode), process: self.process, dir: self.dir }
    }

    fn answer(&self, request: &Request) -> Reply {
        match self.judge.answer(request, self.process.into(), Instant::now(), Holding::May) {
            Outcome::Decided(reply) => reply,
            Outcome::Held { .. } => panic!("nobody waits here"),
        }
    }

    /// Returns a question of Claude Code from an unknown process.
    fn asked<'r>(&self, request: &'r Request) -> Asked<'r> {
        Asked {
            agent: AgentId::CLAUDE,
            request,
            sender: Sender::default(),
            run: 0,
            started: Instant::now(),
            epoch: self.judge.memory().epoch(),
            in_force: self.judge.terms(),
            in_workspace: OnceCell::new(),
            holding: Holding::May,
            reviewed: Rc::default(),
        }
    }

    /// Judges a call, and settles it after `meanwhile`. Returns the change of state, and whether it is settled.
    fn settle_after(&self, request: &Request, meanwhile: impl FnOnce()) -> (StateChange, bool) {
        let asked = self.asked(request);
        let origin = Origin { correlation_id: 1, agent_pid: 7, hook_cwd: "/".to_owned() };
        let decoded = agents::decode(AgentId::CLAUDE, "PreToolUse", &request.payload, &origin);
        let Ok(Incoming::Question(call)) = decoded else { panic!("{decoded:?}") };
        let Ok(whose) = self.judge.whose(&asked, &call.agent) else { panic!("no session") };
        let weighed = self.judge.weigh(&asked, &call, &whose, None);
        meanwhile();
        let is_settled = self.judge.settle(&weighed);
        (weighed.change, is_settled)
    }

    /// Asks about a command in a permission mode. Returns the access level of the main agent or sub-agent for it.
    fn active(&self, subagent: &str, mode: &str) -> String {
        let payload = json!({
            "session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": "x" }, "tool_use_id": "u", "agent_id": subagent, "permission_mode": mode,
        });
        self.answer(&claude("PreToolUse", &payload));
        let mut calls = self.records().into_iter().rev();
        let last = calls.find_map(|record| if let Record::Call(call) = record { Some(call) } else { None });
        last.unwrap().active_level.into()
    }

    /// Asks about a command as Claude's event. Returns the decision in the reply, or "defer" if there is none.
    fn ask(&self, event: &str, session: &str, command: &str) -> String {
        // `a/b` means sub-agent `b` of session `a`.
        let (session, subagent) = session.split_once('/').unwrap_or((session, ""));
        let payload = json!({
            "session_id": session, "permission_mode": "default", "cwd": "/", "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_use_id": "u", "agent_id": subagent,
        });
        let request = claude(event, &payload);
        let reply = self.answer(&request);
        if reply.exit == 2 {
            return "blocked".to_owned();
        }
        let output: Json = serde_json::from_slice(&reply.stdout).unwrap_or_default();
        let specific = &output["hookSpecificOutput"];
        let decision =
            specific["permissionDecision"].as_str().or_else(|| specific["decision"]["behavior"].as_str());
        decision.unwrap_or("defer").to_owned()
    }

    /// Checks the answer to a question, and the marks in its record.
    fn check(&self, session: &str, command: &str, answer: &str, marks: &[&str]) {
        let before = self.calls().len();
        assert_eq!(self.ask("PreToolUse", session, command), answer, "{command}");
        let calls = self.calls();
        assert_eq!(calls.len(), before + 1, "{command}");
        let set: Vec<_> = calls[before].marks.iter().map(|mark| mark.label.as_str()).collect();
        assert_eq!(set, marks, "{command}");
    }

    /// Sends a prompt of the user.
    fn prompt(&self, session: &str) {
        let event = "UserPromptSubmit";
        let payload = json!({ "session_id": session, "permission_mode": "default", "cwd": "/", "hook_event_name": event, "prompt": "go on" });
        let request = claude(event, &payload);
        assert_eq!(self.answer(&request).exit, 0);
    }

    fn calls(&self) -> Vec<CallRecord> {
        let calls = self
            .records()
            .into_iter()
            .filter_map(|record| if let Record::Call(call) = record { Some(call) } else { None });
        calls.collect()
    }

    fn records(&self) -> Vec<Record> {
        let entries =
            castellan_audit::read(&self.dir.path().join("log"), &Filter::default()).unwrap().entries;
        entries.into_iter().map(|entry| entry.record).collect()
    }
}

/// Returns the key of a Claude session with this id.
fn key_of(session: &str) -> SessionKey {
    SessionKey(PartsHash::of(["claude", session]).bytes())
}

/// Makes the judge panic in `mode`. Checks the exit code of the reply, and the record.
fn check_panic(mode: Mode, exit: u8, answer: &str) {
    let bench = Bench::new(Policy::missing("test"), mode);
    let request = Request {
        agent: "claude".into(),
        event: "PreToolUse".into(),
        parent_pid: 7,
        cwd: vec![],
        payload: vec![],
    };
    let asked = bench.asked(&request);
    let answered = bench.judge.caught(&asked, || panic!("a test"));
    let Attempt::Settled(Outcome::Decided(reply)) = answered else { panic!("{answered:?}") };
    assert_eq!(reply.exit, exit);
    let records = bench.records();
    let [Record::Failure(failure)] = &records[..] else { panic!("{records:?}") };
    let got = (failure.code.as_str(), failure.agent.as_str(), failure.peer_pid, failure.answer.as_str());
    assert_eq!(got, ("panic", "claude_code", 7, answer));
}

#[test]
fn a_panic_denies_and_is_recorded() {
    check_panic(Mode::Enforce, 2, "deny");
    check_panic(Mode::Monitor, 0, "defer");
}

#[test]
fn a_mark_is_seen_by_the_next_call_of_its_session() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    bench.check("a", "git push", "defer", &[]);
    bench.check("a", "git push secret", "defer", &["secret"]);
    bench.check("a", "git push", "deny", &[]);
    bench.check("a/sub", "git push", "deny", &[]);
    bench.check("b", "git push", "defer", &[]);
    bench.check("a", "third", "defer", &[]);
    bench.check("a/sub", "cat secret", "defer", &["secret"]);
    bench.check("a", "third", "ask", &[]);
    bench.check("a", "doubtful", "ask", &["asked"]);
    bench.check("a", "forbidden", "deny", &[]);
}

#[test]
fn the_mode_says_whether_a_call_is_denied_and_whether_there_are_rules() {
    let bench = Bench::new(policy(RULES), Mode::Monitor);
    bench.check("a", "forbidden secret", "defer", &["denied", "secret"]);
    bench.judge.set_mode(Mode::Passthrough);
    bench.check("a", "secret", "defer", &[]);
    // Neither a mode nor a policy removes marks.
    bench.judge.put(Mode::Enforce, Terms::new(Arc::new(policy(RULES)), Mode::Enforce));
    bench.check("a", "git push", "deny", &[]);
}

/// Checks the second answer about a call that marks its session, after `between`, and the number of records.
fn check_second(between: impl FnOnce(&Judge), answer: &str, records: usize) {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    let command = "git push secret";
    bench.check("a", command, "defer", &["secret"]);
    between(&bench.judge);
    assert_eq!(bench.ask("PermissionRequest", "a", command), answer);
    assert_eq!(bench.calls().len(), records);
    // Marked once, independent of the second answer.
    bench.check("a", "third", "defer", &[]);
    bench.check("a", "git push", "deny", &[]);
}

#[test]
fn a_second_question_meets_no_mark_of_its_own_and_sets_none() {
    check_second(|_| (), "defer", 1);
    check_second(|judge| judge.set_mode(Mode::Enforce), "defer", 2);
    check_second(
        |judge| judge.put(Mode::Enforce, Terms::new(Arc::new(policy(RULES)), Mode::Enforce)),
        "defer",
        2,
    );
    let stricter = ("stricter", "tool.input_command contains secret", "coding_agent_deny");
    check_second(
        |judge| {
            judge.put(
                Mode::Enforce,
                Terms::new(Arc::new(policy(&[RULES, &[stricter]].concat())), Mode::Enforce),
            )
        },
        "deny",
        2,
    );
    // A call that is asked about only at the agent's prompt sets its marks.
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    assert_eq!(bench.ask("PermissionRequest", "a", "secret"), "defer");
    bench.check("a", "git push", "deny", &[]);
}

#[test]
fn a_second_question_does_not_meet_what_the_call_writes() {
    let changing = ("changing", "fx.why = changing", "coding_agent_deny");
    let bench = Bench::new(policy(&[changing]), Mode::Enforce);
    let (first, other) = ("echo x > /nowhere/made", "echo y > /nowhere/made");
    let second = |answer: &str, records: usize| {
        assert_eq!(bench.ask("PermissionRequest", "s", first), answer);
        assert_eq!(bench.calls().len(), records);
    };
    bench.check("s", first, "defer", &[]);
    second("defer", 1);
    bench.judge.set_mode(Mode::Enforce);
    second("defer", 2);
    second("defer", 2);
    // Another call finds the file changing, and so does the first call once another has begun to write.
    bench.check("s", other, "deny", &[]);
    bench.judge.set_mode(Mode::Monitor);
    bench.check("s", other, "defer", &[]);
    bench.judge.set_mode(Mode::Enforce);
    second("deny", 5);
}

#[test]
fn parallel_calls_are_each_counted_once() {
    const CALLS: usize = 16;
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    std::thread::scope(|scope| {
        for number in 0..CALLS {
            let bench = &bench;
            scope.spawn(move || bench.ask("PreToolUse", "a", &format!("secret {number}")));
        }
    });
    assert_eq!(bench.calls().len(), CALLS);
    let session = bench.judge.memory().session(&key_of("a"));
    assert_eq!(session.marks["secret"].count, CALLS as u64);
}

/// Either defer in enforce or deny in monitor: any mixture of both would answer otherwise.
#[test]
fn a_call_sees_policy_and_mode_of_one_swap() {
    const CALLS: usize = 500;
    let mild = Arc::new(policy(&[]));
    let strict = Arc::new(policy(&[("strict", "tool.name = Bash", "coding_agent_deny")]));
    let bench = Bench::new(policy(&[]), Mode::Enforce);
    std::thread::scope(|scope| {
        let judging = scope.spawn(|| {
            for number in 0..CALLS {
                assert_eq!(bench.ask("PreToolUse", "a", &format!("ls {number}")), "defer");
            }
        });
        while !judging.is_finished() {
            bench.judge.put(Mode::Enforce, Terms::new(Arc::clone(&strict), Mode::Monitor));
            bench.judge.put(Mode::Enforce, Terms::new(Arc::clone(&mild), Mode::Enforce));
        }
    });
    let seen: BTreeSet<_> = bench.calls().into_iter().map(|call| (call.policy, call.mode)).collect();
    let expected = [(&mild, "enforce"), (&strict, "monitor")];
    assert_eq!(seen, expected.map(|(policy, mode)| (policy.hash().into(), mode.into())).into());
}

/// Checks a call whose mark exceeds the limit.
fn check_full(mode: Mode, answer: &str) {
    let bench = Bench::new(policy(RULES), mode);
    let labels: Vec<String> = (0..MARKS_PER_SESSION_MAX).map(|number| number.to_string()).collect();
    bench.judge.memory().mark(key_of("full"), &labels);
    assert_eq!(bench.ask("PreToolUse", "full", "secret"), answer);
    let records = bench.records();
    let [Record::Failure(failure)] = &records[..] else { panic!("{records:?}") };
    assert_eq!(failure.code, "marks");
    assert!(failure.message.contains("more than 64 marks"), "{}", failure.message);
    assert_eq!(bench.judge.tally().failures().0, 1);
    bench.check("other", "secret", "defer", &["secret"]);
}

#[test]
fn a_mark_that_cannot_be_kept_denies_and_is_recorded() {
    check_full(Mode::Enforce, "blocked");
    check_full(Mode::Monitor, "defer");
}

#[test]
fn a_prompt_ends_the_calls_that_the_agent_waited_for() {
    let cases = [
        ("s", "echo x > /w/made", true),
        ("s", "setsid tee /w/made", false),
        ("s", "{ make x; tee /w/made; } &", false),
        ("s/sub", "echo x > /w/made", false),
    ];
    for (session, command, ends) in cases {
        let bench = Bench::new(policy(RULES), Mode::Enforce);
        let changing = || {
            let changed = bench.judge.memory().changed(&key_of("s"), None);
            changed.unwrap_or_default().changing
        };
        bench.ask("PreToolUse", session, command);
        let made = BTreeSet::from(["/w/made".to_owned()]);
        assert_eq!(changing(), made, "{command}");
        bench.prompt("other");
        assert_eq!(changing(), made, "{command}: another session's prompt");
        bench.prompt("s");
        assert_eq!(changing().is_empty(), ends, "{session}: {command}");
    }
}

#[test]
fn a_payload_of_another_agent_is_denied_in_its_dialect() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    let payload = json!({
        "session_id": "s", "turn_id": "t", "model": "m", "permission_mode": "default", "cwd": "/",
        "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "ls" },
    });
    let reply = bench.answer(&claude("PreToolUse", &payload));
    let output: Json = serde_json::from_slice(&reply.stdout).unwrap();
    assert_eq!(output["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
    assert_eq!(
        output["hookSpecificOutput"]["decision"]["message"],
        "Codex has started the hook of Claude Code"
    );
    assert!(matches!(bench.records().last(), Some(Record::Failure(failure)) if failure.code == "malformed"));
}

#[test]
fn a_call_is_in_the_background_when_the_agent_does_not_wait_for_it() {
    let call = |in_background, subagent: &str| Call {
        agent: Agent { subagent_id: subagent.to_owned(), ..Agent::default() },
        in_background,
        ..shell_call(json!({}))
    };
    let detached = Effect::of(EffectKind::Detach);
    let cases = [
        (false, "", vec![], false),
        (true, "", vec![], true),
        (false, "sub", vec![], true),
        (false, "", vec![detached], true),
    ];
    for (asked, subagent, effects, expected) in cases {
        let facts = Facts { effects, ..Facts::default() };
        assert_eq!(in_background(&call(asked, subagent), &facts), expected, "{asked} {subagent}");
    }
}

fn shell_call(input: Json) -> Call {
    Call {
        correlation_id: 1,
        agent: Agent::default(),
        tool: Tool {
            name: "Bash".to_owned(),
            name_raw: "Bash".to_owned(),
            use_id: "u".to_owned(),
            kind: ToolKind::Shell,
            mcp: None,
        },
        input,
        input_text: String::new(),
        command: None,
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}

#[test]
fn the_world_takes_little_room_in_a_record() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "u",
    });
    let request = Request {
        agent: "claude".into(),
        event: "PreToolUse".into(),
        parent_pid: std::process::id(),
        cwd: b"/".to_vec(),
        payload: payload.to_string().into_bytes(),
    };
    for _ in 0..2 {
        bench.answer(&request);
    }
    let sizes: Vec<usize> = bench
        .calls()
        .iter()
        .map(|call| call.world.iter().map(|one| one.query.len() + one.answer.len()).sum())
        .collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes[1] < 1024, "{sizes:?}");
    assert!(sizes[1] < sizes[0], "{sizes:?}: a process is told of once");
}

#[test]
fn what_a_session_did_outlives_the_daemon() {
    let changing = ("changing", "fx.why = changing", "coding_agent_deny");
    let rules = [RULES, &[changing]].concat();
    let bench = Bench::new(policy(&rules), Mode::Enforce);
    bench.check("a", "cat secret", "defer", &["secret"]);
    bench.check("a", "echo x > /nowhere/made", "defer", &[]);
    let bench = bench.restarted(policy(&rules));
    bench.check("a", "git push", "deny", &[]);
    bench.check("b", "git push", "defer", &[]);
    // The call may still be running.
    bench.check("a", "cat /nowhere/made > /nowhere/made", "deny", &[]);
    bench.prompt("a");
    bench.check("a", "cat secret", "defer", &["secret"]);
    let bench = bench.restarted(policy(&rules));
    bench.check("a", "third", "ask", &[]);
    let written = bench.judge.memory().changed(&key_of("a"), None).unwrap();
    assert_eq!(*written.written, BTreeSet::from(["/nowhere/made".to_owned()]));
    assert_eq!(written.changing, BTreeSet::new());
}

#[test]
fn a_process_is_one_session_under_whatever_id() {
    let own = AgentProcess { pid: 7, started: 1 };
    let mut bench = Bench { process: own, ..Bench::new(policy(RULES), Mode::Enforce) };
    bench.check("a", "cat secret", "defer", &["secret"]);
    bench.check("b", "git push", "deny", &[]);
    // Another process with the same id is another session. With the earlier session id it continues that session.
    bench.process = AgentProcess { pid: 7, started: 2 };
    bench.check("c", "git push", "defer", &[]);
    bench.check("b", "git push", "deny", &[]);
    bench.check("c", "git push", "deny", &[]);
    let mut bench = bench.restarted(policy(RULES));
    bench.process = own;
    bench.check("d", "git push", "deny", &[]);
    bench.process = AgentProcess { pid: 8, started: 2 };
    bench.check("e", "git push", "defer", &[]);
}

#[test]
fn a_sub_agent_is_never_above_the_agent_that_it_works_for() {
    let config = Config::parse("version = 1\n[level]\nsession = \"workspace-write\"").unwrap();
    let bench = Bench::new(compile(&[], &config).policy, Mode::Enforce);
    assert_eq!(bench.active("", "default"), "workspace-write");
    assert_eq!(bench.active("b", "bypassPermissions"), "workspace-write");
    assert_eq!(bench.active("b", "plan"), "read-only");
    assert_eq!(bench.active("", "plan"), "read-only");
    assert_eq!(bench.active("b", "bypassPermissions"), "read-only");
    // An event without a mode does not change the ceiling.
    assert_eq!(bench.active("b", ""), "read-only");
    // The next daemon knows the ceiling too.
    let bench = bench.restarted(compile(&[], &config).policy);
    assert_eq!(bench.active("b", "bypassPermissions"), "read-only");
    let bench = bench.restarted(compile(&[], &config).policy);
    assert_eq!(bench.active("b", "bypassPermissions"), "read-only");
    assert_eq!(bench.active("", "default"), "workspace-write");
    assert_eq!(bench.active("b", "acceptEdits"), "workspace-write");
    let bench = bench.restarted(compile(&[], &config).policy);
    assert_eq!(bench.active("b", "acceptEdits"), "workspace-write");
}

#[test]
fn a_mode_that_was_tightened_meanwhile_holds_on() {
    let bench = Bench::new(policy(RULES), Mode::Monitor);
    let seen = bench.judge.terms().mode;
    bench.judge.set_mode(Mode::Enforce);
    bench.judge.put(seen, Terms::new(Arc::new(policy(RULES)), Mode::Monitor));
    assert_eq!(bench.judge.terms().mode, Mode::Enforce);
    bench.judge.tighten(Mode::Monitor);
    assert_eq!(bench.judge.terms().mode, Mode::Enforce);
    // A caller that has seen the stricter mode can loosen it.
    bench.judge.put(Mode::Enforce, Terms::new(Arc::new(policy(RULES)), Mode::Monitor));
    assert_eq!(bench.judge.terms().mode, Mode::Monitor);
}

#[test]
fn the_key_of_a_session_stays_the_same() {
    // The journal holds such keys.
    let key = serde_json::to_value(key_of("s1")).unwrap();
    assert_eq!(key, "0b249e4eefce41a89c482db6da08015e402e531dec4053208ee1c8c967aff691");
}
