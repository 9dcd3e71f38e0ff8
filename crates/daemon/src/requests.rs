//! Calls that wait for a person's consent, and what persons have granted. Both are bound to the call as it is: agent, directory,
//! tool and input. What waits lives in memory alone: the agent has to make the call again anyway.

use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;

use castellan_policy::{Grant, RequestId};
use serde_json::Value as Json;

use crate::explanation::Explanation;
use crate::limits::{GRANTS_MAX, ONCE_TIME, REQUESTS_MAX, USE_IDS_MAX, WAITING_BYTES_MAX};
use crate::memory::SessionKey;

/// Names one call, whatever its session: SHA-256 over agent, directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GrantKey(pub(crate) [u8; 32]);

/// The time on two clocks: one that people set, and one that only goes on, while the machine sleeps, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Now {
    pub(crate) wall: SystemTime,
    pub(crate) boot_s: u64,
}

impl Now {
    pub(crate) fn read() -> Now {
        let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Now { wall: SystemTime::now(), boot_s: u64::try_from(boot.tv_sec).unwrap_or_default() }
    }
}

/// For how long a grant holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// For one call, soon.
    Once,
    /// For the session.
    Session,
    /// For seconds, in the session.
    For(u64),
    /// In any session, until it is taken back.
    Always,
}

/// A call that a person may grant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    pub(crate) session: SessionKey,
    /// The number of the record of the call, as it was asked last.
    pub(crate) record: u64,
    /// The agent's own ids of it, each time that it was asked, the last ones.
    pub(crate) use_ids: Vec<String>,
    /// The agent's session.
    pub(crate) session_id: String,
    pub(crate) subject: Subject,
    /// What it is called with, whole.
    pub(crate) input: Json,
    /// SHA-256 of that as text, in hex.
    pub(crate) input_sha256: String,
    /// Bytes that are kept of it.
    pub(crate) bytes: usize,
    /// Why it does not simply run, one line for each finding.
    pub(crate) reasons: Vec<String>,
    /// What it would do.
    pub(crate) explanation: Explanation,
    pub(crate) grant: Grant,
    /// Names the call and what of it can be granted, in hex: what a person agrees to is what they were shown.
    pub(crate) shown: String,
    pub(crate) asked: SystemTime,
    /// How often it was asked.
    pub(crate) times: u32,
}

/// What a list says of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Subject {
    /// The agent's name, and where the call was made.
    pub(crate) agent: String,
    pub(crate) cwd: String,
    pub(crate) tool: String,
    /// What it is called with, shortened.
    pub(crate) preview: String,
}

/// What a person has granted at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    /// The session that it holds in; `None`: in any.
    pub(crate) session: Option<SessionKey>,
    pub(crate) grant: Grant,
    pub(crate) scope: Scope,
    /// When it ends, whichever comes first; `None`: by itself it does not.
    pub(crate) until: Option<Now>,
    pub(crate) given: Now,
    pub(crate) subject: Subject,
    /// A call that may use it up is being judged.
    pub(crate) is_taken: bool,
}

/// What was granted of a call that is being judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) grant: Grant,
    /// Those that it is made of.
    pub(crate) of: Vec<RequestId>,
}

/// Why a call cannot be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ungrantable {
    /// None of this id waits.
    NotWaiting,
    /// What waits is not what was shown.
    NotShown,
    /// Too much is granted already.
    NoRoom,
    /// It could not be written down.
    NotKept,
}

/// Grants from which on a good part of the short ids is in use.
const CROWDED: usize = 1000;

/// What waits, and what was granted.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: VecDeque<Request>,
    granted: HashMap<RequestId, Box<Granted>>,
    /// The grants of each call.
    of_call: HashMap<GrantKey, Vec<RequestId>>,
    /// How many there were when those that have ended were dropped last.
    looked_through_at: usize,
}

impl Requests {
    /// The id that the call has from before, so that a person reads one id for one call.
    pub(crate) fn id_of(&self, key: &GrantKey, session: &SessionKey) -> Option<RequestId> {
        let is_it = |one: &&Request| one.key == *key && one.session == *session;
        self.waiting.iter().find(is_it).map(|request| request.id)
    }

    /// Whether what waits under this id could be granted something else: a person may have looked at that already.
    pub(crate) fn differs(&self, id: RequestId, grant: &Grant) -> bool {
        self.waiting.iter().any(|request| request.id == id && request.grant != *grant)
    }

    /// Whether a call of this id waits, or was granted.
    pub(crate) fn knows(&self, id: RequestId) -> bool {
        self.granted.contains_key(&id) || self.waiting.iter().any(|request| request.id == id)
    }

    /// Remembers a call that was not let run. The oldest go first. True when nobody was told of it before.
    pub(crate) fn wait(&mut self, request: Request) -> bool {
        let is_it = |one: &Request| one.key == request.key && one.session == request.session;
        let before = self.waiting.iter().find(|one| is_it(one));
        let is_new = before.is_none_or(|before| before.id != request.id);
        let times = before.map_or(0, |before| before.times);
        let mut use_ids = before.map_or_else(Vec::new, |before| before.use_ids.clone());
        use_ids.extend(request.use_ids.iter().cloned());
        use_ids.drain(..use_ids.len().saturating_sub(USE_IDS_MAX));
        self.waiting.retain(|one| !is_it(one));
        self.waiting.push_back(Request { times: times.saturating_add(1), use_ids, ..request });
        let mut bytes: usize = self.waiting.iter().map(|request| request.bytes).sum();
        while self.waiting.len() > REQUESTS_MAX || bytes > WAITING_BYTES_MAX {
            let Some(oldest) = self.waiting.pop_front() else { break };
            bytes = bytes.saturating_sub(oldest.bytes);
        }
        is_new
    }

    /// What waits, the oldest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Request> {
        self.waiting.iter()
    }

    /// What waits under an id as a person writes it.
    pub(crate) fn waiting_as(&self, id: &str) -> Option<&Request> {
        self.waiting.iter().find(|request| is_called(request.id, id))
    }

    /// What is granted, the oldest first.
    pub(crate) fn granted(&self, now: Now) -> Vec<&Granted> {
        let mut granted: Vec<&Granted> =
            self.granted.values().map(Box::as_ref).filter(|one| one.holds(now)).collect();
        granted.sort_by_key(|one| (one.given.wall, one.id.to_string()));
        granted
    }

    /// Grants the call that waits under `id`, if it is the one that was `shown`. It waits no more.
    pub(crate) fn approve(
        &mut self,
        id: &str,
        shown: &str,
        scope: Scope,
        now: Now,
    ) -> Result<Granted, Ungrantable> {
        self.drop_ended(now);
        let request = self.waiting_as(id).ok_or(Ungrantable::NotWaiting)?;
        if request.shown != shown {
            return Err(Ungrantable::NotShown);
        }
        if self.granted.len() >= GRANTS_MAX {
            return Err(Ungrantable::NoRoom);
        }
        let seconds = match scope {
            Scope::Once => Some(ONCE_TIME.as_secs()),
            Scope::Session | Scope::Always => None,
            Scope::For(seconds) => Some(seconds),
        };
        let granted = Granted {
            id: request.id,
            key: request.key,
            session: (scope != Scope::Always).then_some(request.session),
            grant: request.grant.clone(),
            scope,
            until: seconds.map(|seconds| now.after(seconds)),
            given: now,
            subject: request.subject.clone(),
            is_taken: false,
        };
        self.waiting.retain(|request| request.id != granted.id);
        self.keep(granted.clone());
        Ok(granted)
    }

    /// Makes room, where what is granted has doubled since it was last looked through.
    fn drop_ended(&mut self, now: Now) {
        if self.granted.len() < self.looked_through_at.saturating_mul(2).clamp(1, GRANTS_MAX) {
            return;
        }
        self.granted.retain(|_, granted| granted.holds(now));
        let granted = &self.granted;
        self.of_call.retain(|_, ids| {
            ids.retain(|id| granted.contains_key(id));
            !ids.is_empty()
        });
        self.looked_through_at = self.granted.len();
    }

    /// Keeps what was granted, now or before a restart.
    pub(crate) fn keep(&mut self, granted: Granted) {
        let ids = self.of_call.entry(granted.key).or_default();
        if !ids.contains(&granted.id) {
            ids.push(granted.id);
        }
        self.granted.insert(granted.id, Box::new(granted));
    }

    /// Everything that was granted and is not over.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Granted> {
        self.granted.values().map(Box::as_ref)
    }

    /// Whether so much is granted that short ids are better left alone: to look for a free one would take long.
    pub(crate) fn is_crowded(&self) -> bool {
        self.granted.len() > CROWDED
    }

    /// A grant is over.
    pub(crate) fn end(&mut self, id: RequestId) {
        self.granted.remove(&id);
    }

    /// The machine was booted since: of what ends at a time nobody can say whether it has passed.
    pub(crate) fn end_timed(&mut self) {
        self.granted.retain(|_, granted| granted.until.is_none());
    }

    /// Refuses a call: it waits no more, and what was granted of it is taken back. A call that is just being judged by the grant
    /// still has it; no later one does. Returns the id, where there was something to refuse.
    pub(crate) fn refuse(&mut self, id: &str) -> Option<RequestId> {
        let waiting = self.waiting_as(id).map(|request| request.id);
        let id = waiting.or_else(|| self.granted.keys().copied().find(|known| is_called(*known, id)))?;
        self.waiting.retain(|request| request.id != id);
        self.granted.remove(&id);
        Some(id)
    }

    /// Takes all that was granted of a call. What holds once is no other call's until [`Requests::settle`].
    pub(crate) fn take(&mut self, key: &GrantKey, session: &SessionKey, now: Now) -> Option<Taken> {
        let ids = self.of_call.get(key)?;
        let mut taken = Taken { grant: Grant::default(), of: Vec::new() };
        for id in ids {
            let Some(granted) = self.granted.get_mut(id).filter(|one| one.key == *key) else { continue };
            let is_its = granted.session.is_none_or(|of| of == *session);
            if !is_its || granted.is_taken || !granted.holds(now) {
                continue;
            }
            granted.is_taken = granted.scope == Scope::Once;
            taken.grant.add(&granted.grant);
            taken.of.push(*id);
        }
        (!taken.of.is_empty()).then_some(taken)
    }

    /// The call that took it has been judged: what holds once and was used is gone, and the rest as it was. Returns those that
    /// are gone.
    pub(crate) fn settle(&mut self, taken: &Taken, is_used: impl Fn(&Grant) -> bool) -> Vec<RequestId> {
        let mut gone = Vec::new();
        for id in &taken.of {
            let Some(granted) = self.granted.get_mut(id) else { continue };
            if !granted.is_taken {
                continue;
            }
            if is_used(&granted.grant) {
                gone.push(*id);
            } else {
                granted.is_taken = false;
            }
        }
        self.granted.retain(|id, _| !gone.contains(id));
        gone
    }
}

impl Granted {
    /// Whether it holds still. A clock that was set back proves nothing: it ends what depends on it.
    fn holds(&self, now: Now) -> bool {
        let Some(until) = self.until else { return true };
        now.wall >= self.given.wall && now.wall < until.wall && now.boot_s < until.boot_s
    }
}

impl Now {
    /// A time so much later; now, where there is no such time.
    fn after(self, seconds: u64) -> Now {
        let wall = self.wall.checked_add(std::time::Duration::from_secs(seconds)).unwrap_or(self.wall);
        Now { wall, boot_s: self.boot_s.saturating_add(seconds) }
    }
}

/// People write ids in any case.
fn is_called(known: RequestId, id: &str) -> bool {
    known.to_string().eq_ignore_ascii_case(id)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use castellan_policy::{FindingName, GrantPart};

    use super::*;

    fn at(seconds: u64) -> Now {
        Now {
            wall: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds),
            boot_s: 1000 + seconds,
        }
    }

    fn request(number: u64) -> Request {
        Request {
            id: RequestId::from_seed(number),
            key: GrantKey([number.to_le_bytes()[0]; 32]),
            session: SessionKey([1; 32]),
            record: 1,
            use_ids: vec!["u".to_owned()],
            session_id: String::new(),
            subject: Subject::default(),
            input: Json::Null,
            input_sha256: String::new(),
            bytes: 100,
            reasons: Vec::new(),
            explanation: Explanation::default(),
            grant: lifting("a"),
            shown: "shown".to_owned(),
            asked: at(0).wall,
            times: 0,
        }
    }

    /// A grant of what one rule finds.
    fn lifting(rule: &str) -> Grant {
        let name = FindingName { rule: rule.to_owned(), ..FindingName::default() };
        Grant { parts: vec![GrantPart { lifts: Box::new([name]), scripts: Vec::new() }] }
    }

    fn approve(requests: &mut Requests, number: u64, scope: Scope) -> Result<Granted, Ungrantable> {
        requests.wait(request(number));
        requests.approve(&request(number).id.to_string(), "shown", scope, at(0))
    }

    fn granted(scope: Scope) -> Requests {
        let mut requests = Requests::default();
        assert!(approve(&mut requests, 0, scope).is_ok());
        requests
    }

    /// What is granted of the first call at a time.
    fn take(requests: &mut Requests, now: Now) -> Option<Taken> {
        let Request { key, session, .. } = request(0);
        requests.take(&key, &session, now)
    }

    fn check(requests: &mut Requests, now: Now, expected: bool) {
        assert_eq!(take(requests, now).is_some(), expected, "{now:?}");
    }

    #[test]
    fn a_grant_holds_for_its_call_in_its_session() {
        let mut requests = granted(Scope::Session);
        let Request { key, session, .. } = request(0);
        assert_eq!(requests.take(&GrantKey([9; 32]), &session, at(1)), None);
        assert_eq!(requests.take(&key, &SessionKey([9; 32]), at(1)), None);
        check(&mut requests, at(1), true);
        check(&mut requests, at(1_000_000), true);
        assert_eq!(requests.refuse("a1"), Some(request(0).id));
        check(&mut requests, at(1), false);
        // Always is in any session, of this call.
        let mut requests = granted(Scope::Always);
        assert!(requests.take(&key, &SessionKey([9; 32]), at(1_000_000)).is_some());
        assert_eq!(requests.take(&GrantKey([9; 32]), &session, at(1)), None);
    }

    #[test]
    fn once_is_once_unless_it_was_not_needed() {
        let mut requests = granted(Scope::Once);
        let taken = take(&mut requests, at(1)).unwrap();
        check(&mut requests, at(1), false);
        assert_eq!(requests.settle(&taken, |_| false), []);
        let taken = take(&mut requests, at(2)).unwrap();
        assert_eq!(requests.settle(&taken, |_| true), [request(0).id]);
        check(&mut requests, at(2), false);
        assert!(!requests.knows(request(0).id));
        let mut late = granted(Scope::Once);
        check(&mut late, at(ONCE_TIME.as_secs()), false);
    }

    #[test]
    fn what_is_refused_while_it_is_used_does_not_come_back() {
        let mut requests = granted(Scope::Once);
        let taken = take(&mut requests, at(1)).unwrap();
        assert!(requests.refuse("A1").is_some());
        assert_eq!(requests.settle(&taken, |_| false), []);
        check(&mut requests, at(2), false);
    }

    #[test]
    fn grants_of_one_call_are_taken_together_and_only_the_used_one_is_gone() {
        let mut requests = granted(Scope::Once);
        let second = Request { id: RequestId::from_seed(5), grant: lifting("b"), ..request(0) };
        requests.wait(second);
        assert!(requests.approve("A6", "shown", Scope::Once, at(0)).is_ok());
        let taken = take(&mut requests, at(1)).unwrap();
        assert_eq!(taken.grant.parts, [lifting("a").parts, lifting("b").parts].concat());
        assert_eq!(requests.settle(&taken, |grant| *grant == lifting("b")), [RequestId::from_seed(5)]);
        assert_eq!(take(&mut requests, at(1)).unwrap().grant, lifting("a"));
    }

    #[test]
    fn only_what_was_shown_is_granted() {
        let mut requests = Requests::default();
        requests.wait(request(0));
        let other = requests.approve("A1", "something else", Scope::Once, at(0));
        assert_eq!(other, Err(Ungrantable::NotShown));
        check(&mut requests, at(0), false);
        assert_eq!(requests.approve("B1", "shown", Scope::Once, at(0)), Err(Ungrantable::NotWaiting));
    }

    #[test]
    fn time_ends_it_on_either_clock_and_setting_one_back_does_not_help() {
        check(&mut granted(Scope::For(60)), at(59), true);
        check(&mut granted(Scope::For(60)), at(60), false);
        check(&mut granted(Scope::For(60)), Now { boot_s: 2000, ..at(1) }, false);
        check(&mut granted(Scope::For(60)), Now { wall: at(61).wall, ..at(1) }, false);
        check(
            &mut granted(Scope::For(60)),
            Now { wall: at(0).wall - Duration::from_secs(1), ..at(1) },
            false,
        );
        check(&mut granted(Scope::For(u64::MAX)), at(1), false);
    }

    #[test]
    fn one_call_waits_once_and_the_oldest_go_first() {
        let mut requests = Requests::default();
        assert!(requests.wait(request(0)));
        assert!(!requests.wait(request(0)));
        assert_eq!(requests.waiting().map(|request| request.times).collect::<Vec<_>>(), [2]);
        assert_eq!(requests.id_of(&request(0).key, &request(0).session), Some(request(0).id));
        for number in 1..=REQUESTS_MAX as u64 {
            requests.wait(request(number));
        }
        assert_eq!(requests.waiting().count(), REQUESTS_MAX);
        assert_eq!(requests.approve("A1", "shown", Scope::Once, at(0)), Err(Ungrantable::NotWaiting));
        assert_eq!(requests.refuse("A1"), None);
        // So do those that take the room of many.
        requests.wait(Request { bytes: WAITING_BYTES_MAX, ..request(1) });
        assert_eq!(requests.waiting().count(), 1);
    }

    #[test]
    fn what_waits_for_another_consent_is_another_request() {
        let mut requests = Requests::default();
        requests.wait(request(0));
        assert!(!requests.differs(request(0).id, &request(0).grant));
        assert!(requests.differs(request(0).id, &lifting("b")));
        // The same call, under another id: a person cannot approve the one that is gone.
        assert!(requests.wait(Request { id: RequestId::from_seed(5), ..request(0) }));
        assert_eq!(requests.approve("A1", "shown", Scope::Once, at(0)), Err(Ungrantable::NotWaiting));
        assert!(requests.approve("A6", "shown", Scope::Once, at(0)).is_ok());
    }

    #[test]
    fn what_is_granted_has_a_limit() {
        let mut requests = Requests::default();
        let mut id = RequestId::from_seed(0);
        let first = approve(&mut requests, 0, Scope::Session).unwrap();
        for _ in 1..GRANTS_MAX {
            id = id.next_of_all();
            requests.keep(Granted {
                id,
                key: GrantKey(crate::judge::digest(&[&id.to_string()])),
                ..first.clone()
            });
        }
        id = id.next_of_all();
        requests.wait(Request { id, ..request(0) });
        let full = requests.approve(&id.to_string(), "shown", Scope::Session, at(0));
        assert_eq!(full, Err(Ungrantable::NoRoom));
        // What has ended makes room.
        let mut requests = granted(Scope::For(1));
        requests.wait(request(1));
        assert!(requests.approve("A2", "shown", Scope::Session, at(5)).is_ok());
        assert_eq!((requests.granted(at(5)).len(), requests.of_call.len()), (1, 1));
    }
}
