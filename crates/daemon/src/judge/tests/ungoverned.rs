//! Comparison of calls that ran with the decisions.

use castellan_agents::TranscriptCall;
use castellan_audit::UngovernedRecord;
use castellan_policy::Profile;

use super::*;
use crate::limits::{LIVE_SESSIONS_MAX, STARTS_PER_SESSION_MAX};
use crate::live::Runs;

impl Bench {
    /// Sends the agent's event that a call of session `s` is done.
    fn done(&self, id: &str, command: &str) {
        let payload = json!({
            "session_id": "s", "permission_mode": "default", "cwd": "/elsewhere", "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "description": "d", "command": command }, "tool_use_id": id, "tool_response": {},
        });
        let request = claude("PostToolUse", &payload);
        assert_eq!(self.answer(&request), Reply::default());
    }

    /// Returns a judge for a running agent.
    pub(super) fn of(runs: &Runs, policy: Policy) -> Bench {
        Bench { process: runs.process(), ..Bench::new(policy, Mode::Enforce) }
    }

    /// Checks the settings of session `s`. Returns the kind and message of each new record.
    fn looks(&self) -> Vec<(String, String)> {
        let before = self.ungoverned().len();
        self.judge.look_at_settings(&self.judge.live().of(&key_of("s")).unwrap());
        self.ungoverned()
            .into_iter()
            .skip(before)
            .map(|record| (record.why.into(), record.message.into()))
            .collect()
    }

    /// Checks the record of a call in the transcript of session `s`, and that a repetition is not recorded.
    fn check_transcribed(&self, id: &str, is_harmless: bool, why: Option<&str>) {
        let live = self.judge.live().of(&key_of("s")).unwrap();
        let (id, tool) = (id.to_owned(), "Bash".to_owned());
        let call = TranscriptCall { id, tool, input: json!({ "command": "x" }), is_harmless };
        for expected in [why, None] {
            let before = self.ungoverned().len();
            self.judge.transcribed(&live, "a1", &call, Path::new("/t.jsonl"));
            let new: Vec<_> = self.ungoverned().split_off(before);
            let whys: Vec<_> = new.iter().map(|record| record.why.as_str()).collect();
            assert_eq!(whys, expected.into_iter().collect::<Vec<_>>(), "{}", call.id);
            for record in new {
                assert_eq!((record.seen.as_str(), record.use_id.as_str()), ("transcript", &*call.id));
                assert_eq!((record.subagent_id.as_str(), record.file.as_str()), ("a1", "/t.jsonl"));
            }
        }
    }

    pub(super) fn ungoverned(&self) -> Vec<UngovernedRecord> {
        let records = self.records().into_iter();
        let found = records
            .filter_map(|record| if let Record::Ungoverned(record) = record { Some(record) } else { None });
        found.collect()
    }

    /// Checks the record of a completed call, and that a repetition is not recorded.
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

/// Returns a policy without rules.
pub(super) fn configured(config: &str) -> Policy {
    let config = Config::parse(&format!("version = 1\n{config}")).unwrap();
    let compiled = compile(&[], &config);
    assert_eq!(compiled.error(), None);
    compiled.policy
}

#[test]
fn a_call_runs_as_it_was_decided_or_it_is_recorded() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    // Every question of these tests has the id `u`.
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
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": { "command": "x" },
    });
    let reply = bench.answer(&claude("PermissionRequest", &payload));
    assert!(String::from_utf8_lossy(&reply.stdout).contains("deny"), "{reply:?}");
    bench.check_done("u", "x", Some("against_decision"));
}

#[test]
fn what_an_earlier_daemon_decided_is_in_the_log() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    let bench = bench.restarted(policy(RULES));
    // The judged input is no longer known.
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

    // The end of the daemon does not change this.
    let stopped = stopped.restarted(stops());
    assert_eq!(stopped.ask("PreToolUse", "s", "echo a"), "deny");
    assert_eq!(stopped.ask("PreToolUse", "other", "echo a"), "defer");

    // In an untrusted workspace, the profiles that limit a session already leave it no higher level.
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
    // An agent that cannot be inspected: the place of its settings is unknown.
    let unseen = Bench::new(strict(), Mode::Enforce);
    assert!(code(&unseen).is_some_and(|message| message.contains("where the agent has its settings")));
    // More sessions than the limit.
    let full = Bench::new(strict(), Mode::Enforce);
    let pid = std::process::id();
    let process = AgentProcess { pid, started: crate::process::Process::read(pid).unwrap().started };
    for number in 0..LIVE_SESSIONS_MAX {
        let key = key_of(&format!("live {number}"));
        full.judge.live().hear(key, AgentId::CLAUDE, &Agent::default(), process).unwrap();
    }
    for _ in 0..2 {
        assert!(code(&full).is_some_and(|message| message.contains("too many sessions")));
    }
    let is_reported =
        |record: &Record| matches!(record, Record::Failure(failure) if failure.code == "monitor");
    assert_eq!(full.records().iter().filter(|record| is_reported(record)).count(), 1);
}

#[test]
fn a_transcript_is_held_against_what_was_decided() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    bench.check_transcribed("u", false, None);
    bench.check_transcribed("never asked about", false, Some("no_decision"));
    bench.check_transcribed("nothing to decide", true, None);
    // The same id again, for a denied call.
    assert_eq!(bench.ask("PreToolUse", "s", "forbidden"), "deny");
    bench.check_transcribed("u", false, Some("against_decision"));
    // A call already reported by the hook is not recorded again.
    bench.check_done("by the hook", "x", Some("no_decision"));
    bench.check_transcribed("by the hook", false, None);
}

#[test]
fn what_changes_the_agents_own_state_alone_needs_no_decision() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "TodoWrite",
        "tool_input": { "todos": [] }, "tool_use_id": "never asked about", "tool_response": {},
    });
    bench.answer(&claude("PostToolUse", &payload));
    assert_eq!(bench.ungoverned(), []);
}

const OFF: &str = r#"{"disableAllHooks":true}"#;

fn with_hook(command: &str) -> String {
    json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": command }] }] } })
        .to_string()
}

/// Checks whether a session of an agent with these arguments is stopped after its settings switch hooks off.
fn check_switched_off(arguments: &[&str], stops: bool) {
    let runs = Runs::with(arguments);
    let bench = Bench::of(&runs, configured("on_ungoverned = \"stop\"\nopaque = \"defer\""));
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    assert_eq!(bench.looks(), []);
    runs.write(OFF);
    let reported = bench.looks();
    let [(why, message)] = &reported[..] else { panic!("{reported:?}") };
    assert_eq!(why, "hooks_off");
    assert_eq!(
        message.contains("castellan is asked all the same: the agent was started so"),
        !stops,
        "{message}"
    );
    assert_eq!(bench.looks(), [], "told once");
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), if stops { "deny" } else { "defer" }, "{arguments:?}");
}

#[test]
fn hooks_that_are_switched_off_count_unless_the_agent_runs_them_all_the_same() {
    check_switched_off(&[], true);
    check_switched_off(&["--settings", r#"{"disableAllHooks":false}"#], false);
}

#[test]
fn a_hook_of_another_is_told_and_follows_nothing_but_in_strict() {
    let runs = Runs::new();
    let config = "on_ungoverned = \"stop\"\nopaque = \"defer\"\n[hooks]\ntrusted = [\"/trusted\"]";
    let bench = Bench::of(&runs, configured(config));
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    runs.write(&with_hook("/trusted"));
    assert_eq!(bench.looks(), []);
    runs.write(&with_hook("/another"));
    let reported = bench.looks();
    assert_eq!(
        reported,
        [("foreign_hook".to_owned(), "a hook for PreToolUse was added: /another".to_owned())]
    );
    assert_eq!(bench.ungoverned()[0].action, "record");
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
}

#[test]
fn strict_looks_at_the_settings_before_each_call() {
    let runs = Runs::new();
    let bench = Bench::of(&runs, configured("profile = \"strict\""));
    let foreign = |bench: &Bench| {
        bench.ask("PreToolUse", "s", "echo a");
        let findings = bench.calls().pop().unwrap().findings;
        findings.into_iter().find(|finding| finding.code == "foreign_hook").map(|finding| finding.message)
    };
    assert_eq!(foreign(&bench), None);
    // The monitor has not checked since.
    runs.write(&with_hook("/another"));
    assert!(foreign(&bench).is_some_and(|message| message.contains("/another")));
    runs.write("{}");
    assert_eq!(foreign(&bench), None);
    // Nothing is known of an agent over the limit.
    let others: Vec<Runs> = (0..STARTS_PER_SESSION_MAX).map(|_| Runs::new()).collect();
    let said: Vec<Option<String>> = others
        .iter()
        .map(|runs| {
            let live = bench.judge.live();
            live.hear(
                key_of("s"),
                AgentId::CLAUDE,
                &Agent { cwd: "/".to_owned(), ..Agent::default() },
                runs.process(),
            )
            .unwrap();
            let block = bench.judge.untrusted(&live.of(&key_of("s")).unwrap(), runs.process(), &[]);
            block.map(|block| block.message)
        })
        .collect();
    let (last, room) = said.split_last().unwrap();
    assert!(room.iter().all(Option::is_none), "{said:?}");
    assert!(
        last.as_ref().is_some_and(|message| message.contains("too many agents run this session")),
        "{said:?}"
    );
}

#[test]
fn what_follows_is_kept_before_anything_else_is_asked() {
    let stops = || configured("on_ungoverned = \"stop\"\nopaque = \"defer\"");
    let bench = Bench::new(stops(), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    bench.done("unknown", "echo a");
    // The daemon is killed.
    let bench = bench.restarted(stops());
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "deny");
    // A finding in a transcript needs no event of a hook: it is stored by itself.
    let bench = Bench::new(stops(), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "defer");
    bench.check_transcribed("unknown", false, Some("no_decision"));
    let bench = bench.restarted(stops());
    assert_eq!(bench.ask("PreToolUse", "s", "echo a"), "deny");
}
