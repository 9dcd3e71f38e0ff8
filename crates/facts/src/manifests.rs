//! Manifests of projects, and the packages that they declare. A name that no manifest declares may be anyone's.

use std::rc::Rc;

use castellan_event::{Answer, EffectKind, FileOrigin, Operation, Query, Scope};

use crate::limits::PARENTS_MAX;
use crate::memo::{self, Reader};
use crate::scene::Scene;

mod names;

pub(crate) use names::{is_local, is_remote};

/// How the packages of one kind are named and declared.
struct Manager {
    system: &'static str,
    /// Manifests that declare them, each with what reads it. Those of one directory count together.
    manifests: &'static [(&'static str, Reader)],
    /// What a specification names.
    name: fn(&str) -> String,
}

const MANAGERS: &[Manager] = &[
    Manager { system: "cargo", manifests: &[("Cargo.toml", names::of_toml)], name: names::before_at },
    Manager { system: "composer", manifests: &[("composer.json", names::of_json)], name: names::of_composer },
    Manager { system: "gem", manifests: &[("Gemfile", names::of_gemfile)], name: names::before_at },
    Manager { system: "go", manifests: &[("go.mod", names::of_go_mod)], name: names::before_at },
    Manager { system: "npm", manifests: &[("package.json", names::of_json)], name: names::before_at },
    Manager {
        system: "pip",
        manifests: &[
            ("Pipfile", names::of_toml),
            ("pyproject.toml", names::of_toml),
            ("requirements-dev.txt", names::of_requirements),
            ("requirements.txt", names::of_requirements),
        ],
        name: names::of_requirement,
    },
];

/// Returns true if castellan knows the manifests of a package manager.
pub(crate) fn is_manager(system: &str) -> bool {
    manager_of(system).is_some()
}

fn manager_of(system: &str) -> Option<&'static Manager> {
    MANAGERS.iter().find(|manager| manager.system == system)
}

/// The package of a registry that an install is of, as the registry compares names.
pub(crate) fn name_of_package(op: &Operation) -> Option<String> {
    let (EffectKind::Install, Some(system), Some(spec)) = (op.kind, &op.system, &op.target) else {
        return None;
    };
    let manager = manager_of(system)?;
    let is_elsewhere = spec.contains("://") || is_remote(spec, system) || is_local(spec);
    (!is_elsewhere).then(|| (manager.name)(spec)).filter(|name| !name.is_empty())
}

/// Returns true if the manifest of the project around a directory names the package of a specification.
pub(crate) fn names_package(
    system: &str,
    spec: &str,
    directory: &str,
    scene: &mut Scene<'_, '_, '_>,
) -> bool {
    manager_of(system)
        .is_some_and(|manager| named_by(manager, &[(manager.name)(spec)], directory, scene).is_some())
}

/// Returns true if the manifest of the project around a directory names one of these packages, and the session did not
/// write it.
pub(crate) fn declares(
    system: &str,
    names: &[impl AsRef<str>],
    directory: &str,
    scene: &mut Scene<'_, '_, '_>,
) -> bool {
    let manager = manager_of(system);
    let manifest = manager.and_then(|manager| named_by(manager, names, directory, scene));
    manifest.is_some_and(|path| {
        let is_here = scene.session.setting.workspace.as_str();
        let origin = scene.origin_of(&path, path.starts_with(is_here).then_some(Scope::Workspace));
        origin == Some(FileOrigin::Repository)
            && !is_here.is_empty()
            && !scene.session.setting.written_is_full
    })
}

/// Returns the manifest of the innermost project around a directory, if it names one of these packages.
fn named_by(
    manager: &Manager,
    wanted: &[impl AsRef<str>],
    directory: &str,
    scene: &mut Scene<'_, '_, '_>,
) -> Option<String> {
    let mut directory = Some(directory);
    for _ in 0..=PARENTS_MAX {
        let here = directory?;
        let mut is_project = false;
        for (file, names) in manager.manifests {
            let path = format!("{}/{file}", here.trim_end_matches('/'));
            let Some(names) = named_in(&path, file, *names, scene) else { continue };
            is_project = true;
            // A module of Go holds many packages.
            let is_of = |one: &String, wanted: &str| {
                let rest = wanted.strip_prefix(one.as_str());
                rest.is_some_and(|rest| rest.is_empty() || manager.system == "go" && rest.starts_with('/'))
            };
            if names.iter().any(|one| wanted.iter().any(|wanted| is_of(one, wanted.as_ref()))) {
                return Some(path);
            }
        }
        if is_project {
            return None;
        }
        directory = parent(here);
    }
    None
}

/// The names that the manifest at a path declares; `None` where none is. What the world says of it is the same for all
/// of a call.
fn named_in(
    path: &str,
    file: &'static str,
    read: Reader,
    scene: &mut Scene<'_, '_, '_>,
) -> Option<Rc<[String]>> {
    if let Some(known) = scene.files.manifests.get(path) {
        return known.clone();
    }
    let names = match scene.world.ask(Query::Contents { path: path.to_owned() }) {
        Some(Answer::Contents(Some(bytes))) => {
            Some(memo::names(file, &String::from_utf8_lossy(&bytes), read))
        }
        _ => None,
    };
    scene.files.manifests.insert(path.to_owned(), names.clone());
    names
}

/// Returns the directory above a directory.
pub(crate) fn parent(directory: &str) -> Option<&str> {
    let (above, name) = directory.rsplit_once('/')?;
    (!name.is_empty()).then_some(if above.is_empty() { "/" } else { above })
}
