//! `cargo xtask same BASE [--texts]`: builds commit BASE beside the working tree, runs `castellan-same` of both over
//! every known call, and reports each difference. Must not depend on which result is right.

mod compare;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::{build, root};
use compare::Names;

const SHOWN: usize = 5;

pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let (mut base, mut with_texts) = (None, false);
    for word in words {
        match *word {
            "--texts" => with_texts = true,
            word if base.is_none() && !word.starts_with('-') => base = Some(word),
            word => bail!("unknown argument `{word}`: cargo xtask same BASE [--texts]"),
        }
    }
    let base = base.context("name the commit to compare with: cargo xtask same BASE [--texts]")?;
    let commit = commit_of(base)?;
    let before = printed(&checkout(&commit)?, "base", with_texts)?;
    let now = printed(&root()?, "now", with_texts)?;
    let names = Names::read(&root()?.join("xtask/same-names.toml"))?;
    let differences = compare::files(&before, &now, &names)?;
    print!("{}", differences.report(SHOWN));
    ensure!(differences.is_empty(), "the working tree differs from {base} ({})", short(&commit));
    Ok(())
}

/// Runs a tree's own `castellan-same` and returns the file with its lines.
fn printed(tree: &Path, name: &str, with_texts: bool) -> anyhow::Result<PathBuf> {
    ensure!(
        tree.join("same/Cargo.toml").exists(),
        "`{}` has no `castellan-same`: compare with a later commit",
        tree.display()
    );
    let folder = build::target()?.join("same");
    // Cargo names a crate by its path within its workspace: in a shared folder, one tree would use the other's crates.
    let build = folder.join("build").join(name);
    let status = cargo()
        .args(["build", "--quiet", "--release", "--package", "castellan-same", "--target-dir"])
        .arg(&build)
        // Optimised linking would take longer than it saves in one run.
        .envs([("CARGO_PROFILE_RELEASE_LTO", "off"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")])
        .current_dir(tree)
        .status()
        .context("cargo cannot be started")?;
    ensure!(status.success(), "`castellan-same` of {name} does not build");
    let into = folder.join(format!("{name}.jsonl"));
    let mut program = Command::new(build.join("release/castellan-same"));
    program.stdout(File::create(&into).with_context(|| format!("`{}`", into.display()))?);
    if with_texts {
        program.arg("--texts");
    }
    // The base tree has no recorded cases beside it.
    program.arg("--recorded").arg(root()?.join("../shared/cases"));
    let benign = build::target()?.join("corpus/benign.jsonl");
    if benign.exists() {
        program.arg(&benign);
    } else {
        eprintln!("same: no collected everyday commands; `cargo xtask corpus benign` collects them");
    }
    let status = program.status().context("castellan-same cannot be started")?;
    ensure!(status.success(), "`castellan-same` of {name} failed");
    Ok(into)
}

/// Checks out the commit in `target/same/base`.
fn checkout(commit: &str) -> anyhow::Result<PathBuf> {
    let tree = build::target()?.join("same/base");
    std::fs::create_dir_all(build::target()?.join("same"))?;
    if !tree.exists() {
        let added = git(&["worktree", "prune"])
            .and_then(|_| git(&["worktree", "add", "--detach", &tree.display().to_string(), commit]));
        return added.map(|_| tree);
    }
    let there = tree.display().to_string();
    git(&["-C", &there, "checkout", "--quiet", "--detach", commit])?;
    Ok(tree)
}

fn commit_of(name: &str) -> anyhow::Result<String> {
    git(&["rev-parse", "--verify", &format!("{name}^{{commit}}")])
}

fn short(commit: &str) -> &str {
    commit.get(..9).unwrap_or(commit)
}

fn git(words: &[&str]) -> anyhow::Result<String> {
    let output =
        Command::new("git").args(words).current_dir(root()?).output().context("git cannot be started")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {}", words.join(" "), error.trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
