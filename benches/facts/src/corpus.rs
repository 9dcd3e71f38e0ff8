//! The understood share of a collection: for each source, the number of parsed texts, their commands, and the commands
//! with an Opaque program or code, with the reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_corpus::shell_call;
use castellan_event::{EffectKind, Facts, Role, Why};
use castellan_facts::Setting;
use serde::Deserialize;

use crate::holes::{Parses, first_line, parses};
use crate::table::{percentile, time_us};
use crate::{analysis, sample};

/// Limit of Opaque commands, in percent.
const OPAQUE_MAX_PERCENT: f64 = 10.0;

/// Bytes of the timed texts: about 4 KiB.
const TIMED: std::ops::Range<usize> = 3_584..4_608;

/// Rounds of each timed text. The fastest counts, which excludes disturbances of the machine.
const TIMED_ROUNDS: usize = 5;

/// Limit of shown texts that bash accepts and castellan does not parse.
const SHOWN: usize = 400;

/// A line of the collection.
#[derive(Debug, Deserialize)]
pub(crate) struct Item {
    pub(crate) kind: String,
    pub(crate) origin: String,
    /// `bash -n` accepts it.
    pub(crate) accepted: bool,
    pub(crate) text: String,
}

/// The items of a source.
#[derive(Debug, Default)]
struct Tally {
    items: usize,
    accepted: usize,
    parsed: usize,
    /// Parsed, except for parts over a limit.
    limited: usize,
    commands: usize,
    /// Commands with an Opaque program or code.
    opaque: usize,
    ms: f64,
}

pub(crate) fn print(items: &str, into: &str, number: &str, seed: &str) -> anyhow::Result<()> {
    let items = self::items(items)?;
    let setting = analysis::setting();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut reasons: BTreeMap<(Role, Why), usize> = BTreeMap::new();
    let mut not_parsed = Vec::new();
    for item in &items {
        let tally = tallies.entry(&item.kind).or_default();
        tally.items += 1;
        // A text that bash rejects is not shell text. It is counted, and not analysed.
        if !item.accepted {
            continue;
        }
        tally.accepted += 1;
        let call = shell_call(&item.text);
        let started = Instant::now();
        let facts = analysis::facts(&call, &setting);
        tally.ms += started.elapsed().as_secs_f64() * 1e3;
        let parsed = castellan_shell::parse(&item.text, castellan_shell::Shell::Bash);
        match parses(&parsed) {
            Parses::Whole => tally.parsed += 1,
            Parses::UpToLimit => tally.limited += 1,
            Parses::Not => not_parsed.push((item, first_line(&parsed, &item.text))),
        }
        tally.commands += facts.commands.len();
        tally.opaque += count_opaque(&facts, &mut reasons);
    }
    print_tallies(&tallies);
    print_times(&items, &setting);
    print_reasons(&reasons);
    print_not_parsed(&not_parsed);
    let accepted: Vec<&Item> = items.iter().filter(|item| item.accepted).collect();
    let written = sample::write(into, &accepted, number.parse()?, seed.parse()?)?;
    println!("\n{written} items with the commands found in them: {into}");
    Ok(())
}

pub(crate) fn items(file: &str) -> anyhow::Result<Vec<Item>> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let items: Vec<Item> = text
        .lines()
        .map(|line| serde_json::from_str(line).context("an item that is none"))
        .collect::<anyhow::Result<_>>()?;
    ensure!(!items.is_empty(), "the collection is empty");
    Ok(items)
}

/// Counts the commands with an Opaque program or code, each once; each part without a command counts as one.
fn count_opaque(facts: &Facts, reasons: &mut BTreeMap<(Role, Why), usize>) -> usize {
    let mut commands = BTreeSet::new();
    let mut without = 0;
    for effect in facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Opaque) {
        let role = effect.role().unwrap_or_default();
        if matches!(role, Role::Program | Role::Code) {
            *reasons.entry((role, effect.why().unwrap_or_default())).or_default() += 1;
            match effect.command {
                Some(command) => drop(commands.insert(command)),
                None => without += 1,
            }
        }
    }
    commands.len() + without
}

/// Prints the time of real texts of one size.
fn print_times(items: &[Item], setting: &Setting) {
    let fits = |item: &&Item| item.accepted && TIMED.contains(&item.text.len());
    let mut times: Vec<f64> = items
        .iter()
        .filter(fits)
        .map(|item| {
            let call = shell_call(&item.text);
            (0..TIMED_ROUNDS).map(|_| time_us(&call, setting)).fold(f64::INFINITY, f64::min)
        })
        .collect();
    println!(
        "\n{} texts of {} to {} bytes: p50 {:.0} µs, p90 {:.0} µs.",
        times.len(),
        TIMED.start,
        TIMED.end - 1,
        percentile(&mut times, 50),
        percentile(&mut times, 90),
    );
}

fn print_tallies(tallies: &BTreeMap<&str, Tally>) {
    println!(
        "\n| source | items | `bash -n` accepts | of those parsed | parsed up to a limit | commands | opaque program or code | % | ms |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    let mut all = Tally::default();
    let line = |name: &str, tally: &Tally| {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {:.1} | {:.0} |",
            tally.items,
            tally.accepted,
            tally.parsed,
            tally.limited,
            tally.commands,
            tally.opaque,
            percent(tally),
            tally.ms
        );
    };
    for (name, tally) in tallies {
        line(name, tally);
        all.items += tally.items;
        all.accepted += tally.accepted;
        all.parsed += tally.parsed;
        all.limited += tally.limited;
        all.commands += tally.commands;
        all.opaque += tally.opaque;
        all.ms += tally.ms;
    }
    line("all", &all);
    println!(
        "\nTo be reached: all that bash accepts parsed ({} are not); at most {OPAQUE_MAX_PERCENT} % opaque ({:.1} %).",
        all.accepted - all.parsed - all.limited,
        percent(&all)
    );
}

fn percent(tally: &Tally) -> f64 {
    100.0 * tally.opaque as f64 / tally.commands.max(1) as f64
}

fn print_not_parsed(not_parsed: &[(&Item, Option<(usize, String)>)]) {
    if not_parsed.is_empty() {
        return;
    }
    println!("\nAccepted by bash and not parsed, with the first line that is taken for no shell text:");
    for (item, at) in not_parsed.iter().take(SHOWN) {
        let (line, text) = at.clone().unwrap_or_default();
        println!("  {}, line {line}: {text}", item.origin);
    }
    println!("  ({} in all)", not_parsed.len());
}

fn print_reasons(reasons: &BTreeMap<(Role, Why), usize>) {
    println!("\n| opaque | why | count |\n|---|---|---|");
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), **reason));
    for ((role, why), count) in sorted {
        println!("| {role} | {why}: {} | {count} |", why.meaning());
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::Effect;

    use super::*;

    #[test]
    fn a_command_counts_once_and_its_reasons_each() {
        let opaque = |command, role, why| Effect { command, ..Effect::opaque(role, why, None) };
        let effects = vec![
            opaque(Some(0), Role::Program, Why::Variable),
            opaque(Some(0), Role::Code, Why::Input),
            opaque(Some(1), Role::Target, Why::Variable),
            opaque(None, Role::Code, Why::Budget),
            Effect { command: Some(2), ..Effect::of(EffectKind::Read) },
        ];
        let mut reasons = BTreeMap::new();
        assert_eq!(count_opaque(&Facts { effects, ..Facts::default() }, &mut reasons), 2);
        assert_eq!(reasons.values().sum::<usize>(), 3);
    }
}
