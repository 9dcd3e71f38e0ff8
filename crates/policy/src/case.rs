//! [`Case`]: one call with all inputs of the stages, computed once. Does not depend on the findings of a stage.

mod arguments;
mod exchanges;
mod need;
mod own_code;
mod own_parts;
mod safe;
mod searches;
mod variables;

use castellan_event::{AccessLevel, Answers, Call, CallRow, Facts, Level, Mode, Query, Row as _, rows};

use crate::policy::{Policy, RuleMatch};
use crate::settings::Settings;
use crate::state::{State, WorkspaceTrust};
use need::active_level;
use own_parts::OwnParts;

pub(crate) use need::{Need, need};
pub(crate) use own_code::OwnCode;
pub(crate) use safe::{is_safe, says_what_is_installed};
pub(crate) use searches::shows_no_secret;

/// A call that is judged.
#[derive(Debug)]
pub(crate) struct Case<'c> {
    pub(crate) call: &'c Call,
    pub(crate) facts: &'c Facts,
    pub(crate) policy: &'c Policy,
    pub(crate) state: &'c State<'c>,
    pub(crate) answers: &'c Answers,
    /// `None` if the effects of the call were not read: in passthrough mode, and if the world does not answer.
    reading: Option<Reading<'c>>,
}

/// The input that a case lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The answers to these queries.
    Answers(Vec<Query>),
    /// The answer of the program that tests the policy's rules.
    Rules,
}

/// The effects of a call.
#[derive(Debug)]
pub(crate) struct Reading<'c> {
    /// All rows; those of written files are last.
    rows: Vec<CallRow<'c>>,
    /// Number of rows for the call's own effects.
    done: usize,
    /// The rules that fired.
    pub(crate) matches: Vec<RuleMatch<'c>>,
    pub(crate) own_code: OwnCode<'c>,
    pub(crate) own_parts: OwnParts<'c>,
    /// The agent itself asks a person before it runs code of the workspace.
    pub(crate) is_prompted: bool,
    /// The access level that the call needs.
    pub(crate) need: Need,
    /// The access level of the session; `None` when levels are off.
    pub(crate) level: Option<AccessLevel>,
}

impl<'c> Case<'c> {
    /// Reads the effects of a call, or returns the missing input.
    pub(crate) fn of(
        call: &'c Call,
        facts: &'c Facts,
        policy: &'c Policy,
        state: &'c State<'c>,
        answers: &'c Answers,
    ) -> Result<Case<'c>, Missing> {
        let unread = Case::unread(call, facts, policy, state, answers);
        // A halt denies at once, whatever the call does.
        if state.mode == Mode::Passthrough || state.is_halted {
            return Ok(unread);
        }
        let rows = rows(call, facts, state.session, answers).map_err(Missing::Answers)?;
        if policy.is_tested_elsewhere() && answers.matched().is_none() {
            return Err(Missing::Rules);
        }
        Ok(Case { reading: Some(Reading::of(rows, &unread)), ..unread })
    }

    /// A call whose effects are unread.
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
        let matches = policy.matches(&rows, case.answers.matched());
        let done = rows.partition_point(|row| row.level() <= Level::Effect);
        let now = rows.get(..done).unwrap_or(&rows);
        let own_code = OwnCode::of(now, &facts.scripts, is_safe, settings.allow_understood);
        let is_trusted = state.workspace_trust == WorkspaceTrust::Trusted;
        let leaves = settings.leaves_own_code(state.headless, state.agent_prompts, is_trusted);
        let own_parts =
            if leaves { OwnParts::of(now, facts, state.agent_prompts) } else { OwnParts::default() };
        let is_prompted = leaves && state.agent_prompts;
        let need = need(call, now, &own_code, is_prompted.then_some(&own_parts));
        let level = active_level(settings, state.workspace_trust, state.ceiling);
        Reading { done, matches, own_code, own_parts, is_prompted, need, level, rows }
    }

    /// The rows of the call's own effects. Rows for the effects of written files are only for rules that name them.
    pub(crate) fn rows(&self) -> &[CallRow<'c>] {
        self.rows.get(..self.done).unwrap_or(&self.rows)
    }
}
