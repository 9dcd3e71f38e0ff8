//! `cargo xtask install`: copies the binaries into a bin directory, then runs castellan's own install and doctor.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::build;

#[derive(Default)]
struct Options {
    prefix: Option<PathBuf>,
    /// For `castellan` itself, before the subcommand.
    home: Vec<String>,
    /// For `castellan install`.
    install: Vec<String>,
}

pub(crate) fn install(words: &[&str]) -> anyhow::Result<()> {
    let options = parse(words)?;
    let bin = bin_directory(&options)?;
    let built = build::release()?;
    fs::create_dir_all(&bin).with_context(|| format!("`{}` cannot be made", bin.display()))?;
    let programs = [
        (&built.castellan, "castellan"),
        (&built.hook, "castellan-hook"),
        (&built.launcher, "castellan-sandbox"),
        (&built.reader, "castellan-reader"),
    ];
    for (from, name) in programs {
        let to = bin.join(name);
        let changed = copy(from, &to)?;
        println!("{} {}", if changed { "installed" } else { "unchanged" }, to.display());
    }
    let castellan = bin.join("castellan");
    let installed =
        run(&castellan, &[options.home.as_slice(), &["install".into()], &options.install].concat())?;
    let healthy = run(&castellan, &[options.home.as_slice(), &["doctor".into()]].concat())?;
    ensure!(installed, "castellan could not be installed everywhere: see above");
    ensure!(healthy, "the doctor found something: see above");
    Ok(())
}

fn parse(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value =
            || words.next().map(|value| (*value).to_owned()).with_context(|| format!("{word} needs a value"));
        match word {
            "--prefix" => options.prefix = Some(PathBuf::from(value()?)),
            "--home" => options.home = vec![word.to_owned(), value()?],
            "--agent" => options.install.push(value()?),
            "--mode" => options.install.extend([word.to_owned(), value()?]),
            "--no-agents" | "--managed" | "--launchers" => options.install.push(word.to_owned()),
            _ => bail!("unknown option `{word}` of install"),
        }
    }
    Ok(options)
}

fn bin_directory(options: &Options) -> anyhow::Result<PathBuf> {
    let prefix = match &options.prefix {
        Some(prefix) => std::path::absolute(prefix)?,
        None => PathBuf::from(std::env::var_os("HOME").context("HOME is not set: give --prefix DIR")?)
            .join(".local"),
    };
    Ok(prefix.join("bin"))
}

/// Copies a program completely or not at all; a running one keeps its old file. Returns true if the bytes differed.
fn copy(from: &Path, to: &Path) -> anyhow::Result<bool> {
    let bytes = fs::read(from).with_context(|| format!("`{}` cannot be read", from.display()))?;
    if fs::read(to).is_ok_and(|present| present == bytes) {
        return Ok(false);
    }
    let partial = to.with_extension("partial");
    fs::write(&partial, bytes).with_context(|| format!("`{}` cannot be written", partial.display()))?;
    fs::set_permissions(&partial, fs::Permissions::from_mode(0o755))?;
    fs::rename(&partial, to).with_context(|| format!("`{}` cannot be replaced", to.display()))?;
    Ok(true)
}

fn run(program: &Path, arguments: &[String]) -> anyhow::Result<bool> {
    let status = Command::new(program).args(arguments).status();
    Ok(status.with_context(|| format!("`{}` cannot be started", program.display()))?.success())
}
