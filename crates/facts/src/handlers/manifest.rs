//! Packages that are installed: whether the project's manifest declares them. A name that it does not declare may be
//! anyone's.

use std::rc::Rc;

use castellan_event::{Answer, Effect, EffectKind, FileKind, FileOrigin, Query, Role, Scope, Why};
use castellan_programs::{Arg, Invocation};

use crate::declared;
use crate::limits::PARENTS_MAX;
use crate::memo::{self, Reader};
use crate::next::From;
use crate::scene::Scene;
use crate::sink::Sink;
use crate::slots::is_standard_stream;

mod names;

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

/// Adds the effects of installing a package. `detail`: the package manager, and after a colon what is known without a
/// manifest (`npm:global`).
pub(crate) fn package(detail: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let (system, known) = detail.split_once(':').unwrap_or((detail, ""));
    let manager = MANAGERS.iter().find(|manager| manager.system == system);
    let mut origin = None;
    let verb = match (arg.as_str(), manager) {
        (Some(text), _) if text.contains("://") || names::is_remote(text, system) => {
            let url = Some(text.to_owned());
            sink.add(Effect { kind: EffectKind::Download, url, ..Effect::default() });
            "undeclared"
        }
        (Some(text), _) if names::is_local(text) => {
            sink.path(EffectKind::Read, arg);
            let located = sink.locate(arg);
            let path = located.path.as_deref();
            origin = path.and_then(|path| sink.scene.origin_of(path, located.place));
            "local"
        }
        // A pattern of them.
        (None, _) if arg.why() == Some(Why::Glob) && names::is_local(&arg.written()) => {
            sink.path(EffectKind::Read, arg);
            let (system, target) = (Some(system.to_owned()), Some(arg.written().into_owned()));
            let verb = Some("local".to_owned());
            return sink.add(Effect { kind: EffectKind::Install, system, verb, target, ..Effect::default() });
        }
        (_, None) if known.is_empty() => "system",
        (_, _) if !known.is_empty() => known,
        (Some(text), Some(manager)) if is_declared(text, manager, sink) => "declared",
        (Some(_) | None, _) => "undeclared",
    };
    // Of what was there before, the project's manifests say where it comes from.
    if origin == Some(FileOrigin::Downloaded) {
        let text = |text: &str| Some(text.to_owned());
        let (system, verb, target) = (text(system), text(verb), text(&arg.written()));
        let kind = EffectKind::Install;
        return sink.add(Effect { kind, system, verb, target, file_origin: origin, ..Effect::default() });
    }
    sink.on(EffectKind::Install, system, verb, Some(arg));
}

/// The package of a registry that an install is of, as the registry compares names.
pub(crate) fn name_of_package(effect: &Effect) -> Option<String> {
    let (EffectKind::Install, Some(system), Some(spec)) = (effect.kind, &effect.system, &effect.target)
    else {
        return None;
    };
    let manager = MANAGERS.iter().find(|manager| manager.system == system)?;
    let is_elsewhere = spec.contains("://") || names::is_remote(spec, system) || names::is_local(spec);
    (!is_elsewhere).then(|| (manager.name)(spec)).filter(|name| !name.is_empty())
}

fn is_declared(spec: &str, manager: &Manager, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let name = (manager.name)(spec);
    let directory = sink.cwd.clone();
    directory.is_some_and(|directory| named_by(manager, &name, &directory, sink.scene).is_some())
}

/// Whether the manifest of the project around a directory names a package, and the session did not write it.
pub(crate) fn declares(system: &str, name: &str, directory: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let manager = MANAGERS.iter().find(|manager| manager.system == system);
    let manifest = manager.and_then(|manager| named_by(manager, name, directory, scene));
    manifest.is_some_and(|path| {
        let is_here = scene.setting.workspace.as_str();
        let origin = scene.origin_of(&path, path.starts_with(is_here).then_some(Scope::Workspace));
        origin == Some(FileOrigin::Repository) && !is_here.is_empty() && !scene.setting.written_is_full
    })
}

/// The manifest of the innermost project around a directory that names a package.
fn named_by(manager: &Manager, name: &str, directory: &str, scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let mut directory = Some(directory);
    for _ in 0..=PARENTS_MAX {
        let here = directory?;
        let mut is_project = false;
        for (file, names) in manager.manifests {
            let path = format!("{}/{file}", here.trim_end_matches('/'));
            let Some(names) = named_in(&path, file, *names, scene) else { continue };
            is_project = true;
            // A module of Go holds many packages.
            let holds = |one: &String| {
                let rest = name.strip_prefix(one.as_str());
                rest.is_some_and(|rest| rest.is_empty() || manager.system == "go" && rest.starts_with('/'))
            };
            if names.iter().any(holds) {
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
    if let Some(known) = scene.manifests.get(path) {
        return known.clone();
    }
    let names = match scene.world.ask(Query::Contents { path: path.to_owned() }) {
        Some(Answer::Contents(Some(bytes))) => {
            Some(memo::names(file, &String::from_utf8_lossy(&bytes), read))
        }
        _ => None,
    };
    scene.manifests.insert(path.to_owned(), names.clone());
    names
}

fn parent(directory: &str) -> Option<&str> {
    let (above, name) = directory.rsplit_once('/')?;
    (!name.is_empty()).then_some(if above.is_empty() { "/" } else { above })
}

/// `npx`, `npm exec`, `bunx`: runs a program of a package, which is fetched when the project has none of that name.
pub(crate) fn npx(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let packages: Vec<&Arg> = read.values("--package").collect();
    for package_name in &packages {
        package("npm", package_name, sink);
    }
    let Some(program) = read.operands.first().map(|operand| &operand.arg) else { return };
    if !packages.is_empty() {
        return;
    }
    if let Some(path) = program.as_str().and_then(|name| own_program(name, sink)) {
        let kind = EffectKind::Execute;
        sink.path(kind, &Arg::known(path));
    } else if is_of_declared(program, sink) {
        sink.on(EffectKind::Install, "npm", "declared", Some(program));
    } else {
        package("npm", program, sink);
    }
}

/// Whether the project declares the package that a program comes from which is called otherwise.
fn is_of_declared(program: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    match (program.as_str(), sink.cwd.clone()) {
        (Some(name), Some(cwd)) => declared::has_package(name, &cwd, sink.scene),
        _ => false,
    }
}

/// `yarn build`, `pnpm lint`: what is no subcommand is a script of the manifest, or a file for bun; a bare `yarn`
/// installs.
pub(crate) fn script(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if !read.subcommand.is_empty() {
        return;
    }
    let first = read.unknown_subcommand.or(read.operands.first().map(|operand| operand.at));
    let Some(script) = first.and_then(|at| argv.get(at)) else {
        let is_bare = read.operands.is_empty();
        if is_bare && read.command.name() == "yarn" {
            sink.on(EffectKind::Install, "npm", "manifest", None);
            lifecycle(read, argv, sink);
        }
        return;
    };
    sink.knows_subcommand = script.as_str().is_some();
    if is_standard_stream(script) && read.program.name() == "bun" {
        return sink.on(EffectKind::Interactive, "javascript", "", None);
    }
    let is_file = script
        .as_str()
        .is_some_and(|text| text.contains('/') || text.contains(".ts") || text.contains(".js"));
    if is_file {
        sink.path(EffectKind::Execute, script);
        if read.program.name() == "bun" {
            sink.program("javascript", From::File(script.clone()));
        }
        return;
    }
    let target = Some(script.written().into_owned());
    let (system, verb) = (Some("npm".to_owned()), Some("run".to_owned()));
    let effect = Effect { kind: EffectKind::Execute, system, verb, target, ..Effect::default() };
    sink.path_effect(effect, &Arg::known("package.json"));
}

/// `npm ci`, `npm publish`: the project's own scripts run that its manifest has for it. With packages to install only
/// yarn and bun run them.
pub(crate) fn lifecycle(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let is_without = |flag: &&str| read.given(flag);
    if sink.dry || ["--ignore-scripts", "-g", "--location"].iter().any(is_without) {
        return;
    }
    let name = read.command.name();
    let has_packages = name == "install" && !read.operands.is_empty();
    if has_packages && matches!(read.program.name(), "npm" | "pnpm") {
        return;
    }
    let verb = if matches!(name, "add" | "ci" | "yarn") { "install" } else { name };
    sink.task("npm", verb, None, "package.json");
}

/// Where Composer keeps the project that `composer global` works in, below the home directory.
const COMPOSER_GLOBAL: &[&str] = &[".config/composer/composer.json", ".composer/composer.json"];

/// `composer install`: the project's own scripts run that its manifest has for it. What is no subcommand is one of
/// them.
pub(crate) fn composer_scripts(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    const FILE: &str = "composer.json";
    if let Some(script) =
        read.unknown_subcommand.and_then(|at| argv.get(at)).filter(|arg| arg.as_str().is_some())
    {
        sink.knows_subcommand = true;
        let text = |text: &str| Some(text.to_owned());
        let (system, verb, target) = (text("composer"), text("run"), Some(script.written().into_owned()));
        let effect = Effect { kind: EffectKind::Execute, system, verb, target, ..Effect::default() };
        return sink.path_effect(effect, &Arg::known(FILE));
    }
    if read.given("--no-scripts") || sink.dry {
        return;
    }
    let verb = match read.command.name() {
        "install" => "install",
        "update" | "require" | "remove" => "update",
        "dump-autoload" => "dump-autoload",
        // Those of a project that is fetched first.
        "create-project" if !read.given("--no-install") => {
            return sink.opaque(Role::Code, Why::Network, "create-project");
        }
        _ => return,
    };
    if read.subcommand.first().is_some_and(|first| *first == "global") {
        let home = sink.scene.places.home().to_owned();
        return COMPOSER_GLOBAL
            .iter()
            .for_each(|file| sink.task("composer", verb, None, &format!("{home}/{file}")));
    }
    sink.task("composer", verb, None, FILE);
}

/// The program in the project's own packages.
fn own_program(name: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let mut directory = sink.cwd.clone();
    for _ in 0..=PARENTS_MAX {
        let here = directory?;
        let path = format!("{}/node_modules/.bin/{name}", here.trim_end_matches('/'));
        let kind = sink.scene.world.ask(Query::FileKind { path: path.clone() });
        if matches!(kind, Some(Answer::FileKind(FileKind::File))) {
            return Some(path);
        }
        directory = parent(&here).map(str::to_owned);
    }
    None
}
