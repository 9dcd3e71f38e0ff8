//! `cargo xtask fuzz`: coverage-guided fuzzing of every target, or of one, for a time. Starts from the corpus that is kept in
//! `fuzz/corpus`; what is found lands below `target/`, as `fuzz/corpus` holds only what somebody chose to keep.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::root;

/// Seconds of fuzzing for all targets together.
const SECONDS: u64 = 60;

pub(crate) fn fuzz(words: &[&str]) -> anyhow::Result<()> {
    if let ["--children", rest @ ..] = words {
        return children(rest);
    }
    let (mut seconds, mut target, mut if_present) = (SECONDS, None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--seconds" => {
                let number = words.next().context("`--seconds` needs a number")?;
                seconds = number.parse().with_context(|| format!("`{number}` is not a number of seconds"))?;
            }
            "--if-present" => if_present = true,
            name if name.starts_with('-') => bail!("unknown option `{name}`"),
            name => target = Some(name),
        }
    }
    if !is_present() {
        ensure!(if_present, "fuzzing needs a nightly toolchain and `cargo install cargo-fuzz`");
        eprintln!(
            "\n!! cargo-fuzz or a nightly toolchain is missing: nothing is fuzzed, the corpus is replayed only\n"
        );
        return Ok(());
    }
    let all = targets()?;
    let chosen: Vec<&String> = all.iter().filter(|name| target.is_none_or(|only| only == *name)).collect();
    ensure!(!chosen.is_empty(), "unknown target, it is one of {}", all.join(", "));
    let each = (seconds / chosen.len() as u64).max(1);
    // Built first, so that the time is spent on fuzzing.
    run(&["build", "--sanitizer", "none"])?;
    for name in chosen {
        let found = format!("target/fuzz/corpus/{name}");
        std::fs::create_dir_all(root()?.join(&found))?;
        let kept = format!("fuzz/corpus/{name}");
        let time = format!("-max_total_time={each}");
        run(&["run", "--sanitizer", "none", name, &found, &kept, "--", &time])?;
    }
    Ok(())
}

/// Texts of grammar tokens, in child processes: needs no nightly toolchain.
fn children(words: &[&str]) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--release", "-p", "castellan-fuzz-bodies", "--bin", "castellan-fuzz-children", "--"]);
    let status = cargo.args(words).current_dir(root()?).status().context("cargo cannot be started")?;
    ensure!(status.success(), "a text ended its process, or took too long");
    Ok(())
}

fn is_present() -> bool {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The targets by name, in order.
fn targets() -> anyhow::Result<Vec<String>> {
    let folder = root()?.join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = files.flatten().filter_map(|file| name(&file.path())).collect();
    names.sort();
    Ok(names)
}

/// Runs cargo-fuzz. Without an address sanitizer: there is no unsafe code in what is fuzzed, and it takes half the speed.
fn run(words: &[&str]) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["+nightly", "fuzz"]).args(words).current_dir(root()?);
    let status = cargo.status().context("cargo-fuzz cannot be started")?;
    ensure!(status.success(), "`cargo +nightly fuzz {}` failed: {status}", words.join(" "));
    Ok(())
}
