//! Programs in other languages: the time to read an ordinary and a tiny program, and the time of the first use of each
//! grammar, in its own process. `hostile.rs` measures hostile programs.

use std::process::Command;

use anyhow::Context;
use castellan_languages::{Language, Reading, Start, What, read};

use crate::hostile;
use crate::table::percentile;

/// Rounds over an ordinary program.
const ROUNDS: usize = 200;

/// Limit for an ordinary program of 4 KiB, in µs.
const ORDINARY_US: f64 = 1_000.0;

/// The smallest program, also for the first use of a grammar.
const TINY: &str = "x";

pub(crate) fn print() -> anyhow::Result<()> {
    println!(
        "\nPrograms in other languages, read alone; µs of this thread on a processor. Ordinary: `corpus/programs`, {ROUNDS} rounds. \
         Tiny: one name. First: the first of a process.\n\n\
         | language | bytes | p50 | p99 | target | holes | tiny p50 | first |\n|---|---|---|---|---|---|---|---|"
    );
    for language in Language::ALL {
        let (tiny, _) = times(*language, TINY);
        let first = first_of(*language)?;
        let Some(text) = castellan_corpus::program(language.as_str()) else {
            println!("| {language} | | | | | | {tiny:.1} | {first} |");
            continue;
        };
        let (p50, p99) = times(*language, &text);
        let read = read(*language, &text, &Start::default());
        let holes = read.acts.iter().filter(|act| matches!(act.what, What::Hole { .. })).count();
        println!(
            "| {language} | {} | {p50:.0} | {p99:.0} | {ORDINARY_US:.0} | {holes} | {tiny:.1} | {first} |",
            text.len()
        );
    }
    hostile::print();
    Ok(())
}

/// Prints the time of the first use of a language in this process, in µs.
pub(crate) fn run_first(language: &str) -> anyhow::Result<()> {
    let language = Language::ALL.iter().find(|one| one.as_str() == language).context("no such language")?;
    let (took, _) = time_us(*language, TINY);
    println!("{took:.0}");
    Ok(())
}

fn first_of(language: Language) -> anyhow::Result<String> {
    let own = std::env::current_exe()?;
    let output = Command::new(own).args(["--first", language.as_str()]).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn times(language: Language, text: &str) -> (f64, f64) {
    let mut samples: Vec<f64> = (0..ROUNDS).map(|_| time_us(language, text).0).collect();
    (percentile(&mut samples, 50), percentile(&mut samples, 99))
}

fn time_us(language: Language, text: &str) -> (f64, Reading) {
    let started = hostile::cpu_us();
    let reading = std::hint::black_box(read(language, text, &Start::default()));
    (hostile::cpu_us() - started, reading)
}
