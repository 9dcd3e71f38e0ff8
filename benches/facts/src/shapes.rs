//! Hostile text: a separate process analyses each shape at each size. A shape that aborts or does not end is reported,
//! and the others are still measured.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use castellan_corpus::{Hostile, hostile, shell_call};

use crate::analysis;
use crate::table::{percentile, time_us};

/// Sizes, each with its limit in µs.
const SIZES: &[(&str, usize, f64)] =
    &[("8 KiB", 8 << 10, 30_000.0), ("64 KiB", 64 << 10, 50_000.0), ("1 MiB", 1 << 20, 50_000.0)];

/// Rounds of each text.
const ROUNDS: usize = 5;

/// A shape with a longer time is reported as endless.
const TIME_MAX: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(2);

/// Rows of the slowest shapes.
const SLOWEST: usize = 20;

/// The result of a shape at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Took {
    /// µs of the slowest run.
    Us(f64),
    /// The process ended in another way than expected.
    Aborted,
    /// It ran longer than [`TIME_MAX`].
    Endless,
}

impl Took {
    fn us(self) -> f64 {
        match self {
            Took::Us(us) => us,
            Took::Aborted | Took::Endless => f64::INFINITY,
        }
    }

    fn shown(self) -> String {
        match self {
            Took::Us(us) => format!("{us:.0}"),
            Took::Aborted => "**aborts**".to_owned(),
            Took::Endless => format!("**over {} s**", TIME_MAX.as_secs()),
        }
    }
}

pub(crate) fn print() -> anyhow::Result<()> {
    let shapes = all()?;
    println!(
        "\nHostile text, {} shapes, each {ROUNDS} times at each size in a process of its own; µs of the slowest run.\n\n\
         | size | median shape | slowest shape | | target | over it | aborts |\n|---|---|---|---|---|---|---|",
        shapes.len()
    );
    let mut rows: Vec<(&Hostile, Vec<Took>)> = shapes.iter().map(|shape| (shape, Vec::new())).collect();
    for (at, (name, bytes, reach)) in SIZES.iter().enumerate() {
        for (shape, took) in &mut rows {
            took.push(run(&shape.name, *bytes)?);
        }
        let here: Vec<(&str, Took)> =
            rows.iter().filter_map(|(shape, took)| Some((shape.name.as_str(), *took.get(at)?))).collect();
        let over = here.iter().filter(|(_, took)| took.us() > *reach).count();
        let aborts = here.iter().filter(|(_, took)| *took == Took::Aborted).count();
        let slowest =
            here.iter().max_by(|a, b| a.1.us().total_cmp(&b.1.us())).context("there are no shapes")?;
        let mut all: Vec<f64> = here.iter().map(|(_, took)| took.us()).collect();
        println!(
            "| {name} | {:.0} | {} | {} | {reach:.0} | {over} | {aborts} |",
            percentile(&mut all, 50),
            slowest.1.shown(),
            slowest.0
        );
    }
    let sizes: Vec<&str> = SIZES.iter().map(|(name, ..)| *name).collect();
    println!(
        "\nThe slowest shapes; µs.\n\n| shape | {} |\n|---{}|",
        sizes.join(" | "),
        "|---".repeat(SIZES.len())
    );
    // The worst ratio to the limit over all sizes.
    let worst = |took: &[Took]| {
        took.iter().zip(SIZES).map(|(took, (_, _, reach))| took.us() / reach).fold(0.0, f64::max)
    };
    rows.sort_by(|a, b| worst(&b.1).total_cmp(&worst(&a.1)));
    for (at, (shape, took)) in rows.iter().enumerate() {
        if at < SLOWEST || worst(took) > 1.0 {
            let took: Vec<String> = took.iter().map(|took| took.shown()).collect();
            println!("| {} | {} |", shape.name, took.join(" | "));
        }
    }
    Ok(())
}

/// Runs in the process of one shape, and prints the µs of the slowest run.
pub(crate) fn run_one(name: &str, bytes: &str) -> anyhow::Result<()> {
    let shapes = all()?;
    let shape = shapes.iter().find(|shape| shape.name == name).context("no such shape")?;
    let call = shell_call(&shape.text(bytes.parse()?));
    let setting = analysis::setting();
    println!("{}", (0..ROUNDS).map(|_| time_us(&call, &setting)).fold(0.0, f64::max));
    Ok(())
}

fn all() -> anyhow::Result<Vec<Hostile>> {
    hostile().map_err(|error| anyhow!("hostile.txt, {error}"))
}

fn run(name: &str, bytes: usize) -> anyhow::Result<Took> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--shape", name, &bytes.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("the benchmark cannot start itself")?;
    if !ends(&mut child)? {
        return Ok(Took::Endless);
    }
    let output = child.wait_with_output()?;
    let us = String::from_utf8_lossy(&output.stdout).trim().parse();
    Ok(us.map_or(Took::Aborted, Took::Us))
}

/// Waits for the child. After [`TIME_MAX`] it kills the child and returns false.
fn ends(child: &mut Child) -> anyhow::Result<bool> {
    let started = Instant::now();
    while started.elapsed() < TIME_MAX {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(POLL);
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}
