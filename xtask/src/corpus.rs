//! `cargo xtask corpus shell`: collects real shell text from packages (`corpus/sources.toml`) and has the program of
//! `benches/facts` measure how much of it is understood. It knows where shell text stands in packages; what is understood of it
//! is not its business. A measuring command: it uses the network the first time, and no test runs it.

mod fetch;
mod item;
mod make;
mod tree;
mod workflow;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::{build, root};
use item::Items;

/// How many items the sample holds, unless said otherwise.
const SAMPLE: &str = "200";
/// The sample is the same in every run.
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
    let place = root()?.join("target/corpus");
    let items = place.join("items.jsonl");
    if fresh || !items.exists() {
        collect(&place)?.write(&place)?;
    }
    print!("{}", std::fs::read_to_string(place.join("manifest.txt")).context("collect again with --fresh")?);
    build::cargo(&["build", "--release", "--package", "castellan-bench-facts"], "")?;
    let program = build::target()?.join("release/castellan-bench-facts");
    let status = Command::new(program)
        .arg("corpus")
        .args([&items, &place.join("sample.txt")])
        .args([sample, seed])
        .status()
        .context("castellan-bench-facts cannot be started")?;
    ensure!(status.success(), "the corpus could not be measured");
    Ok(())
}

/// Everything that can be had here. What is fetched is thrown away as soon as it was read.
fn collect(place: &Path) -> anyhow::Result<Items> {
    std::fs::create_dir_all(place)?;
    let lists = fetch::Lists::read()?;
    let mut items = Items::default();
    tree::maintainer_scripts(Path::new("/var/lib/dpkg/info"), "installed", &mut items);
    type Fetch = fn(&fetch::Lists, &Path, &mut Items) -> anyhow::Result<()>;
    let registries: [(&str, Fetch); 3] =
        [("Debian", fetch::debian), ("npm", fetch::npm), ("crates", fetch::crates)];
    for (name, fetch) in registries {
        eprintln!("corpus: collecting from {name}");
        let scratch = tempfile::tempdir_in(place)?;
        if let Err(error) = fetch(&lists, scratch.path(), &mut items) {
            items.note(format!("MISSING: {name}: {error:#}"));
        }
    }
    eprintln!("corpus: asking `bash -n` about {} items", items.len());
    items.ask_bash()?;
    Ok(items)
}
