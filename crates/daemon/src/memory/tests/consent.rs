//! Answers, request ids and grants.

use super::*;

#[test]
fn the_last_answers_are_kept_and_outdated_on_demand() {
    let (_dir, _path, mut memory) = new();
    let given = |verdict| Given {
        verdict,
        reason: String::new(),
        session: Arc::default(),
        call: 1,
        grant: None,
        met: Vec::new(),
        epoch: Epoch::default(),
        is_rewritten: false,
    };
    for number in 0..=REMEMBERED_ANSWERS_MAX {
        memory.remember(key(number), given(Verdict::Allow));
    }
    assert_eq!(memory.given(&key(0)), None);
    assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Allow)));
    memory.remember(key(1), given(Verdict::Deny));
    assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Deny)));
    memory.outdate();
    assert_ne!(memory.given(&key(1)).map(|given| given.epoch), Some(memory.epoch()));
    // A grant of an earlier epoch may have been revoked before the answer was stored.
    let granted =
        || Given { grant: Some(Taken { grant: Grant::default(), of: Vec::new() }), ..given(Verdict::Allow) };
    memory.remember(key(1), granted());
    assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Allow)));
    memory.remember(key(2), Given { epoch: memory.epoch(), ..granted() });
    assert!(memory.given(&key(2)).is_some_and(|given| given.grant.is_some()));
}

#[test]
fn request_ids_of_a_daemon_before_do_not_come_again() {
    let (_dir, path, mut memory) = new();
    let mut handed = BTreeSet::new();
    for _ in 0..3 {
        for _ in 0..REQUESTS_RESERVED + 3 {
            let id = memory.take_request().to_string();
            assert!(handed.insert(id.clone()), "{id} came twice");
            memory.save().unwrap();
        }
        memory = again(&path);
    }
}

#[test]
fn what_is_granted_holds_over_a_kill_and_what_is_used_does_not() {
    let (_dir, path, mut memory) = new();
    for (id, scope) in [
        (1, GrantScope::Once),
        (2, GrantScope::Once),
        (3, GrantScope::Session),
        (4, GrantScope::Always),
        (5, GrantScope::For(9)),
    ] {
        grant(&mut memory, id, scope);
    }
    memory.refuse("a5");
    memory.save().unwrap();
    // The daemon was killed during a decision, so the call got no answer.
    assert!(taken(&mut memory).is_some());
    let mut memory = again(&path);
    let all = taken(&mut memory).unwrap();
    assert_eq!(
        all.of.iter().map(RequestId::to_string).collect::<BTreeSet<_>>(),
        ids(&["A2", "A3", "A4", "A6"])
    );
    // Both one-time grants exempt the same findings, so both are used.
    memory.settle_grants(&all, |_| true);
    memory.save().unwrap();
    let mut memory = again(&path);
    let left = taken(&mut memory).unwrap();
    assert_eq!(left.of.iter().map(RequestId::to_string).collect::<BTreeSet<_>>(), ids(&["A4", "A6"]));
    assert_eq!(left.grant.parts.first(), all.grant.parts.first());
    assert_eq!(
        memory.requests().classes(&session(1), Now::read()).0,
        [class()],
        "of the grant for the session"
    );
    assert_eq!(memory.requests_mut().take(&GrantKey(bytes(1)), &session(2), Now::read()), None);
}

fn ids(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn over_a_boot_only_what_does_not_end_by_itself_is_granted() {
    let (_dir, path, mut memory) = new();
    for (id, scope) in
        [(1, GrantScope::Once), (2, GrantScope::Session), (3, GrantScope::For(9)), (4, GrantScope::Always)]
    {
        grant(&mut memory, id, scope);
    }
    memory.save().unwrap();
    reboot(&path, 0);
    let left = taken(&mut again(&path)).unwrap();
    assert_eq!(left.of.iter().map(RequestId::to_string).collect::<BTreeSet<_>>(), ids(&["A3", "A5"]));
}

#[test]
fn there_is_an_id_for_a_request_however_much_is_granted() {
    let (_dir, _path, mut memory) = new();
    let mut handed = BTreeSet::new();
    for _ in 0..GRANTS_MAX {
        let id = memory.take_request();
        assert!(handed.insert(id.to_string()), "{id} came twice");
        grant(&mut memory, id.number(), GrantScope::Session);
    }
    assert!(!handed.contains(&memory.take_request().to_string()));
}

#[test]
fn what_is_refused_after_it_was_used_lifts_nothing_in_a_second_question() {
    let (_dir, _path, mut memory) = new();
    grant(&mut memory, 1, GrantScope::Once);
    let used = taken(&mut memory).unwrap();
    let id = used.of[0].to_string();
    let given = Given {
        verdict: Verdict::Allow,
        reason: String::new(),
        session: Arc::default(),
        call: 1,
        grant: Some(used.clone()),
        met: Vec::new(),
        epoch: memory.epoch(),
        is_rewritten: false,
    };
    memory.settle_grants(&used, |_| true);
    memory.remember(key(1), given);
    let lifts = |memory: &Memory| memory.given(&key(1)).is_some_and(|given| given.grant.is_some());
    assert_eq!((memory.refuse("Z9"), lifts(&memory)), (None, true));
    assert_eq!(memory.refuse(&id.to_lowercase()), used.of.first().copied());
    assert!(!lifts(&memory));
}
