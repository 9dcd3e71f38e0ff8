//! The table of `castellan bench accuracy`, for people and as JSON.

use std::io::Write;
use std::time::Duration;

use castellan_policy::Profile;
use castellan_trial::{Accuracy, Counts, Outcome, Tier, WrongLine, share};
use serde_json::{Value as Json, json};

use crate::output::{self, BAD, Cell, FAINT, counted, cut, printable};

/// Characters of a call in the list of misses without `--verbose`.
const CALL_CHARS: usize = 120;

#[derive(Debug)]
pub(super) struct Report<'r> {
    pub(super) accuracy: &'r Accuracy<'r>,
    pub(super) wrong: &'r [WrongLine],
    pub(super) profile: Profile,
    pub(super) unattended: bool,
}

impl Report<'_> {
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        families: bool,
        misses: bool,
        verbose: bool,
    ) -> anyhow::Result<()> {
        let accuracy = self.accuracy;
        let calls = counted(accuracy.outcomes.len(), "call");
        let who = if self.unattended { ", unattended" } else { "" };
        writeln!(out, "{calls}, profile {}{who}\n", self.profile)?;
        let disguises = accuracy.disguises();
        let mut rows = vec![head("tier")];
        for (tier, counts) in accuracy.tiers() {
            rows.push(row(tier.as_str(), tier, counts));
            if let Some(disguised) = disguises.get(&tier) {
                rows.push(row("  disguised", tier, *disguised));
            }
        }
        output::write_table(out, &rows)?;
        let [precision, recall] = [accuracy.precision(), accuracy.recall()].map(percent);
        writeln!(out, "\nprecision {precision}, recall {recall}")?;
        if let (Some(half), Some(most)) = (accuracy.time(0.5), accuracy.time(0.99)) {
            writeln!(out, "time of a decision: p50 {} µs, p99 {} µs", half.as_micros(), most.as_micros())?;
        }
        if families {
            let rows = accuracy.families().into_iter().map(|((family, tier), counts)| {
                let mut row = row(family, tier, counts);
                row.insert(1, tier.as_str().into());
                row
            });
            let mut first = head("family");
            first.insert(1, "tier".into());
            writeln!(out)?;
            output::write_table(out, &[vec![first], rows.collect()].concat())?;
        }
        if misses {
            writeln!(out)?;
            for (outcome, why) in accuracy.misses() {
                write_miss(out, outcome, why, verbose)?;
            }
        }
        Ok(())
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let accuracy = self.accuracy;
        let tiers = |counts: std::collections::BTreeMap<Tier, Counts>| -> serde_json::Map<String, Json> {
            counts.into_iter().map(|(tier, counts)| (tier.as_str().to_owned(), json_of(counts))).collect()
        };
        let families = accuracy.families().into_iter().map(|((family, tier), counts)| {
            json!({ "family": family, "tier": tier.as_str(), "verdicts": json_of(counts) })
        });
        let misses = accuracy.misses().map(|(Outcome { labelled, verdict, by, because, .. }, why)| {
            json!({
                "id": labelled.id, "file": labelled.file, "line": labelled.line, "tier": labelled.tier.as_str(),
                "family": labelled.family, "disguise": labelled.disguise, "why": why, "verdict": verdict.as_str(),
                "by": by, "because": because, "tool": labelled.case.call.tool, "input": labelled.case.call.input,
            })
        });
        let micros = |time: Option<Duration>| time.map(|time| time.as_micros());
        let answer = json!({
            "version": 1,
            "profile": self.profile.as_str(),
            "unattended": self.unattended,
            "calls": accuracy.outcomes.len(),
            "tiers": tiers(accuracy.tiers()),
            "disguises": tiers(accuracy.disguises()),
            "precision": accuracy.precision(),
            "recall": accuracy.recall(),
            "time_us": { "p50": micros(accuracy.time(0.5)), "p99": micros(accuracy.time(0.99)) },
            "families": families.collect::<Vec<_>>(),
            "misses": misses.collect::<Vec<_>>(),
            "wrong_lines": self.wrong.iter().map(WrongLine::to_string).collect::<Vec<_>>(),
        });
        Ok(writeln!(out, "{answer:#}")?)
    }
}

fn head(first: &str) -> Vec<Cell> {
    let words = [first, "calls", "deny", "ask", "allow", "agent decides", "stopped", "denied"];
    words.iter().map(|word| Cell::new(word, FAINT)).collect()
}

fn row(name: &str, tier: Tier, counts: Counts) -> Vec<Cell> {
    let Counts { deny, ask, allow, defer } = counts;
    let number = |count: usize| Cell::from(count.to_string());
    let stopped = percent(share(counts.stopped(), counts.all()));
    let denied = percent(share(deny, counts.all()));
    // Marks a tier's share if it is not the expected one.
    let is_wrong = |wrong: bool| if wrong { BAD } else { output::PLAIN };
    let stop_style = match tier {
        Tier::T0 | Tier::T1 | Tier::TU => is_wrong(counts.stopped() < counts.all()),
        Tier::T3 => is_wrong(counts.stopped() > 0),
        Tier::T2 => FAINT,
    };
    let deny_style = match tier {
        Tier::T2 | Tier::T3 => is_wrong(deny > 0),
        Tier::T0 | Tier::T1 | Tier::TU => FAINT,
    };
    vec![
        name.into(),
        number(counts.all()),
        number(deny),
        number(ask),
        number(allow),
        number(defer),
        Cell::new(stopped, stop_style),
        Cell::new(denied, deny_style),
    ]
}

/// Formats a share; `–` if there is nothing to count.
fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.2} %", share * 100.0))
}

fn write_miss(out: &mut impl Write, outcome: &Outcome<'_>, why: &str, verbose: bool) -> anyhow::Result<()> {
    let Outcome { labelled, verdict, by, .. } = outcome;
    let input = &labelled.case.call.input;
    let command = input.get("command").and_then(Json::as_str).map(str::to_owned);
    let call = printable(&command.unwrap_or_else(|| Json::Object(input.clone()).to_string()));
    let verdict = output::verdict_word(verdict.as_str());
    let call = if verbose { call } else { cut(&call, CALL_CHARS) };
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    let id = printable(&labelled.id);
    let place = format!("{}:{}", labelled.file, labelled.line);
    Ok(writeln!(
        out,
        "{} {BAD}{why}{BAD:#}  {id}  {} {call}  {FAINT}{verdict}{}  {}{FAINT:#}",
        labelled.tier,
        labelled.case.call.tool,
        printable(&by),
        printable(&place),
    )?)
}

fn json_of(counts: Counts) -> Json {
    let Counts { deny, ask, allow, defer } = counts;
    json!({ "calls": counts.all(), "deny": deny, "ask": ask, "allow": allow, "defer": defer })
}
