//! Merging and lifetime of sessions, and the effects of a reboot.

use super::*;

#[test]
fn over_a_boot_processes_are_others_and_marks_grow_older() {
    for (ago, at_least) in [(3_600_000, 3_600_000), (0, 0), (-3_600_000, 0)] {
        let (_dir, path, mut memory) = new();
        let root = memory.enter(session(1), process(7)).unwrap().root;
        memory.mark(root, &["a".to_owned()]);
        memory.save().unwrap();
        reboot(&path, ago);
        let mut next = again(&path);
        let seen = next.session(&root);
        let age = seen.now_ms - seen.marks["a"].at_ms;
        assert!((at_least..at_least + 60_000).contains(&age), "{ago}: {age}");
        // The same numbers in another process.
        assert_ne!(next.enter(session(2), process(7)).unwrap().root, root);
        assert_eq!(next.enter(session(1), process(9)).unwrap().root, root);
    }
}

#[test]
fn a_session_of_a_living_agent_is_never_forgotten() {
    let (_dir, _path, mut memory) = new();
    let own = crate::process::Process::read(std::process::id()).unwrap();
    let alive = AgentProcess { pid: own.pid, started: own.started };
    let known = memory.enter(session(0), alive).unwrap();
    memory.fix_workspace(known, Workspace { path: "/w".to_owned(), is_border: true });
    let marked = memory.enter(session(1), UNSEEN).unwrap();
    memory.mark(marked.root, &["a".to_owned()]);
    for number in 2..2 * SESSIONS_MAX {
        memory.enter(session(number), UNSEEN).unwrap();
    }
    assert!(memory.sessions() <= SESSIONS_MAX);
    assert!(memory.workspace(&session(0)).is_some());
    assert_eq!(memory.session(&marked.root).marks.len(), 1);
    // Sessions with state are not forgotten, so the new one is rejected.
    for number in 2 * SESSIONS_MAX..4 * SESSIONS_MAX {
        match memory.enter(session(number), UNSEEN) {
            Ok(entered) => memory.mark(entered.root, &["a".to_owned()]),
            Err(why) => {
                assert!(why.contains("too many sessions"), "{why}");
                assert!(memory.enter(session(1), UNSEEN).is_ok());
                return;
            }
        }
    }
    panic!("never refused");
}

#[test]
fn a_session_is_forgotten_a_week_after_its_last_call() {
    let now = Moment::read();
    let mut lasting = Lasting::new(&now);
    for id in [1, 2] {
        let (id, seen_ms) = (session(id), id as u64);
        lasting.apply(Entry::Session { id, root: id, seen_ms, workspace: None });
        lasting.apply(Entry::Marked { root: id, labels: vec!["a".to_owned()], at_ms: 0 });
    }
    assert_eq!(lasting.forgettable(SESSION_IDLE_MS + 1, |_| false), []);
    assert_eq!(lasting.forgettable(SESSION_IDLE_MS + 2, |_| false), [session(1)]);
    lasting.apply(Entry::Process { pid: 7, started: 1, root: session(1) });
    assert_eq!(lasting.forgettable(SESSION_IDLE_MS + 2, |_| true), []);
    lasting.apply(Entry::Forgotten { ids: vec![session(1)] });
    assert_eq!(lasting.marks.session(&session(1), 0).marks.len(), 0);
    assert_eq!(lasting.marks.session(&session(2), 0).marks.len(), 1);
}

#[test]
fn a_session_may_go_on_in_any_number_of_processes() {
    let (_dir, _path, mut memory) = new();
    let own = crate::process::Process::read(std::process::id()).unwrap();
    let alive = AgentProcess { pid: own.pid, started: own.started };
    let root = memory.enter(session(0), alive).unwrap().root;
    for pid in 1..2 * u32::try_from(PROCESSES_MAX).unwrap() {
        assert_eq!(memory.enter(session(0), process(pid)).unwrap().root, root);
    }
    let processes = kept(&memory).iter().filter(|line| line.contains("process")).count();
    assert!(processes <= PROCESSES_MAX, "{processes}");
    assert_eq!(memory.enter(session(1), alive).unwrap().root, root);
}

#[test]
fn a_new_id_may_do_no_more_than_the_sessions_that_it_is_one_with() {
    let (_dir, path, mut memory) = new();
    let sub_agent = |memory: &mut Memory, number: usize, pid: u32| {
        let id = memory.enter(session(number), process(pid)).unwrap().id;
        memory.ceiling(&id, false, AccessLevel::FullAccess)
    };
    for (number, level) in [(1, AccessLevel::WorkspaceWrite), (2, AccessLevel::ReadOnly)] {
        let id = memory.enter(session(number), process(7)).unwrap().id;
        memory.ceiling(&id, true, level);
    }
    assert_eq!(sub_agent(&mut memory, 3, 7), AccessLevel::ReadOnly);
    assert_eq!(sub_agent(&mut memory, 4, 8), AccessLevel::FullAccess, "of another process");
    memory.save().unwrap();
    let mut memory = again(&path);
    assert_eq!(sub_agent(&mut memory, 3, 7), AccessLevel::ReadOnly);
    assert_eq!(sub_agent(&mut memory, 5, 7), AccessLevel::ReadOnly);
    // The declaration of the session's own main agent applies from then on.
    assert_eq!(memory.ceiling(&session(3), true, AccessLevel::FullAccess), AccessLevel::FullAccess);
    assert_eq!(sub_agent(&mut memory, 3, 7), AccessLevel::FullAccess);
}

fn alive() -> AgentProcess {
    let own = crate::process::Process::read(std::process::id()).unwrap();
    AgentProcess { pid: own.pid, started: own.started }
}

#[test]
fn of_many_sessions_of_one_living_agent_the_oldest_are_dropped() {
    let (_dir, path, mut memory) = new();
    let other = memory.enter(session(1_000_000), UNSEEN).unwrap().root;
    memory.mark(other, &["other".to_owned()]);
    for number in 0..3 * SESSIONS_MAX {
        let entered = memory.enter(session(number), alive()).unwrap();
        // The state of the first sessions must not be lost with their ids.
        match number {
            0 => memory.mark(entered.root, &["a".to_owned()]),
            1 => write(&mut memory, entered.root, 7, "/w/x"),
            2 => {
                let block = Some(Block { code: Code::Ungoverned, message: "m".to_owned() });
                memory.follow(&entered.id, Consequence { ceiling: Some(AccessLevel::ReadOnly), block });
            }
            3 => {
                memory.ceiling(&entered.id, true, AccessLevel::ReadOnly);
            }
            _ => {}
        }
        assert!(memory.sessions() <= SESSIONS_MAX, "{number}");
    }
    let check = |memory: &mut Memory| {
        // A dropped id that returns, one that never dropped, and the newest.
        for number in [0, 1, 2, 3, 5, 4 * SESSIONS_MAX, 3 * SESSIONS_MAX - 1] {
            let entered = memory.enter(session(number), alive()).unwrap();
            assert!(memory.session(&entered.root).marks.contains_key("a"), "{number}");
            let changed = memory.changed(&entered.root, None).unwrap();
            assert!(changed.written.contains("/w/x"), "{number}");
            assert!(memory.consequence(&entered.id).block.is_some(), "{number}");
            assert_eq!(memory.consequence(&entered.id).ceiling, Some(AccessLevel::ReadOnly), "{number}");
            if number != 3 * SESSIONS_MAX - 1 && number != 5 {
                let ceiling = memory.ceiling(&entered.id, false, AccessLevel::FullAccess);
                assert_eq!(ceiling, AccessLevel::ReadOnly, "{number}");
            }
        }
        assert!(memory.session(&other).marks.contains_key("other"));
    };
    check(&mut memory);
    memory.save().unwrap();
    check(&mut again(&path));
}

#[test]
fn sessions_that_are_looked_at_keep_their_places() {
    let (_dir, _path, mut memory) = new();
    let watched = memory.enter(session(7), alive()).unwrap();
    memory.watch([watched.id].into());
    for number in 100..2 * SESSIONS_MAX {
        memory.enter(session(number), alive()).unwrap();
    }
    // A finding about this session applies to the agent's other sessions.
    let ceiling = Some(AccessLevel::ReadOnly);
    memory.follow(&watched.id, Consequence { ceiling, block: None });
    let newest = memory.enter(session(3 * SESSIONS_MAX), alive()).unwrap();
    assert_eq!(memory.consequence(&newest.id).ceiling, ceiling);
}

#[test]
fn a_workspace_whose_own_files_count_stays_known_of_an_agent() {
    let (_dir, _path, mut memory) = new();
    let in_project = memory.enter(session(7), alive()).unwrap();
    memory.fix_workspace(in_project, Workspace { path: "/w".to_owned(), is_border: true });
    let project = Some("hash".to_owned());
    memory.decide("/w", Some(WorkspaceDecision::Trusted { project: project.clone() })).unwrap();
    for number in 100..2 * SESSIONS_MAX {
        memory.enter(session(number), alive()).unwrap();
    }
    let known = memory.sessions_in(&alive());
    assert!(known.iter().any(|id| memory.project(memory.workspace(id)) == project));
}
