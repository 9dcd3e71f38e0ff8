//! [`Guarded`]: the files that guard a session, and the changes that may reach them: by path, by a pattern that may
//! match, or by a directory above. Takes paths as text, with patterns as written. Must not know rules.

mod access;
mod pattern;

use std::borrow::Cow;
use std::rc::Rc;

use castellan_agents::{AgentId, HookFile, MANAGED_FOLDER, Place, directory_name, hook_files};
use castellan_event::{EffectKind, Guard, Operation, path_components};

use crate::path::Places;
use crate::scope;
use pattern::{Pattern, Relation};

/// Names of castellan's own files. A pattern such as `~/**/*.toml` reaches castellan's directories only among all
/// others; it matches a file there only if it fits one of these names.
const OWN_NAMES: &[&str] = &[
    "castellan",
    "castellan-control.socket",
    "castellan-hook",
    "castellan-hook.socket",
    "castellan.service",
    "config.toml",
    "control.sock",
    "dev.castellan.daemon.plist",
    "falco.yaml",
    "head",
    "hook.sock",
    "journal",
    "layout",
    "pin.json",
    "self.yaml",
];

/// The directory of files that only macOS has.
const MACOS: &str = "Library/";

/// The verb of a write that only a container may do.
pub(crate) const BOUND: &str = "mount";

/// The guarded files of a session.
#[derive(Debug)]
pub(crate) struct Guarded {
    files: Vec<File>,
    /// Files of agents that guard in any location: the names below any directory.
    anywhere: Vec<File>,
    /// The first names of `anywhere`.
    heads: Vec<Cow<'static, str>>,
}

/// A guarded file or directory.
#[derive(Debug)]
struct File {
    guard: Guard,
    /// The directory above `path`; empty for the root, and where `path` may begin anywhere. Many files share it.
    directory: Rc<str>,
    /// The path below `directory`. Both are normalised for comparison.
    path: Cow<'static, str>,
    /// Everything below it is guarded, too.
    is_deep: bool,
    reached: Reached,
}

/// The paths that reach a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Every path.
    Always,
    /// Its name, and a pattern if the file exists: it is of another system, and `*` may match its directory.
    ByNameIfAbsent,
    /// Only a pattern, and only if the file exists: it belongs to the project.
    ByPattern,
}

/// A path in the forms in which a guarded file is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'p> {
    /// The path, symlinks resolved; `None` if it is unknown.
    pub(crate) real: Option<&'p str>,
    /// The path as written.
    pub(crate) raw: &'p str,
    /// The absolute path as written, symlinks kept; used if the real path is known.
    pub(crate) called: Option<&'p str>,
}

/// How much an effect changes at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// A file at the path.
    File,
    /// The file or directory at the path, but nothing below.
    Entry,
    /// Everything below the path, too.
    Tree,
}

impl Guarded {
    /// Returns the guarded files of a session with these places.
    pub(crate) fn of(places: &Places) -> Guarded {
        let shared = |path: &str| Rc::<str>::from(places.comparable(path));
        let root = shared("");
        let file = |guard, directory: &Rc<str>, path: &'static str, is_deep| {
            let (directory, path) = (Rc::clone(directory), places.comparable(path));
            File { guard, directory, path, is_deep, reached: Reached::Always }
        };
        let own = places.castellan.iter().map(|path| file(Guard::Castellan, &shared(path), "", true));
        let mut files: Vec<File> = own.collect();
        for path in scope::own_below_home() {
            let all = at_home(path, places);
            let reached = if path.starts_with(MACOS) { Reached::ByNameIfAbsent } else { Reached::Always };
            let own = |(above, path)| File { reached, ..file(Guard::Castellan, &shared(above), path, true) };
            files.extend(all.map(own));
        }
        files.push(file(Guard::Hooks, &root, MANAGED_FOLDER, true));
        let mut anywhere = Vec::new();
        let workspace = places.workspace.as_deref().map(shared);
        for agent in AgentId::ALL {
            let directory = directory_name(agent);
            let own: Vec<Rc<str>> =
                at_home(directory, places).map(|(above, path)| shared(&format!("{above}/{path}"))).collect();
            for HookFile { place, path, .. } in hook_files(agent) {
                let hooks = |directory: &Rc<str>| file(Guard::Hooks, directory, path, false);
                match place {
                    Place::Machine => files.push(hooks(&root)),
                    Place::User => files.extend(own.iter().map(hooks)),
                    Place::Workspace => {
                        let of_project = workspace.iter().map(hooks);
                        files.extend(of_project.map(|file| File { reached: Reached::ByPattern, ..file }));
                        anywhere.push(hooks(&root));
                    }
                    Place::CommandLine | Place::Plugin => {}
                }
            }
        }
        let heads = AgentId::ALL.iter().flat_map(|agent| hook_files(*agent));
        let heads = heads.filter(|file| file.place == Place::Workspace);
        let mut heads: Vec<&'static str> =
            heads.filter_map(|file| path_components(file.path).next()).collect();
        heads.dedup();
        let heads = heads.into_iter().map(|head| places.comparable(head)).collect();
        Guarded { files, anywhere, heads }
    }

    /// Returns the guard that an operation on a path may change. For an unknown path, its known names are matched.
    /// `is_there`: reports if a file exists at an absolute path; called for few.
    pub(crate) fn reached(
        &self,
        op: &Operation,
        path: Named<'_>,
        places: &Places,
        is_there: &mut dyn FnMut(String) -> bool,
    ) -> Option<Guard> {
        let Some(real) = path.real else {
            let raw = places.comparable(path.raw);
            let pattern = Pattern::of(&raw);
            return self.named(&pattern, reach(op, pattern.ends_open())?);
        };
        let mut paths = std::iter::once(real).chain(path.called.filter(|called| *called != real));
        paths.find_map(|path| {
            let path = places.comparable(path);
            let pattern = Pattern::of(&path);
            let reach = reach(op, pattern.ends_open())?;
            self.at(&pattern, reach, is_there).or_else(|| self.named(&pattern, reach))
        })
    }

    /// Matches by the location of the path.
    fn at(
        &self,
        pattern: &Pattern<'_>,
        reach: Reach,
        is_there: &mut dyn FnMut(String) -> bool,
    ) -> Option<Guard> {
        let mut exists = |file: &File| is_there(file.names().flat_map(|name| ["/", name]).collect());
        let found = self.files.iter().find(|file| match (file.reached, pattern.is_open()) {
            (Reached::Always, _) | (Reached::ByNameIfAbsent, false) => file.is_reached(pattern, reach),
            (Reached::ByNameIfAbsent, true) => file.is_reached(pattern, reach) && exists(file),
            // An agent that changes the directory of a project by name knows its content.
            (Reached::ByPattern, false) => false,
            (Reached::ByPattern, true) => file.is_reached(pattern, Reach::File) && exists(file),
        });
        found.map(|file| file.guard)
    }

    /// Matches by the names in the path, in any location.
    fn named(&self, pattern: &Pattern<'_>, reach: Reach) -> Option<Guard> {
        let begins = |at: &usize| self.heads.iter().any(|head| pattern.names_at(*at, head));
        (0..pattern.len()).filter(begins).find_map(|at| {
            let mut named = self.anywhere.iter().filter(|file| file.begins_at(pattern, at)).peekable();
            named.peek()?;
            let below = pattern.from(at);
            named.find(|file| file.is_reached(&below, reach)).map(|file| file.guard)
        })
    }
}

impl File {
    fn is_reached(&self, pattern: &Pattern<'_>, reach: Reach) -> bool {
        pattern.relation(self.names(), self.is_deep, OWN_NAMES).is_some_and(|relation| match relation {
            Relation::Is => true,
            Relation::Holds => reach >= Reach::Entry,
            Relation::Above => reach >= Reach::Tree,
        })
    }

    /// Returns true if a component of a path names the first directory of this file, whose location is unknown.
    fn begins_at(&self, pattern: &Pattern<'_>, at: usize) -> bool {
        self.names().next().is_some_and(|name| pattern.names_at(at, name))
    }

    /// Returns the components of its full path.
    fn names(&self) -> impl Iterator<Item = &str> {
        path_components(&self.directory).chain(path_components(&self.path))
    }
}

/// Returns the locations of a path below the home, as a directory and the path below it. The directories are the homes
/// of the user, and those to which a variable moves a directory of the home.
fn at_home<'p>(path: &'static str, places: &'p Places) -> impl Iterator<Item = (&'p str, &'static str)> {
    let of_homes = places.homes.iter().map(move |home| (home.as_str(), path));
    let moved = places.stand_ins.iter().filter(|(_, stands_for)| !stands_for.is_empty());
    let moved = moved.filter_map(move |(directory, stands_for)| {
        let rest = path.strip_prefix(stands_for.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then_some((directory.as_str(), rest))
    });
    of_homes.chain(moved)
}

/// Returns true if an effect of this kind can change the file at its path, or can be an Opaque program.
pub(crate) fn changes(kind: EffectKind) -> bool {
    use EffectKind::{Delete, Link, Opaque, Permission, Write};
    matches!(kind, Write | Delete | Link | Permission | Opaque)
}

/// Returns how much an operation changes at its path; `None` if nothing. `is_pattern`: a pattern selects the file.
fn reach(op: &Operation, is_pattern: bool) -> Option<Reach> {
    match (op.kind, op.recursive) {
        // A container that mounts a whole home may leave its hidden directories alone.
        (EffectKind::Write, _) if op.verb.as_deref() == Some(BOUND) => Some(Reach::Entry),
        (EffectKind::Write | EffectKind::Permission, Some(true)) | (EffectKind::Link, _) => Some(Reach::Tree),
        (EffectKind::Write, _) => Some(Reach::File),
        // Files below a directory cannot be read if nobody may enter the directory.
        (EffectKind::Permission, _) if access::may_lock(op) => Some(Reach::Tree),
        (EffectKind::Permission | EffectKind::Opaque, _) => Some(Reach::Entry),
        // Such a delete removes only the files among the pattern's matches.
        (EffectKind::Delete, Some(false)) if is_pattern && op.verb.is_none() => Some(Reach::File),
        (EffectKind::Delete, _) => Some(Reach::Tree),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: EffectKind, recursive: Option<bool>, path: &str, expected: Option<Guard>) {
        let places = Places {
            homes: vec!["/home/u".to_owned()],
            workspace: Some("/home/u/app".to_owned()),
            castellan: vec![
                "/home/u/.config/castellan".to_owned(),
                "/home/u/.local/bin/castellan-hook".to_owned(),
            ],
            stand_ins: vec![("/data/claude".to_owned(), ".claude".to_owned())],
            ..Places::default()
        };
        let op = Operation { recursive, ..Operation::of(kind) };
        let named = Named { real: Some(path), raw: path, called: None };
        let mut is_there = |path: String| path == "/home/u/app/.claude/settings.json";
        let found = Guarded::of(&places).reached(&op, named, &places, &mut is_there);
        assert_eq!(found, expected, "{kind} {path}, recursive {recursive:?}");
    }

    const HOOKS: Option<Guard> = Some(Guard::Hooks);
    const OWN: Option<Guard> = Some(Guard::Castellan);

    #[test]
    fn a_write_reaches_the_file_that_it_names_or_may_name() {
        for (path, expected) in [
            ("/home/u/.claude/settings.json", HOOKS),
            ("/data/claude/settings.json", HOOKS),
            ("/srv/x/.claude/settings.local.json", HOOKS),
            ("/etc/claude-code/managed-settings.d/x.json", HOOKS),
            ("/home/u/.codex/config.toml", HOOKS),
            ("/home/u/.gemini/settings.json", HOOKS),
            ("/home/u/.qwen/settings.json", HOOKS),
            ("/srv/x/.qwen/settings.json", HOOKS),
            ("/etc/gemini-cli/settings.json", HOOKS),
            ("/home/u/.config/castellan/rules/x.yaml", OWN),
            ("/home/u/.local/bin/castellan-hook", OWN),
            ("/home/u/.c*/settings.json", HOOKS),
            ("/home/*/.claude/*", HOOKS),
            ("/home/u/.claude/**", HOOKS),
            ("/home/u/**/settings.json", HOOKS),
            ("/home/u/**/*.toml", OWN),
            ("/home/u/.config/**/*.toml", OWN),
            ("/home/u/.local/bin/cast*", OWN),
            ("/home/u/.config/systemd/user/castellan.service", OWN),
            ("/home/u/.config/systemd/user/cast*", OWN),
            ("/home/u/.config/systemd/user/app.service", None),
            ("/home/u/app/**/*.json", HOOKS),
            ("/home/u/app/**/*.toml", None),
            ("/srv/x/.c+(laude)/settings.json", HOOKS),
            ("/srv/x/+(src|test)/**/*.json", None),
            ("/srv/x/!(garbage)/*.json", None),
            ("/home/u/*/settings.json", None),
            ("/home/u/.claude", None),
            ("/home/u/.claude/skills/x/SKILL.md", None),
            ("/home/u/.claude/projects/x/settings.json", None),
            ("/home/u/app/settings.json", None),
            ("/home/u/**/*.py", None),
            ("/home/u/**/node_modules", None),
            ("/home/u/.local/bin/rg", None),
        ] {
            check(EffectKind::Write, None, path, expected);
        }
    }

    #[test]
    fn what_goes_down_reaches_what_lies_below() {
        for (path, expected) in [
            ("/", OWN),
            ("/home", OWN),
            ("/home/u", OWN),
            ("/home/u/.claude", HOOKS),
            ("/home/u/.codex", HOOKS),
            ("/data/claude", HOOKS),
            ("/home/u/.config", OWN),
            ("/home/u/.config/systemd", OWN),
            ("/home/u/.config/systemd/user/app.service.d", None),
            ("/home/u/Library/LaunchAgents", OWN),
            ("/home/u/.local", OWN),
            ("/home/u/.local/bin", OWN),
            ("/etc", HOOKS),
            ("/srv/x/.claude", HOOKS),
            ("/home/u/app", None),
            ("/home/u/backup", None),
            ("/home/u/.claude/skills", None),
            ("/home/u/.claude/projects/-app", None),
            ("/home/u/.local/share/fonts", None),
            ("/home/u/*", None),
            ("/home/u/.*", OWN),
            ("/srv", None),
        ] {
            for kind in [EffectKind::Write, EffectKind::Delete, EffectKind::Permission] {
                check(kind, Some(true), path, expected);
            }
        }
    }

    #[test]
    fn it_depends_on_the_kind_what_of_a_directory_is_reached() {
        check(EffectKind::Permission, None, "/home/u/.claude", HOOKS);
        // An unknown mode may lock the owner out.
        check(EffectKind::Permission, None, "/home/u", OWN);
        check(EffectKind::Permission, None, "/home/u/app", None);
        check(EffectKind::Permission, None, "/home/u/.config/castellan", OWN);
        check(EffectKind::Link, None, "/home/u/.claude", HOOKS);
        check(EffectKind::Delete, None, "/home/u/.config", OWN);
        check(EffectKind::Delete, Some(false), "/home/u/.*", None);
        check(EffectKind::Delete, Some(false), "/home/u/.claude/*", HOOKS);
        check(EffectKind::Opaque, None, "/home/u/.claude", HOOKS);
        check(EffectKind::Opaque, None, "/home/u", None);
        check(EffectKind::Read, Some(true), "/home/u/.claude", None);
        check(EffectKind::Execute, None, "/home/u/.local/bin/castellan", None);
    }
}
