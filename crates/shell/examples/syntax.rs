//! Compares what the parser accepts with `SHELL -n`: `cargo run --release --example syntax -- --accept=SHELL PATH...` for the
//! texts of files and folders, `--fuzz=SHELL [--count=N] [--seed=N] PATH...` for texts that are generated or changed. Prints
//! counts, the differences without a known reason, with `--all` also the others, and the speed of the parser.

#[path = "../tests/shared/accepted.rs"]
mod accepted;
#[path = "../tests/shared/collected.rs"]
mod collected;
#[path = "../tests/shared/generated.rs"]
mod generated;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use accepted::{Answer, Judge};
use castellan_shell::syntax;
use generated::Generator;

/// Bytes of a text that is changed.
const SEED_BYTES_MAX: usize = 300;

/// Bytes of a text that is an argument of the shell.
const TEXT_BYTES_MAX: usize = 20_000;

/// A difference: the text, shortened, and its known reason.
type Difference = (Answer, String, Option<&'static str>);

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
    let number =
        |name: &str, default: u64| option(name).and_then(|word| word.parse().ok()).unwrap_or(default);
    let is_generated = option("--fuzz=").is_some();
    let shell = option("--fuzz=").or(option("--accept=")).unwrap_or("bash");
    let judge = Judge::new(shell).filter(Judge::is_installed);
    let judge = judge.ok_or_else(|| std::io::Error::other("no such shell: bash, zsh, dash or ksh"))?;
    let paths: Vec<PathBuf> =
        words.iter().filter(|word| !word.starts_with("--")).map(PathBuf::from).collect();
    let mut texts = collected::texts(&paths)?;
    let bytes_max = if is_generated { SEED_BYTES_MAX } else { TEXT_BYTES_MAX };
    texts.retain(|text| text.len() <= bytes_max && !text.contains('\0'));
    if is_generated {
        let first = number("--seed=", 1) << 32;
        let made = |number| Generator::new(first + number, &texts).text();
        texts = (0..number("--count=", 100_000)).map(made).collect();
    }
    println!("{} texts, {} ns per KiB", texts.len(), speed(&judge, &texts));
    report(compared(&judge, &texts), words.iter().any(|word| word == "--all"));
    Ok(())
}

fn report((answers, differences): (Vec<Option<Answer>>, Vec<Difference>), shows_all: bool) {
    let mut counts: BTreeMap<(Answer, &str), usize> = BTreeMap::new();
    let given = answers.iter().flatten();
    given.filter(|one| one.shell == one.parser).for_each(|one| *counts.entry((*one, "")).or_default() += 1);
    for (answer, text, reason) in differences {
        let reason = reason.unwrap_or("WITHOUT A REASON");
        *counts.entry((answer, reason)).or_default() += 1;
        if shows_all || reason == "WITHOUT A REASON" {
            println!("== shell {}, parser {} {reason}\n{text}", answer.shell, answer.parser);
        }
    }
    for ((answer, reason), count) in counts {
        println!("{count:>8} shell {}, parser {} {reason}", answer.shell, answer.parser);
    }
    println!("{:>8} not answered in time", answers.iter().filter(|answer| answer.is_none()).count());
}

/// Asks the shell about each text, in several threads.
fn compared(judge: &Judge, texts: &[String]) -> (Vec<Option<Answer>>, Vec<Difference>) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut answers, mut differences) = (Vec::new(), Vec::new());
        while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let answer = judge.answer(text);
            answers.push(answer);
            if let Some(answer) = answer.filter(|answer| answer.shell != answer.parser) {
                let text = judge.shrunk(text, answer);
                let reason = judge.reason(&text, answer);
                differences.push((answer, text, reason));
            }
        }
        (answers, differences)
    };
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let parts: Vec<_> = parts.into_iter().filter_map(|part| part.join().ok()).collect();
        let (answers, differences): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (answers.concat(), differences.concat())
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
