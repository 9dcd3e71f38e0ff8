//! [`Understood`]: the effects of a recorded call and its findings by the rules in force. This module must not know how
//! they are shown.

use anyhow::bail;
use castellan_audit::{FindingRecord, Record, Scanned, scan};
use castellan_daemon::{ExplainedEffect, Explanation, KnownTexts, Layout, RecordedWorld, own_paths};
use castellan_event::{Exemption, Finding, Layer, Verdict};
use castellan_policy::{Decision, Policy};
use castellan_trial::Replay;

use crate::history::{RecordedCall, is_held, short_rule};
use crate::in_force::InForce;

#[derive(Debug)]
pub(super) struct Understood {
    policy: Policy,
    explanation: Explanation,
    /// The decision by the rules in force, without grants.
    decision: Decision,
    /// The short rule for the `allow` list, if it would let the call run.
    pub(super) allow: Option<String>,
}

impl Understood {
    /// Judges the call again, after the calls of its session before it.
    pub(super) fn of(layout: &Layout, found: &RecordedCall) -> anyhow::Result<Understood> {
        let in_force = InForce::read(layout)?;
        let policy = in_force.compile()?.policy;
        let mut texts = KnownTexts::default();
        let mut replay = Replay::new(vec![&policy], own_paths(layout));
        let call = &found.call;
        scan(&layout.log(), |scanned| -> anyhow::Result<()> {
            let Scanned::Entry(entry) = scanned else { return Ok(()) };
            let Record::Call(earlier) = &entry.record else { return Ok(()) };
            if entry.seq > found.seq {
                return Ok(());
            }
            texts.learn(earlier);
            let is_its = earlier.session_id == call.session_id && earlier.agent == call.agent;
            if is_its && entry.seq < found.seq && !is_held(&earlier.answer) {
                // A call that cannot be judged again leaves nothing.
                let _ = replay.judge(earlier, &RecordedWorld::new(earlier, &texts));
            }
            Ok(())
        })?;
        let world = RecordedWorld::new(call, &texts);
        let (explanation, decision) = match replay.explain(&policy, call, &world) {
            Ok(explained) => explained,
            Err(why) => bail!("{}", why.meaning()),
        };
        let allow = short_rule(call).filter(|allow| {
            let with = in_force.allowing_also(allow);
            let judged = with.map(|with| replay.explain(&with, call, &world));
            matches!(judged, Some(Ok((_, decision))) if decision.verdict < Verdict::Ask)
        });
        drop(replay);
        Ok(Understood { policy, explanation, decision, allow })
    }

    /// Returns the effects of the commands and of the tool, in the order of the call.
    pub(super) fn effects(&self) -> Vec<&ExplainedEffect> {
        let of_commands = self.explanation.commands.iter().flat_map(|command| &command.effects);
        of_commands.chain(&self.explanation.effects).collect()
    }

    /// Reports whether the rules in force still stop the call.
    pub(super) fn is_stopped(&self) -> bool {
        self.decision.verdict >= Verdict::Ask
    }

    /// Reports whether a person could approve the call by the rules in force.
    pub(super) fn is_grantable(&self) -> bool {
        let mut stopping = self.decision.findings.iter().filter(|one| one.counts() && one.stops());
        stopping.all(|finding| finding.is_liftable_by(Exemption::Grant))
    }

    /// Returns the same finding as the rules in force make it.
    pub(super) fn now(&self, recorded: &FindingRecord) -> Option<&Finding> {
        self.decision.findings.iter().find(|finding| {
            finding.code.as_str() == recorded.code
                && finding.rule == recorded.rule
                && finding.layer.map_or("", Layer::as_str) == recorded.layer
        })
    }

    /// Returns file and line of the rule of a finding.
    pub(super) fn place(&self, finding: &FindingRecord) -> Option<String> {
        let mut rules = self.policy.rules();
        let of = rules.find(|of| of.layer.as_str() == finding.layer && of.rule.name == finding.rule)?;
        Some(format!("{}:{}", of.rule.file, of.rule.line))
    }
}
