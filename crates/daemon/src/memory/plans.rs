//! [`Plans`]: which plan is in force for a session or a workspace, and what was done under it. It must not know the
//! contents of a plan.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;
use super::plan::{PlanInForce, PlanPlace};
use super::{Memory, Workspace};
use crate::limits::PLANS_MAX;
use crate::session_key::SessionKey;

/// The plans in force.
#[derive(Debug, Default)]
pub(super) struct Plans {
    plans: BTreeMap<PlanPlace, PlanInForce>,
}

impl Plans {
    pub(super) fn put(&mut self, place: PlanPlace, plan: Option<PlanInForce>) {
        match plan {
            Some(plan) => self.plans.insert(place, plan),
            None => self.plans.remove(&place),
        };
    }

    pub(super) fn count(&mut self, place: &PlanPlace, departed: u64, last: String) {
        let Some(plan) = self.plans.get_mut(place) else { return };
        plan.calls = plan.calls.saturating_add(1);
        if departed > 0 {
            plan.departed = plan.departed.saturating_add(1);
            plan.last = last;
        }
    }

    /// The plan of a session that is merged into another stays, unless the other has its own.
    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        if let Some(plan) = self.plans.remove(&PlanPlace::Session(*from)) {
            self.plans.entry(PlanPlace::Session(into)).or_insert(plan);
        }
    }

    pub(super) fn has_session(&self, root: &SessionKey) -> bool {
        self.plans.contains_key(&PlanPlace::Session(*root))
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.plans.iter().map(|(place, plan)| Entry::Plan { place: place.clone(), plan: Some(plan.clone()) })
    }
}

impl Memory {
    /// The plan for a session: that of its root, else that of the root's workspace, else that of its own workspace. An
    /// agent that another agent starts elsewhere is under the plan of the first one, too.
    pub(crate) fn plan_of(
        &self,
        root: SessionKey,
        workspace: Option<&Workspace>,
    ) -> Option<(PlanPlace, PlanInForce)> {
        let own = PlanPlace::Session(root);
        let shared = self.workspace(&root).into_iter().chain(workspace).filter(|one| !one.path.is_empty());
        let places = std::iter::once(own).chain(shared.map(|one| PlanPlace::Workspace(one.path.clone())));
        let find = |place: PlanPlace| self.lasting.plans.plans.get(&place).cloned().map(|plan| (place, plan));
        places.into_iter().find_map(find)
    }

    /// All plans in force.
    pub(crate) fn plans(&self) -> impl Iterator<Item = (&PlanPlace, &PlanInForce)> {
        self.lasting.plans.plans.iter()
    }

    /// The roots of the sessions that have these keys, each once. An id may be that of sessions of several agents.
    pub(crate) fn roots_of(&self, keys: impl IntoIterator<Item = SessionKey>) -> Vec<SessionKey> {
        let roots = keys.into_iter().filter_map(|key| self.lasting.sessions.root(&key));
        roots.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Puts a plan in force; `None` ends it. Returns an error if it cannot be stored; then nothing has changed.
    pub(crate) fn use_plan(&mut self, place: PlanPlace, plan: Option<PlanInForce>) -> Result<(), String> {
        let plans = &self.lasting.plans.plans;
        if plan.is_some() && plans.len() >= PLANS_MAX && !plans.contains_key(&place) {
            return Err("there are too many plans: end some".to_owned());
        }
        let before = plans.get(&place).cloned();
        self.put(Entry::Plan { place: place.clone(), plan });
        self.save().map_err(|error| {
            self.put(Entry::Plan { place, plan: before });
            format!("the plan could not be stored: {error}")
        })
    }

    /// Returns the number of calls under a plan.
    pub(crate) fn calls_under(&self, place: &PlanPlace) -> u64 {
        self.lasting.plans.plans.get(place).map_or(0, |plan| plan.calls)
    }

    /// Counts a call under a plan.
    pub(crate) fn count_plan(&mut self, place: &PlanPlace, departed: u64, last: String) {
        self.put(Entry::PlanCall { place: place.clone(), departed, last });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Entered;

    fn plan(source: &str) -> PlanInForce {
        PlanInForce {
            hash: "00".to_owned(),
            source: source.to_owned(),
            of: String::new(),
            is_strict: false,
            is_approved: false,
            started_s: 0,
            calls: 0,
            departed: 0,
            last: String::new(),
        }
    }

    fn session(number: u8) -> SessionKey {
        SessionKey([number; 32])
    }

    #[test]
    fn a_sessions_own_plan_comes_before_that_of_its_workspace_and_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut memory = Memory::open(path.clone(), true, 1).unwrap().0;
        let workspace = Workspace { path: "/w".to_owned(), is_border: true };
        let of = |memory: &Memory, number| {
            memory.plan_of(session(number), Some(&workspace)).map(|(_, plan)| (plan.source, plan.calls))
        };
        assert_eq!(of(&memory, 1), None);
        let (own, shared) = (PlanPlace::Session(session(1)), PlanPlace::Workspace("/w".to_owned()));
        memory.use_plan(own.clone(), Some(plan("own"))).unwrap();
        memory.use_plan(shared, Some(plan("shared"))).unwrap();
        memory.count_plan(&own, 0, String::new());
        memory.count_plan(&own, 1, "x".to_owned());
        memory.save().unwrap();
        let mut memory = Memory::open(path, false, 1).unwrap().0;
        assert_eq!(of(&memory, 1), Some(("own".to_owned(), 2)));
        assert_eq!(of(&memory, 2), Some(("shared".to_owned(), 0)));
        assert_eq!(memory.plan_of(session(2), None), None);
        memory.use_plan(own, None).unwrap();
        assert_eq!(of(&memory, 1), Some(("shared".to_owned(), 0)));
    }

    #[test]
    fn an_agent_that_another_one_starts_elsewhere_is_under_the_first_ones_plan() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(dir.path().join("journal"), true, 1).unwrap().0;
        let workspace = |path: &str| Workspace { path: path.to_owned(), is_border: true };
        let (root, other) = (session(1), workspace("/other"));
        memory.fix_workspace(Entered { id: root, root }, workspace("/w"));
        let source = |memory: &Memory| memory.plan_of(root, Some(&other)).map(|(_, plan)| plan.source);
        memory.use_plan(PlanPlace::Workspace("/other".to_owned()), Some(plan("its own"))).unwrap();
        assert_eq!(source(&memory).as_deref(), Some("its own"));
        memory.use_plan(PlanPlace::Workspace("/w".to_owned()), Some(plan("the first one's"))).unwrap();
        assert_eq!(source(&memory).as_deref(), Some("the first one's"));
    }

    #[test]
    fn an_id_may_be_that_of_several_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(dir.path().join("journal"), true, 1).unwrap().0;
        for (id, root) in [(1, 1), (2, 1), (3, 3)] {
            let workspace = Workspace { path: "/w".to_owned(), is_border: true };
            memory.fix_workspace(Entered { id: session(id), root: session(root) }, workspace);
        }
        assert_eq!(memory.roots_of([session(2), session(1), session(9)]), [session(1)]);
        assert_eq!(memory.roots_of([session(3), session(1)]), [session(1), session(3)]);
    }

    #[test]
    fn the_number_of_plans_has_a_limit() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(dir.path().join("journal"), true, 1).unwrap().0;
        let place = |number: usize| PlanPlace::Workspace(format!("/w/{number}"));
        for number in 0..PLANS_MAX {
            memory.put(Entry::Plan { place: place(number), plan: Some(plan("x")) });
        }
        assert!(memory.use_plan(place(PLANS_MAX), Some(plan("x"))).is_err());
        assert!(memory.use_plan(place(0), Some(plan("x"))).is_ok());
    }
}
