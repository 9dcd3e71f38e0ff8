//! [`Case`]: one call with everything that stages look at, computed once. It must not know what any stage finds.

use castellan_event::{AccessLevel, Answers, Call, CallRow, Facts, Level, Mode, Query, Row as _, rows};

use crate::policy::{Policy, RuleMatch};
use crate::settings::Settings;
use crate::stages::{Need, OwnCode, OwnParts, active_level, is_safe, need};
use crate::state::State;

/// One call that is judged.
#[derive(Debug)]
pub(crate) struct Case<'c> {
    pub(crate) call: &'c Call,
    pub(crate) facts: &'c Facts,
    pub(crate) policy: &'c Policy,
    pub(crate) state: &'c State<'c>,
    pub(crate) answers: &'c Answers,
    /// `None` where the call is not read: in mode passthrough, and where the world does not answer.
    reading: Option<Reading<'c>>,
}

/// What was read of a call.
#[derive(Debug)]
pub(crate) struct Reading<'c> {
    /// Every row, those of written files last.
    rows: Vec<CallRow<'c>>,
    /// The number of rows of what the call does now.
    done: usize,
    /// The rules that fired.
    pub(crate) matches: Vec<RuleMatch<'c>>,
    pub(crate) own_code: OwnCode<'c>,
    pub(crate) own_parts: OwnParts<'c>,
    /// The access level that the call needs.
    pub(crate) need: Need,
    /// The access level of the session; `None` where levels are off.
    pub(crate) level: Option<AccessLevel>,
}

impl<'c> Case<'c> {
    /// Reads a call. An error names the queries whose answers are missing.
    pub(crate) fn of(
        call: &'c Call,
        facts: &'c Facts,
        policy: &'c Policy,
        state: &'c State<'c>,
        answers: &'c Answers,
    ) -> Result<Case<'c>, Vec<Query>> {
        let unread = Case::unread(call, facts, policy, state, answers);
        if state.mode == Mode::Passthrough {
            return Ok(unread);
        }
        let rows = rows(call, facts, state.session, answers)?;
        Ok(Case { reading: Some(Reading::of(rows, &unread)), ..unread })
    }

    /// A call of which nothing is known but that it was made.
    pub(crate) fn unread(
        call: &'c Call,
        facts: &'c Facts,
        policy: &'c Policy,
        state: &'c State<'c>,
        answers: &'c Answers,
    ) -> Case<'c> {
        Case { call, facts, policy, state, answers, reading: None }
    }

    pub(crate) fn settings(&self) -> &'c Settings {
        self.policy.settings()
    }

    pub(crate) fn reading(&self) -> Option<&Reading<'c>> {
        self.reading.as_ref()
    }
}

impl<'c> Reading<'c> {
    fn of(rows: Vec<CallRow<'c>>, case: &Case<'c>) -> Reading<'c> {
        let Case { call, facts, policy, state, .. } = *case;
        let settings = policy.settings();
        let matches = policy.matches(&rows);
        let done = rows.partition_point(|row| row.level() <= Level::Effect);
        let now = rows.get(..done).unwrap_or(&rows);
        let own_code = OwnCode::of(now, &facts.scripts, is_safe, settings.allow_understood);
        let leaves = settings.leaves_own_code(state.headless);
        let own_parts = if leaves { OwnParts::of(now, facts) } else { OwnParts::default() };
        let need = need(call, now, &own_code);
        let level = active_level(settings, state.standing, state.ceiling);
        Reading { done, matches, own_code, own_parts, need, level, rows }
    }

    /// The rows of what the call does now. Rows of what written files would do are for rules that name them.
    pub(crate) fn rows(&self) -> &[CallRow<'c>] {
        self.rows.get(..self.done).unwrap_or(&self.rows)
    }
}
