//! The files of the archive and of the Debian package: programs, Falco's plugin, man pages, completions, licences, the bill of
//! materials.
//! Must not know an archive's format.

use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, ensure};

use super::library;
use super::programs::Programs;
use super::tree::{FILE, PROGRAM, Tree};
use crate::root;

/// The shells with completions, and the place of each.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/castellan"),
    ("zsh", "share/zsh/site-functions/_castellan"),
    ("fish", "share/fish/vendor_completions.d/castellan.fish"),
];

/// Documents of the project that belong to a package.
const DOCUMENTS: &[&str] = &["LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"];

const INSTALL: &str = include_str!("../../../packaging/install.sh");

/// Returns the installed files: `bin/..`, `lib/..` and `share/..`. `legal` are the files about licences.
pub(super) fn installed(programs: &Programs, legal: &Tree) -> anyhow::Result<Tree> {
    let mut tree = Tree::default();
    tree.add_tree("bin", &programs.tree)?;
    if let Some(bytes) = &programs.library {
        tree.add(library::PLACE, FILE, Rc::clone(bytes))?;
    }
    let pages = tempfile::tempdir().context("no temporary folder")?;
    run(programs, &["--quiet", "man", &pages.path().display().to_string()])?;
    tree.add_folder("share/man/man1", pages.path())?;
    for (shell, path) in COMPLETIONS {
        tree.add(path, FILE, run(programs, &["completions", shell])?)?;
    }
    for name in DOCUMENTS {
        let bytes = std::fs::read(root()?.join(name)).with_context(|| (*name).to_owned())?;
        tree.add(&format!("share/doc/castellan/{name}"), FILE, bytes)?;
    }
    for (path, entry) in legal.files().filter(|(path, _)| !DOCUMENTS.contains(path)) {
        tree.add(&format!("share/doc/castellan/{path}"), FILE, entry.bytes.clone())?;
    }
    Ok(tree)
}

/// Returns the files of the archive: those that are installed, the install script and checksums.
pub(super) fn archive(programs: &Programs, installed: &Tree) -> anyhow::Result<Tree> {
    let mut tree = installed.clone();
    tree.add_text("VERSION", &format!("{}\n", programs.version))?;
    tree.add("install.sh", PROGRAM, INSTALL.as_bytes())?;
    let sums = tree.checksums();
    tree.add_text("SHA256SUMS", &sums)?;
    Ok(tree)
}

fn run(programs: &Programs, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let castellan = programs.castellan.display();
    let output = Command::new(&programs.castellan)
        .args(arguments)
        .output()
        .with_context(|| format!("`{castellan}` cannot be started"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{castellan} {}` failed: {said}", arguments.join(" "));
    Ok(output.stdout)
}
