//! `castellan packs`: shows the shipped packs with their state, rules and recent hits, or changes the state of a pack
//! permanently. A milder state requires a person.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, SystemTime};

use castellan_audit::{AuditError, Entry, Record, Scanned, scan};
use castellan_daemon::{Config, Layout, pack_names, pack_of};
use castellan_event::Exemption;
use castellan_policy::{Policy, RuleState, RuleVerdict};
use serde_json::{Value as Json, json};

use crate::commands::profile::in_force;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, FAINT, NOTE, PLAIN, WARN, WARNING};
use crate::policy;
use crate::presence;
use crate::{times, values};

/// Options of `castellan packs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this pack
    #[arg(value_parser = values::pack())]
    pack: Option<&'static str>,

    /// off: ignore the pack; observe: record the findings of its rules without effect; enforce: apply its rules
    #[arg(value_parser = values::rule_state())]
    state: Option<RuleState>,

    /// Enforce rules that an upgrade added; otherwise they are only observed for two weeks
    #[arg(long, conflicts_with_all = ["pack", "json"])]
    enforce_new: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "state")]
    json: bool,
}

/// A pack with its counts.
#[derive(Debug, Default)]
struct Shown {
    /// Numbers of rules that deny, ask, review, and of all others.
    rules: [usize; 4],
    hits: Hits,
}

/// The hits of rules.
#[derive(Debug, Default, Clone, Copy)]
struct Hits {
    counted: usize,
    observed: usize,
}

/// The period of the hits.
const LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    if options.enforce_new {
        return enforce_new(global);
    }
    match (options.pack, options.state) {
        (Some(pack), Some(state)) => switch(global, pack, state)?,
        (pack, _) => show(global, pack, options.json)?,
    }
    Ok(Exit::Done)
}

fn enforce_new(global: &Global) -> anyhow::Result<Exit> {
    let new = in_force(global)?.packs.trial().len();
    global.client()?.end_trial()?;
    global.note(&match new {
        0 => "no rule is only observed because an upgrade has brought it".to_owned(),
        _ => format!("{} that an upgrade has brought: enforced from now on", output::counted(new, "rule")),
    })?;
    Ok(Exit::Done)
}

fn switch(global: &Global, pack: &str, state: RuleState) -> anyhow::Result<()> {
    let before = in_force(global)?.packs.state(pack);
    global.client()?.switch(&format!("packs.{pack}"), state.as_str())?;
    let now = in_force(global)?.packs.state(pack);
    let word = now.as_str();
    let reported = match now == before {
        true => format!("the pack {pack} is in state {word} already"),
        false => format!("the pack {pack} is in state {word} now; it was in state {}", before.as_str()),
    };
    global.note(&reported)?;
    Ok(())
}

fn show(global: &Global, only: Option<&'static str>, as_json: bool) -> anyhow::Result<()> {
    let layout = global.layout()?;
    let config = in_force(global)?;
    let (policy, _) = policy::of_home(&layout, &config)?;
    let shown = shown(&layout, &policy);
    let is_agent = presence::is_within_agent(layout.home());
    let packs: Vec<(&str, &Shown)> = pack_names()
        .filter(|pack| only.is_none_or(|only| only == *pack))
        .filter_map(|pack| Some((pack, shown.get(pack)?)))
        .collect();
    let mut out = anstream::stdout();
    if as_json {
        let packs: Vec<Json> =
            packs.iter().map(|(pack, shown)| json_of(pack, shown, &config, is_agent)).collect();
        output::write_json(&mut out, &json!({ "packs": packs }))?;
        return Ok(());
    }
    let header = ["pack", "state", "from", "deny", "ask", "review", "other", "hits in 7 days"];
    let mut rows = vec![header.map(|word| Cell::new(word, FAINT)).to_vec()];
    rows.extend(packs.iter().map(|(pack, shown)| row(pack, shown, &config)));
    output::write_table(&mut out, &rows)?;
    write_trial(&mut out, &config, only, is_agent)?;
    for (tier, state) in [("ask", config.packs.tier_ask()), ("review", config.packs.tier_review())] {
        if state != RuleState::Enforce {
            let word = state.as_str();
            output::write_messages(
                &mut out,
                WARNING,
                &[format!("rules of the tier {tier} are in state {word}: `tiers.{tier}`")],
            )?;
        }
    }
    Ok(())
}

/// Lists the rules on trial. An agent gets only their number for each pack.
fn write_trial(
    out: &mut impl Write,
    config: &Config,
    only: Option<&str>,
    is_agent: bool,
) -> anyhow::Result<()> {
    for pack in pack_names().filter(|pack| only.is_none_or(|only| only == *pack)) {
        let on_trial = on_trial(pack, config);
        if is_agent && !on_trial.is_empty() {
            let rules = output::counted(on_trial.len(), "rule");
            output::write_messages(
                out,
                NOTE,
                &[format!("new since an upgrade, and only observed: {rules} of {pack}")],
            )?;
            continue;
        }
        for (name, end) in on_trial {
            let day = times::local_day(end);
            let reported = format!("new since an upgrade, and only observed until {day}: {pack}/{name}");
            output::write_messages(out, NOTE, &[reported])?;
        }
    }
    Ok(())
}

/// Returns the rules of a pack on trial, with the start of their enforcement.
fn on_trial<'c>(pack: &str, config: &'c Config) -> Vec<(&'c str, SystemTime)> {
    let named = config.packs.trial_ends().filter_map(|(name, end)| Some((name.split_once('/')?, end)));
    named.filter(|((of, _), _)| *of == pack).map(|((_, name), end)| (name, end)).collect()
}

/// Returns every pack with its loaded rules and their hits.
fn shown(layout: &Layout, policy: &Policy) -> BTreeMap<&'static str, Shown> {
    let hits = hits(layout);
    let mut packs: BTreeMap<&'static str, Shown> =
        pack_names().map(|pack| (pack, Shown::default())).collect();
    for of in policy.rules() {
        let Some(shown) = pack_of(&of).and_then(|pack| packs.get_mut(pack)) else { continue };
        let [deny, ask, review, other] = &mut shown.rules;
        *match of.verdict {
            RuleVerdict::Deny => deny,
            RuleVerdict::Ask | RuleVerdict::Contain => ask,
            RuleVerdict::Review => review,
            RuleVerdict::Allow | RuleVerdict::Seen | RuleVerdict::Notice => other,
        } += 1;
        if let Some(found) = hits.get(&of.rule.name) {
            shown.hits.counted += found.counted;
            shown.hits.observed += found.observed;
        }
    }
    packs
}

/// Returns the recent hits of each user rule; none for an unreadable log, as `castellan log verify` reports.
fn hits(layout: &Layout) -> BTreeMap<String, Hits> {
    let since = SystemTime::now().checked_sub(LATELY);
    let is_late = |entry: &Entry| since.is_none_or(|since| entry.time >= since);
    let mut hits: BTreeMap<String, Hits> = BTreeMap::new();
    // Reads one entry at a time: a week of records may not fit into memory.
    let scanned = scan(&layout.log(), |scanned| -> Result<(), AuditError> {
        let Scanned::Entry(entry) = scanned else { return Ok(()) };
        if !is_late(&entry) {
            return Ok(());
        }
        let Record::Call(call) = entry.record else { return Ok(()) };
        for finding in call.findings.into_iter().filter(|one| one.layer == "user" && !one.rule.is_empty()) {
            let is_observed = finding.lifted == Exemption::Observe.as_str();
            let of = hits.entry(finding.rule).or_default();
            *(if is_observed { &mut of.observed } else { &mut of.counted }) += 1;
        }
        Ok(())
    });
    scanned.map(|()| hits).unwrap_or_default()
}

fn row(pack: &str, shown: &Shown, config: &Config) -> Vec<Cell> {
    let state = config.packs.state(pack);
    let style = if state == RuleState::Enforce { PLAIN } else { WARN };
    let Hits { counted, observed } = shown.hits;
    let hits = match observed {
        0 => counted.to_string(),
        _ => format!("{counted}, and {observed} observed"),
    };
    let mut row =
        vec![Cell::from(pack), Cell::new(state.as_str(), style), Cell::new(from(pack, config), FAINT)];
    row.extend(shown.rules.map(|count| Cell::from(count.to_string())));
    row.push(Cell::from(hits));
    row
}

/// Returns the layer that sets the state of a pack.
fn from(pack: &str, config: &Config) -> &'static str {
    let key = format!("packs.{pack}");
    let setting = config.settled.settings().iter().find(|setting| setting.key.name == key);
    let sourced = setting.and_then(|setting| setting.counts.first());
    sourced.filter(|sourced| sourced.at.is_some()).map_or("default", |sourced| sourced.layer.as_str())
}

fn json_of(pack: &str, shown: &Shown, config: &Config, is_agent: bool) -> Json {
    let on_trial: Vec<&str> = on_trial(pack, config).into_iter().map(|(name, _)| name).collect();
    let on_trial: Json = if is_agent { on_trial.len().into() } else { on_trial.into() };
    let [deny, ask, review, other] = shown.rules;
    json!({
        "pack": pack,
        "state": config.packs.state(pack).as_str(),
        "from": from(pack, config),
        "rules": { "deny": deny, "ask": ask, "review": review, "other": other },
        "on_trial": on_trial,
        "hits_7_days": { "counted": shown.hits.counted, "observed": shown.hits.observed },
    })
}
