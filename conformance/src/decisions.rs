//! `conformance forerunners`: compares the decisions of four earlier guards with castellan's decisions about the same
//! calls, from payload to verdict. The profile corresponds to the original's configuration. A laxer decision of
//! castellan's is an error, unless the table lists it with the reason.

mod ask;
mod profile;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use castellan_event::{AccessLevel, Verdict};

use crate::forerunners::row::Row;
use crate::read;
use ask::Asked;
use table::{Class, Table, Wanted};

#[derive(Debug, Default)]
struct Tally {
    agreed: usize,
    stricter: usize,
    listed: usize,
    laxer: usize,
    later: usize,
    not_applicable: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Agreed,
    Stricter,
    Laxer(String),
}

pub(crate) fn run(path: &Path) -> anyhow::Result<()> {
    let table = Table::read()?;
    let profiles = profile::Profiles::read()?;
    let mut systems: BTreeMap<String, Tally> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (line, text) in (1..).zip(read(path)?.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let row: Row = serde_json::from_str(text).with_context(|| format!("line {line} is no row"))?;
        seen.insert(row.id.clone());
        let tally = systems.entry(row.system.clone()).or_default();
        match table.class(&row) {
            Some(Class::Later) => tally.later += 1,
            Some(Class::NotApplicable) => tally.not_applicable += 1,
            None => match (judge(&row, &table, &profiles), table.lists(&row.id)) {
                (Ok(Outcome::Agreed), false) => tally.agreed += 1,
                (Ok(Outcome::Stricter), false) => tally.stricter += 1,
                (Ok(Outcome::Laxer(_)), true) => tally.listed += 1,
                (Ok(Outcome::Laxer(why)), false) => {
                    tally.laxer += 1;
                    wrong.push(format!("{}: {why}", row.id));
                }
                (Ok(_), true) => wrong.push(format!("{}: listed, but it is not laxer: take it off", row.id)),
                (Err(error), _) => wrong.push(format!("{}: {error:#}", row.id)),
            },
        }
    }
    ensure!(!seen.is_empty(), "`{}` holds no rows", path.display());
    print_table(&systems);
    table.explain();
    let gone = table.ids().filter(|id| !seen.contains(*id));
    wrong.extend(gone.map(|id| format!("{id}: named in decisions.toml, but there is no such row")));
    if wrong.is_empty() {
        return Ok(());
    }
    println!("\n{}", wrong.join("\n"));
    bail!("{} rows are not as they should be", wrong.len())
}

fn judge(row: &Row, table: &Table, profiles: &profile::Profiles) -> anyhow::Result<Outcome> {
    let wanted = table.wanted(row).context("it says nothing that the table knows")?;
    let asked = Asked::of(row, &table.complete)?;
    let decision = asked.decide(profiles)?;
    let (ours, theirs) = match wanted {
        Wanted::Verdict(verdict) => (strictness(decision.answer), strictness(verdict)),
        Wanted::Level(level) => (rank(decision.required.unwrap_or(AccessLevel::FullAccess)), rank(level)),
    };
    Ok(match ours.cmp(&theirs) {
        std::cmp::Ordering::Equal => Outcome::Agreed,
        std::cmp::Ordering::Greater => Outcome::Stricter,
        std::cmp::Ordering::Less => {
            let what = asked.what().replace('\n', "⏎");
            let level = decision.required.map_or("no level", AccessLevel::as_str);
            Outcome::Laxer(format!("`{what}`: {wanted}, ours: {} ({level})", decision.answer))
        }
    })
}

/// Returns the strictness of a verdict. Deferring a call to the agent's own prompt is stricter than allowing it.
fn strictness(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Defer => 1,
        Verdict::Ask => 2,
        Verdict::Deny => 3,
    }
}

fn rank(level: AccessLevel) -> usize {
    AccessLevel::ALL.iter().position(|one| *one == level).unwrap_or_default()
}

fn print_table(systems: &BTreeMap<String, Tally>) {
    println!(
        "| system | agreed | stricter | listed | laxer | later | not applicable |\n|---|---|---|---|---|---|---|"
    );
    let mut all = Tally::default();
    for (name, tally) in systems {
        line(name, tally);
        all.agreed += tally.agreed;
        all.stricter += tally.stricter;
        all.listed += tally.listed;
        all.laxer += tally.laxer;
        all.later += tally.later;
        all.not_applicable += tally.not_applicable;
    }
    line("all", &all);
}

fn line(name: &str, tally: &Tally) {
    let Tally { agreed, stricter, listed, laxer, later, not_applicable } = tally;
    println!("| {name} | {agreed} | {stricter} | {listed} | {laxer} | {later} | {not_applicable} |");
}
