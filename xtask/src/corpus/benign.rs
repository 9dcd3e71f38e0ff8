//! `cargo xtask corpus benign`: collects everyday commands from real packages, each with its source, the files that it
//! needs, and a label by `corpus/labelled/labels.toml`. Writes `target/corpus/benign.jsonl`, in the format of
//! `docs/accuracy.md`. Must not depend on castellan's analysis: labels derived from it would measure nothing.

mod docs;
mod label;
mod needs;
mod project;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::fetch;
use super::item::Items;
use label::Labels;

const WANTED: usize = 10_000;
/// Longer texts are left out: no agent types them.
const BYTES_MAX: usize = 4 << 10;
/// A program with fewer commands has no family of its own.
const FAMILY_MIN: usize = 20;
/// The default number of commands in the sample.
const SAMPLE: usize = 200;

/// A command in the form that an agent would type at the root of a project.
#[derive(Debug)]
struct Found {
    kind: Kind,
    text: String,
    /// The package and its version, then the file in it and the place there.
    source: String,
    /// The text of scripts that the command runs by name, for the label.
    runs: String,
    /// Files of the package that it needs, relative to the project's root.
    files: BTreeMap<String, String>,
}

/// The kind of place where a command was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// `npm run NAME`, of an existing script.
    NpmRun,
    /// The text of such a script.
    NpmScript,
    /// `make TARGET`, of an existing target.
    MakeTarget,
    /// A line of a recipe.
    MakeRecipe,
    /// A step of a workflow.
    CiStep,
    /// A shell script of the project, run by its path.
    Script,
    /// A command in a README or other documentation.
    Docs,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::NpmRun => "npm-run",
            Kind::NpmScript => "npm-script",
            Kind::MakeTarget => "make-target",
            Kind::MakeRecipe => "make-recipe",
            Kind::CiStep => "ci-step",
            Kind::Script => "script",
            Kind::Docs => "docs",
        }
    }
}

/// The found commands, and the number left out for each reason.
#[derive(Debug, Default)]
struct Commands {
    found: Vec<Found>,
    left_out: BTreeMap<String, usize>,
}

impl Commands {
    fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.to_owned()).or_default() += 1;
    }
}

#[derive(Serialize)]
struct Line<'c> {
    v: u32,
    id: String,
    tier: &'c str,
    family: String,
    tool: &'static str,
    input: Input<'c>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: &'c BTreeMap<String, String>,
    source: &'c str,
    note: &'c str,
}

#[derive(Serialize)]
struct Input<'c> {
    command: &'c str,
}

/// A command with its tier and the rule that gave it.
struct Labelled<'c> {
    found: &'c Found,
    tier: &'c str,
    why: &'c str,
}

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let (mut sample, mut seed, mut fresh) = (SAMPLE, "1", false);
    let mut rest = words;
    loop {
        rest = match rest {
            [] => break,
            ["--sample", number, rest @ ..] => {
                sample = number.parse().context("--sample takes a number")?;
                rest
            }
            ["--seed", word, rest @ ..] => {
                seed = word;
                rest
            }
            ["--fresh", rest @ ..] => {
                fresh = true;
                rest
            }
            _ => bail!("corpus benign takes --sample N, --seed N and --fresh"),
        };
    }
    let place = super::place(fresh)?;
    let labels = Labels::read()?;
    let (mut commands, notes) = collect(&place)?;
    for found in std::mem::take(&mut commands.found) {
        if found.text.len() > BYTES_MAX {
            commands.leave_out("longer than 4 KiB");
        } else if found.text.trim().is_empty() {
            commands.leave_out("empty");
        } else {
            commands.found.push(found);
        }
    }
    let (found, mut left_out) = (unique(commands.found), commands.left_out);
    let mut labelled = Vec::new();
    for found in &found {
        let label = labels.of(found);
        if label.tier == label::OUT {
            *left_out.entry(label.why.to_owned()).or_default() += 1;
        } else {
            labelled.push(Labelled { found, tier: label.tier, why: label.why });
        }
    }
    let text = lines(&labelled)?;
    std::fs::write(place.join("benign.jsonl"), &text)?;
    std::fs::write(place.join("benign-sample.txt"), sample_of(&labelled, sample, seed))?;
    let manifest = manifest(&labelled, &left_out, &notes, &text);
    std::fs::write(place.join("benign-manifest.txt"), &manifest)?;
    print!("{manifest}");
    ensure!(labelled.len() >= WANTED, "{} commands are fewer than {WANTED}", labelled.len());
    Ok(())
}

/// Returns the labelled file, and makes it if there is none.
pub(crate) fn collected() -> anyhow::Result<PathBuf> {
    let file = super::place(false)?.join("benign.jsonl");
    if !file.exists() {
        run(&[])?;
    }
    Ok(file)
}

fn collect(place: &Path) -> anyhow::Result<(Commands, Vec<String>)> {
    let commands = std::cell::RefCell::new(Commands::default());
    let mut items = Items::default();
    let registries = [&fetch::REGISTRIES[..], &fetch::MORE].concat();
    super::packages(place, &registries, &mut items, |folder, name, _| {
        project::read(folder, name, &mut commands.borrow_mut());
    })?;
    Ok((commands.into_inner(), items.into_notes()))
}

/// Keeps each text once, compared without differences in blanks: the first by kind and source.
fn unique(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| (a.kind, &a.source, &a.text).cmp(&(b.kind, &b.source, &b.text)));
    let mut seen = std::collections::HashSet::new();
    found.retain(|one| seen.insert(normal(&one.text)));
    found
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hex(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text))
}

fn lines(labelled: &[Labelled<'_>]) -> anyhow::Result<String> {
    let mut programs: HashMap<&str, usize> = HashMap::new();
    for one in labelled {
        *programs.entry(label::program(&one.found.text)).or_default() += 1;
    }
    let mut text = String::new();
    for Labelled { found, tier, why } in labelled {
        let program = label::program(&found.text);
        let is_own = !program.is_empty() && programs.get(program).is_some_and(|count| *count >= FAMILY_MIN);
        let kind = found.kind.as_str();
        let family = if is_own { format!("collected.{program}") } else { format!("collected.other-{kind}") };
        let digest = hex(&normal(&found.text));
        let line = Line {
            v: 1,
            id: format!("{kind}-{}", digest.get(..12).unwrap_or_default()),
            tier,
            family,
            tool: "Bash",
            input: Input { command: &found.text },
            files: &found.files,
            source: &found.source,
            note: why,
        };
        text.push_str(&serde_json::to_string(&line)?);
        text.push('\n');
    }
    Ok(text)
}

/// Returns a sample for a person to read: the commands whose hash with the seed is smallest.
fn sample_of(labelled: &[Labelled<'_>], number: usize, seed: &str) -> String {
    let mut order: Vec<(String, &Labelled<'_>)> =
        labelled.iter().map(|one| (hex(&format!("{seed} {}", one.found.text)), one)).collect();
    order.sort_by(|a, b| a.0.cmp(&b.0));
    let mut text = String::new();
    for (_, Labelled { found, tier, why }) in order.into_iter().take(number) {
        let kind = found.kind.as_str();
        let _ = writeln!(text, "=== {tier} {kind} ({why}) {}\n{}", found.source, found.text);
        if !found.runs.is_empty() {
            let _ = writeln!(text, "--- runs\n{}", found.runs);
        }
    }
    text
}

fn manifest(
    labelled: &[Labelled<'_>],
    left_out: &BTreeMap<String, usize>,
    notes: &[String],
    text: &str,
) -> String {
    let mut counts: BTreeMap<(Kind, &str), usize> = BTreeMap::new();
    for one in labelled {
        *counts.entry((one.found.kind, one.tier)).or_default() += 1;
    }
    let mut manifest = format!("{} commands, sha256 {}\n", labelled.len(), hex(text));
    for ((kind, tier), count) in counts {
        let _ = writeln!(manifest, "{count} {tier} {}", kind.as_str());
    }
    for (why, count) in left_out {
        let _ = writeln!(manifest, "left out: {count} {why}");
    }
    for note in notes {
        let _ = writeln!(manifest, "{note}");
    }
    manifest
}
