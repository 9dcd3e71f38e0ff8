//! `conformance forerunners --facts`: compares the answers of four earlier guards about Bash calls with castellan's
//! facts. For a row on which an original was stricter than allow, the table names required facts. For a row that an
//! original calls read-only, the table names forbidden facts.

pub(crate) mod row;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use castellan_corpus::{Conditions, Machine, WORKSPACE, shell_call};
use castellan_event::{Call, Facts, Recorder};
use castellan_facts::{Setting, analyse};

use crate::read;
use row::Row;
use table::{Asked, Table};

#[derive(Debug, Default)]
struct Tally {
    agreed: usize,
    listed: usize,
    missing: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// The original said nothing that can be compared with facts.
    Nothing,
    Agreed,
    Listed,
    /// The reason why the command fails.
    Missing(String),
}

pub(crate) fn run(path: &Path) -> anyhow::Result<()> {
    let table = Table::read()?;
    let judge = Judge::new(&table)?;
    let mut systems: BTreeMap<String, Tally> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for (line, text) in (1..).zip(read(path)?.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let row: Row = serde_json::from_str(text).with_context(|| format!("line {line} is no row"))?;
        seen.insert(row.id.clone());
        if !row.is_shell() {
            continue;
        }
        let command = row.command(&table.complete);
        let tally = systems.entry(row.system.clone()).or_default();
        match judge.outcome(&row, &command, facts_of(&shell_call(&command))) {
            Outcome::Nothing => {}
            Outcome::Agreed => tally.agreed += 1,
            Outcome::Listed => tally.listed += 1,
            Outcome::Missing(why) => {
                tally.missing += 1;
                wrong.push(format!("{}: `{}`: {why}", row.id, command.replace('\n', "⏎")));
            }
        }
    }
    ensure!(!seen.is_empty(), "`{}` holds no rows", path.display());
    print_table(&systems);
    table.listed.iter().for_each(|listed| println!("\n{}: {}", listed.cases.join(", "), listed.reason));
    let gone = table.ids().filter(|id| !seen.contains(*id));
    wrong.extend(gone.map(|id| format!("{id}: named in forerunners.toml, but there is no such row")));
    if wrong.is_empty() {
        return Ok(());
    }
    println!("\n{}", wrong.join("\n"));
    bail!("{} rows are not as they should be", wrong.len())
}

/// Returns the facts of a call on the machine of the corpus.
pub(crate) fn facts_of(call: &Call) -> Facts {
    let setting = Setting { workspace: WORKSPACE.to_owned(), ..Setting::default() };
    analyse(call, &setting, &mut Recorder::new(&Machine::default()))
}

/// The table with its conditions compiled.
struct Judge<'t> {
    table: &'t Table,
    conditions: Conditions,
    /// The number of each condition.
    numbers: BTreeMap<&'t str, usize>,
}

impl<'t> Judge<'t> {
    fn new(table: &'t Table) -> anyhow::Result<Judge<'t>> {
        let different: BTreeSet<&str> = table.conditions().collect();
        let conditions = Conditions::new(different.iter().copied())
            .map_err(|error| anyhow!("conformance/forerunners.toml: {error}"))?;
        let numbers = different.into_iter().zip(0..).collect();
        Ok(Judge { table, conditions, numbers })
    }

    fn outcome(&self, row: &Row, command: &str, facts: Facts) -> Outcome {
        let is_listed = self.table.lists(&row.id);
        let found = self.conditions.true_of(&shell_call(command), &facts);
        let holds =
            |condition: &str| self.numbers.get(condition).is_some_and(|number| found.contains(number));
        let differs: Vec<String> = match self.table.asked(row) {
            Asked::Nothing if is_listed => return Outcome::Listed,
            Asked::Nothing => return Outcome::Nothing,
            Asked::Unnamed => vec!["strict, and no fact is named for it".to_owned()],
            Asked::Facts(wanted) => wanted
                .into_iter()
                .filter(|wanted| !holds(wanted))
                .map(|wanted| format!("not found: {wanted}"))
                .collect(),
            Asked::Calm(never) => never
                .into_iter()
                .filter(|never| holds(never))
                .map(|never| format!("found: {never}"))
                .collect(),
        };
        match (differs.is_empty(), is_listed) {
            (true, false) => Outcome::Agreed,
            (true, true) => Outcome::Missing("listed, but it agrees: take it off".to_owned()),
            (false, true) => Outcome::Listed,
            (false, false) => Outcome::Missing(differs.join("; ")),
        }
    }
}

fn print_table(systems: &BTreeMap<String, Tally>) {
    println!("| system | agreed | listed | missing |\n|---|---|---|---|");
    let line = |name: &str, tally: &Tally| {
        println!("| {name} | {} | {} | {} |", tally.agreed, tally.listed, tally.missing);
    };
    let mut all = Tally::default();
    for (name, tally) in systems.iter().filter(|(_, tally)| tally.agreed + tally.listed + tally.missing > 0) {
        line(name, tally);
        all.agreed += tally.agreed;
        all.listed += tally.listed;
        all.missing += tally.missing;
    }
    line("all", &all);
}

#[cfg(test)]
mod tests;
