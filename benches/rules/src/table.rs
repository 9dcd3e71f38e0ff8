//! Measures and prints time and instructions of one call, load time and memory.

use std::time::Instant;

use anyhow::ensure;
use castellan_rules::{Plain, RuleSet};

use crate::call::{Evaluator, ShellCall};
use crate::sets::{self, Set};
use crate::{instructions, memory};

/// Rounds of one call each; engine and plain evaluator take turns.
const ROUNDS: usize = 3_000;
const WARM_UP: usize = 100;

/// The plain evaluator runs in one round of this many, because it is slow.
const PLAIN_EVERY: usize = 10;

const LOADS: usize = 5;

pub(crate) fn print() -> anyhow::Result<()> {
    let sets = sets::all()?;
    println!(
        "One call: rows made, rules tested, messages rendered. {ROUNDS} calls by the engine, {} by the plain \
         evaluator, in turns; µs. Cold: the engine's call right after the plain evaluator's, which has filled the caches \
         with other things.\n\n\
         | rules | call | matches | engine p50 | engine p99 | engine cold p50 | plain p50 | plain p99 | plain / engine | instructions, engine | instructions, plain |\n\
         |---|---|---|---|---|---|---|---|---|---|---|",
        ROUNDS / PLAIN_EVERY
    );
    for set in &sets {
        let rules = set.load(true)?;
        let plain = Plain::new(&rules)?;
        for (command, kind) in set.commands.into_iter().zip(["matched", "unmatched"]) {
            print_call(set, &rules, &plain, command, kind)?;
        }
    }
    println!(
        "\nLoading: YAML to a set that is ready, {LOADS} times, wall and CPU time; memory is what the set holds, with the \
         first calls' patterns compiled in the last column.\n\n\
         | rules | number | wall p50 ms | CPU p50 ms | CPU best ms | bytes a rule | bytes a rule after the calls |\n\
         |---|---|---|---|---|---|---|"
    );
    sets.iter().try_for_each(print_load)
}

fn print_call(
    set: &Set,
    rules: &RuleSet,
    plain: &Plain<'_>,
    command: &str,
    kind: &str,
) -> anyhow::Result<()> {
    let call = ShellCall::new(command)?;
    let (engine, plain) = (Evaluator::Engine(rules), Evaluator::Plain(plain));
    let hits = call.judge(engine)?;
    ensure!(hits == call.judge(plain)?, "engine and plain evaluator disagree on `{command}`");
    ensure!(hits.is_empty() == (kind == "unmatched"), "`{command}` has {} matches", hits.len());
    let (mut fast, mut cold, mut slow) = (Vec::with_capacity(ROUNDS), Vec::new(), Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        let took = time_us(&call, engine)?;
        let follows_plain = round % PLAIN_EVERY == 1;
        if round >= WARM_UP {
            if follows_plain { cold.push(took) } else { fast.push(took) }
        }
        if round % PLAIN_EVERY == 0 {
            slow.push(time_us(&call, plain)?);
        }
    }
    let count = |evaluator| {
        instructions::of_one_call(set.name, command, evaluator)
            .map_or_else(|| "not available here".to_owned(), |count| count.to_string())
    };
    let (fast_p50, slow_p50) = (percentile(&mut fast, 50), percentile(&mut slow, 50));
    println!(
        "| {} | {kind} | {} | {fast_p50:.1} | {:.1} | {:.1} | {slow_p50:.1} | {:.1} | {:.1} | {} | {} |",
        set.name,
        hits.len(),
        percentile(&mut fast, 99),
        percentile(&mut cold, 50),
        percentile(&mut slow, 99),
        slow_p50 / fast_p50,
        count("engine"),
        count("plain"),
    );
    Ok(())
}

fn print_load(set: &Set) -> anyhow::Result<()> {
    let (mut wall_ms, mut cpu_ms) = (Vec::new(), Vec::new());
    for _ in 0..LOADS {
        let (started, cpu_started) = (Instant::now(), cpu_time_ms());
        let rules = set.load(false)?;
        wall_ms.push(started.elapsed().as_secs_f64() * 1e3);
        cpu_ms.push(cpu_time_ms() - cpu_started);
        drop(rules);
    }
    let before = memory::held();
    let rules = set.load(false)?;
    let loaded = memory::held().saturating_sub(before);
    for command in set.commands {
        ShellCall::new(command)?.judge(Evaluator::Engine(&rules))?;
    }
    let called = memory::held().saturating_sub(before);
    let number = rules.rules().len().max(1);
    println!(
        "| {} | {number} | {:.1} | {:.1} | {:.1} | {} | {} |",
        set.name,
        percentile(&mut wall_ms, 50),
        percentile(&mut cpu_ms, 50),
        percentile(&mut cpu_ms, 0),
        loaded / number,
        called / number
    );
    Ok(())
}

fn time_us(call: &ShellCall, evaluator: Evaluator<'_>) -> anyhow::Result<f64> {
    let started = Instant::now();
    let hits = call.judge(evaluator)?;
    let took = started.elapsed().as_secs_f64() * 1e6;
    std::hint::black_box(hits);
    Ok(took)
}

/// Returns the CPU time of this thread, which a busy machine does not increase; NaN if the kernel does not report it.
fn cpu_time_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns: Option<f64> = text.split(' ').next().and_then(|word| word.parse().ok());
    ns.map_or(f64::NAN, |ns| ns / 1e6)
}

/// Returns the value below which `percent` of the samples are (nearest rank).
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (samples.len() * percent).div_ceil(100);
    samples.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
