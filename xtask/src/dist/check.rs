//! `cargo xtask dist --check`: builds and packs twice, in two folders of different names, and compares every byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use super::programs::Origin;
use super::tree::sha256;
use crate::root;

/// Builds the commit that is checked out, twice.
pub(super) fn check(origin: &Origin) -> anyhow::Result<()> {
    let debug: &[&str] = match origin {
        Origin::Release => &[],
        Origin::Debug => &["--debug"],
        Origin::Folder(_) => bail!("--check builds the programs itself: leave --programs out"),
    };
    let work = tempfile::tempdir().context("no temporary folder")?;
    let mut made = Vec::new();
    for name in ["one", "another-folder"] {
        let folder = work.path().join(name);
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet"]).arg(root()?).arg(&folder);
        succeed(&mut clone)?;
        let mut dist = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        dist.args(["xtask", "dist", "--out", "packages"]).args(debug).current_dir(&folder);
        succeed(dist.env("CARGO_TARGET_DIR", folder.join("target")))?;
        made.push(hashes(&folder.join("packages"))?);
        // The programs of one build are large.
        std::fs::remove_dir_all(folder.join("target"))?;
    }
    let [one, other] = made.as_slice() else { bail!("not two builds") };
    ensure!(!one.is_empty(), "no package was made");
    let names = one.keys().chain(other.keys()).collect::<std::collections::BTreeSet<_>>();
    let different: Vec<&str> =
        names.into_iter().filter(|name| one.get(*name) != other.get(*name)).map(String::as_str).collect();
    ensure!(different.is_empty(), "two builds differ in: {}", different.join(", "));
    println!("two builds in two folders gave the same {} files", one.len());
    Ok(())
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let shown = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("{shown} cannot be started"))?;
    ensure!(status.success(), "{shown} failed");
    Ok(())
}

/// Returns the hash of each file in a folder.
fn hashes(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("`{}`", folder.display()))? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        all.insert(name, sha256(&std::fs::read(&path)?));
    }
    Ok(all)
}
