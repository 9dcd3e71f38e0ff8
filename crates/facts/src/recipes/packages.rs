//! Packages of one project: those in which a command runs its script, and their locations. By npm 11, pnpm 10, yarn 4
//! and bun 1. Must not know the content of a script.

use castellan_programs::{Arg, find, invoke};
use serde_json::Value;

use crate::limits::LOADED_FILES_MAX;
use crate::memo;
use crate::scene::Scene;
use crate::{path, scripts};
use castellan_programs::base_name;

/// The packages that a command selects.
pub(super) struct Packages {
    /// Their names or locations; empty for a pattern.
    pub(super) names: Vec<String>,
    /// All packages of the project.
    pub(super) is_all: bool,
    /// The verb and the name of the script that runs in them, if the command itself does not name them.
    pub(super) script: Option<(String, Option<String>)>,
    /// The text that selects them.
    pub(super) written: String,
}

/// Options that name a package, by manager.
const NAMED: &[(&str, &str)] = &[("npm", "--workspace"), ("pnpm", "--filter"), ("bun", "--filter")];

/// Options that select all packages.
const ALL: &[(&str, &str)] =
    &[("npm", "--workspaces"), ("npm", "--ws"), ("pnpm", "--recursive"), ("bun", "--workspaces")];

/// Returns the packages, if the command selects any.
pub(super) fn asked_for(argv: &[Arg], verb: &str) -> Option<Packages> {
    let program = find(base_name(argv.first()?.as_str()?))?;
    let read = invoke(program, argv);
    let of_manager = |table: &'static [(&str, &'static str)]| {
        table.iter().filter(|(manager, _)| *manager == program.name()).map(|(_, flag)| *flag)
    };
    let written = || argv.iter().map(|arg| arg.written().into_owned()).collect::<Vec<_>>().join(" ");
    if matches!(verb, "workspace" | "workspaces") && program.name() == "yarn" {
        let mut words = read.operands.iter().map(|operand| operand.arg.as_str().map(str::to_owned));
        let names = if verb == "workspace" { vec![words.next()??] } else { Vec::new() };
        let first = words.next().flatten()?;
        let is_run = first == "run";
        let name = if is_run { words.next().flatten() } else { Some(first) };
        let is_all = verb == "workspaces";
        return Some(Packages { names, is_all, script: Some(("run".to_owned(), name)), written: written() });
    }
    if of_manager(ALL).any(|flag| read.given(flag)) {
        return Some(Packages { names: Vec::new(), is_all: true, script: None, written: written() });
    }
    let values: Vec<&Arg> = of_manager(NAMED).flat_map(|flag| read.values(flag)).collect();
    if values.is_empty() {
        return None;
    }
    // A pattern or an unknown name may match any package.
    let is_plain = |name: &str| !name.contains(['*', '!', '[', '{', '^']) && !name.contains("...");
    let names = values.iter().map(|value| value.as_str().filter(|name| is_plain(name)).map(str::to_owned));
    let names = names.collect::<Option<Vec<String>>>().unwrap_or_default();
    Some(Packages { names, is_all: false, script: None, written: written() })
}

/// Returns the manifests that are read for all packages: the project's own, and those that the session wrote. The
/// others are in the repository, like files of a test runner. The flag is true if the session wrote more.
pub(super) fn all((file, root): (&str, &str), scene: &Scene<'_, '_, '_>) -> (Vec<(String, String)>, bool) {
    let written = scene.written_below(root).into_iter().filter(|one| one != file);
    let mut written = written.filter_map(|one| {
        let directory = one.strip_suffix("/package.json")?.to_owned();
        (!directory.contains("/node_modules")).then_some((one, directory))
    });
    let own = (file.to_owned(), root.to_owned());
    let read = std::iter::once(own).chain(written.by_ref().take(LOADED_FILES_MAX)).collect();
    (read, written.next().is_some())
}

/// Returns the manifest of a package and its directory, by its path or by its name in a directory of packages.
pub(super) fn manifest(
    name: &str,
    (file, root): (&str, &str),
    scene: &mut Scene<'_, '_, '_>,
) -> Option<(String, String)> {
    let text = scripts::text(file, scene).ok()?;
    let project = memo::json(&text)?;
    let listed = project.get("workspaces");
    let listed = listed.and_then(|listed| listed.get("packages")).or(listed).and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str);
    let last = name.rsplit('/').next().unwrap_or_default();
    let usual = ["packages/*", "apps/*"];
    let places = listed.chain(usual).map(|place| match place.strip_suffix("/*") {
        Some(above) => format!("{above}/{last}"),
        None => place.to_owned(),
    });
    let mut directories = vec![(name.to_owned(), true)];
    directories.extend(places.map(|place| (place, false)));
    directories.into_iter().find_map(|(place, is_path)| {
        let directory = path::collapse(Some(root), &place)?;
        let file = format!("{directory}/package.json");
        let text = scripts::text(&file, scene).ok()?;
        let is_named = || {
            memo::json(&text).is_some_and(|package| package.get("name").and_then(Value::as_str) == Some(name))
        };
        (is_path || is_named()).then_some((file, directory))
    })
}

/// Shells with a syntax that the walk reads.
const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ksh"];

/// Returns the program that runs the project's scripts, if it is not such a shell. The settings may be secret. An
/// unreadable file that the session wrote may name any program.
pub(super) fn other_shell(directory: &str, scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let file = format!("{directory}/.npmrc");
    if !scene.is_file_there(&file) {
        return None;
    }
    let is_own = scene.overlay.has_written(&file) || scene.session.has_written(&file);
    let Ok(text) = scripts::unchanged(&file, scene) else { return is_own.then_some(file) };
    let mut settings = text.lines().filter_map(|line| line.split_once('='));
    let (_, shell) = settings.find(|(name, _)| name.trim() == "script-shell")?;
    let shell = shell.trim().trim_matches(['"', '\'']);
    let (above, name) = shell.rsplit_once('/').unwrap_or_default();
    let is_usual = matches!(above, "/bin" | "/usr/bin") && SHELLS.contains(&name) || SHELLS.contains(&shell);
    (!is_usual).then(|| shell.to_owned())
}
