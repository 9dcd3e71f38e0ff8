//! `cargo xtask accuracy`: judges all labelled calls (`corpus/labelled`, and the collected everyday commands) by the
//! shipped rules under each profile. Compares the results with the required figures, by the two halves of families.
//! `castellan bench accuracy` judges; this module must not depend on the meaning of a call. Misses of the measured half
//! are counted, and shown only on request, because people who write rules must not see them.

mod figures;
mod halves;
mod misses;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use crate::{build, corpus, root};
use figures::{Cells, FIGURES};
use halves::{Half, Halves};

const BEGIN: &str = "<!-- begin: cargo xtask accuracy --write -->\n";
const END: &str = "<!-- end -->\n";

/// A profile, and the presence of a person.
#[derive(Debug, Clone, Copy)]
struct Setting {
    profile: &'static str,
    unattended: bool,
}

const SETTINGS: [Setting; 5] = [
    Setting { profile: "standard", unattended: false },
    Setting { profile: "strict", unattended: false },
    Setting { profile: "autonomous", unattended: false },
    Setting { profile: "autonomous", unattended: true },
    Setting { profile: "kit", unattended: false },
];

impl Setting {
    fn name(self) -> String {
        format!("{}{}", self.profile, if self.unattended { ", unattended" } else { "" })
    }
}

/// The needed part of the output of `castellan bench accuracy --json`.
#[derive(Debug, Deserialize)]
struct Printed {
    families: Vec<Family>,
    misses: Vec<Miss>,
    wrong_lines: Vec<String>,
    time_us: Times,
}

#[derive(Debug, Deserialize)]
struct Family {
    family: String,
    tier: String,
    verdicts: Verdicts,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Verdicts {
    calls: usize,
    deny: usize,
    ask: usize,
    allow: usize,
    defer: usize,
}

#[derive(Debug, Deserialize)]
struct Miss {
    id: String,
    file: String,
    line: usize,
    tier: String,
    family: String,
    why: String,
    verdict: String,
    by: Vec<String>,
    input: serde_json::Value,
}

#[derive(Debug, Deserialize)]
struct Times {
    p50: Option<u64>,
    p99: Option<u64>,
}

#[derive(Debug, Default)]
struct Options {
    profile: Option<String>,
    /// The halves with listed misses.
    misses: Vec<Half>,
    write: bool,
}

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let options = options(words)?;
    let halves = Halves::read()?;
    let files = labelled()?;
    build::cargo(&["build", "--release", "--package", "castellan-cli"], "")?;
    let castellan = build::target()?.join("release/castellan");
    let mut tables = String::new();
    let mut missed = String::new();
    let mut reached = true;
    for setting in SETTINGS {
        if options.profile.as_deref().is_some_and(|profile| profile != setting.profile) {
            continue;
        }
        let printed = judge(&castellan, setting, &files)?;
        for wrong in &printed.wrong_lines {
            eprintln!("accuracy: left out: {wrong}");
        }
        let cells = Cells::of(&printed.families, &halves);
        reached &= table(setting, &cells, &printed, &mut tables);
        misses::name(setting, &printed, &halves, &mut missed);
        for half in &options.misses {
            list(setting, &printed, &halves, *half, &mut tables);
        }
    }
    print!("{tables}");
    if options.write {
        ensure!(options.profile.is_none(), "--write takes no --profile: the tables are of all");
        write(&tables)?;
        misses::write(&missed)?;
    }
    if !reached {
        eprintln!("accuracy: not everything is reached");
    }
    Ok(())
}

fn options(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options::default();
    let mut rest = words;
    loop {
        rest = match rest {
            [] => return Ok(options),
            ["--profile", profile, rest @ ..] => {
                let is_known = SETTINGS.iter().any(|setting| setting.profile == *profile);
                ensure!(is_known, "`{profile}` is not measured: standard, strict, autonomous, kit");
                options.profile = Some((*profile).to_owned());
                rest
            }
            ["--misses", "--half", "all", rest @ ..] => {
                options.misses = vec![Half::Development, Half::Measured];
                rest
            }
            ["--misses", "--half", half, rest @ ..] => {
                options.misses = vec![half.parse().map_err(anyhow::Error::msg)?];
                rest
            }
            ["--misses", rest @ ..] => {
                options.misses = vec![Half::Development];
                rest
            }
            ["--write", rest @ ..] => {
                options.write = true;
                rest
            }
            _ => {
                bail!("accuracy takes --profile NAME, --misses [--half development|measured|all] and --write")
            }
        };
    }
}

/// Returns every labelled file: first the repository's, then the collected one.
fn labelled() -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["dangerous", "benign"] {
        let folder = root()?.join("corpus/labelled").join(folder);
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            files.push(entry?.path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    files.push(corpus::benign::collected()?);
    Ok(files)
}

/// Exit code of `bench accuracy` when it left out lines. Its output reports these lines.
const INCOMPLETE: i32 = 6;

fn judge(castellan: &PathBuf, setting: Setting, files: &[PathBuf]) -> anyhow::Result<Printed> {
    let mut command = Command::new(castellan);
    command.args(["bench", "accuracy", "--json", "--profile", setting.profile]);
    if setting.unattended {
        command.arg("--unattended");
    }
    let output = command.args(files).output().context("castellan cannot be started")?;
    let is_done = output.status.success() || output.status.code() == Some(INCOMPLETE);
    ensure!(is_done, "`castellan bench accuracy`: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).context("what `castellan bench accuracy --json` prints")
}

/// Writes the tables of one profile. Returns true if every required figure is reached.
fn table(setting: Setting, cells: &Cells, printed: &Printed, tables: &mut String) -> bool {
    let _ = writeln!(tables, "### {}\n", setting.name());
    let figures: Vec<_> =
        FIGURES.iter().filter(|figure| figure.profiles.contains(&setting.profile)).collect();
    let mut reached = true;
    if !figures.is_empty() {
        tables.push_str("| | target | development | measured | all | |\n|---|---|---|---|---|---|\n");
    }
    for figure in figures {
        let is_met = figure.is_met(cells.of_tiers(figure.tiers, None));
        reached &= is_met;
        let [development, measured, all] = [Some(Half::Development), Some(Half::Measured), None]
            .map(|half| figure.shown(cells.of_tiers(figure.tiers, half)));
        let met = if is_met { "met" } else { "**not met**" };
        let _ = writeln!(
            tables,
            "| {} | {} | {development} | {measured} | {all} | {met} |",
            figure.name,
            figure.wanted()
        );
    }
    tables.push_str("\n| tier | calls | deny | ask | allow | defer |\n|---|---|---|---|---|---|\n");
    for tier in cells.tiers() {
        let Verdicts { calls, deny, ask, allow, defer } = cells.of_tiers(&[tier], None);
        let _ = writeln!(tables, "| {tier} | {calls} | {deny} | {ask} | {allow} | {defer} |");
    }
    if let (Some(half), Some(most)) = (printed.time_us.p50, printed.time_us.p99) {
        let _ = writeln!(tables, "\nFrom the agent's JSON to the decision: p50 {half} µs, p99 {most} µs.");
    }
    tables.push('\n');
    reached
}

/// Lists every call of a half that misses a figure required in this profile.
fn list(setting: Setting, printed: &Printed, halves: &Halves, half: Half, tables: &mut String) {
    let counts = |miss: &&Miss| figures::counts(setting.profile, miss);
    let misses: Vec<&Miss> =
        printed.misses.iter().filter(|miss| halves.of(&miss.family) == half).filter(counts).collect();
    let _ = writeln!(tables, "Missed in the half {}: {}\n", half.as_str(), misses.len());
    for Miss { id, file, line, tier, family, why, verdict, by, input } in misses {
        let file = file.rsplit('/').next().unwrap_or_default();
        let command = input.get("command").and_then(serde_json::Value::as_str);
        let command = command.map_or_else(|| input.to_string(), str::to_owned).replace('\n', "\\n");
        let _ = writeln!(
            tables,
            "* {tier} {why} ({verdict}: {}) {family} {id} {file}:{line}  `{command}`",
            by.join(", ")
        );
    }
    tables.push('\n');
}

/// Replaces the tables in `docs/accuracy.md`.
fn write(tables: &str) -> anyhow::Result<()> {
    let file = root()?.join("docs/accuracy.md");
    let text = std::fs::read_to_string(&file)?;
    let (before, rest) = text.split_once(BEGIN).context("docs/accuracy.md has no place for the tables")?;
    let (_, after) = rest.split_once(END).context("docs/accuracy.md does not end its tables")?;
    std::fs::write(file, format!("{before}{BEGIN}{}\n\n{tables}{END}{after}", measured()?))?;
    Ok(())
}

/// Returns a sentence with the date, the machine and the commit of the measurement.
fn measured() -> anyhow::Result<String> {
    let date = output_of("date", &["-u", "+%Y-%m-%d"])?;
    let machine = machine()?;
    let commit = output_of("git", &["rev-parse", "--short", "HEAD"])?;
    Ok(format!("`cargo xtask accuracy --write` on {date}, {machine}, at {commit}."))
}

/// Returns the processor's name and the number of cores.
fn machine() -> anyhow::Result<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let name = name.map_or("a processor without a name", |(_, name)| name.trim());
    Ok(format!("{name}, {} cores", std::thread::available_parallelism()?))
}

fn output_of(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root()?).output()?;
    ensure!(output.status.success(), "`{program}` failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
