//! [`check`]: the parts of a call that a plan does not permit. It compares commands, written paths, hosts and branches,
//! the budget and the expiry. Parts that castellan did not understand are departures too.

mod branches;
mod effects;
mod nearest;
mod steering;

use castellan_event::{Command, Effect};
use jiff::Timestamp;

use crate::call::CallView;
use crate::departure::{Departure, DepartureKind};
use crate::limits::DEPARTURES_MAX;
use crate::plan::Plan;
use crate::text::shortened;

pub(crate) use branches::{Branches, CheckedOut, is_protected};
pub(crate) use effects::{remote_of, subject_of};
pub(crate) use steering::is_steering;

/// Returns the departures of a call from a plan: of the whole plan first, then of commands and effects in their order.
/// At most [`DEPARTURES_MAX`]; a last one of kind `more` has the number of the others.
pub fn check(plan: &Plan, view: &CallView<'_>) -> Vec<Departure> {
    let mut found = Found::new(plan, view);
    found.whole();
    for (at, command) in view.facts.commands.iter().enumerate() {
        found.command(at, command);
    }
    effects::check(&mut found);
    found.finish()
}

/// The departures that are found so far.
struct Found<'a> {
    plan: &'a Plan,
    view: &'a CallView<'a>,
    departures: Vec<Departure>,
    /// Departures beyond the limit.
    more: usize,
}

impl<'a> Found<'a> {
    fn new(plan: &'a Plan, view: &'a CallView<'a>) -> Found<'a> {
        Found { plan, view, departures: Vec::new(), more: 0 }
    }

    /// Adds a departure, once. `command`: the command that it belongs to, else the first that is none of the builtins.
    fn add(&mut self, kind: DepartureKind, subject: &str, command: Option<&Command>) {
        let subject = shortened(subject);
        if self.departures.iter().any(|one| one.kind == kind && one.subject == subject) {
            return;
        }
        if self.departures.len() + 1 >= DEPARTURES_MAX {
            self.more += 1;
            return;
        }
        let is_named = |command: &&Command| command.name.is_some() && !is_steering(command);
        let command = command.or_else(|| self.view.facts.commands.iter().find(is_named));
        let nearest = command.and_then(|command| nearest::nearest(self.plan, command));
        self.departures.push(Departure { kind, subject, nearest });
    }

    fn finish(mut self) -> Vec<Departure> {
        if self.more > 0 {
            let subject = format!("{} more", self.more);
            self.departures.push(Departure::new(DepartureKind::More, &subject, None));
        }
        self.departures
    }

    /// Compares the call with the expiry and the budget.
    fn whole(&mut self) {
        let (parts, view) = (self.plan.parts(), self.view);
        if let Some(expires) = parts.expires_s.filter(|expires| view.now_s >= *expires) {
            let time = Timestamp::from_second(expires).unwrap_or_default();
            self.add(DepartureKind::Expired, &time.to_string(), None);
        }
        if let Some(calls) = parts.budget.calls.filter(|calls| view.calls_so_far >= *calls) {
            self.add(DepartureKind::Calls, &format!("{calls} calls"), None);
        }
        // A clock that was set back does not lengthen the plan by more than the difference.
        let spent_s = view.now_s.saturating_sub(view.started_s);
        let is_spent = |minutes: &u64| i128::from(spent_s) >= i128::from(*minutes) * 60;
        if let Some(minutes) = parts.budget.minutes.filter(is_spent) {
            self.add(DepartureKind::Minutes, &format!("{minutes} minutes"), None);
        }
    }

    /// Compares a command with the plan's commands.
    fn command(&mut self, at: usize, command: &Command) {
        let Some(name) = command.name.as_deref() else {
            let has_part = |effect: &Effect| effect.command == Some(at) && effect.is_opaque();
            // The Opaque part says it already.
            if !self.view.facts.effects.iter().any(has_part) {
                self.add(DepartureKind::Unclear, &command.line, None);
            }
            return;
        };
        if self.plan.scope().commands.is_none() || is_steering(command) {
            return;
        }
        let mut is_known = false;
        for pattern in self.plan.commands_of(name) {
            is_known = true;
            if pattern.matches_arguments(&command.args) {
                return;
            }
        }
        let kind = if is_known { DepartureKind::Arguments } else { DepartureKind::Command };
        self.add(kind, &command.line, Some(command));
    }
}
