//! `castellan-ordinary [--seed N] [--list | --json | --calls]`: judges the ordinary set of a seed under each profile,
//! and prints the figures and the causes of interruptions. Without a seed, the time gives it. `--list` adds every
//! interrupted call; `--calls` prints all calls and judges none. `cargo xtask accuracy --ordinary` runs it.
//!
//! `report` prints; `target` compares the figures with what they must reach.

mod report;
mod target;

use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail, ensure};
use castellan_ordinary::{Profiles, projects};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ordinary: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug, Default)]
struct Options {
    seed: Option<u64>,
    list: bool,
    json: bool,
    calls: bool,
}

fn run() -> anyhow::Result<()> {
    let options = options()?;
    let seed = match options.seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let projects = projects(seed).map_err(anyhow::Error::msg)?;
    if options.calls {
        print!("{}", report::calls(&projects));
        return Ok(());
    }
    let started = Instant::now();
    let measured = Profiles::compiled()?.measure(&projects)?;
    if options.json {
        println!("{}", report::json(seed, &measured));
    } else {
        print!("{}", report::text(seed, &projects, &measured, options.list));
        println!("Judged in {:.1} s.", started.elapsed().as_secs_f32());
    }
    let missed: Vec<String> = measured.iter().filter_map(target::missed).collect();
    ensure!(missed.is_empty(), "seed {seed}: {}", missed.join("; "));
    Ok(())
}

fn options() -> anyhow::Result<Options> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seed" => {
                let seed = arguments.next().context("--seed takes a number")?;
                options.seed = Some(seed.parse().context("--seed takes a number")?);
            }
            "--list" => options.list = true,
            "--json" => options.json = true,
            "--calls" => options.calls = true,
            _ => bail!("usage: castellan-ordinary [--seed N] [--list | --json | --calls]"),
        }
    }
    Ok(options)
}
