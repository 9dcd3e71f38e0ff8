//! The crates that are linked into castellan's programs and into Falco's plugin, from `cargo metadata` and `Cargo.lock` of both
//! workspaces. Must not know how they are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::library;
use super::programs::PROGRAMS;
use crate::{falco, root};

/// A crate that is linked.
#[derive(Debug, Clone)]
pub(super) struct Linked {
    pub(super) name: String,
    pub(super) version: String,
    /// A licence expression of SPDX.
    pub(super) licence: String,
    pub(super) authors: Vec<String>,
    /// The folder of its source, with its licence texts.
    pub(super) folder: PathBuf,
    /// SHA-256 of its package, in hexadecimal; `None` for castellan's own crates.
    pub(super) checksum: Option<String>,
    /// Name and version of each crate that it links.
    pub(super) needs: BTreeSet<(String, String)>,
    /// True for the package of a program, or of Falco's plugin.
    pub(super) is_root: bool,
}

impl Linked {
    /// The name of the crate in a software bill of materials.
    pub(super) fn purl(&self) -> String {
        purl(&self.name, &self.version)
    }
}

/// Returns the package URL of a crate.
pub(super) fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dep>,
}

#[derive(Deserialize)]
struct Dep {
    pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
struct DepKind {
    /// `None`: linked; else `build` or `dev`.
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// Returns the crates that are linked into the programs and Falco's plugin on a platform, by name and version.
pub(super) fn linked(platform: &str) -> anyhow::Result<Vec<Linked>> {
    let programs: Vec<&str> = PROGRAMS.iter().map(|(_, package)| *package).collect();
    let mut all = of_workspace("Cargo.toml", platform, &programs)?;
    if library::belongs_to(platform) {
        merge(&mut all, of_workspace(falco::MANIFEST, platform, &[library::PACKAGE])?);
    }
    Ok(all.into_values().collect())
}

/// Crates by name and version.
type Crates = BTreeMap<(String, String), Linked>;

/// Adds crates. Another choice of features can make a crate need more.
fn merge(all: &mut Crates, others: Crates) {
    for (key, other) in others {
        match all.get_mut(&key) {
            Some(one) => one.needs.extend(other.needs),
            None => drop(all.insert(key, other)),
        }
    }
}

/// Returns what is linked into these packages of a workspace. `manifest` is its path from the root of the project.
fn of_workspace(manifest: &str, platform: &str, roots: &[&str]) -> anyhow::Result<Crates> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", platform])
        .args(["--manifest-path", manifest])
        .current_dir(root()?)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cargo metadata cannot be started")?;
    ensure!(output.status.success(), "cargo metadata of `{manifest}` failed");
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cargo metadata in another form")?;
    let lock = root()?.join(manifest).with_extension("lock");
    let lock: Lock = toml::from_str(&std::fs::read_to_string(lock)?).context("Cargo.lock in another form")?;
    of(&metadata, &lock, roots)
}

fn of(metadata: &Metadata, lock: &Lock, roots: &[&str]) -> anyhow::Result<Crates> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let is_root = |package: &Package| roots.contains(&package.name.as_str());
    let mut to_do: Vec<&str> =
        packages.values().filter(|package| is_root(package)).map(|package| package.id.as_str()).collect();
    ensure!(to_do.len() == roots.len(), "the packages of castellan's programs are not in the workspace");
    let mut found = BTreeMap::new();
    while let Some(id) = to_do.pop() {
        let package = packages.get(id).with_context(|| format!("{id} is unknown"))?;
        let key = (package.name.clone(), package.version.clone());
        if found.contains_key(&key) {
            continue;
        }
        let needs = needs_of(nodes.get(id).copied());
        let named = needs.iter().filter_map(|id| packages.get(id));
        let named = named.map(|package| (package.name.clone(), package.version.clone())).collect();
        to_do.extend(needs);
        let mut linked =
            read(package, named, lock).with_context(|| format!("{} {}", package.name, package.version))?;
        linked.is_root = is_root(package);
        found.insert(key, linked);
    }
    Ok(found)
}

/// Returns the ids of what is linked, not what only builds or tests it.
fn needs_of(node: Option<&Node>) -> Vec<&str> {
    let deps = node.into_iter().flat_map(|node| &node.deps);
    let is_linked = |dep: &&Dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none());
    deps.filter(is_linked).map(|dep| dep.pkg.as_str()).collect()
}

fn read(package: &Package, needs: BTreeSet<(String, String)>, lock: &Lock) -> anyhow::Result<Linked> {
    let is_locked = |locked: &&Locked| locked.name == package.name && locked.version == package.version;
    let locked = lock.package.iter().find(is_locked).context("not in Cargo.lock")?;
    let licence = package.license.as_deref().context("no licence")?;
    Ok(Linked {
        name: package.name.clone(),
        version: package.version.clone(),
        // The former way to write it.
        licence: licence.replace(" / ", " OR ").replace('/', " OR "),
        authors: package.authors.clone(),
        folder: package.manifest_path.parent().context("no folder")?.to_owned(),
        checksum: locked.checksum.clone(),
        needs,
        is_root: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_or_tests_a_program_is_not_linked() {
        let package = |name: &str, licence: &str| {
            format!(
                r#"{{"id":"{name}","name":"{name}","version":"1.0.0","license":"{licence}","authors":[],"manifest_path":"/r/{name}/Cargo.toml"}}"#
            )
        };
        let packages =
            ["castellan-cli", "castellan-hook", "castellan-launcher", "castellan-reader", "a", "b", "c", "d"]
                .map(|name| package(name, "MIT/Apache-2.0"))
                .join(",");
        let dep = |name: &str, kind: &str| format!(r#"{{"pkg":"{name}","dep_kinds":[{{"kind":{kind}}}]}}"#);
        let nodes = format!(
            r#"{{"id":"castellan-cli","deps":[{},{},{}]}},{{"id":"a","deps":[{}]}}"#,
            dep("a", "null"),
            dep("b", "\"build\""),
            dep("d", "\"dev\""),
            dep("c", "null")
        );
        let metadata = format!(r#"{{"packages":[{packages}],"resolve":{{"nodes":[{nodes}]}}}}"#);
        let metadata: Metadata = serde_json::from_str(&metadata).unwrap();
        let locked =
            |name: &str| Locked { name: name.to_owned(), version: "1.0.0".to_owned(), checksum: None };
        let lock = Lock { package: metadata.packages.iter().map(|package| locked(&package.name)).collect() };
        let roots = ["castellan-cli", "castellan-hook", "castellan-launcher", "castellan-reader"];
        assert!(of(&metadata, &lock, &["castellan-cli", "absent"]).is_err());
        let mut found = of(&metadata, &lock, &roots).unwrap();
        let names: Vec<&str> = found.values().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            ["a", "c", "castellan-cli", "castellan-hook", "castellan-launcher", "castellan-reader"]
        );
        assert!(found.values().all(|one| one.licence == "MIT OR Apache-2.0"));
        assert!(found.values().all(|one| one.is_root == roots.contains(&one.name.as_str())));
        let key = |name: &str| (name.to_owned(), "1.0.0".to_owned());
        assert_eq!(found[&key("a")].needs, BTreeSet::from([key("c")]));
        // The plugin is in another workspace, and may need other parts of a crate.
        let mut others = found.clone();
        others.get_mut(&key("a")).unwrap().needs = BTreeSet::from([key("d")]);
        others.insert(key("d"), others[&key("a")].clone());
        merge(&mut found, others);
        assert_eq!(found[&key("a")].needs, BTreeSet::from([key("c"), key("d")]));
        assert!(found.contains_key(&key("d")));
    }
}
