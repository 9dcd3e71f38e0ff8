//! What ran, held against what was decided.

use castellan_audit::UngovernedRecord;
use castellan_policy::Profile;

use super::*;
use crate::limits::LIVE_SESSIONS_MAX;

impl Bench {
    /// The agent says that a call of session `s` is done.
    fn done(&self, id: &str, command: &str) {
        let payload = json!({
            "session_id": "s", "cwd": "/elsewhere", "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "description": "d", "command": command }, "tool_use_id": id, "tool_response": {},
        });
        let request = request("PostToolUse", &payload);
        assert_eq!(self.answer(&request), Reply::default());
    }

    fn ungoverned(&self) -> Vec<UngovernedRecord> {
        let records = self.records().into_iter();
        let found = records
            .filter_map(|record| if let Record::Ungoverned(record) = record { Some(record) } else { None });
        found.collect()
    }

    /// Checks what is recorded of a call that is done, and then of the same word again.
    fn check_done(&self, id: &str, command: &str, why: Option<&str>) {
        for expected in [why, None] {
            let before = self.ungoverned().len();
            self.done(id, command);
            let new: Vec<_> = self.ungoverned().split_off(before);
            let whys: Vec<_> = new.iter().map(|record| record.why.as_str()).collect();
            assert_eq!(whys, expected.into_iter().collect::<Vec<_>>(), "{id} {command}");
            for record in new {
                assert_eq!((record.seen.as_str(), record.use_id.as_str()), ("PostToolUse", id));
                assert_eq!((record.tool.as_str(), &record.input["command"]), ("Bash", &json!(command)));
            }
        }
    }
}

fn request(event: &str, payload: &Json) -> Request {
    Request {
        agent: "claude".into(),
        event: event.into(),
        parent_pid: 7,
        cwd: b"/".to_vec(),
        payload: payload.to_string().into_bytes(),
    }
}

/// A policy of a configuration, without rules.
fn configured(config: &str) -> Policy {
    let config = Config::parse(&format!("version = 1\n{config}")).unwrap();
    let compiled = compile(&[], &config);
    assert_eq!(compiled.error(), None);
    compiled.policy
}

#[test]
fn a_call_runs_as_it_was_decided_or_it_is_recorded() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    // Every question of the bench has the id `u`.
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    bench.check_done("u", "echo a", None);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
    bench.check_done("u", "doubtful", None);
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    bench.check_done("u", "echo b", Some("other_input"));
    assert_eq!(bench.ask("PreToolUse", "s", "forbidden"), "deny");
    bench.check_done("u", "forbidden", Some("against_decision"));
    bench.check_done("never asked", "echo a", Some("no_decision"));
    assert_eq!(bench.judge.tally.ungoverned_calls().0, 3);
    assert_eq!(bench.ask("PreToolUse", "s", "echo on"), "defer", "it is recorded, no more");
}

#[test]
fn another_sessions_decision_is_none() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "t", "echo a"), "defer");
    bench.check_done("u", "echo a", Some("no_decision"));
}

#[test]
fn a_second_answer_counts_too() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "x"), "defer");
    let stricter = [("all", "tool.input_command contains x", "coding_agent_deny")];
    bench.judge.put(Mode::Enforce, Terms::new(Arc::new(policy(&stricter)), Mode::Enforce));
    // The agent asks again at its own prompt, without the call's id.
    let payload = json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": { "command": "x" },
    });
    let reply = bench.answer(&request("PermissionRequest", &payload));
    assert!(String::from_utf8_lossy(&reply.stdout).contains("deny"), "{reply:?}");
    bench.check_done("u", "x", Some("against_decision"));
}

#[test]
fn what_an_earlier_daemon_decided_is_in_the_log() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    let bench = bench.restarted(policy(RULES));
    // With which input is not known any more.
    bench.check_done("u", "echo a", None);
    bench.check_done("another", "echo a", Some("no_decision"));
}

#[test]
fn what_follows_is_what_the_operator_says() {
    let stops = || configured("on_ungoverned = \"stop\"\nopaque = \"defer\"");
    let stopped = Bench::new(stops(), Mode::Enforce);
    assert_eq!(stopped.ask("PreToolUse", "s", "echo a"), "defer");
    stopped.check_done("unknown", "echo a", Some("no_decision"));
    assert_eq!(stopped.ask("PreToolUse", "s", "echo a"), "deny");
    assert_eq!(stopped.ask("PreToolUse", "other", "echo a"), "defer");
    let last = stopped.calls().into_iter().rfind(|call| call.session_id == "s").unwrap();
    assert_eq!(last.findings.first().map(|finding| finding.code.as_str()), Some("ungoverned"));
    assert_eq!(stopped.ungoverned()[0].action, "stop");

    // The end of the daemon changes nothing of it.
    let stopped = stopped.restarted(stops());
    assert_eq!(stopped.ask("PreToolUse", "s", "echo a"), "deny");
    assert_eq!(stopped.ask("PreToolUse", "other", "echo a"), "defer");

    // In a workspace that nobody trusts, the profiles that cap a session leave it no more in the first place.
    let mut config = Config::parse("version = 1\n[level]\nsession = \"workspace-write\"").unwrap();
    config.settings.ungoverned = Profile::Autonomous.settings().ungoverned;
    let capped = Bench::new(compile(&[], &config).policy, Mode::Enforce);
    let level = |bench: &Bench| {
        bench.ask("PreToolUse", "s", "echo a");
        bench.calls().pop().unwrap().active_level
    };
    assert_eq!(level(&capped), "workspace-write");
    capped.check_done("unknown", "echo a", Some("no_decision"));
    assert_eq!(level(&capped), "read-only");
    let record = &capped.ungoverned()[0];
    assert_eq!((record.action.as_str(), record.ceiling.as_str()), ("notify", "read-only"));
}

#[test]
fn where_it_cannot_be_told_whether_a_hook_bars_a_session_one_does() {
    let strict = || configured("profile = \"strict\"");
    let code = |bench: &Bench| {
        assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "deny");
        let findings = bench.calls().pop().unwrap().findings;
        findings.into_iter().find(|finding| finding.code == "foreign_hook").map(|finding| finding.message)
    };
    // An agent that cannot be seen: where it has its settings is not known.
    let unseen = Bench::new(strict(), Mode::Enforce);
    assert!(code(&unseen).is_some_and(|message| message.contains("where the agent has its settings")));
    // More sessions than can be looked at.
    let full = Bench::new(strict(), Mode::Enforce);
    let pid = std::process::id();
    let process = AgentProcess { pid, started: crate::process::Process::read(pid).unwrap().started };
    for number in 0..LIVE_SESSIONS_MAX {
        let key = key_of(&format!("live {number}"));
        full.judge.live().hear(key, AgentId::Claude, &Agent::default(), process).unwrap();
    }
    for _ in 0..2 {
        assert!(code(&full).is_some_and(|message| message.contains("too many sessions")));
    }
    let is_told = |record: &Record| matches!(record, Record::Failure(failure) if failure.code == "lookout");
    assert_eq!(full.records().iter().filter(|record| is_told(record)).count(), 1);
}
