//! `cargo xtask corpus shell`: collects real shell text from packages (`corpus/sources.toml`). The program of
//! `benches/facts` then measures the understood share. `corpus witness` lets a second parser read the text. This module
//! knows the places of shell text in packages; it must not depend on the analysis. It is a measuring command: it uses
//! the network on its first run, and no test runs it.

pub(crate) mod benign;
mod fetch;
mod item;
mod make;
mod tree;
mod workflow;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::{build, root};
use item::Items;

/// The default number of items in the sample.
const SAMPLE: &str = "200";
/// A fixed seed, so that the sample is the same in every run.
const SEED: &str = "4";

pub(crate) fn shell(words: &[&str]) -> anyhow::Result<()> {
    let (mut sample, mut seed, mut fresh) = (SAMPLE, SEED, false);
    let mut rest = words;
    loop {
        rest = match rest {
            [] => break,
            ["--sample", number, rest @ ..] => {
                sample = number;
                rest
            }
            ["--seed", number, rest @ ..] => {
                seed = number;
                rest
            }
            ["--fresh", rest @ ..] => {
                fresh = true;
                rest
            }
            _ => bail!("corpus shell takes --sample N, --seed N and --fresh"),
        };
    }
    let place = collected(fresh)?;
    let mut program = program()?;
    program.arg("corpus").args([place.join("items.jsonl"), place.join("sample.txt")]).args([sample, seed]);
    let status = program.status().context("castellan-bench-facts cannot be started")?;
    ensure!(status.success(), "the corpus could not be measured");
    Ok(())
}

/// Compares a second parser with castellan's. The second parser is a separate program, and nothing else depends on it.
pub(crate) fn witness() -> anyhow::Result<()> {
    let place = collected(false)?;
    let into = build::target()?.join("witness");
    let build = ["build", "--release", "--manifest-path", "witness/Cargo.toml", "--target-dir"];
    let folder = into.display().to_string();
    build::cargo(&[&build[..], &[&folder]].concat(), "")?;
    let mut program = program()?;
    program.arg("witness").args([place.join("items.jsonl"), into.join("release/castellan-witness")]);
    let status = program.status().context("castellan-bench-facts cannot be started")?;
    ensure!(status.success(), "the witness sees what is not found");
    Ok(())
}

/// Returns the folder of collections; `fresh` empties it.
fn place(fresh: bool) -> anyhow::Result<PathBuf> {
    let place = root()?.join("target/corpus");
    if fresh && place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    std::fs::create_dir_all(&place)?;
    Ok(place)
}

/// Returns the folder of the collection, and collects it if there is none.
fn collected(fresh: bool) -> anyhow::Result<PathBuf> {
    let place = place(fresh)?;
    if !place.join("items.jsonl").exists() {
        collect(&place)?.write(&place)?;
    }
    print!("{}", std::fs::read_to_string(place.join("manifest.txt")).context("collect again with --fresh")?);
    Ok(place)
}

fn program() -> anyhow::Result<Command> {
    build::cargo(&["build", "--release", "--package", "castellan-bench-facts"], "")?;
    Ok(Command::new(build::target()?.join("release/castellan-bench-facts")))
}

/// Collects everything available on this machine.
fn collect(place: &Path) -> anyhow::Result<Items> {
    let mut items = Items::default();
    tree::maintainer_scripts(Path::new("/var/lib/dpkg/info"), "installed", &mut items);
    packages(place, &fetch::REGISTRIES, &mut items, |folder, name, items| {
        tree::maintainer_scripts(&folder.join("DEBIAN"), name, items);
        tree::read(folder, name, items);
    })?;
    eprintln!("corpus: asking `bash -n` about {} items", items.len());
    items.ask_bash()?;
    Ok(items)
}

/// Reads every package of the lists into the items. An unreadable registry becomes a note there.
fn packages(
    place: &Path,
    registries: &[fetch::Registry],
    items: &mut Items,
    read: impl Fn(&Path, &str, &mut Items),
) -> anyhow::Result<()> {
    let lists = fetch::Lists::read()?;
    let place = place.join("packages");
    for (name, registry) in registries {
        eprintln!("corpus: reading {name}");
        match registry(&lists, &place, &mut |folder, name| read(folder, name, items)) {
            Ok(None) => {}
            Ok(Some(note)) => items.note(note),
            Err(error) => items.note(format!("MISSING: {name}: {error:#}")),
        }
    }
    Ok(())
}
