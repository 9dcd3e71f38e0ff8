//! Packages of the fixed lists, fetched by each registry's ordinary client and read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use super::item::Items;
use super::tree;
use crate::root;

/// Packages that are asked for at once: one that is not there fails the others with it.
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
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Npm {
    before: String,
    packages: Vec<String>,
}

impl Lists {
    pub(crate) fn read() -> anyhow::Result<Lists> {
        let file = root()?.join("corpus/sources.toml");
        toml::from_str(&std::fs::read_to_string(file)?).context("corpus/sources.toml")
    }
}

/// Maintainer scripts and shell scripts of Debian packages. Nothing is installed and nothing of them runs.
pub(crate) fn debian(lists: &Lists, scratch: &Path, items: &mut Items) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    for some in lists.debian.packages.chunks(AT_ONCE) {
        if download(some, scratch).is_err() {
            missing.extend(some.iter().filter(|name| download(std::slice::from_ref(name), scratch).is_err()));
        }
    }
    ensure!(missing.len() < lists.debian.packages.len(), "`apt-get download` fetches nothing");
    if !missing.is_empty() {
        let names: Vec<&str> = missing.into_iter().map(String::as_str).collect();
        items.note(format!("Debian has no {}", names.join(", ")));
    }
    let mut packages: Vec<PathBuf> =
        std::fs::read_dir(scratch)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    packages.sort();
    for package in packages {
        let name = package.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let unpacked = scratch.join("unpacked");
        std::fs::create_dir(&unpacked)?;
        run(Command::new("dpkg-deb").arg("-e").arg(&package).arg(unpacked.join("DEBIAN")))?;
        tree::maintainer_scripts(&unpacked.join("DEBIAN"), &name, items);
        std::fs::remove_dir_all(&unpacked)?;
        run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked))?;
        tree::read(&unpacked, &name, items);
        std::fs::remove_dir_all(&unpacked)?;
    }
    Ok(())
}

fn download(packages: &[String], into: &Path) -> anyhow::Result<()> {
    run(Command::new("apt-get").arg("download").args(packages).current_dir(into))
}

/// `scripts` of npm packages and of what they depend on, and their shell scripts; nothing of them runs.
pub(crate) fn npm(lists: &Lists, scratch: &Path, items: &mut Items) -> anyhow::Result<()> {
    let dependencies: serde_json::Map<String, serde_json::Value> =
        lists.npm.packages.iter().map(|name| (name.clone(), "*".into())).collect();
    let project = serde_json::json!({ "name": "corpus", "private": true, "dependencies": dependencies });
    std::fs::write(scratch.join("package.json"), project.to_string())?;
    run(Command::new("npm")
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"])
        .arg(format!("--before={}", lists.npm.before))
        .current_dir(scratch))?;
    tree::read(&scratch.join("node_modules"), "npm", items);
    Ok(())
}

/// Workflows, scripts and makefiles of crates and of what they depend on; nothing is built.
pub(crate) fn crates(lists: &Lists, scratch: &Path, items: &mut Items) -> anyhow::Result<()> {
    let mut manifest =
        "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n".to_owned();
    for package in &lists.crates.packages {
        let Some((name, version)) = package.split_once(' ') else { bail!("`{package}`: no version") };
        manifest.push_str(&format!("{name} = {{ version = \"{version}\", default-features = false }}\n"));
    }
    std::fs::write(scratch.join("Cargo.toml"), manifest)?;
    std::fs::create_dir(scratch.join("src"))?;
    std::fs::write(scratch.join("src/lib.rs"), "")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo).args(["vendor", "--quiet", "--versioned-dirs", "vendor"]).current_dir(scratch))?;
    tree::read(&scratch.join("vendor"), "crates", items);
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
