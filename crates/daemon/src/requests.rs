//! Calls that wait for a person's consent, and what persons have granted. Both are bound to the call as it is: agent, directory,
//! tool and input. They live in memory: a daemon that ends forgets them, and the agent is told no again.

use std::collections::VecDeque;
use std::time::SystemTime;

use castellan_policy::{Grant, RequestId};

use crate::limits::{GRANTS_MAX, ONCE_TIME, REQUESTS_MAX};
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
}

/// A call that a person may grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    pub(crate) session: SessionKey,
    /// The agent's name, its session, and where the call was made.
    pub(crate) agent: String,
    pub(crate) session_id: String,
    pub(crate) cwd: String,
    pub(crate) tool: String,
    /// What it is called with, shortened.
    pub(crate) input: String,
    /// Why it does not simply run, one line for each finding.
    pub(crate) reasons: Vec<String>,
    pub(crate) grant: Grant,
    pub(crate) asked: SystemTime,
    /// How often it was asked.
    pub(crate) times: u32,
}

/// What a person has granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    id: RequestId,
    key: GrantKey,
    session: SessionKey,
    pub(crate) grant: Grant,
    once: bool,
    /// When it ends, whichever comes first; `None`: with the daemon.
    until: Option<Now>,
    given: Now,
}

/// What waits, and what was granted.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: VecDeque<Request>,
    granted: Vec<Granted>,
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
        self.waiting.iter().any(|request| request.id == id) || self.granted.iter().any(|one| one.id == id)
    }

    /// Remembers a call that was not let run. The oldest go first.
    pub(crate) fn wait(&mut self, request: Request) {
        let is_it = |one: &Request| one.key == request.key && one.session == request.session;
        let times = self.waiting.iter().find(|one| is_it(one)).map_or(0, |before| before.times);
        self.waiting.retain(|one| !is_it(one));
        self.waiting.push_back(Request { times: times.saturating_add(1), ..request });
        if self.waiting.len() > REQUESTS_MAX {
            self.waiting.pop_front();
        }
    }

    /// What waits, the oldest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Request> {
        self.waiting.iter()
    }

    /// Grants a call. `None` when none of this id waits, or when there is no room.
    pub(crate) fn approve(&mut self, id: &str, scope: Scope, now: Now) -> Option<Request> {
        self.granted.retain(|granted| granted.holds(now));
        if self.granted.len() >= GRANTS_MAX {
            return None;
        }
        let id = self.waiting.iter().find(|request| is_called(request, id))?.id;
        let request = self.forget(id)?;
        let seconds = match scope {
            Scope::Once => Some(ONCE_TIME.as_secs()),
            Scope::Session => None,
            Scope::For(seconds) => Some(seconds),
        };
        let until = seconds.map(|seconds| now.after(seconds));
        self.granted.push(Granted {
            id,
            key: request.key,
            session: request.session,
            grant: request.grant.clone(),
            once: scope == Scope::Once,
            until,
            given: now,
        });
        Some(request)
    }

    /// Refuses a call: it waits no more, and what was granted of it is taken back.
    pub(crate) fn refuse(&mut self, id: &str) -> bool {
        let before = self.waiting.len() + self.granted.len();
        self.waiting.retain(|request| !is_called(request, id));
        self.granted.retain(|granted| !granted.id.to_string().eq_ignore_ascii_case(id));
        before > self.waiting.len() + self.granted.len()
    }

    /// Takes what was granted of a call. What holds once is gone with it: no other call can use it.
    pub(crate) fn take(&mut self, key: &GrantKey, session: &SessionKey, now: Now) -> Option<Granted> {
        self.granted.retain(|granted| granted.holds(now));
        let is_it = |one: &Granted| one.key == *key && one.session == *session;
        let at = self.granted.iter().position(is_it)?;
        let granted = self.granted.get(at)?.clone();
        if granted.once {
            self.granted.remove(at);
        }
        Some(granted)
    }

    /// Gives back what was taken and not used.
    pub(crate) fn give_back(&mut self, granted: Granted) {
        if granted.once {
            self.granted.push(granted);
        }
    }

    fn forget(&mut self, id: RequestId) -> Option<Request> {
        let at = self.waiting.iter().position(|request| request.id == id)?;
        self.waiting.remove(at)
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
fn is_called(request: &Request, id: &str) -> bool {
    request.id.to_string().eq_ignore_ascii_case(id)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
            agent: String::new(),
            session_id: String::new(),
            cwd: String::new(),
            tool: String::new(),
            input: String::new(),
            reasons: Vec::new(),
            grant: Grant::default(),
            asked: at(0).wall,
            times: 0,
        }
    }

    fn granted(scope: Scope) -> Requests {
        let mut requests = Requests::default();
        requests.wait(request(0));
        assert!(requests.approve("a1", scope, at(0)).is_some());
        requests
    }

    /// Whether the granted call is let run at a time.
    fn check(requests: &mut Requests, now: Now, expected: bool) {
        let Request { key, session, .. } = request(0);
        assert_eq!(requests.take(&key, &session, now).is_some(), expected, "{now:?}");
    }

    #[test]
    fn a_grant_holds_for_its_call_in_its_session() {
        let mut requests = granted(Scope::Session);
        let Request { key, session, .. } = request(0);
        assert_eq!(requests.take(&GrantKey([9; 32]), &session, at(1)), None);
        assert_eq!(requests.take(&key, &SessionKey([9; 32]), at(1)), None);
        check(&mut requests, at(1), true);
        check(&mut requests, at(1_000_000), true);
        assert!(requests.refuse("A1"));
        check(&mut requests, at(1), false);
    }

    #[test]
    fn once_is_once_unless_it_was_not_needed() {
        let mut requests = granted(Scope::Once);
        let Request { key, session, .. } = request(0);
        let taken = requests.take(&key, &session, at(1)).unwrap();
        check(&mut requests, at(1), false);
        requests.give_back(taken);
        check(&mut requests, at(2), true);
        check(&mut requests, at(2), false);
        let mut late = granted(Scope::Once);
        check(&mut late, at(ONCE_TIME.as_secs()), false);
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
        requests.wait(request(0));
        requests.wait(request(0));
        assert_eq!(requests.waiting().map(|request| request.times).collect::<Vec<_>>(), [2]);
        assert_eq!(requests.id_of(&request(0).key, &request(0).session), Some(request(0).id));
        for number in 1..=REQUESTS_MAX as u64 {
            requests.wait(request(number));
        }
        assert_eq!(requests.waiting().count(), REQUESTS_MAX);
        assert!(requests.approve("A1", Scope::Once, at(0)).is_none(), "it is forgotten");
        assert!(!requests.refuse("A1"));
    }

    #[test]
    fn what_waits_for_another_consent_is_another_request() {
        let mut requests = Requests::default();
        requests.wait(request(0));
        assert!(!requests.differs(request(0).id, &Grant::default()));
        // The same call, under another id: a person cannot approve the one that is gone.
        requests.wait(Request { id: RequestId::from_seed(5), ..request(0) });
        assert!(requests.approve("A1", Scope::Once, at(0)).is_none());
        assert!(requests.approve("A6", Scope::Once, at(0)).is_some());
    }

    #[test]
    fn what_is_granted_has_a_limit() {
        let mut requests = Requests::default();
        for number in 0..=GRANTS_MAX as u64 {
            requests.wait(request(number));
            let id = request(number).id.to_string();
            let is_room = number < GRANTS_MAX as u64;
            assert_eq!(requests.approve(&id, Scope::Session, at(0)).is_some(), is_room);
        }
        // What has ended makes room.
        let mut requests = granted(Scope::For(1));
        requests.wait(request(1));
        assert!(requests.approve("A2", Scope::Session, at(5)).is_some());
        assert_eq!(requests.granted.len(), 1);
    }
}
