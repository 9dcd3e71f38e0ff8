//! `cargo xtask dist --check`: builds and packs one commit twice, in two folders of different names, and compares every byte.

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
    let root = root()?;
    let commit = commit(&root)?;
    let mut made = Vec::new();
    for name in ["one", "another-folder"] {
        let folder = work.path().join(name);
        clone(&root, &commit, &folder)?;
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
    if !different.is_empty() {
        let (different, kept) = (different.join(", "), work.keep());
        bail!("two builds of {commit} differ in: {different}; both are kept in `{}`", kept.display());
    }
    println!("two builds in two folders gave the same {} files", one.len());
    Ok(())
}

/// Returns the commit that is checked out.
fn commit(repository: &Path) -> anyhow::Result<String> {
    let mut git = Command::new("git");
    let output = git.arg("-C").arg(repository).args(["rev-parse", "--verify", "HEAD"]).output();
    let output = output.context("git cannot be started")?;
    ensure!(output.status.success(), "git names no commit: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Copies a commit to a folder. The repository may have a later one by now: a build takes minutes.
fn clone(repository: &Path, commit: &str, folder: &Path) -> anyhow::Result<()> {
    succeed(
        Command::new("git")
            .args(["clone", "--quiet", "--no-checkout", "--local"])
            .arg(repository)
            .arg(folder),
    )?;
    succeed(Command::new("git").arg("-C").arg(folder).args(["checkout", "--quiet", "--detach", commit]))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_made_during_the_first_build_is_not_in_the_second() {
        let work = tempfile::tempdir().unwrap();
        let repository = work.path().join("repository");
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let identity =
                ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
            succeed(git.arg("-C").arg(&repository).args(identity).args(arguments)).unwrap();
        };
        std::fs::create_dir(&repository).unwrap();
        git(&["init", "--quiet"]);
        let write = |text: &str| {
            std::fs::write(repository.join("file"), text).unwrap();
            git(&["add", "file"]);
            git(&["commit", "--quiet", "--message", text]);
        };
        write("first");
        let first = commit(&repository).unwrap();
        write("second");
        // Edits without a commit are in no build.
        std::fs::write(repository.join("file"), "third").unwrap();
        assert_ne!(commit(&repository).unwrap(), first);
        for name in ["one", "other"] {
            let folder = work.path().join(name);
            clone(&repository, &first, &folder).unwrap();
            assert_eq!(std::fs::read_to_string(folder.join("file")).unwrap(), "first");
            assert_eq!(commit(&folder).unwrap(), first);
        }
        assert!(clone(&repository, "0000", &work.path().join("none")).is_err());
    }
}
