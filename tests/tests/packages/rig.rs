//! Packages for the tests: of small scripts in the place of castellan's programs, and of the real programs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::process::{Finished, Running};
use tempfile::TempDir;

/// Only a broken castellan needs this long. A debug build compresses slowly.
pub(crate) const LIMIT: Duration = Duration::from_secs(240);

/// `castellan` for packages: it tells its version, writes a man page and completions, and tells what guards an agent.
const CASTELLAN: &str = include_str!("programs/castellan");

/// Falco's plugin, beside the programs and in a package.
pub(crate) const PLUGIN: &str = "libcoding_agent.so";
pub(crate) const PACKED_PLUGIN: &str = "lib/castellan/libcoding_agent.so";

/// Packages in a folder.
#[derive(Debug)]
pub(crate) struct Packages {
    pub(crate) folder: TempDir,
}

impl Packages {
    /// Packs scripts that say that they are castellan of a version.
    pub(crate) fn of_scripts(version: &str) -> Result<Packages> {
        let programs = tempfile::tempdir()?;
        for name in ["castellan", "castellan-hook", "castellan-sandbox", "castellan-reader"] {
            let text = if name == "castellan" { CASTELLAN } else { "#!/bin/sh\necho @NAME@ @VERSION@\n" };
            let text = text.replace("@VERSION@", version).replace("@NAME@", name);
            fs::write(programs.path().join(name), text)?;
            fs::set_permissions(programs.path().join(name), fs::Permissions::from_mode(0o755))?;
        }
        fs::write(programs.path().join(PLUGIN), format!("a library of {version}"))?;
        Packages::of(programs.path(), |_| {})
    }

    /// Packs the programs in a folder. `change` changes the command.
    pub(crate) fn of(programs: &Path, change: impl FnOnce(&mut Command)) -> Result<Packages> {
        let folder = tempfile::tempdir()?;
        let built = built()?;
        let mut dist = Command::new(built.join("xtask"));
        dist.arg("dist").arg("--programs").arg(programs).arg("--out").arg(folder.path());
        change(&mut dist);
        succeed(&mut dist)?;
        Ok(Packages { folder })
    }

    /// The package whose name has this beginning and this end.
    pub(crate) fn find(&self, begin: &str, end: &str) -> Result<PathBuf> {
        for entry in fs::read_dir(self.folder.path())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(begin) && name.ends_with(end) {
                return Ok(path);
            }
        }
        anyhow::bail!("no package `{begin}..{end}`")
    }

    /// Unpacks an archive into a folder. Returns the archive's own folder in it.
    pub(crate) fn unpack(&self, begin: &str, into: &Path) -> Result<PathBuf> {
        let archive = self.find(begin, ".tar.gz")?;
        fs::create_dir_all(into)?;
        succeed(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(into))?;
        let name = archive.file_name().context("no name")?.to_string_lossy().into_owned();
        Ok(into.join(name.trim_end_matches(".tar.gz")))
    }

    /// Unpacks castellan's own archive.
    pub(crate) fn unpack_archive(&self, into: &Path) -> Result<PathBuf> {
        self.unpack(&format!("castellan-{}", self.version()?), into)
    }

    fn version(&self) -> Result<String> {
        let deb = self.find("castellan_", ".deb")?;
        let name = deb.file_name().context("no name")?.to_string_lossy().into_owned();
        Ok(name.split('_').nth(1).context("no version")?.to_owned())
    }

    /// The bytes of each package.
    pub(crate) fn bytes(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(self.folder.path())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.insert(name, fs::read(path)?);
        }
        Ok(all)
    }
}

/// The packages of the programs of this build, made once.
pub(crate) fn real() -> Result<&'static Packages> {
    static MADE: OnceLock<Result<Packages, String>> = OnceLock::new();
    let make = || -> Result<Packages> {
        let programs = tempfile::tempdir()?;
        for name in ["castellan", "castellan-hook", "castellan-sandbox", "castellan-reader"] {
            let (from, to) = (built()?.join(name), programs.path().join(name));
            // A debug build is large by its symbols.
            let stripped = Command::new("strip").arg("-o").arg(&to).arg(&from).status();
            if !stripped.is_ok_and(|status| status.success()) {
                fs::copy(&from, &to)?;
            }
        }
        fs::copy(falco_plugin()?.join(PLUGIN), programs.path().join(PLUGIN))?;
        Packages::of(programs.path(), |_| {})
    };
    let made = MADE.get_or_init(|| make().map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// The folder of the programs of this build.
fn built() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).context("no folder of this build")?;
    let missing = folder.join("xtask");
    ensure!(missing.is_file(), "`{}` is missing: run `cargo build --workspace` first", missing.display());
    Ok(folder.to_owned())
}

/// The folder of Falco's plugin of this project, and of the program in Falco's place below `examples`.
pub(crate) fn falco_plugin() -> Result<PathBuf> {
    let folder = built()?.parent().context("no folder of all builds")?.join("falco-plugin/debug");
    let missing = folder.join(PLUGIN);
    let build = "cargo build --locked --manifest-path plugins/falco/Cargo.toml --target-dir target/falco-plugin --lib \
                 --example stand_in";
    ensure!(missing.is_file(), "`{}` is missing: run `{build}` first", missing.display());
    Ok(folder)
}

pub(crate) fn run(command: &mut Command) -> Result<Finished> {
    Running::start(command)?.finish(LIMIT)
}

pub(crate) fn succeed(command: &mut Command) -> Result<Finished> {
    let done = run(command)?;
    ensure!(done.code == Some(0), "{command:?}: {done:?}");
    Ok(done)
}

/// The files below a folder, relative to it, sorted.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut to_do = vec![folder.to_owned()];
    while let Some(next) = to_do.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                to_do.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}
