use super::*;
use crate::limits::{CHANGED_PATHS_PER_SESSION_MAX, OPEN_CALLS_PER_SESSION_MAX, READS_PER_CALL_MAX};

fn key(number: usize) -> SessionKey {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    SessionKey(key)
}

/// Begins the call `number`, with its number as the agent's id.
fn begin(changes: &mut Changes, session: usize, number: u64, path: &str, in_background: bool) {
    let (id, paths) = (number.to_string(), paths(&[path]));
    let begun = Begun { call: number, id: &id, paths, in_background, ..Begun::default() };
    changes.begin(key(session), begun);
}

fn paths(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

/// Checks the session's written and changing paths as another call sees them.
fn check(changes: &Changes, session: usize, written: &[&str], changing: &[&str]) {
    check_but(changes, session, None, written, changing);
}

fn check_but(changes: &Changes, session: usize, but: Option<u64>, written: &[&str], changing: &[&str]) {
    let expected =
        Changed { written: Arc::new(paths(written)), changing: paths(changing), ..Changed::default() };
    assert_eq!(changes.of(&key(session), but), Some(expected), "{session} but {but:?}");
}

#[test]
fn what_a_call_writes_is_changing_until_it_is_done_and_written_for_good() {
    let mut changes = Changes::default();
    assert_eq!(changes.of(&key(0), None), None);
    begin(&mut changes, 0, 1, "/w/a", false);
    begin(&mut changes, 0, 2, "/w/b", false);
    changes.end(&key(0), "1");
    check(&changes, 0, &["/w/a", "/w/b"], &["/w/b"]);
    assert_eq!(changes.of(&key(1), None), None);
}

#[test]
fn a_turn_ends_what_the_agent_waited_for() {
    let mut changes = Changes::default();
    begin(&mut changes, 0, 1, "/w/a", false);
    begin(&mut changes, 0, 2, "/w/b", true);
    begin(&mut changes, 1, 1, "/w/c", false);
    changes.end_turn(&key(0));
    changes.end_turn(&key(2));
    check(&changes, 0, &["/w/a", "/w/b"], &["/w/b"]);
    check(&changes, 1, &["/w/c"], &["/w/c"]);
    changes.end(&key(0), "2");
    check(&changes, 0, &["/w/a", "/w/b"], &[]);
}

#[test]
fn a_call_that_is_asked_about_again_does_not_meet_what_it_alone_writes() {
    let mut changes = Changes::default();
    begin(&mut changes, 0, 1, "/w/a", false);
    check_but(&changes, 0, Some(1), &[], &[]);
    check_but(&changes, 0, Some(2), &["/w/a"], &["/w/a"]);
    // Another call that writes the same path counts: before or after, running or done.
    begin(&mut changes, 0, 2, "/w/a", false);
    changes.end(&key(0), "2");
    check_but(&changes, 0, Some(1), &["/w/a"], &[]);
    begin(&mut changes, 0, 3, "/w/a", false);
    check_but(&changes, 0, Some(3), &["/w/a"], &["/w/a"]);
    // A call that is judged again begins once and ends by its first id.
    begin(&mut changes, 1, 1, "/w/a", true);
    let begun = Begun { call: 1, id: "", paths: paths(&["/w/b"]), ..Begun::default() };
    changes.begin(key(1), begun);
    check_but(&changes, 1, Some(1), &[], &[]);
    changes.end_turn(&key(1));
    check(&changes, 1, &["/w/a", "/w/b"], &["/w/a", "/w/b"]);
    changes.end(&key(1), "1");
    check_but(&changes, 1, Some(1), &["/w/a", "/w/b"], &[]);
}

#[test]
fn what_came_from_the_network_a_secret_or_unread_code_is_known_by_it() {
    let mut changes = Changes::default();
    let written = paths(&["/w/a", "/w/b"]);
    let set = |path: &str| Arc::new(paths(&[path]));
    let origins = Origins { downloaded: set("/w/b"), secret_copies: set("/w/a"), unread_output: set("/w/u") };
    let begun = Begun {
        call: 1,
        id: "1",
        paths: written,
        origins: origins.clone(),
        opens_tunnel: true,
        ..Begun::default()
    };
    changes.begin(key(0), begun);
    begin(&mut changes, 0, 2, "/w/c", false);
    let changed = changes.of(&key(0), None).unwrap();
    assert_eq!((changed.origins, changed.has_tunnel), (origins, true));
    for (path, is_foreign) in [("/w/a", false), ("/w/b", true), ("/w/c", false), ("/w/u", true)] {
        assert_eq!(changes.has_any_foreign(path), is_foreign, "{path}");
    }
    assert_eq!(*changed.written, paths(&["/w/a", "/w/b", "/w/c"]));
}

#[test]
fn what_any_session_has_written_is_known() {
    let mut changes = Changes::default();
    begin(&mut changes, 0, 1, "/w/a", false);
    begin(&mut changes, 1, 1, "/w/sub", false);
    begin(&mut changes, 2, 1, "/v/.git/index", false);
    begin(&mut changes, 2, 2, "/u/*.js", false);
    changes.end(&key(0), "1");
    for (path, expected) in [
        ("/w/a", true),
        ("/w/sub/b", true),
        ("/v/x/y", true),
        ("/u/a.js", true),
        ("/u/a.py", false),
        ("/w/ab", false),
        ("/w/b", false),
        ("/vx", false),
    ] {
        assert_eq!(changes.has_any_written(path), expected, "{path}");
    }
    changes.add(key(3), Earlier { is_full: true, ..Earlier::default() });
    assert!(changes.has_any_written("/w/b"));
}

#[test]
fn what_is_not_kept_is_not_taken_for_unwritten() {
    let mut changes = Changes::default();
    for number in 0..=CHANGED_PATHS_PER_SESSION_MAX {
        begin(&mut changes, 0, 1, &number.to_string(), false);
    }
    let changed = changes.of(&key(0), None).unwrap();
    assert!(changed.is_full);
    assert_eq!(changed.written.len(), CHANGED_PATHS_PER_SESSION_MAX);
    begin(&mut changes, 1, 1, "/w/a", false);
    assert!(!changes.of(&key(1), None).unwrap().is_full);
}

#[test]
fn what_a_call_writes_goes_on_changing_when_the_call_is_no_longer_kept() {
    let mut changes = Changes::default();
    begin(&mut changes, 0, 1, "/w/in_background", true);
    begin(&mut changes, 0, 2, "/w/waited_for", false);
    let most = OPEN_CALLS_PER_SESSION_MAX as u64;
    for number in 3..3 + most {
        begin(&mut changes, 0, number, "/w/b", true);
    }
    let changing = |changes: &Changes| changes.of(&key(0), None).unwrap().changing;
    let all = &["/w/b", "/w/in_background", "/w/waited_for"];
    assert_eq!(changing(&changes), paths(all));
    changes.end(&key(0), "3");
    assert_eq!(changing(&changes), paths(all));
    changes.end_turn(&key(0));
    assert_eq!(changing(&changes), paths(&["/w/b", "/w/in_background"]));
    // The journal stores it and restores it.
    let mut again = Changes::default();
    for entry in changes.entries().collect::<Vec<_>>() {
        if let Entry::Begun(entry) = entry {
            let (root, begun) = entry.begun();
            again.begin(root, begun);
        }
    }
    assert_eq!(changing(&again), changing(&changes));
}

#[test]
fn of_many_downloads_none_is_taken_for_the_users_own() {
    let mut changes = Changes::default();
    for number in 0..=CHANGED_PATHS_PER_SESSION_MAX as u64 {
        let downloaded = paths(&[&format!("/w/d/{number}")]);
        let (id, paths) = (number.to_string(), downloaded.clone());
        let origins = Origins { downloaded: downloaded.into(), ..Origins::default() };
        changes.begin(key(0), Begun { call: number, id: &id, paths, origins, ..Begun::default() });
    }
    assert_eq!(*changes.of(&key(0), None).unwrap().origins.downloaded, paths(&["/w/d"]));
}

#[test]
fn the_paths_of_all_sessions_have_a_limit_together() {
    let mut changes = Changes { paths: CHANGED_PATHS_MAX - 1, ..Changes::default() };
    let is_full = |changes: &Changes, session| changes.of(&key(session), None).unwrap().is_full;
    begin(&mut changes, 0, 1, "/w/a", false);
    begin(&mut changes, 0, 2, "/w/a", false);
    assert!(!is_full(&changes, 0));
    begin(&mut changes, 1, 1, "/w/a", false);
    assert!(is_full(&changes, 1));
    changes.forget(&key(0));
    begin(&mut changes, 2, 1, "/w/a", false);
    assert!(!is_full(&changes, 2));
}

#[test]
fn what_two_sessions_wrote_that_are_one_is_written_by_both() {
    let mut changes = Changes::default();
    begin(&mut changes, 0, 1, "/w/a", false);
    begin(&mut changes, 1, 2, "/w/a", false);
    begin(&mut changes, 1, 3, "/w/b", true);
    changes.merge(&key(1), key(0));
    check(&changes, 0, &["/w/a", "/w/b"], &["/w/a", "/w/b"]);
    assert_eq!((changes.of(&key(1), None), changes.paths), (None, 2));
    changes.end_turn(&key(0));
    check(&changes, 0, &["/w/a", "/w/b"], &["/w/b"]);
}

#[test]
fn what_a_call_runs_is_told_when_it_ends() {
    let mut changes = Changes::default();
    let script = |path: &str| ScriptFile { path: path.to_owned(), sha256: None, is_written: false };
    let mut begins = |number: u64, id: &str, in_background| {
        let scripts = vec![script(id)];
        changes.begin(key(0), Begun { call: number, id, scripts, in_background, ..Begun::default() })
    };
    let ended = |call, id: &str| Ended { call, id: id.to_owned(), scripts: vec![script(id)] };
    for (number, id) in ["a", "b"].into_iter().enumerate() {
        assert_eq!(begins(number as u64, id, false), None);
    }
    assert_eq!(begins(2, "c", true), None);
    assert_eq!(changes.end(&key(0), "a"), [ended(0, "a")]);
    assert_eq!(changes.end(&key(0), "a"), []);
    assert_eq!(changes.end_turn(&key(0)), [ended(1, "b")]);
    assert_eq!(changes.end(&key(0), "c"), [ended(2, "c")]);
    let mut forgotten = Vec::new();
    for number in 0..=OPEN_CALLS_PER_SESSION_MAX {
        let id = number.to_string();
        let scripts = vec![script(&id)];
        let begun = Begun { call: number as u64, id: &id, scripts, ..Begun::default() };
        forgotten.extend(changes.begin(key(0), begun));
    }
    assert_eq!(forgotten, [ended(0, "0")]);
}

#[test]
fn a_call_that_reads_too_many_files_may_read_any() {
    let reads = |number: usize| Copying {
        reads: Some((0..number).map(|number| format!("/w/{number}")).collect()),
        into: BTreeSet::new(),
    };
    for (number, expected) in [(READS_PER_CALL_MAX, 0), (READS_PER_CALL_MAX + 1, 1)] {
        let mut changes = Changes::default();
        for copying in [reads(number), Copying::none()] {
            changes.begin(key(0), Begun { id: "1", paths: paths(&["/w/out"]), copying, ..Begun::default() });
        }
        assert_eq!(changes.beside(7, "/elsewhere").len(), expected, "{number}");
        assert_eq!(changes.beside(7, "/w").len(), 1, "{number}");
        assert_eq!(changes.beside(0, "/w").len(), 0, "its own call");
    }
}

/// A call with a command in the background, which the agent reports at once.
#[test]
fn a_call_whose_commands_run_on_stays_open_until_they_end() {
    let ended = |call: u64| Ended { call, id: call.to_string(), scripts: Vec::new() };
    let start = Some(Start { ticks: 5, group: None, adopters: vec![1], moment: None });
    let mut changes = Changes::default();
    for (call, outlasts, start) in [(1, true, start.clone()), (2, false, start), (3, true, None)] {
        let id = call.to_string();
        let paths = paths(&[&format!("/w/{call}")]);
        changes.begin(key(0), Begun { call, id: &id, paths, outlasts, start, ..Begun::default() });
    }
    let changing = |changes: &Changes| changes.of(&key(0), None).unwrap().changing;
    assert!(!changes.may_outlast(|_| true));
    assert!(changes.may_outlast(|_| false), "the agent has ended");
    for call in [1, 2, 3] {
        assert_eq!(changes.end(&key(0), &call.to_string()), [ended(call)]);
        assert_eq!(changes.end(&key(0), &call.to_string()), []);
    }
    assert_eq!(changing(&changes), paths(&["/w/1"]));
    assert!(changes.may_outlast(|_| true));
    // The journal has it.
    let mut again = Changes::default();
    for entry in changes.entries().collect::<Vec<_>>() {
        if let Entry::Begun(entry) = entry {
            let (root, begun) = entry.begun();
            again.begin(root, begun);
        } else if let Entry::Ended { root, calls } = entry {
            again.end_calls(&root, &calls);
        }
    }
    for mut changes in [changes, again] {
        changes.end_outlasting(|_| true, |_, start| start.ticks == 5);
        assert_eq!(changing(&changes), paths(&["/w/1"]));
        changes.end_outlasting(|_| true, |_, _| false);
        assert_eq!(changing(&changes), paths(&[]));
        assert!(!changes.may_outlast(|_| true));
    }
}
