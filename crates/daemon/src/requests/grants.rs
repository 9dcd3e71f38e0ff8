//! [`Grants`]: grants of persons, each to be taken by its call. Does not depend on the reason for asking about a call.

use std::collections::HashMap;

use castellan_policy::{CallClass, Grant, RequestId};

use super::waiting::{Request, Subject};
use super::{GrantKey, Now, Ungrantable, is_called};
use crate::control::GrantScope;
use crate::limits::{GRANTS_MAX, ONCE_TIME};
use crate::session_key::SessionKey;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    /// The session of the grant; `None`: any session.
    pub(crate) session: Option<SessionKey>,
    pub(crate) grant: Grant,
    /// The grant also covers all calls of this class in its session.
    pub(crate) class: Option<CallClass>,
    pub(crate) scope: GrantScope,
    /// End of the grant, by the clock that reaches it first; `None`: no time limit.
    pub(crate) until: Option<Now>,
    pub(crate) given: Now,
    pub(crate) subject: Subject,
    /// The agent's own prompt was open for the call, so a yes there also runs the call.
    pub(crate) is_at_prompt: bool,
    /// A call that may use it up is being judged.
    pub(crate) is_taken: bool,
}

/// The grants of a call that is being judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) grant: Grant,
    /// Ids of the combined grants.
    pub(crate) of: Vec<RequestId>,
}

/// Number of grants from which on many short ids are in use.
const CROWDED: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Grants {
    granted: HashMap<RequestId, Box<Granted>>,
    /// The grants of each call.
    of_call: HashMap<GrantKey, Vec<RequestId>>,
    /// The grants for a class of calls.
    wide: Vec<RequestId>,
    /// Number of grants after the last removal of ended ones.
    looked_through_at: usize,
}

impl Grants {
    /// Valid grants, oldest first.
    pub(super) fn holding(&self, now: Now) -> Vec<&Granted> {
        let mut granted: Vec<&Granted> =
            self.granted.values().map(Box::as_ref).filter(|one| one.holds(now)).collect();
        granted.sort_by_key(|one| (one.given.wall, one.id.to_string()));
        granted
    }

    /// All grants that are not known to have ended.
    pub(super) fn all(&self) -> impl Iterator<Item = &Granted> {
        self.granted.values().map(Box::as_ref)
    }

    /// Reports whether a call of this id was granted.
    pub(super) fn knows(&self, id: RequestId) -> bool {
        self.granted.contains_key(&id)
    }

    /// The grant of an id as a person writes it.
    pub(super) fn called(&self, id: &str) -> Option<RequestId> {
        self.granted.keys().copied().find(|known| is_called(*known, id))
    }

    /// Grants a pending call.
    pub(super) fn grant(
        &mut self,
        request: &Request,
        scope: GrantScope,
        now: Now,
    ) -> Result<Granted, Ungrantable> {
        self.drop_ended(now);
        if self.granted.len() >= GRANTS_MAX {
            return Err(Ungrantable::NoRoom);
        }
        let seconds = match scope {
            GrantScope::Once => Some(ONCE_TIME.as_secs()),
            GrantScope::Session | GrantScope::Always => None,
            GrantScope::For(seconds) => Some(seconds),
        };
        let is_wide = match scope {
            GrantScope::Session | GrantScope::For(_) => request.is_offered,
            GrantScope::Once | GrantScope::Always => false,
        };
        let granted = Granted {
            id: request.id,
            key: request.key,
            session: (scope != GrantScope::Always).then_some(request.session),
            grant: request.grant.clone(),
            class: request.class.clone().filter(|_| is_wide),
            scope,
            until: seconds.map(|seconds| now.after(seconds)),
            given: now,
            subject: request.subject.clone(),
            is_at_prompt: request.is_at_prompt(),
            is_taken: false,
        };
        self.keep(granted.clone());
        Ok(granted)
    }

    /// Removes ended grants if the number of grants has doubled since the last removal.
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
        self.wide.retain(|id| granted.contains_key(id));
        self.looked_through_at = self.granted.len();
    }

    /// Stores a grant, new or from before a restart.
    pub(super) fn keep(&mut self, granted: Granted) {
        let ids = self.of_call.entry(granted.key).or_default();
        if !ids.contains(&granted.id) {
            ids.push(granted.id);
        }
        if granted.class.is_some() {
            self.wide.retain(|id| *id != granted.id);
            self.wide.push(granted.id);
        }
        self.granted.insert(granted.id, Box::new(granted));
    }

    /// Reports whether there are so many grants that a search for a free short id would take long.
    pub(super) fn is_crowded(&self) -> bool {
        self.granted.len() > CROWDED
    }

    pub(super) fn end(&mut self, id: RequestId) {
        self.granted.remove(&id);
    }

    /// Ends grants with a time limit after a reboot, because castellan cannot know whether the time has passed.
    pub(super) fn end_timed(&mut self) {
        self.granted.retain(|_, granted| granted.until.is_none());
    }

    /// Takes all grants of a call. No other call can take a one-time grant until [`Grants::settle`].
    pub(super) fn take(&mut self, key: &GrantKey, session: &SessionKey, now: Now) -> Option<Taken> {
        let ids = self.of_call.get(key)?;
        let mut taken = Taken { grant: Grant::default(), of: Vec::new() };
        for id in ids {
            let Some(granted) = self.granted.get_mut(id).filter(|one| one.key == *key) else { continue };
            let is_its = granted.session.is_none_or(|of| of == *session);
            if !is_its || granted.is_taken || !granted.holds(now) {
                continue;
            }
            granted.is_taken = granted.scope == GrantScope::Once;
            taken.grant.add(&granted.grant);
            taken.of.push(*id);
        }
        (!taken.of.is_empty()).then_some(taken)
    }

    /// Classes of calls that are granted in a session.
    pub(super) fn classes(&self, session: &SessionKey, now: Now) -> Vec<CallClass> {
        let wide = self.wide.iter().filter_map(|id| self.granted.get(id));
        let its = wide.filter(|one| one.session == Some(*session) && one.holds(now));
        its.filter_map(|one| one.class.clone()).collect()
    }

    /// Settles the grants of a judged call: removes and returns the used one-time grants and frees the others.
    pub(super) fn settle(&mut self, taken: &Taken, is_used: impl Fn(&Grant) -> bool) -> Vec<RequestId> {
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

    /// One-time grants in a session, and whether a call that may use them up is being judged.
    pub(super) fn once(
        &self,
        session: &SessionKey,
        is_meant: impl Fn(&Granted) -> bool,
    ) -> Vec<(RequestId, bool)> {
        let is_its = |one: &&Granted| one.scope == GrantScope::Once && one.session == Some(*session);
        let granted = self.granted.values().map(Box::as_ref).filter(is_its);
        granted.filter(|one| is_meant(one)).map(|one| (one.id, one.is_taken)).collect()
    }

    /// The part of a taken grant that was not used up or revoked since.
    pub(super) fn left_of(&self, taken: &Taken) -> Option<Taken> {
        let mut left = Taken { grant: Grant::default(), of: Vec::new() };
        for granted in taken.of.iter().filter_map(|id| self.granted.get(id)) {
            left.grant.add(&granted.grant);
            left.of.push(granted.id);
        }
        (!left.of.is_empty()).then_some(left)
    }

    /// Number of calls with grants.
    #[cfg(test)]
    pub(super) fn calls(&self) -> usize {
        self.of_call.len()
    }
}

impl Granted {
    /// Reports whether the grant is still valid. A clock that was set back ends a grant with a time limit.
    fn holds(&self, now: Now) -> bool {
        let Some(until) = self.until else { return true };
        now.wall >= self.given.wall && now.wall < until.wall && now.boot_s < until.boot_s
    }
}
