//! `castellan-bench-plans`: measures the comparison of a call with its plan, for plans of several sizes, a command of
//! the plan, other arguments, and another program. `cargo xtask bench plans` runs it. Exits with 1 over the target.

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::ensure;
use castellan_event::{Command, Effect, EffectKind, Facts, LocatedFile, Scope};
use castellan_plans::{CallView, Plan, check, covers, read};

const ROUNDS: usize = 2_000;
const WARM_UP: usize = 50;

/// Commands of the measured call, each with a written file.
const COMMANDS: usize = 20;

/// Programs of the measured plans.
const SIZES: [usize; 4] = [5, 20, 100, 1_000];

/// Limit of one command of the plan, p50, µs.
const HEAD_MAX_US: f64 = 2.0;

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-bench-plans: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> anyhow::Result<()> {
    println!("A call of {COMMANDS} commands, {ROUNDS} times; µs a command.\n");
    println!(
        "| programs in the plan | call | `check` p50 | p99 | `covers` p50 | p99 |\n|---|---|---|---|---|---|"
    );
    let mut slowest: f64 = 0.0;
    for size in SIZES {
        let plan = plan(size)?;
        for (name, program, argument) in [
            ("planned", "tool3", "run"),
            ("other arguments", "tool3", "stop"),
            ("other program", "tol", "run"),
        ] {
            let facts = facts(program, argument);
            let view =
                CallView { facts: &facts, root: "/w", branch: None, calls_so_far: 0, started_s: 0, now_s: 0 };
            let mut checked = measure(|| check(&plan, &view).len());
            let mut covered = measure(|| covers(&plan, &view).outside.len());
            println!(
                "| {size} | {name} | {:.2} | {:.2} | {:.2} | {:.2} |",
                percentile(&mut checked, 50),
                percentile(&mut checked, 99),
                percentile(&mut covered, 50),
                percentile(&mut covered, 99),
            );
            if name == "planned" {
                slowest = slowest.max(percentile(&mut checked, 50));
            }
        }
    }
    ensure!(slowest <= HEAD_MAX_US, "a command of the plan takes {slowest:.2} µs, more than {HEAD_MAX_US}");
    Ok(())
}

fn plan(size: usize) -> anyhow::Result<Plan> {
    let mut yaml = "castellan_plan: 1\nwrites: [src, tests/**/*.rs, target]\ncommands:\n".to_owned();
    for number in 0..size {
        writeln!(yaml, "  - tool{number} run *")?;
    }
    Ok(read(yaml.as_bytes(), &|_| Vec::new())?)
}

/// Facts of commands that differ in their arguments, so that each departure is one of its own.
fn facts(program: &str, argument: &str) -> Facts {
    let command = |number: usize| Command {
        name: Some(program.to_owned()),
        path: Some(format!("/usr/bin/{program}")),
        args: vec![argument.to_owned(), number.to_string()],
        line: format!("{program} {argument} {number}"),
        wrappers_are_neutral: true,
        ..Command::default()
    };
    let write = |number: usize| {
        let path = Some(format!("/w/tests/unit/case{number}.rs"));
        let scope = Some(Scope::Workspace);
        let file = LocatedFile { path, scope, place: scope, ..LocatedFile::default() };
        Effect { command: Some(number), ..Effect::on_file(EffectKind::Write, file) }
    };
    Facts {
        commands: (0..COMMANDS).map(command).collect(),
        effects: (0..COMMANDS).map(write).collect(),
        ..Facts::default()
    }
}

/// Returns the microseconds of each round, for one command.
fn measure(mut work: impl FnMut() -> usize) -> Vec<f64> {
    let mut took = Vec::with_capacity(ROUNDS);
    for round in 0..WARM_UP + ROUNDS {
        let start = Instant::now();
        black_box(work());
        let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(COMMANDS).unwrap_or(1));
        if round >= WARM_UP {
            took.push(time);
        }
    }
    took
}

fn percentile(all: &mut [f64], percent: usize) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get((all.len() * percent / 100).min(all.len().saturating_sub(1))).copied().unwrap_or_default()
}
