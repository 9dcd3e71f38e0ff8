//! [`Programs`]: castellan's programs and Falco's plugin, built or taken from a folder, with their version and platform. Must not
//! know the packages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, ensure};

use super::library;
use super::tree::{PROGRAM, Tree};
use crate::build::{self, host_triple, target};
use crate::root;

/// The programs, and their packages in the workspace.
pub(super) const PROGRAMS: &[(&str, &str)] = &[
    ("castellan", "castellan-cli"),
    ("castellan-hook", "castellan-hook"),
    ("castellan-sandbox", "castellan-launcher"),
    ("castellan-reader", "castellan-reader"),
];

pub(super) struct Programs {
    /// As `castellan --version` prints it.
    pub(super) version: String,
    /// Rust's name of the platform.
    pub(super) platform: String,
    /// `castellan` itself, which writes its man pages and completions.
    pub(super) castellan: PathBuf,
    /// The programs by name.
    pub(super) tree: Tree,
    /// Falco's plugin, on platforms that have it.
    pub(super) library: Option<Rc<[u8]>>,
}

/// The origin of the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    Release,
    /// A debug build, for tests.
    Debug,
    /// A folder of ready programs.
    Folder(PathBuf),
}

impl Programs {
    /// Builds or reads the programs. `platform` is that of a folder's programs; default: this machine's.
    pub(super) fn of(origin: &Origin, platform: Option<&str>) -> anyhow::Result<Programs> {
        let paths = match origin {
            Origin::Release => {
                let built = build::release_with(&flags()?)?;
                [built.castellan, built.hook, built.launcher, built.reader]
            }
            Origin::Debug => {
                let packages = PROGRAMS.iter().flat_map(|(_, package)| ["--package", package]);
                build::cargo(&std::iter::once("build").chain(packages).collect::<Vec<_>>(), &flags()?)?;
                in_folder(&target()?.join("debug"))
            }
            Origin::Folder(folder) => in_folder(folder),
        };
        let read =
            |path: &Path| std::fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()));
        let mut tree = Tree::default();
        for ((name, _), path) in PROGRAMS.iter().zip(&paths) {
            tree.add(name, PROGRAM, read(path)?)?;
        }
        let [castellan, ..] = paths;
        let platform = platform.map_or_else(host_triple, |platform| Ok(platform.to_owned()))?;
        let library = || match origin {
            Origin::Release => library::built(true, &flags()?),
            Origin::Debug => library::built(false, &flags()?),
            Origin::Folder(folder) => library::in_folder(folder),
        };
        let library = library::belongs_to(&platform).then(library).transpose()?;
        let library = library.map(|path| read(&path)).transpose()?.map(Rc::from);
        Ok(Programs { version: version(&castellan)?, platform, castellan, tree, library })
    }
}

fn in_folder(folder: &Path) -> [PathBuf; 4] {
    ["castellan", "castellan-hook", "castellan-sandbox", "castellan-reader"].map(|name| folder.join(name))
}

/// Returns compiler flags that take this machine's folders out of the programs: equal sources give equal bytes in any
/// folder.
fn flags() -> anyhow::Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let folders = [(Some(root()?), "/castellan"), (Some(target()?), "/castellan/target"), (home, "/cargo")];
    // The last matching one counts.
    let mut all = Vec::new();
    for (folder, name) in folders {
        let Some(folder) = folder else { continue };
        let folder = folder.display().to_string();
        ensure!(!folder.contains(' '), "`{folder}` has a space, which compiler flags cannot hold: move it");
        all.push(format!("--remap-path-prefix={folder}={name}"));
    }
    Ok(all.join(" "))
}

/// Runs castellan for its version, so that a package never says another one.
fn version(castellan: &Path) -> anyhow::Result<String> {
    let output = Command::new(castellan)
        .arg("--version")
        .output()
        .with_context(|| format!("`{}` cannot be started", castellan.display()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let version = told.trim().strip_prefix("castellan ").unwrap_or_default();
    let is_plain = !version.is_empty() && version.chars().all(|c| c.is_ascii_digit() || c == '.');
    ensure!(output.status.success() && is_plain, "`{}` names no version: {told}", castellan.display());
    Ok(version.to_owned())
}
