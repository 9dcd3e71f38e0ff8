//! Measures and prints the time of one call, by size and shape.

use std::time::Instant;

use anyhow::Context;
use castellan_event::Call;
use castellan_facts::Setting;

use crate::ordinary::{COMMANDS, SCRIPTS, TYPICAL_BYTES};
use crate::{analysis, instructions, ordinary, programs, shapes};

const WARM_UP: usize = 3;
/// Rounds over all calls of a set.
const ROUNDS: usize = 200;

/// Limit for an everyday command, in µs.
const TYPICAL_US: f64 = 40.0;

/// Rows of the slowest commands.
const SLOWEST: usize = 10;

pub(crate) fn print() -> anyhow::Result<()> {
    let setting = analysis::setting();
    everyday(&setting)?;
    scripts(&setting)?;
    programs::print()?;
    shapes::print()
}

fn everyday(setting: &Setting) -> anyhow::Result<()> {
    let typical = ordinary::set(COMMANDS).context("there are no commands")?;
    let mut each: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); typical.len()];
    for round in 0..WARM_UP + ROUNDS {
        for (call, samples) in typical.iter().zip(&mut each) {
            let took = time_us(call, setting);
            if round >= WARM_UP {
                samples.push(took);
            }
        }
    }
    let mut medians: Vec<(f64, &Call)> =
        each.iter_mut().map(|samples| percentile(samples, 50)).zip(&typical).collect();
    let mut all = each.concat();
    println!(
        "{} everyday commands under {TYPICAL_BYTES} bytes, {ROUNDS} rounds in turns; µs. The world is a table.\n\n\
         | | p50 | p99 | target | instructions |\n|---|---|---|---|---|\n\
         | one command | {:.1} | {:.1} | {TYPICAL_US:.0} | {} |",
        typical.len(),
        percentile(&mut all, 50),
        percentile(&mut all, 99),
        shown(instructions::of_one(COMMANDS)),
    );
    medians.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("\nThe slowest of them:\n\n| command | p50 |\n|---|---|");
    for (median, call) in medians.iter().take(SLOWEST) {
        let text = call.command.as_deref().unwrap_or_default().replace('\n', "⏎").replace('|', "\\|");
        println!("| `{text}` | {median:.1} |");
    }
    Ok(())
}

fn scripts(setting: &Setting) -> anyhow::Result<()> {
    println!(
        "\nOrdinary shell: everyday commands one below the other; µs.\n\n\
         | size | p50 | p99 | target | instructions |\n|---|---|---|---|---|"
    );
    for (name, _, reach) in SCRIPTS {
        let mut samples = Vec::new();
        for call in ordinary::set(name).context("there are no scripts")? {
            (0..WARM_UP).for_each(|_| drop(analysis::facts(&call, setting)));
            samples.extend((0..ROUNDS).map(|_| time_us(&call, setting)));
        }
        let reach = reach.map(|reach| format!("{reach:.0}")).unwrap_or_default();
        println!(
            "| {name} | {:.0} | {:.0} | {reach} | {} |",
            percentile(&mut samples, 50),
            percentile(&mut samples, 99),
            shown(instructions::of_one(name))
        );
    }
    Ok(())
}

/// Returns the instructions of one call; empty without callgrind.
fn shown(instructions: Option<u64>) -> String {
    instructions.map(|count| count.to_string()).unwrap_or_default()
}

pub(crate) fn time_us(call: &Call, setting: &Setting) -> f64 {
    let started = Instant::now();
    let facts = analysis::facts(call, setting);
    let took = started.elapsed().as_secs_f64() * 1e6;
    std::hint::black_box(facts);
    took
}

/// Returns the value below which `percent` of the samples are (nearest rank).
pub(crate) fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (samples.len() * percent).div_ceil(100);
    samples.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
