//! Calls in a pause.

use castellan_audit::Record;
use castellan_event::Mode;
use castellan_policy::Policy;

use super::{Bench, RULES, policy};

#[test]
fn a_pause_records_calls_and_leaves_them_to_the_agent_and_ends() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    bench.check("a", "forbidden", "deny", &[]);
    bench.judge.pause(600).unwrap();
    bench.check("a", "forbidden secret", "defer", &[]);
    // The next daemon knows of the pause.
    let bench = bench.restarted(policy(RULES));
    bench.check("a", "forbidden", "defer", &[]);
    let calls = bench.calls();
    let last = calls.last().unwrap();
    let codes: Vec<&str> = last.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!((codes, &*last.mode, &*last.answer), (vec!["paused"], "passthrough", "defer"));
    assert_eq!(bench.judge.terms().mode, Mode::Enforce, "the mode of the settings stays");
    bench.judge.end_pause().unwrap();
    bench.check("a", "forbidden", "deny", &[]);
    // Nobody ends this pause.
    bench.judge.pause(0).unwrap();
    bench.check("a", "forbidden", "deny", &[]);
    bench.judge.end_due_pause();
    let ends = |record: &Record| matches!(record, Record::Control(control) if control.action == "pause_end");
    assert_eq!(bench.records().iter().filter(|record| ends(record)).count(), 1);
}

#[test]
fn a_halt_and_a_session_without_tools_hold_in_a_pause() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    bench.judge.pause(600).unwrap();
    bench.judge.halt(crate::memory::HaltPlace::All, "all agents".to_owned()).unwrap();
    bench.check("a", "git push", "deny", &[]);
    let observer = Policy::new(Vec::new(), castellan_policy::Profile::Observer.settings());
    let bench = Bench::new(observer, Mode::Enforce);
    bench.judge.pause(600).unwrap();
    bench.check("a", "git push", "deny", &[]);
}

/// The agent's second question after the end of a pause is judged, although the first one was not.
#[test]
fn an_answer_of_a_pause_is_not_valid_after_it() {
    for end in [
        |bench: &Bench| bench.judge.end_pause().unwrap(),
        |bench: &Bench| {
            let mut memory = bench.judge.memory();
            let now_ms = memory.now_ms();
            memory.cut_pause(now_ms);
        },
    ] {
        let bench = Bench::new(policy(RULES), Mode::Enforce);
        bench.judge.pause(600).unwrap();
        assert_eq!(bench.ask("PreToolUse", "a", "forbidden"), "defer");
        assert_eq!(bench.ask("PermissionRequest", "a", "forbidden"), "defer");
        end(&bench);
        assert_eq!(bench.ask("PermissionRequest", "a", "forbidden"), "deny");
    }
}
