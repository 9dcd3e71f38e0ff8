//! `conformance falco`: runs every recorded case, and prints a table of groups.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use castellan_falco::FieldTable;

use crate::answer::{Answer, answer, table};
use crate::case::Case;
use crate::difference::difference;
use crate::known::Known;
use crate::{files, read};

/// The cases that are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The recorded collection, which must contain every listed difference.
    Recorded,
    /// Other cases in the same format.
    Other,
}

#[derive(Debug, Default)]
struct Tally {
    agreed: usize,
    /// Differ for a listed reason.
    listed: usize,
    total: usize,
}

enum Outcome {
    Agreed,
    Listed,
    /// The reason why the command fails.
    Wrong(String),
}

pub(crate) fn run(path: &Path, scope: Scope) -> anyhow::Result<()> {
    let (known, table) = (Known::read()?, table()?);
    let mut groups: BTreeMap<String, Tally> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in files(path, "jsonl")? {
        for (line, text) in (1..).zip(read(&file)?.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let place = || format!("`{}`, line {line}, is no case", file.display());
            let case: Case = serde_json::from_str(text).with_context(place)?;
            let tally = groups.entry(case.group.clone()).or_default();
            tally.total += 1;
            match outcome(&case, &table, &known) {
                Outcome::Agreed => tally.agreed += 1,
                Outcome::Listed => tally.listed += 1,
                Outcome::Wrong(why) => wrong.push(format!("{}: {why}", case.id)),
            }
            seen.insert(case.id);
        }
    }
    ensure!(!seen.is_empty(), "`{}` holds no cases (*.jsonl)", path.display());
    if scope == Scope::Recorded {
        let gone = known.ids().filter(|id| !seen.contains(*id));
        wrong.extend(gone.map(|id| format!("{id}: listed as a known difference, but there is no such case")));
    }
    print_table(&groups);
    print_listed(&known, &seen);
    if wrong.is_empty() {
        return Ok(());
    }
    println!("\n{}", wrong.join("\n"));
    bail!("{} of {} cases are not as they should be", wrong.len(), seen.len())
}

fn outcome(case: &Case, table: &FieldTable, known: &Known) -> Outcome {
    let differs = |regex_compat_falco: bool| {
        let ours: anyhow::Result<Answer> = answer(case, table, regex_compat_falco);
        ours.map_or_else(|error| Some(format!("{error:#}")), |ours| difference(case, &ours))
    };
    let found = differs(false);
    match (found, known.of(&case.id)) {
        (None, None) => Outcome::Agreed,
        (None, Some(_)) => {
            Outcome::Wrong("listed as a known difference, but it agrees: take it off".to_owned())
        }
        (Some(_), Some(listed)) => match listed.agrees_with.and_then(|_switch| differs(true)) {
            None => Outcome::Listed,
            Some(why) => Outcome::Wrong(format!("differs even with the switch that is listed: {why}")),
        },
        (Some(why), None) => {
            let switched = known.by_switch().is_some() && differs(true).is_none();
            if switched { Outcome::Listed } else { Outcome::Wrong(why) }
        }
    }
}

fn print_table(groups: &BTreeMap<String, Tally>) {
    println!("| group | agreed | of | known differences |\n|---|---|---|---|");
    let line = |name: &str, tally: &Tally| {
        let listed = if tally.listed == 0 { String::new() } else { tally.listed.to_string() };
        println!("| {name} | {} | {} | {listed} |", tally.agreed, tally.total);
    };
    let mut all = Tally::default();
    for (name, tally) in groups {
        line(name, tally);
        all.agreed += tally.agreed;
        all.listed += tally.listed;
        all.total += tally.total;
    }
    line("all", &all);
}

fn print_listed(known: &Known, seen: &BTreeSet<String>) {
    for difference in known.reasons() {
        let cases: Vec<&str> =
            difference.cases.iter().map(String::as_str).filter(|id| seen.contains(*id)).collect();
        if !cases.is_empty() {
            println!("\n{}: {}", cases.join(", "), difference.reason.trim());
        }
    }
}

#[cfg(test)]
mod tests;
