//! `castellan-conformance falco [PATH]` and `castellan-conformance rules [PATH] [-v]` compare real Falco's answers with
//! this engine's. `castellan-conformance forerunners --facts [PATH]` compares earlier guards' answers with castellan's
//! facts, and `castellan-conformance disguises` does so for disguised commands. `castellan-conformance bypasses` prints
//! the catalogue of disguises, `messages` and `incidents` print other pages. `cargo xtask conformance` runs it. The engine must not depend on the recorded formats.

mod answer;
mod bypasses;
mod case;
mod decisions;
mod described;
mod difference;
mod disguises;
mod falco;
mod forerunners;
mod incidents;
mod known;
mod messages;
mod rules;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["all"] => all(),
        ["falco"] => recorded("falco").map_or(Ok(()), |folder| falco::run(&folder, falco::Scope::Recorded)),
        ["falco", path] => given(path).and_then(|path| falco::run(&path, falco::Scope::Other)),
        ["details"] => details(),
        ["rules"] => recorded("rules").map_or(Ok(()), |folder| rules::run(&folder, false)),
        ["rules", "-v"] => recorded("rules").map_or(Ok(()), |folder| rules::run(&folder, true)),
        ["rules", path] => given(path).and_then(|path| rules::run(&path, false)),
        ["rules", path, "-v"] | ["rules", "-v", path] => given(path).and_then(|path| rules::run(&path, true)),
        ["disguises"] => disguises::run(),
        ["bypasses"] => bypasses::run(),
        ["messages"] => messages::run(),
        ["incidents"] => incidents::run(),
        ["forerunners", "--facts"] => {
            recorded("forerunners.jsonl").map_or(Ok(()), |file| forerunners::run(&file))
        }
        ["forerunners"] => recorded("forerunners.jsonl").map_or(Ok(()), |file| decisions::run(&file)),
        ["forerunners", path] if *path != "--facts" => given(path).and_then(|path| decisions::run(&path)),
        ["forerunners", "--facts", path] => given(path).and_then(|path| forerunners::run(&path)),
        _ => Err(anyhow::anyhow!(
            "usage: cargo xtask conformance (all | falco [PATH] | details | rules [PATH] [-v] | forerunners [--facts] [PATH] | disguises | bypasses | messages | incidents)"
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that the test command runs, in one process.
fn all() -> anyhow::Result<()> {
    let calls = recorded("forerunners.jsonl");
    let outcomes = [
        ("falco", recorded("falco").map_or(Ok(()), |folder| falco::run(&folder, falco::Scope::Recorded))),
        ("details", details()),
        ("rules", recorded("rules").map_or(Ok(()), |folder| rules::run(&folder, false))),
        ("forerunners --facts", calls.as_deref().map_or(Ok(()), forerunners::run)),
        ("forerunners", calls.as_deref().map_or(Ok(()), decisions::run)),
        ("disguises", disguises::run()),
    ];
    let failed =
        outcomes.into_iter().filter_map(|(name, outcome)| Some(format!("{name}: {:#}", outcome.err()?)));
    let failed: Vec<String> = failed.collect();
    anyhow::ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Runs the cases of this crate: details of the language of which there is no recording.
fn details() -> anyhow::Result<()> {
    falco::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("details"), falco::Scope::Other)
}

/// Returns a folder or file of recorded answers beside the repository; `None`, with a note, if it is missing.
fn recorded(name: &str) -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases").join(name);
    if place.exists() {
        return Some(place);
    }
    println!("SKIPPED: `{name}`: no recorded cases lie beside the repository, in ../shared/cases/{name}");
    None
}

fn given(path: &str) -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(path);
    if path.exists() { Ok(path) } else { bail!("`{}` does not exist", path.display()) }
}

/// Returns the files of a folder with an extension, sorted. For a file, returns that file.
fn files(path: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("`{}`", path.display()))?;
    let files: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut files = files?;
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))
}
