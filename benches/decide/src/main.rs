//! `castellan-bench-decide`: measures one decision on everyday commands, step by step: payload to call, call to facts,
//! facts to matches of the shipped rules, and the whole decision. Every step uses the same calls in the same run, in
//! turns. `cargo xtask bench decide` runs it. With a labelled file it measures the whole decision of each call.

mod asked;
mod whole;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_corpus::commands;

use crate::asked::{Asked, Terms};

/// The allocator of the measured program.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Rounds of every command.
const ROUNDS: usize = 200;
const WARM_UP: usize = 3;

/// The measured steps of a call.
const STEPS: [&str; 4] = ["payload to call", "call to facts", "rules alone", "whole decision from facts"];

/// Limit of the pipeline's own time beside the rules, p50, µs.
const ADDED_MAX_US: f64 = 5.0;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    match print().and_then(|()| files.iter().try_for_each(|file| whole::print(file))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-bench-decide: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> anyhow::Result<()> {
    let terms = Terms::shipped()?;
    let asked: Vec<Asked> = commands().iter().map(|text| Asked::new(text)).collect::<Result<_, _>>()?;
    ensure!(!asked.is_empty(), "the corpus has no commands");
    let mut steps: [Vec<f64>; 4] = Default::default();
    let (mut added, mut whole) = (Vec::new(), Vec::new());
    for one in &asked {
        let prepared = one.prepare(&terms)?;
        let mut took: [Vec<f64>; 4] = Default::default();
        for round in 0..WARM_UP + ROUNDS {
            let times = [
                time_us(|| one.decode().map(drop))?,
                time_us(|| {
                    one.facts();
                    Ok(())
                })?,
                time_us(|| prepared.rules_alone(&terms).map(drop))?,
                time_us(|| prepared.decide(&terms).map(drop))?,
            ];
            if round >= WARM_UP {
                took.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
            }
        }
        let [decode, facts, rules, decide] = took.each_mut().map(|all| percentile(all, 50));
        added.push(decide - rules);
        whole.push(decode + facts + decide);
        steps.iter_mut().zip(took).for_each(|(all, took)| all.extend(took));
    }
    println!(
        "{} everyday commands, each {ROUNDS} times; µs.\n\n| step | p50 | p99 |\n|---|---|---|",
        asked.len()
    );
    for (name, all) in STEPS.iter().zip(&mut steps) {
        println!("| {name} | {:.1} | {:.1} |", percentile(all, 50), percentile(all, 99));
    }
    println!(
        "\nOf each command's medians:\n\n| | p50 | p99 | target |\n|---|---|---|---|\n\
         | what the pipeline adds to the rules | {:.1} | {:.1} | {ADDED_MAX_US} |\n| payload to decision | {:.1} | {:.1} | |",
        percentile(&mut added, 50),
        percentile(&mut added, 99),
        percentile(&mut whole, 50),
        percentile(&mut whole, 99),
    );
    Ok(())
}

fn time_us(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let started = Instant::now();
    work().context("a call that was decided before cannot be decided")?;
    Ok(started.elapsed().as_secs_f64() * 1e6)
}

/// Returns the value below which `percent` of the samples are (nearest rank).
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (samples.len() * percent).div_ceil(100);
    samples.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
