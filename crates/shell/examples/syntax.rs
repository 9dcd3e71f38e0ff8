//! Compares what the parser accepts with `SHELL -n`, for the shells that are installed:
//! `cargo run --release --example syntax -- SHELL [--all] [--fuzz [--count N] [--seed N]] PATH...`. Texts come from files and
//! folders, or are generated from them. Prints counts, differences without a known reason, and the speed of the parser.

#[path = "../tests/shared/accepted.rs"]
mod accepted;
#[path = "../tests/shared/collected.rs"]
mod collected;
#[path = "../tests/shared/generated.rs"]
mod generated;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use accepted::{Answer, Judge};
use castellan_shell::syntax;
use generated::Generator;

/// Shown differences, without `--all`.
const SHOWN: usize = 40;

/// Bytes of a text that is changed.
const SEED_BYTES_MAX: usize = 300;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u64| {
        let at = words.iter().position(|word| word == name);
        at.and_then(|at| words.get(at + 1)).and_then(|word| word.parse().ok()).unwrap_or(default)
    };
    let has = |name: &str| words.iter().any(|word| word == name);
    let (count, seed) = (number("--count", 100_000), number("--seed", 1));
    let is_value =
        |at: usize| at > 0 && words.get(at - 1).is_some_and(|word| word == "--count" || word == "--seed");
    let plain = words.iter().enumerate().filter(|(at, word)| !word.starts_with("--") && !is_value(*at));
    let mut plain = plain.map(|(_, word)| word.as_str());
    let judge = Judge::new(plain.next().unwrap_or("bash"));
    let paths: Vec<PathBuf> = plain.map(PathBuf::from).collect();
    let mut texts = collected::texts(&paths)?;
    if has("--fuzz") {
        texts.retain(|text| text.len() <= SEED_BYTES_MAX);
        texts = (0..count)
            .map(|number| Generator::new(seed.wrapping_mul(1 << 32) + number, &texts).text())
            .collect();
    }
    let speed = speed(&judge, &texts);
    let answers = asked(&judge, &texts);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut shown = if has("--all") { usize::MAX } else { SHOWN };
    let mut different: Vec<(&String, &Answer)> = texts.iter().zip(&answers).collect();
    println!("{} texts, {speed} ns per KiB", texts.len());
    different.sort_by_key(|(text, _)| text.len());
    for (text, answer) in different {
        *counts.entry(answer.to_string()).or_default() += 1;
        if answer.is_unexplained() && shown > 0 {
            shown -= 1;
            println!("== {answer}\n{}", judge.shrunk(text));
        }
    }
    counts.iter().for_each(|(answer, count)| println!("{count:>8} {answer}"));
    Ok(())
}

/// Asks the shell about each text, in several threads.
fn asked(judge: &Judge, texts: &[String]) -> Vec<Answer> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = texts.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = texts
            .chunks(size)
            .map(|part| scope.spawn(|| part.iter().map(|text| judge.answer(text)).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

/// Returns the time of the parser. The fastest of three runs counts: other programs disturb the others.
fn speed(judge: &Judge, texts: &[String]) -> u128 {
    let time = |text: &String| {
        let runs = (0..3).map(|_| {
            let start = Instant::now();
            drop(syntax::parse(text, judge.shell, usize::MAX));
            start.elapsed()
        });
        runs.min().unwrap_or_default()
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    texts.iter().map(time).sum::<Duration>().as_nanos() / (bytes as u128 / 1024).max(1)
}
