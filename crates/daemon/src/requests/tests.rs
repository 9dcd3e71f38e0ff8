//! Pending calls and grants, without real calls.

use std::time::Duration;

use castellan_policy::{FindingName, GrantPart, Pending};
use serde_json::Value as Json;

use super::*;
use crate::explanation::Explanation;
use crate::limits::{APPROVALS_MAX, GRANTS_MAX, ONCE_TIME, REQUESTS_MAX, WAITING_BYTES_MAX};

fn at(seconds: u64) -> Now {
    Now { wall: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds), boot_s: 1000 + seconds }
}

fn request(number: u64) -> Request {
    Request {
        id: RequestId::from_seed(number),
        key: GrantKey([number.to_le_bytes()[0]; 32]),
        session: SessionKey([1; 32]),
        record: 1,
        asks: vec![ask("u", Waits::Denied)],
        session_id: String::new(),
        subject: Subject::default(),
        input: Json::Null,
        input_sha256: String::new(),
        bytes: 100,
        reasons: Vec::new(),
        explanation: Explanation::default(),
        grant: lifting("a"),
        class: None,
        is_offered: false,
        shown: "shown".to_owned(),
        asked: at(0).wall,
        times: 0,
    }
}

fn ask(use_id: &str, waits: Waits) -> Ask {
    Ask {
        use_id: use_id.to_owned(),
        turn_id: String::new(),
        process: AgentProcess { pid: 7, started: 1 },
        is_subagents: false,
        waits,
    }
}

fn lifting(rule: &str) -> Grant {
    let name = FindingName { rule: rule.to_owned(), ..FindingName::default() };
    Grant { parts: vec![GrantPart { lifts: Box::new([name]), scripts: Vec::new() }] }
}

fn approve(requests: &mut Requests, number: u64, scope: GrantScope) -> Result<Granted, Ungrantable> {
    requests.wait(request(number));
    requests.approve(&request(number).id.to_string(), "shown", scope, at(0))
}

fn granted(scope: GrantScope) -> Requests {
    let mut requests = Requests::default();
    assert!(approve(&mut requests, 0, scope).is_ok());
    requests
}

/// Takes the grants of the first call at a time.
fn take(requests: &mut Requests, now: Now) -> Option<Taken> {
    let Request { key, session, .. } = request(0);
    requests.take(&key, &session, now)
}

fn check(requests: &mut Requests, now: Now, expected: bool) {
    assert_eq!(take(requests, now).is_some(), expected, "{now:?}");
}

#[test]
fn a_grant_holds_for_its_call_in_its_session() {
    let mut requests = granted(GrantScope::Session);
    let Request { key, session, .. } = request(0);
    assert_eq!(requests.take(&GrantKey([9; 32]), &session, at(1)), None);
    assert_eq!(requests.take(&key, &SessionKey([9; 32]), at(1)), None);
    check(&mut requests, at(1), true);
    check(&mut requests, at(1_000_000), true);
    assert_eq!(requests.refuse("a1"), Some(request(0).id));
    check(&mut requests, at(1), false);
    // Always: in any session, for this call only.
    let mut requests = granted(GrantScope::Always);
    assert!(requests.take(&key, &SessionKey([9; 32]), at(1_000_000)).is_some());
    assert_eq!(requests.take(&GrantKey([9; 32]), &session, at(1)), None);
}

#[test]
fn once_is_once_unless_it_was_not_needed() {
    let mut requests = granted(GrantScope::Once);
    let taken = take(&mut requests, at(1)).unwrap();
    check(&mut requests, at(1), false);
    assert_eq!(requests.settle(&taken, |_| false), []);
    let taken = take(&mut requests, at(2)).unwrap();
    assert_eq!(requests.settle(&taken, |_| true), [request(0).id]);
    check(&mut requests, at(2), false);
    assert!(!requests.knows(request(0).id));
    let mut late = granted(GrantScope::Once);
    check(&mut late, at(ONCE_TIME.as_secs()), false);
}

#[test]
fn what_is_refused_while_it_is_used_does_not_come_back() {
    let mut requests = granted(GrantScope::Once);
    let taken = take(&mut requests, at(1)).unwrap();
    assert!(requests.refuse("A1").is_some());
    assert_eq!(requests.settle(&taken, |_| false), []);
    check(&mut requests, at(2), false);
}

#[test]
fn grants_of_one_call_are_taken_together_and_only_the_used_one_is_gone() {
    let mut requests = granted(GrantScope::Once);
    let second = Request { id: RequestId::from_seed(5), grant: lifting("b"), ..request(0) };
    requests.wait(second);
    assert!(requests.approve("A6", "shown", GrantScope::Once, at(0)).is_ok());
    let taken = take(&mut requests, at(1)).unwrap();
    assert_eq!(taken.grant.parts, [lifting("a").parts, lifting("b").parts].concat());
    assert_eq!(requests.settle(&taken, |grant| *grant == lifting("b")), [RequestId::from_seed(5)]);
    assert_eq!(take(&mut requests, at(1)).unwrap().grant, lifting("a"));
}

#[test]
fn only_what_was_shown_is_granted() {
    let mut requests = Requests::default();
    requests.wait(request(0));
    let other = requests.approve("A1", "something else", GrantScope::Once, at(0));
    assert_eq!(other, Err(Ungrantable::NotShown));
    check(&mut requests, at(0), false);
    assert_eq!(requests.approve("B1", "shown", GrantScope::Once, at(0)), Err(Ungrantable::NotWaiting));
}

#[test]
fn time_ends_it_on_either_clock_and_setting_one_back_does_not_help() {
    check(&mut granted(GrantScope::For(60)), at(59), true);
    check(&mut granted(GrantScope::For(60)), at(60), false);
    check(&mut granted(GrantScope::For(60)), Now { boot_s: 2000, ..at(1) }, false);
    check(&mut granted(GrantScope::For(60)), Now { wall: at(61).wall, ..at(1) }, false);
    check(
        &mut granted(GrantScope::For(60)),
        Now { wall: at(0).wall - Duration::from_secs(1), ..at(1) },
        false,
    );
    check(&mut granted(GrantScope::For(u64::MAX)), at(1), false);
}

#[test]
fn one_call_waits_once_and_the_oldest_go_first() {
    let mut requests = Requests::default();
    assert!(requests.wait(request(0)));
    assert!(!requests.wait(request(0)));
    assert_eq!(requests.waiting().map(|request| request.times).collect::<Vec<_>>(), [2]);
    let pending = requests.pending(&request(0).key, &request(0).session);
    assert_eq!(pending.map(|pending| pending.id), Some(request(0).id));
    for number in 1..=REQUESTS_MAX as u64 {
        requests.wait(request(number));
    }
    assert_eq!(requests.waiting().count(), REQUESTS_MAX);
    assert_eq!(requests.approve("A1", "shown", GrantScope::Once, at(0)), Err(Ungrantable::NotWaiting));
    assert_eq!(requests.refuse("A1"), None);
    // A call that takes the room of many displaces them.
    requests.wait(Request { bytes: WAITING_BYTES_MAX, ..request(1) });
    assert_eq!(requests.waiting().count(), 1);
}

#[test]
fn what_waits_for_another_consent_is_another_request() {
    let mut requests = Requests::default();
    requests.wait(request(0));
    let pending = requests.pending(&request(0).key, &request(0).session);
    assert_eq!(pending, Some(Pending { id: request(0).id, grant: request(0).grant }));
    // The same call under another id: a person cannot approve the old one.
    assert!(requests.wait(Request { id: RequestId::from_seed(5), ..request(0) }));
    assert_eq!(requests.approve("A1", "shown", GrantScope::Once, at(0)), Err(Ungrantable::NotWaiting));
    assert!(requests.approve("A6", "shown", GrantScope::Once, at(0)).is_ok());
}

#[test]
fn what_is_granted_has_a_limit() {
    let mut requests = Requests::default();
    let mut id = RequestId::from_seed(0);
    let first = approve(&mut requests, 0, GrantScope::Session).unwrap();
    for _ in 1..GRANTS_MAX {
        id = id.next_of_all();
        requests.keep(Granted {
            id,
            key: GrantKey(castellan_event::PartsHash::of([id.to_string().as_str()]).bytes()),
            ..first.clone()
        });
    }
    id = id.next_of_all();
    requests.wait(Request { id, ..request(0) });
    let full = requests.approve(&id.to_string(), "shown", GrantScope::Session, at(0));
    assert_eq!(full, Err(Ungrantable::NoRoom));
    // Ended grants make room.
    let mut requests = granted(GrantScope::For(1));
    requests.wait(request(1));
    assert!(requests.approve("A2", "shown", GrantScope::Session, at(5)).is_ok());
    assert_eq!((requests.granted(at(5)).len(), requests.grants.calls()), (1, 1));
}

fn class(root: &str) -> CallClass {
    CallClass { roots: vec![root.to_owned()], ..CallClass::default() }
}

#[test]
fn a_class_is_offered_after_two_approvals_in_one_session() {
    let mut requests = Requests::default();
    let offered = |requests: &Requests, session: u8| requests.classes(&SessionKey([session; 32]), at(0)).1;
    let of = |number: u64, session: u8| Request {
        class: Some(class("a")),
        session: SessionKey([session; 32]),
        asks: vec![ask("u", Waits::AtPrompt)],
        ..request(number)
    };
    // By `castellan approve`, and by a yes at the agent's own prompt.
    requests.wait(of(1, 1));
    requests.approve(&of(1, 1).id.to_string(), "shown", GrantScope::Once, at(0)).unwrap();
    requests.wait(of(2, 2));
    requests.over(&of(2, 2).key, &SessionKey([2; 32]), "u", true);
    assert_eq!((offered(&requests, 1), offered(&requests, 2)), (vec![], vec![]));
    requests.wait(of(3, 1));
    requests.over(&of(3, 1).key, &SessionKey([1; 32]), "u", false);
    assert_eq!(offered(&requests, 1), [], "a no is no approval");
    requests.wait(of(4, 1));
    requests.over(&of(4, 1).key, &SessionKey([1; 32]), "u", true);
    assert_eq!((offered(&requests, 1), offered(&requests, 2)), (vec![class("a")], vec![]));
}

#[test]
fn only_an_offered_class_is_granted_and_only_for_a_session() {
    for (scope, is_offered, expected) in [
        (GrantScope::Session, true, 1),
        (GrantScope::For(9), true, 1),
        (GrantScope::Session, false, 0),
        (GrantScope::Once, true, 0),
        (GrantScope::Always, true, 0),
    ] {
        let mut requests = Requests::default();
        requests.wait(Request { class: Some(class("a")), is_offered, ..request(0) });
        requests.approve(&request(0).id.to_string(), "shown", scope, at(0)).unwrap();
        let granted = |now, session| requests.classes(&SessionKey([session; 32]), now).0.len();
        assert_eq!((granted(at(1), 1), granted(at(1), 2)), (expected, 0), "{scope:?}");
        let is_timed = scope == GrantScope::For(9);
        assert_eq!(granted(at(9), 1), if is_timed { 0 } else { expected }, "{scope:?} later");
    }
}

#[test]
fn counted_approvals_have_a_limit() {
    let mut requests = Requests::default();
    let session = SessionKey([1; 32]);
    let mut count = |root: usize| requests.approvals.count(session, class(&root.to_string()));
    count(0);
    (1..=APPROVALS_MAX).for_each(&mut count);
    count(0);
    assert_eq!(requests.approvals.offered(&session), [], "the oldest made room");
    requests.approvals.count(session, class("2"));
    assert_eq!(requests.approvals.offered(&session), [class("2")]);
}
