//! Falco's plugin for the packages: the library, built so that equal sources give equal bytes in any folder, or taken from a
//! folder. Must not know the packages.
//!
//! cargo puts the absolute path of a crate outside of the workspace into the names of its symbols, and the plugin's workspace
//! uses such crates. So this build has a workspace of its own, below the target folder. Links in it lead to all sources.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::build::{self, target};
use crate::{falco, root};

/// The package of the plugin in its workspace.
pub(super) const PACKAGE: &str = "castellan-falco-plugin";

/// The name of the library.
pub(super) const NAME: &str = "libcoding_agent.so";

/// The place of the library in a package, beside the folder `bin`. castellan looks for it there.
pub(super) const PLACE: &str = "lib/castellan/libcoding_agent.so";

/// Reports whether the packages of a platform have the library. castellan starts no Falco elsewhere.
pub(super) fn belongs_to(platform: &str) -> bool {
    platform.contains("linux")
}

/// Returns the library of a folder of ready programs, at the places where castellan looks for it.
pub(super) fn in_folder(programs: &Path) -> anyhow::Result<PathBuf> {
    let beside = programs.join(NAME);
    let packed = std::path::absolute(programs)?.parent().map(|above| above.join(PLACE));
    let mut places = std::iter::once(beside.clone()).chain(packed);
    places.find(|place| place.is_file()).with_context(|| {
        format!("Falco's plugin is missing: build it (docs/falco.md) and put it at `{}`", beside.display())
    })
}

/// Builds the library with these compiler flags. Returns its path.
pub(super) fn built(is_release: bool, flags: &str) -> anyhow::Result<PathBuf> {
    let root = root()?;
    let workspace = std::path::absolute(target()?)?.join("falco-plugin/workspace");
    fs::create_dir_all(&workspace).with_context(|| format!("`{}` cannot be made", workspace.display()))?;
    let own = root.join(falco::MANIFEST);
    let folder = own.parent().context("no folder of the plugin")?;
    link(&folder.join("src"), &workspace.join("src"))?;
    link(&root, &workspace.join(SOURCES))?;
    let text = |file: &Path| fs::read_to_string(file).with_context(|| format!("`{}`", file.display()));
    fs::write(workspace.join("Cargo.lock"), text(&folder.join("Cargo.lock"))?)?;
    let manifest = workspace.join("Cargo.toml");
    fs::write(&manifest, inside(&text(&own)?)?)?;
    let (manifest, made) = (manifest.display().to_string(), workspace.join("target"));
    let to = made.display().to_string();
    let mut words = vec!["build", "--lib", "--locked", "--manifest-path", &manifest, "--target-dir", &to];
    words.extend(is_release.then_some("--release"));
    build::cargo(&words, flags)?;
    Ok(made.join(if is_release { "release" } else { "debug" }).join(NAME))
}

/// The link to the root of the project.
const SOURCES: &str = "castellan";

/// Returns the manifest for the workspace with links. The project's other workspace stays that of the crates behind the link.
fn inside(manifest: &str) -> anyhow::Result<String> {
    let changes = [
        ("\"../../", format!("\"{SOURCES}/")),
        ("\n[workspace]\n", format!("\n[workspace]\nexclude = [\"{SOURCES}\"]\n")),
    ];
    let mut text = manifest.to_owned();
    for (old, new) in changes {
        ensure!(text.contains(old), "the manifest of Falco's plugin has no `{}`", old.trim());
        text = text.replace(old, &new);
    }
    Ok(text)
}

/// Makes a link, or replaces one that leads elsewhere.
fn link(to: &Path, at: &Path) -> anyhow::Result<()> {
    if fs::read_link(at).is_ok_and(|before| before == to) {
        return Ok(());
    }
    if at.is_symlink() {
        fs::remove_file(at)?;
    }
    symlink(to, at).with_context(|| format!("the link `{}` cannot be made", at.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_crate_of_the_project_is_outside_of_the_workspace() {
        let manifest = fs::read_to_string(root().unwrap().join(falco::MANIFEST)).unwrap();
        let inside: toml::Table = toml::from_str(&inside(&manifest).unwrap()).unwrap();
        let mut paths = Vec::new();
        for kind in ["dependencies", "dev-dependencies"] {
            let all = inside[kind].as_table().unwrap();
            paths.extend(all.values().filter_map(|one| one.get("path")?.as_str().map(str::to_owned)));
        }
        assert!(paths.len() >= 3 && paths.iter().all(|path| path.starts_with("castellan/")), "{paths:?}");
        assert_eq!(inside["workspace"]["exclude"].as_array().unwrap().len(), 1);
        assert!(super::inside("[package]\n").is_err());
    }

    #[test]
    fn the_library_of_a_folder_is_where_castellan_looks() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        assert!(in_folder(&bin).unwrap_err().to_string().contains("Falco's plugin is missing"));
        let packed = dir.path().join(PLACE);
        fs::create_dir_all(packed.parent().unwrap()).unwrap();
        fs::write(&packed, "").unwrap();
        assert_eq!(in_folder(&bin).unwrap(), packed);
        fs::write(bin.join(NAME), "").unwrap();
        assert_eq!(in_folder(&bin).unwrap(), bin.join(NAME));
    }
}
