//! `cargo xtask plain [PATH]...`: the share of sentences that are hard to read, in Markdown files and in the comments
//! of Rust files, and the worst of them. A report for the eye, not a test: a sentence that reads well aloud is fine.
//! Must not know what a file is about.

mod prose;
mod sentence;

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::root;
use sentence::Sentence;

/// Sentences shown at the end.
const SHOWN: usize = 20;

/// Files whose hard parts the next changes replace.
const LEFT_OUT: &[&str] = &["crates/facts/src/handlers", "crates/languages/src/lower"];

/// Sentences of a folder or document, and how many of them are hard.
#[derive(Default)]
struct Count {
    hard: usize,
    all: usize,
}

/// Prints the report for all files that git tracks below the paths.
pub(crate) fn report(paths: &[&str]) -> anyhow::Result<()> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut hard = Vec::new();
    for file in tracked(paths)? {
        let text = std::fs::read_to_string(root()?.join(&file)).with_context(|| format!("`{file}`"))?;
        let count = counts.entry(group(&file)).or_default();
        for (line, block) in prose::blocks(&text, file.ends_with(".rs")) {
            for sentence in sentence::sentences(&block) {
                count.all += 1;
                if sentence.is_hard() {
                    count.hard += 1;
                    hard.push((format!("{file}:{line}"), sentence));
                }
            }
        }
    }
    print(&counts, hard);
    Ok(())
}

fn print(counts: &BTreeMap<String, Count>, mut hard: Vec<(String, Sentence)>) {
    let mut rows: Vec<(&String, &Count)> = counts.iter().filter(|(_, count)| count.all > 0).collect();
    rows.sort_by(|(_, one), (_, other)| (other.hard * one.all).cmp(&(one.hard * other.all)));
    for (name, Count { hard, all }) in rows {
        println!("{:>5.1} % of {all:>6} sentences  {name}", 100.0 * ratio(*hard, *all));
    }
    let all = counts.values().map(|count| count.all).sum();
    println!("{:>5.1} % of {all:>6} sentences  in all", 100.0 * ratio(hard.len(), all));
    hard.sort_by_key(|(_, sentence)| std::cmp::Reverse((sentence.reasons.len(), sentence.words)));
    for (place, Sentence { text, reasons, .. }) in hard.iter().take(SHOWN) {
        println!("\n{place}: {}\n    {text}", reasons.join("; "));
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// The folder that a file counts for: a crate, a top folder, or the document itself.
fn group(file: &str) -> String {
    let mut parts = file.split('/');
    match (parts.next(), parts.next()) {
        (Some("crates"), Some(name)) => format!("crates/{name}"),
        (Some("docs"), Some(name)) => format!("docs/{name}"),
        (Some(top), _) => top.to_owned(),
        (None, _) => file.to_owned(),
    }
}

fn tracked(paths: &[&str]) -> anyhow::Result<Vec<String>> {
    let output = Command::new("git").args(["ls-files", "--"]).args(paths).current_dir(root()?).output()?;
    ensure!(output.status.success(), "git lists no files");
    let is_prose = |file: &&str| {
        (file.ends_with(".md") || file.ends_with(".rs"))
            && !LEFT_OUT.iter().any(|left| file.starts_with(left))
    };
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter(is_prose).map(str::to_owned).collect())
}
