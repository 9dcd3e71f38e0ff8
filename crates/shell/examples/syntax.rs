//! Compares the parser `syntax` with the old one, tree by tree, over the texts in files and folders:
//! `cargo run --release --example syntax -- [--all] [--only=CLASS] PATH...`. Prints counts, the first differences, and the
//! speed of both. With `--accept=SHELL` it compares what the parser accepts with `SHELL -n`.

#[path = "../tests/shared/collected.rs"]
mod collected;
#[path = "../tests/parse/dump.rs"]
mod dump;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use castellan_shell::Parsed;
use castellan_shell::syntax::{self, Shell};

/// Shown differences, without `--all`.
const SHOWN: usize = 40;

fn main() -> std::io::Result<()> {
    let (options, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let shown = if options.iter().any(|one| one == "--all") { usize::MAX } else { SHOWN };
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    let texts = collected::texts(&paths)?;
    if let Some(shell) = options.iter().find_map(|one| one.strip_prefix("--accept=")) {
        accepted(shell, &texts, shown);
        return Ok(());
    }
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut differences = Vec::new();
    let (mut old_time, mut new_time) = (Duration::ZERO, Duration::ZERO);
    let mut bytes = 0;
    let mut slowest = (Duration::ZERO, "");
    for text in &texts {
        let (old, took) = timed(|| castellan_shell::parse(text));
        old_time += took;
        let (new, took) = timed(|| syntax::parse(text, Shell::Bash, usize::MAX).0);
        new_time += took;
        slowest = slowest.max((took, text));
        bytes += text.len();
        let class = class(text, &old, &new);
        *classes.entry(class).or_default() += 1;
        if !matches!(class, "equal" | "equal but for spans" | "equal but for quoted flags") {
            differences.push((class, text, dump::script(&old.script), dump::script(&new.script)));
        }
    }
    differences.sort_by_key(|(class, text, ..)| (*class, text.len()));
    let only = options.iter().find_map(|one| one.strip_prefix("--only="));
    differences.retain(|(class, ..)| only.is_none_or(|only| class.contains(only)));
    for (class, text, old, new) in differences.iter().take(shown) {
        let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
        let cut = |one: &str| one.chars().skip(same.saturating_sub(60)).take(240).collect::<String>();
        let text: String = text.chars().take(600).collect();
        println!("== {class}\n{text}\n-- old: {}\n-- new: {}", cut(old), cut(new));
    }
    println!("{} texts: {classes:?}", texts.len());
    let per_kib = |time: Duration| time.as_nanos() / (bytes as u128 / 1024).max(1);
    let begin: String = slowest.1.chars().take(60).collect();
    println!("slowest: {:?} for {} bytes of {begin:?}", slowest.0, slowest.1.len());
    println!("ns per KiB: old {}, new {}", per_kib(old_time), per_kib(new_time));
    Ok(())
}

/// Returns the result and the time of the fastest of three runs: other programs disturb the others.
fn timed<T>(run: impl Fn() -> T) -> (T, Duration) {
    let one = || {
        let start = Instant::now();
        let result = run();
        (result, start.elapsed())
    };
    let (result, first) = one();
    (result, first.min(one().1).min(one().1))
}

/// Asks a shell, which runs nothing of the text. The status is no answer for `[[`.
fn is_accepted(shell: &str, text: &str) -> bool {
    let mut asked = std::process::Command::new("timeout");
    let checked = asked.args(["5", shell, "-n", "-c", text]).output();
    checked.is_ok_and(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        output.status.success() && said.lines().all(|line| line.contains("warning"))
    })
}

/// Prints the texts that only one of the shell and the parser accepts.
fn accepted(name: &str, texts: &[String], shown: usize) {
    let shell = match name {
        "zsh" => Shell::Zsh,
        "dash" => Shell::Posix,
        "ksh" => Shell::Ksh,
        _ => Shell::Bash,
    };
    let mut counts: BTreeMap<(bool, bool), usize> = BTreeMap::new();
    let mut shown_left = shown;
    for text in texts.iter().filter(|text| text.len() < 20_000 && !text.contains('\0')) {
        let holes = syntax::parse(text, shell, usize::MAX).0.holes;
        let parses = holes.iter().all(|hole| hole.why != castellan_event::Why::Syntax);
        let is_accepted = is_accepted(name, text);
        *counts.entry((is_accepted, parses)).or_default() += 1;
        if is_accepted != parses && shown_left > 0 {
            shown_left -= 1;
            println!(
                "== {name} {is_accepted}, castellan {parses}\n{}",
                text.chars().take(600).collect::<String>()
            );
        }
    }
    println!("{name}: (accepted by the shell, by castellan): {counts:?}");
}

fn class(text: &str, old: &Parsed, new: &Parsed) -> &'static str {
    if old == new {
        "equal"
    } else if collected::without_spans(old) == collected::without_spans(new) {
        "equal but for spans"
    } else if collected::without_quoted(old) == collected::without_quoted(new) {
        "equal but for quoted flags"
    } else {
        match (old.holes.is_empty(), new.holes.is_empty()) {
            (true, true) => "different, both whole",
            (true, false) if is_accepted("bash", text) => "new hole, accepted by bash -n",
            (true, false) => "new hole",
            (false, true) => "hole is read",
            (false, false) => "both have holes",
        }
    }
}
