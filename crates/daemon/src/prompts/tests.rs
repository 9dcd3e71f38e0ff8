//! Prompts and calls of processes that do not exist.

use super::*;

fn process(started: u64) -> AgentProcess {
    AgentProcess { pid: u32::MAX, started }
}

fn session(of: u8) -> SessionKey {
    SessionKey([of; 32])
}

fn texts(prompts: &Prompts, of: AgentProcess, session: SessionKey) -> Vec<String> {
    prompts.of(of, session, 0).into_iter().map(|prompt| prompt.text).collect()
}

#[test]
fn prompts_belong_to_their_session_and_process() {
    let prompts = Prompts::new([]);
    prompts.add(process(5), session(1), "a", 1000);
    prompts.add(process(5), session(1), "b", 3500);
    prompts.add(process(5), session(2), "c", 0);
    let ages: Vec<u64> = prompts.of(process(5), session(1), 4000).iter().map(|prompt| prompt.age_s).collect();
    assert_eq!(
        (texts(&prompts, process(5), session(1)), ages),
        (vec!["a".to_owned(), "b".to_owned()], vec![3, 0])
    );
    // A resumed session has another process.
    assert!(texts(&prompts, process(6), session(1)).is_empty());
    prompts.forget(process(5), session(1));
    assert!(texts(&prompts, process(5), session(1)).is_empty());
    assert_eq!(texts(&prompts, process(5), session(2)), ["c"]);
}

#[test]
fn a_process_without_a_whole_history_has_no_prompts() {
    let prompts = Prompts::new([process(7), process(3)]);
    for (started, is_known) in [(3, false), (5, false), (7, false), (8, true)] {
        prompts.add(process(started), session(1), "a", 0);
        assert_eq!(texts(&prompts, process(started), session(1)).len(), usize::from(is_known), "{started}");
        assert_eq!(prompts.ended_calls(process(started)).is_some(), is_known, "{started}");
    }
    let nobody = AgentProcess { pid: 0, started: 9 };
    assert_eq!(prompts.ended_calls(nobody), None);
}

#[test]
fn stored_prompts_and_processes_are_limited() {
    let prompts = Prompts::new([]);
    for n in 0..20 {
        prompts.add(process(1), session(1), &n.to_string(), 0);
    }
    let newest: Vec<String> = (12..20).map(|n: u32| n.to_string()).collect();
    assert_eq!(texts(&prompts, process(1), session(1)), newest);
    prompts.add(process(1), session(2), &"é".repeat(PROMPT_BYTES_MAX), 0);
    assert_eq!(texts(&prompts, process(1), session(2))[0].len(), PROMPT_BYTES_MAX - PROMPT_BYTES_MAX % 2);
    for of in 10..=20 {
        prompts.add(process(1), session(of), "x", 0);
    }
    assert!(texts(&prompts, process(1), session(1)).is_empty());
    // Processes that live are never displaced: a further one has no prompts, and neither have earlier ones.
    let own = crate::process::Process::read(std::process::id()).unwrap();
    let prompts = Prompts::new([]);
    let agents = (0..PROMPTING_AGENTS_MAX)
        .map(|n| (AgentProcess { pid: own.pid, started: own.started + n as u64 }, Agent::default()));
    prompts.lock().agents = agents.collect();
    prompts.begin(process(own.started + 9999), "a");
    assert_eq!(prompts.lock().agents.len(), 2, "processes that have ended make room");
    assert!(prompts.ended_calls(process(own.started + 9999)).is_none(), "its call runs");
}

#[test]
fn a_process_is_quiet_after_the_end_of_its_calls() {
    let prompts = Prompts::new([]);
    let quiet = || prompts.ended_calls(process(1)).is_some();
    assert!(quiet());
    prompts.begin(process(1), "a");
    prompts.begin(process(1), "b");
    prompts.begin(process(1), "b");
    assert!(!quiet());
    prompts.end(process(1), "a");
    assert!(!quiet());
    prompts.end(process(1), "b");
    assert!(quiet());
    prompts.begin(process(1), "");
    prompts.end_turn(process(1));
    assert!(quiet());
    // With more calls than are stored, no single end counts.
    for n in 0..=RUNNING_CALLS_MAX {
        prompts.begin(process(1), &n.to_string());
    }
    for n in 0..=RUNNING_CALLS_MAX {
        prompts.end(process(1), &n.to_string());
    }
    assert!(!quiet());
    prompts.end_turn(process(1));
    assert!(quiet());
}
