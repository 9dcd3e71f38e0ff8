//! Registered runs: which hold for a process, what a restart and the end of processes change, and the limits.

use std::path::PathBuf;

use super::*;
use crate::process::Process;

const OBSERVER: Option<Profile> = Some(Profile::Observer);
const STRICT: Option<Profile> = Some(Profile::Strict);

fn opened(dir: &tempfile::TempDir, is_first: bool) -> Memory {
    let path: PathBuf = dir.path().join("journal");
    let (memory, trouble) = Memory::open(path, is_first, 1).unwrap();
    assert_eq!(trouble, None);
    memory
}

/// A process that has ended, or never was.
fn ended(number: u64) -> AgentProcess {
    AgentProcess { pid: u32::MAX, started: number }
}

/// A process that runs.
fn running() -> AgentProcess {
    let own = Process::read(std::process::id()).unwrap();
    AgentProcess { pid: own.pid, started: own.started }
}

/// The innermost process first.
fn below(chain: &[AgentProcess]) -> Ancestors {
    Ancestors { chain: chain.to_vec(), is_whole: true }
}

fn profiles(memory: &Memory, ancestors: &Ancestors) -> Vec<Option<Profile>> {
    memory.runs_above(ancestors).profiles
}

#[test]
fn runs_hold_for_the_processes_below_them_and_for_unknown_ones() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    let [outer, inner, agent, other] = [1, 2, 3, 4].map(ended);
    memory.start_run(inner, OBSERVER, false).unwrap();
    memory.start_run(outer, STRICT, false).unwrap();
    assert_eq!(profiles(&memory, &below(&[agent, inner, outer])), [STRICT, OBSERVER]);
    assert_eq!(profiles(&memory, &below(&[agent, outer])), [STRICT]);
    assert_eq!(profiles(&memory, &below(&[inner])), [OBSERVER]);
    assert_eq!(profiles(&memory, &below(&[agent, other])), []);
    // A process of the same id that started at another time is another process.
    let reused = AgentProcess { started: 9, ..outer };
    assert_eq!(profiles(&memory, &below(&[agent, reused])), []);
    let unknown = Ancestors { chain: vec![agent], is_whole: false };
    let found = memory.runs_above(&unknown);
    assert!(found.is_unknown && found.profiles == [OBSERVER, STRICT], "{found:?}");
}

#[test]
fn an_agent_stays_in_its_run_when_the_process_of_the_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    let (run, agent) = (ended(1), running());
    memory.start_run(run, OBSERVER, false).unwrap();
    memory.join_runs(&below(&[agent, run]), agent).unwrap();
    assert_eq!(memory.end_runs(), [], "its agent runs");
    // The agent has another parent now.
    assert_eq!(profiles(&memory, &below(&[agent])), [OBSERVER]);
    assert_eq!(profiles(&memory, &below(&[ended(7), agent])), [OBSERVER]);
    memory.save().unwrap();
    let memory = opened(&dir, false);
    assert_eq!(profiles(&memory, &below(&[agent])), [OBSERVER], "after a restart of the daemon");
}

#[test]
fn a_run_survives_the_daemon_and_ends_with_its_processes() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    memory.start_run(running(), STRICT, false).unwrap();
    memory.start_run(ended(1), None, false).unwrap();
    let mut memory = opened(&dir, false);
    let started: Vec<_> = memory.runs().iter().map(|run| (run.process, run.profile)).collect();
    assert_eq!(started, [(running(), STRICT), (ended(1), None)]);
    let over: Vec<_> = memory.end_runs().into_iter().map(|run| run.process).collect();
    assert_eq!(over, [ended(1)]);
    memory.save().unwrap();
    let memory = opened(&dir, false);
    assert_eq!(memory.runs().iter().map(|run| run.process).collect::<Vec<_>>(), [running()]);
}

#[test]
fn everything_below_a_run_with_a_sandbox_is_in_it_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    let [sandboxed, plain, agent] = [1, 2, 3].map(ended);
    memory.start_run(sandboxed, None, true).unwrap();
    memory.start_run(plain, None, false).unwrap();
    for memory in [memory, opened(&dir, false)] {
        let check = |chain: &[AgentProcess], is_whole, expected| {
            let ancestors = Ancestors { chain: chain.to_vec(), is_whole };
            assert_eq!(memory.runs_above(&ancestors).is_sandboxed, expected, "{chain:?}");
        };
        check(&[agent, sandboxed], true, true);
        check(&[agent, plain, sandboxed], true, true);
        check(&[agent, plain], true, false);
        check(&[agent], true, false);
        // A process with unknown ancestors may be below no sandbox.
        check(&[agent, sandboxed], false, false);
    }
}

#[test]
fn a_second_registration_changes_the_profile_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    memory.start_run(running(), STRICT, false).unwrap();
    memory.start_run(running(), None, false).unwrap();
    assert_eq!(memory.runs().iter().map(|run| run.profile).collect::<Vec<_>>(), [STRICT]);
    memory.start_run(running(), OBSERVER, false).unwrap();
    assert_eq!(memory.runs().iter().map(|run| run.profile).collect::<Vec<_>>(), [OBSERVER]);
}

#[test]
fn a_profile_of_another_version_gives_no_tools() {
    let mut runs = Runs::default();
    runs.start(ended(1), (Some("of the future"), false), 0);
    assert_eq!(runs.0.iter().map(|run| run.profile).collect::<Vec<_>>(), [OBSERVER]);
}

#[test]
fn the_number_of_runs_has_a_limit_and_ended_ones_make_room() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    let agent = running();
    for number in 0..RUNS_MAX as u64 {
        memory.put(Entry::Run { process: ended(number), profile: None, is_sandboxed: false, at_ms: 0 });
        memory.put(Entry::RunAgent { run: ended(number), agent });
    }
    assert!(memory.start_run(ended(1 << 32), OBSERVER, false).is_err());
    assert!(memory.start_run(ended(0), OBSERVER, false).is_ok(), "it is registered already");
    memory.put(Entry::RunAgentsOver { run: ended(1), agents: vec![agent] });
    assert!(memory.start_run(ended(1 << 32), OBSERVER, false).is_ok());
    assert_eq!(memory.runs().len(), RUNS_MAX);
}

#[test]
fn the_agents_of_a_run_have_a_limit_and_ended_ones_make_room() {
    let dir = tempfile::tempdir().unwrap();
    let mut memory = opened(&dir, true);
    let run = ended(0);
    memory.start_run(run, OBSERVER, false).unwrap();
    for number in 1..AGENTS_PER_RUN_MAX as u64 {
        memory.put(Entry::RunAgent { run, agent: ended(number) });
    }
    memory.put(Entry::RunAgent { run, agent: running() });
    let next = ended(1 << 32);
    memory.join_runs(&below(&[next, run]), next).unwrap();
    let agents = &memory.runs().first().unwrap().agents;
    assert!(agents.contains(&next) && agents.contains(&running()) && agents.len() == 2, "{agents:?}");
}
