//! Fetches the packages of the fixed lists (`corpus/sources.toml`) by each registry's ordinary client. Stores them, so
//! that all corpora use the same packages. Must not depend on the readers of the packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use crate::root;

/// Packages in one request. A missing package makes the whole request fail.
const AT_ONCE: usize = 20;

/// `corpus/sources.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lists {
    debian: Packages,
    npm: Npm,
    crates: Packages,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packages {
    packages: Vec<String>,
    /// More packages for everyday commands, not for the corpus of shell texts.
    #[serde(default)]
    more: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Npm {
    before: String,
    packages: Vec<String>,
    /// More packages for everyday commands, not for the corpus of shell texts.
    more: Vec<String>,
}

impl Lists {
    pub(crate) fn read() -> anyhow::Result<Lists> {
        let file = root()?.join("corpus/sources.toml");
        toml::from_str(&std::fs::read_to_string(file)?).context("corpus/sources.toml")
    }
}

/// Reads a folder of unpacked packages; the text is the name of its contents.
pub(crate) type Reader<'r> = dyn FnMut(&Path, &str) + 'r;

/// A registry: its name, and the function that fetches and reads its packages. Its text goes into the manifest.
pub(crate) type Registry =
    (&'static str, fn(&Lists, &Path, &mut Reader<'_>) -> anyhow::Result<Option<String>>);

pub(crate) const REGISTRIES: [Registry; 3] = [("Debian", debian), ("npm", npm), ("crates", crates)];
/// Additional registries for everyday commands.
pub(crate) const MORE: [Registry; 2] = [("npm, more", more_npm), ("crates, more", more_crates)];

/// Unpacks Debian packages one after the other, with dpkg's control files in `DEBIAN`. Installs and runs nothing.
fn debian(lists: &Lists, place: &Path, reader: &mut Reader<'_>) -> anyhow::Result<Option<String>> {
    let place = place.join("debian");
    once(&place, |place| {
        for some in lists.debian.packages.chunks(AT_ONCE) {
            if download(some, place).is_err() {
                some.iter().for_each(|name| drop(download(std::slice::from_ref(name), place)));
            }
        }
        Ok(())
    })?;
    let mut packages: Vec<PathBuf> = std::fs::read_dir(&place)?
        .map(|entry| entry.map(|entry| entry.path()))
        .filter(|path| path.as_ref().map_or(true, |path| path.extension().is_some_and(|end| end == "deb")))
        .collect::<Result<_, _>>()?;
    ensure!(!packages.is_empty(), "`apt-get download` fetches nothing");
    packages.sort();
    let mut missing: Vec<&str> = lists.debian.packages.iter().map(String::as_str).collect();
    for package in packages {
        let name = package.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        missing.retain(|wanted| name.split('_').next() != Some(wanted));
        let unpacked = tempfile::tempdir_in(&place)?;
        run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(unpacked.path()))?;
        run(Command::new("dpkg-deb").arg("-e").arg(&package).arg(unpacked.path().join("DEBIAN")))?;
        reader(unpacked.path(), &name);
    }
    Ok((!missing.is_empty()).then(|| format!("Debian has no {}", missing.join(", "))))
}

fn download(packages: &[String], into: &Path) -> anyhow::Result<()> {
    run(Command::new("apt-get").arg("download").args(packages).current_dir(into))
}

fn npm(lists: &Lists, place: &Path, reader: &mut Reader<'_>) -> anyhow::Result<Option<String>> {
    node_modules(&lists.npm.packages, &lists.npm.before, &place.join("npm"), reader)
}

fn more_npm(lists: &Lists, place: &Path, reader: &mut Reader<'_>) -> anyhow::Result<Option<String>> {
    node_modules(&lists.npm.more, &lists.npm.before, &place.join("npm-more"), reader)
}

fn crates(lists: &Lists, place: &Path, reader: &mut Reader<'_>) -> anyhow::Result<Option<String>> {
    vendored(&lists.crates.packages, &place.join("crates"), reader)
}

fn more_crates(lists: &Lists, place: &Path, reader: &mut Reader<'_>) -> anyhow::Result<Option<String>> {
    vendored(&lists.crates.more, &place.join("crates-more"), reader)
}

/// Fetches npm packages with their dependencies. Runs nothing of them.
fn node_modules(
    packages: &[String],
    before: &str,
    place: &Path,
    reader: &mut Reader<'_>,
) -> anyhow::Result<Option<String>> {
    once(place, |place| {
        let dependencies: serde_json::Map<String, serde_json::Value> =
            packages.iter().map(|name| (name.clone(), "*".into())).collect();
        let project = serde_json::json!({ "name": "corpus", "private": true, "dependencies": dependencies });
        std::fs::write(place.join("package.json"), project.to_string())?;
        run(Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"])
            .arg(format!("--before={before}"))
            .current_dir(place))
    })?;
    reader(&place.join("node_modules"), "npm");
    Ok(None)
}

/// Fetches crates with their dependencies. Builds nothing.
fn vendored(packages: &[String], place: &Path, reader: &mut Reader<'_>) -> anyhow::Result<Option<String>> {
    once(place, |place| {
        let mut manifest =
            "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n"
                .to_owned();
        for package in packages {
            let Some((name, version)) = package.split_once(' ') else { bail!("`{package}`: no version") };
            manifest.push_str(&format!("{name} = {{ version = \"{version}\", default-features = false }}\n"));
        }
        std::fs::write(place.join("Cargo.toml"), manifest)?;
        std::fs::create_dir(place.join("src"))?;
        std::fs::write(place.join("src/lib.rs"), "")?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        run(Command::new(cargo).args(["vendor", "--quiet", "--versioned-dirs", "vendor"]).current_dir(place))
    })?;
    reader(&place.join("vendor"), "crates");
    Ok(None)
}

/// Fetches into a folder, unless an earlier fetch was completed. Both corpora read the same packages.
fn once(place: &Path, fetch: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let done = place.join("fetched");
    if !done.exists() {
        if place.exists() {
            std::fs::remove_dir_all(place)?;
        }
        std::fs::create_dir_all(place)?;
        fetch(place)?;
        std::fs::write(done, "")?;
    }
    Ok(())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .with_context(|| format!("`{program}` cannot be started"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{program}` failed: {}", said.lines().last().unwrap_or_default());
    Ok(())
}
