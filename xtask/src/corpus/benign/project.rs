//! The packages of a folder: scripts, makefiles, workflows and documentation as commands. Must not depend on labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::super::item::Items;
use super::super::{make, tree, workflow};
use super::needs::Needs;
use super::{Commands, Found, Kind, docs};

/// A file of a package, and the root folder of its project.
struct File<'f> {
    path: &'f Path,
    root: &'f Path,
    /// The package and its version.
    package: &'f str,
    /// The file, relative to the folder of all packages.
    name: &'f str,
}

/// Reads every package below a folder. `name` is a Debian package or a registry.
pub(super) fn read(folder: &Path, name: &str, commands: &mut Commands) {
    for path in tree::files(folder) {
        let relative = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        // dpkg runs these scripts as root; no agent types them.
        if relative.starts_with("DEBIAN/") {
            continue;
        }
        let (package, root) = match name {
            "npm" => npm_package(folder, &relative),
            "crates" => {
                let first = relative.split('/').next().unwrap_or_default();
                (format!("crates {first}"), folder.join(first))
            }
            _ => (format!("Debian {name}"), path.parent().unwrap_or(folder).to_owned()),
        };
        let file = File { path: &path, root: &root, package: &package, name: &relative };
        let is_project = matches!(name, "npm" | "crates");
        read_file(&file, is_project, commands);
    }
}

/// Returns the innermost npm package of a file.
fn npm_package(folder: &Path, relative: &str) -> (String, std::path::PathBuf) {
    let inner = relative.rfind("node_modules/").map_or(0, |at| at + "node_modules/".len());
    let (outer, rest) = relative.split_at(inner);
    let parts = if rest.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = rest.split('/').take(parts).collect();
    let package = package.join("/");
    let root = folder.join(outer).join(&package);
    let manifest = std::fs::read_to_string(root.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
    let version = manifest.get("version").and_then(Value::as_str).unwrap_or("?");
    (format!("npm {package} {version}"), root)
}

fn read_file(file: &File<'_>, is_project: bool, commands: &mut Commands) {
    let file_name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, extension) = file_name.rsplit_once('.').unwrap_or((&file_name, ""));
    let is_workflow =
        file.name.contains(".github/workflows/") || workflow::OTHER_FILES.contains(&file_name.as_ref());
    let text = || std::fs::read_to_string(file.path).ok();
    if file_name == "package.json" {
        if let Some(text) = text() {
            package_scripts(file, &text, commands);
        }
    } else if is_workflow && matches!(extension, "yml" | "yaml") {
        let mut items = Items::default();
        if let Some(text) = text() {
            workflow::read(&text, "", &mut items);
        }
        take(items, Kind::CiStep, file, file.root, commands);
    } else if matches!(file_name.as_ref(), "Makefile" | "makefile" | "GNUmakefile") {
        if let Some(text) = text() {
            makefile(file, &file_name, &text, commands);
        }
    } else if matches!(extension, "md" | "markdown") && !is_history(stem) {
        if let Some(text) = text() {
            for (line, command) in docs::commands(&text) {
                add(Kind::Docs, command, file, &line.to_string(), file.root, commands);
            }
        }
    } else if is_project && matches!(extension, "sh" | "bash") {
        script(file, commands);
    }
}

/// Change logs mention commands, but do not tell anybody to run them.
fn is_history(stem: &str) -> bool {
    let stem = stem.to_ascii_lowercase();
    ["changelog", "changes", "history", "news", "releases"].iter().any(|name| stem.starts_with(name))
}

/// Adds the items of the other corpus's readers.
fn take(items: Items, kind: Kind, file: &File<'_>, root: &Path, commands: &mut Commands) {
    let (texts, left_out) = items.into_texts();
    for (why, count) in left_out {
        *commands.left_out.entry(why.to_owned()).or_default() += count;
    }
    for (origin, text) in texts {
        add(kind, text, file, origin.trim_start_matches('#'), root, commands);
    }
}

fn add(kind: Kind, text: String, file: &File<'_>, at: &str, root: &Path, commands: &mut Commands) {
    let mut needs = Needs::new(root);
    needs.of_command(&text);
    match needs.files() {
        Ok(files) => {
            let source = format!("{} {}#{at}", file.package, file.name);
            let text = text.trim().to_owned();
            commands.found.push(Found { kind, text, source, runs: String::new(), files });
        }
        Err(why) => commands.leave_out(why),
    }
}

/// Adds the scripts of a package, and `npm run` of each.
fn package_scripts(file: &File<'_>, text: &str, commands: &mut Commands) {
    let Ok(package) = serde_json::from_str::<Value>(text) else { return };
    let root = file.path.parent().unwrap_or(file.root);
    let Some(scripts) = package.get("scripts").and_then(Value::as_object) else { return };
    let scripts: BTreeMap<&str, &str> =
        scripts.iter().filter_map(|(name, script)| Some((name.as_str(), script.as_str()?))).collect();
    for (name, script) in &scripts {
        let runs = reached(name, &scripts);
        let by_name = match *name {
            "test" | "start" => format!("npm {name}"),
            _ => format!("npm run {name}"),
        };
        for (kind, command) in [(Kind::NpmScript, (*script).to_owned()), (Kind::NpmRun, by_name)] {
            let mut needs = Needs::new(root);
            needs.file("package.json");
            needs.of_command(&command);
            runs.iter().for_each(|script| needs.of_command(script));
            match needs.files() {
                Ok(files) => commands.found.push(Found {
                    kind,
                    text: command,
                    source: format!("{} {}#scripts.{name}", file.package, file.name),
                    runs: runs.join("\n"),
                    files,
                }),
                Err(why) => commands.leave_out(why),
            }
        }
    }
}

/// Returns a script, its pre and post scripts, and every script that these name.
fn reached<'s>(name: &'s str, scripts: &BTreeMap<&'s str, &'s str>) -> Vec<&'s str> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        let Some((name, script)) = scripts.get_key_value(name) else { continue };
        if !names.insert(name) {
            continue;
        }
        let around = scripts.keys().filter(|other| {
            other.strip_prefix("pre") == Some(name) || other.strip_prefix("post") == Some(name)
        });
        open.extend(around);
        let words: BTreeSet<&str> =
            script.split(|c: char| c.is_whitespace() || "\"'&;|()".contains(c)).collect();
        let is_named = |other: &&&str| {
            words.contains(**other)
                || words.iter().any(|word| {
                    word.strip_suffix('*').is_some_and(|start| !start.is_empty() && other.starts_with(start))
                })
        };
        open.extend(scripts.keys().filter(is_named));
    }
    names.into_iter().filter_map(|name| scripts.get(name).copied()).collect()
}

/// Adds the recipes of a makefile, and `make` of each target that is a task.
fn makefile(file: &File<'_>, file_name: &str, text: &str, commands: &mut Commands) {
    let root = file.path.parent().unwrap_or(file.root);
    let mut items = Items::default();
    make::read(text, "", &mut items);
    take(items, Kind::MakeRecipe, file, root, commands);
    for (line, target, recipes) in make::tasks(text) {
        let mut needs = Needs::new(root);
        needs.file(file_name);
        text.lines()
            .filter_map(|line| line.strip_prefix("include "))
            .for_each(|named| needs.file(named.trim()));
        recipes.lines().for_each(|recipe| needs.of_command(recipe));
        match needs.files() {
            Ok(files) => commands.found.push(Found {
                kind: Kind::MakeTarget,
                text: format!("make {target}"),
                source: format!("{} {}#{line}", file.package, file.name),
                runs: recipes,
                files,
            }),
            Err(why) => commands.leave_out(why),
        }
    }
}

/// Adds a shell script of a project, run by the `bash` or `sh` of its first line.
fn script(file: &File<'_>, commands: &mut Commands) {
    let Ok(text) = std::fs::read_to_string(file.path) else { return };
    let Ok(from_root) = file.path.strip_prefix(file.root) else { return };
    let from_root = from_root.display().to_string();
    if !text.starts_with("#!") {
        return commands.leave_out("shell files that are not run by themselves");
    }
    let shell = if text.lines().next().is_some_and(|line| line.contains("bash")) { "bash" } else { "sh" };
    let mut needs = Needs::new(file.root);
    needs.file(&from_root);
    match needs.files() {
        Ok(files) => commands.found.push(Found {
            kind: Kind::Script,
            text: format!("{shell} {from_root}"),
            source: format!("{} {}#1", file.package, file.name),
            runs: text,
            files,
        }),
        Err(why) => commands.leave_out(why),
    }
}
