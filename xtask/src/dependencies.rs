//! `cargo xtask dependencies`: licence, source and number of versions of every crate that is linked, from
//! `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;
use spdx::{AdditionItem, Expression, ParseMode};

use crate::{falco, root};

/// Licences under which castellan, which is Apache-2.0, can be given away with the crate. `Unicode-DFS-2016` is the former
/// text of `Unicode-3.0`: the names of characters in `unicode_names2`.
/// `CDLA-Permissive-2.0` and `ISC` come with TLS: Mozilla's list of certificate authorities, `ring` and its neighbours.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "MIT",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Zlib",
];

/// Exceptions that only add permissions to their licence: the build of `psm`, a part of `stacker`, has a crate under it.
const EXCEPTIONS: &[&str] = &["LLVM-exception"];

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Crates that may be there in two versions, and the reason.
const TWICE: &[(&str, &str)] = &[
    ("block-buffer", "argon2 0.5 is built on digest 0.10, sha2 on 0.11"),
    ("cpufeatures", "argon2 0.5"),
    ("crypto-common", "argon2 0.5"),
    ("digest", "argon2 0.5"),
    ("embedded-io", "optional features of postcard, which nothing switches on"),
    ("getrandom", "the build of unicode_names2, which ruff's parser needs, is on rand 0.8"),
    ("phf", "the build of unicode_names2 is on 0.11, oxc's parser on 0.14"),
    ("phf_generator", "the build of unicode_names2"),
    ("phf_shared", "the build of unicode_names2"),
    ("rand", "the build of unicode_names2"),
    ("rand_core", "argon2 0.5"),
    ("signal-hook", "crossterm 0.29 is built on 0.3"),
    ("syn", "the macros of ruff's parser are on 2, those of serde on 3"),
    ("windows-sys", "ring 0.17 is built on 0.52, for a system that castellan does not run on"),
];

/// Crates that must not be there, and the reason.
const BANNED: &[(&str, &str)] = &[
    ("async-std", "threads suffice, and a runtime hides what waits"),
    ("fancy-regex", "backtracks: matching has to be linear"),
    ("native-tls", "`rustls` speaks TLS, the same on each system"),
    ("onig", "backtracks: matching has to be linear"),
    ("openssl-sys", "`rustls` speaks TLS, the same on each system"),
    ("pcre2", "backtracks: matching has to be linear"),
    ("reqwest", "brings a runtime; `ureq` asks the reviewer"),
    ("serde_yaml", "is not maintained; `saphyr-parser` has positions"),
    ("tokio", "threads suffice, and a runtime hides what waits"),
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

/// Checks the dependencies of castellan and of Falco's plugin; an error names each that must not be as it is.
pub(crate) fn check() -> anyhow::Result<()> {
    let Metadata { packages, workspace_members: mut members } = metadata("Cargo.toml")?;
    let plugin = metadata(falco::MANIFEST)?;
    members.extend(plugin.workspace_members);
    let all = packages.iter().chain(&plugin.packages);
    let mut wrong: Vec<String> = all.flat_map(|package| faults(package, &members)).collect();
    wrong.extend(repeated(&packages));
    wrong.extend(in_several_versions(&plugin.packages));
    ensure!(wrong.is_empty(), "dependencies:\n  {}", wrong.join("\n  "));
    let foreign = |packages: &[Package]| packages.iter().filter(|package| package.source.is_some()).count();
    let (own, plugin) = (foreign(&packages), foreign(&plugin.packages));
    println!(
        "dependencies: {own} crates, {plugin} of Falco's plugin, licences and sources as listed, none banned"
    );
    Ok(())
}

fn metadata(manifest: &str) -> anyhow::Result<Metadata> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest])
        .current_dir(root()?)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cargo metadata cannot be started")?;
    ensure!(output.status.success(), "cargo metadata failed for {manifest}");
    serde_json::from_slice(&output.stdout).context("cargo metadata in another form")
}

fn faults(package: &Package, members: &BTreeSet<String>) -> Vec<String> {
    let Package { name, version, .. } = package;
    let mut faults = Vec::new();
    if let Some((_, reason)) = BANNED.iter().find(|(banned, _)| banned == name) {
        faults.push(format!("{name} is banned: {reason}"));
    }
    match &package.source {
        Some(source) if source != REGISTRY => faults.push(format!("{name} {version} comes from {source}")),
        Some(_) => {}
        None if !members.contains(&package.id) => {
            faults
                .push(format!("{name} {version} comes from a path outside of the workspace: {}", package.id));
        }
        None => {
            faults.extend(package.dependencies.iter().filter_map(|dependency| unpinned(name, dependency)))
        }
    }
    faults.extend(licence_fault(package));
    faults
}

/// A dependency of ours that takes any version.
fn unpinned(name: &str, dependency: &Dependency) -> Option<String> {
    (dependency.req == "*" && dependency.path.is_none())
        .then(|| format!("{name} takes any version of {}", dependency.name))
}

fn licence_fault(package: &Package) -> Option<String> {
    let Package { name, version, .. } = package;
    let Some(text) = &package.license else { return Some(format!("{name} {version} names no licence")) };
    match Expression::parse_mode(text, ParseMode::LAX) {
        Ok(licence) => {
            let is_allowed = licence.evaluate(|required| {
                let is_exception =
                    |one: &AdditionItem| one.id().is_some_and(|id| EXCEPTIONS.contains(&id.name));
                required.addition.as_ref().is_none_or(is_exception)
                    && required.license.id().is_some_and(|id| LICENCES.contains(&id.name))
            });
            (!is_allowed).then(|| format!("{name} {version} is under {text}, which is not allowed"))
        }
        Err(_) => Some(format!("{name} {version}: `{text}` is no licence expression")),
    }
}

fn repeated(packages: &[Package]) -> Vec<String> {
    let several = several(packages);
    let gone = TWICE.iter().filter(|(name, _)| !several.contains(name));
    let mut wrong = in_several_versions(packages);
    wrong.extend(gone.map(|(name, _)| format!("{name} is there once: take it out of `TWICE`")));
    wrong
}

fn in_several_versions(packages: &[Package]) -> Vec<String> {
    let is_listed = |name: &str| TWICE.iter().any(|(twice, _)| *twice == name);
    let new = several(packages).into_iter().filter(|name| !is_listed(name));
    new.map(|name| format!("{name} is there in several versions")).collect()
}

/// Returns the names of the crates that are there in several versions.
fn several(packages: &[Package]) -> BTreeSet<&str> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    versions.into_iter().filter(|(_, versions)| versions.len() > 1).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(licence: Option<&str>, source: Option<&str>, name: &str) -> Package {
        Package {
            id: format!("path+file:///w/{name}#1.0.0"),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: licence.map(str::to_owned),
            source: source.map(str::to_owned),
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn faults_are_found() {
        let members = BTreeSet::from(["path+file:///w/ours#1.0.0".to_owned()]);
        let check = |licence, source, name, expected: usize| {
            assert_eq!(
                faults(&package(licence, source, name), &members).len(),
                expected,
                "{licence:?} {source:?} {name}"
            );
        };
        check(Some("MIT OR Apache-2.0"), Some(REGISTRY), "x", 0);
        check(Some("MIT/Apache-2.0"), Some(REGISTRY), "x", 0);
        check(Some("(MIT OR GPL-3.0-only) AND Unicode-3.0"), Some(REGISTRY), "x", 0);
        check(Some("Apache-2.0 WITH LLVM-exception"), Some(REGISTRY), "x", 0);
        check(Some("Apache-2.0 WITH Classpath-exception-2.0"), Some(REGISTRY), "x", 1);
        check(Some("GPL-3.0-only"), Some(REGISTRY), "x", 1);
        check(Some("MIT AND GPL-3.0-only"), Some(REGISTRY), "x", 1);
        check(Some("made up"), Some(REGISTRY), "x", 1);
        check(None, Some(REGISTRY), "x", 1);
        check(Some("MIT"), Some("git+https://example.com/x"), "x", 1);
        check(Some("MIT"), Some("registry+https://example.com/index"), "x", 1);
        check(Some("MIT"), None, "ours", 0);
        check(Some("MIT"), None, "copied", 1);
        check(Some("MIT"), Some(REGISTRY), "tokio", 1);
    }

    #[test]
    fn a_second_version_is_found() {
        let mut second = package(Some("MIT"), None, "x");
        second.version = "2.0.0".to_owned();
        let wrong = repeated(&[package(Some("MIT"), None, "x"), second]);
        assert!(wrong.contains(&"x is there in several versions".to_owned()), "{wrong:?}");
    }

    #[test]
    fn any_version_is_none() {
        let dependency = |req: &str| Dependency { name: "y".to_owned(), req: req.to_owned(), path: None };
        assert!(unpinned("x", &dependency("*")).is_some());
        assert!(unpinned("x", &dependency("^1.2")).is_none());
    }
}
