//! Circles among the modules of one crate. Only siblings are compared: a module and those below it are one unit from
//! outside, so an edge between parent and child is none. Knows Rust's paths; knows no module by name but the listed
//! recursions.

mod circles;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use proc_macro2::TokenStream;

use crate::root;
use paths::Mention;

/// A module as its path below the crate's root; the root is empty.
type Module = Vec<String>;

/// Circles that stay: the parent module, the siblings in the circle, and the reason.
const LISTED: &[(&str, &[&str], &str)] = &[(
    "shell",
    &["builtins", "run", "walk"],
    "a walk runs commands, and a command such as `eval` runs text that is walked",
)];

/// Returns each circle that is not listed, and each listed circle that is gone.
pub(super) fn circles() -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for entry in std::fs::read_dir(root()?.join("crates")).context("no folder `crates`")? {
        let folder = entry?.path();
        let crate_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files = sources(&folder.join("src"))?;
        for circle in circles::among(&mentions(&files)?) {
            let parent: Vec<&str> = std::iter::once(crate_name.as_str())
                .chain(circle.parent.iter().map(String::as_str))
                .collect();
            let parent = parent.join("::");
            let is_listed =
                |(at, names, _): &&(&str, &[&str], &str)| *at == parent && circle.siblings == *names;
            match LISTED.iter().position(|listed| is_listed(&listed)) {
                Some(at) => _ = met.insert(at),
                None => wrong.push(format!(
                    "modules of {parent} import each other: {}\n    {}",
                    circle.siblings.join(", "),
                    circle.witnesses.join("\n    ")
                )),
            }
        }
    }
    let gone = LISTED.iter().enumerate().filter(|(at, _)| !met.contains(at));
    wrong.extend(gone.map(|(_, (parent, names, _))| {
        format!("the circle of {} in {parent} is gone: take it out of `LISTED`", names.join(", "))
    }));
    wrong.sort();
    Ok(wrong)
}

/// The modules of a source folder with their files, without tests.
fn sources(folder: &Path) -> anyhow::Result<BTreeMap<Module, PathBuf>> {
    let mut files = BTreeMap::new();
    collect(folder, &Vec::new(), &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, parent: &Module, files: &mut BTreeMap<Module, PathBuf>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("no folder `{}`", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let child: Module = parent.iter().cloned().chain([name.clone()]).collect();
        if path.is_dir() {
            collect(&path, &child, files)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests" {
            let is_root = parent.is_empty() && ["lib", "main"].contains(&name.as_str());
            files.insert(if is_root { Vec::new() } else { child }, path);
        }
    }
    files.retain(|module, _| !module.iter().any(|name| name == "tests"));
    Ok(())
}

/// Every mention of one module by another.
fn mentions(files: &BTreeMap<Module, PathBuf>) -> anyhow::Result<Vec<Mention>> {
    let modules: BTreeSet<Module> = files.keys().cloned().collect();
    let mut all = Vec::new();
    for (module, file) in files {
        let text = std::fs::read_to_string(file)?;
        let tokens: TokenStream =
            text.parse().map_err(|error| anyhow!("`{}` is not Rust: {error}", file.display()))?;
        let file = file.strip_prefix(root()?).unwrap_or(file).display().to_string();
        all.extend(paths::mentions(tokens, module, &modules, &file));
    }
    Ok(all)
}
