//! Classifies paths: a key, a startup file of a shell, the workspace. The knowledge is a table; this module looks paths
//! up in it. This module must not know how a path was found, and must not ask the world.

mod part;
mod pattern;
mod places;
mod searched;
mod table;

use std::borrow::Cow;

use castellan_event::{Scope, path_components};

pub(crate) use part::Part;
use part::known_start;
use pattern::{Anchor, Table, View};
pub use places::Places;
pub(crate) use places::{DEVICE, UNC};
pub(crate) use searched::searched_directories;
pub(crate) use table::PROGRAMS;
use table::{OWN, ROWS, Row};

/// The classification of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The most sensitive scope that the path has or may have.
    pub scope: Scope,
    /// The location of the path: never more sensitive than [`Scope::Root`].
    pub place: Scope,
    /// A description for people: the table's words for `scope`.
    pub about: &'static str,
}

/// Classifies an absolute path. The caller must resolve symlinks and `..` first.
pub fn classify(path: &str, places: &Places) -> Kind {
    let text = places.comparable(path);
    let parts: Vec<Part<'_>> = path_components(&text).map(Part::known).collect();
    kind(&parts, places)
}

/// Reports whether a file of this name may be a secret although the directories around it are none. Much faster than
/// [`classify`]: a workspace has thousands of files.
pub fn may_be_secret(name: &str, places: &Places) -> bool {
    Table::of(places.folds_case).may_end_secret(&places.comparable(name))
}

/// True if a scope marks sensitive content, not only a location.
pub fn is_sensitive(scope: Scope) -> bool {
    scope < Scope::Root
}

/// True if a scope is sensitive enough to apply to a path that is known only in part.
pub(crate) fn is_telling(scope: Scope) -> bool {
    scope <= Scope::Device
}

/// The usual places of castellan's own files below the home.
pub(crate) fn own_below_home() -> impl Iterator<Item = &'static str> {
    let rows = OWN.iter().filter(|row| row.scope == Scope::Castellan);
    let below_home = rows.flat_map(|row| row.paths).filter_map(|path| path.strip_prefix("~/"));
    below_home.map(|path| path.strip_suffix("/**").unwrap_or(path))
}

/// Returns the patterns of files that hold secrets, as the table writes them (`~/` below a home, `/` below the root, `**/`
/// anywhere), and true for a pattern that also matches files without secrets.
pub fn secret_patterns() -> impl Iterator<Item = (&'static str, bool)> {
    ROWS.iter().filter(|row| row.scope == Scope::Secret).flat_map(|row| {
        row.paths.iter().map(|pattern| (*pattern, row.except.iter().any(|except| is_within(except, pattern))))
    })
}

/// Returns the patterns of castellan's own files at their usual places.
pub fn castellan_patterns() -> impl Iterator<Item = &'static str> {
    OWN.iter().filter(|row| row.scope == Scope::Castellan).flat_map(|row| row.paths).copied()
}

/// Returns the patterns of files that programs obey or run later: settings of agents, hooks, configuration with commands.
/// Directories of programs are not among them.
pub fn planted_patterns() -> impl Iterator<Item = &'static str> {
    let is_planted = |row: &&Row| matches!(row.scope, Scope::Agent | Scope::Hijack) && row.about != PROGRAMS;
    ROWS.iter().filter(is_planted).flat_map(|row| row.paths).copied()
}

/// Returns true if a pattern for the names of files matches the exception. An exception inside a whole directory does not
/// make the directory's pattern wide.
fn is_within(except: &str, pattern: &str) -> bool {
    let (Some(name), Some(other)) = (pattern.strip_prefix("**/"), except.strip_prefix("**/")) else {
        return false;
    };
    !name.ends_with("/**") && castellan_event::matches_star(name, other)
}

/// Classifies an absolute path that may have unknown components.
pub(crate) fn kind(parts: &[Part<'_>], places: &Places) -> Kind {
    let mut kind = Kind { scope: Scope::Outside, place: Scope::Outside, about: "no known place" };
    if parts.first().is_none_or(|first| !first.is_known()) || is_drive(parts, places) {
        kind.add(Scope::Root, "the root of the file system");
    }
    let mut add = |parts: &[Part<'_>], counts: fn(Scope) -> bool| {
        for parts in from_root(parts) {
            places.kinds(parts, |scope, about| {
                if counts(scope) {
                    kind.add(scope, about)
                }
            });
        }
        for row in rows(parts, places).into_iter().filter(|row| counts(row.scope)) {
            kind.add(row.scope, row.about);
        }
    };
    let certain = known_start(parts);
    if certain.len() < parts.len() {
        // A pattern that may match the workspace or a temporary path does not get that scope.
        add(parts, |scope| is_telling(scope) || scope == Scope::Home);
    }
    add(certain, |_| true);
    kind
}

/// Returns the length in bytes of the part of an absolute path that names a user's home: this user's home, or a home at
/// a usual place. A `*` may replace the user's name.
pub(crate) fn home_of(path: &str, places: &Places) -> Option<usize> {
    let names: Vec<Cow<'_, str>> = path_components(path).map(|name| places.comparable(name)).collect();
    let parts: Vec<Part<'_>> = names.iter().map(|name| Part::known(name)).collect();
    let table = Table::of(places.folds_case);
    let below = |parts| {
        let own = places.homes.iter().filter(|home| path_components(home).next().is_some());
        let own = own.filter_map(move |home| places.below(home, parts));
        // No user has a name like `.snapshots`.
        let is_hidden = |rest: &&[Part<'_>]| {
            let user = names.len().checked_sub(rest.len() + 1).and_then(|at| names.get(at));
            user.is_some_and(|user| user.starts_with('.'))
        };
        let anybody = table.below_any_home(parts).filter(|rest| !is_hidden(rest));
        own.chain(anybody).map(<[Part<'_>]>::len).min()
    };
    let left = from_root(&parts).filter_map(below).min()?;
    let trimmed = path.trim_end_matches('/');
    let Some(before) = left.checked_sub(1) else { return Some(trimmed.len()) };
    trimmed.rmatch_indices('/').nth(before).map(|(at, _)| at)
}

/// The rows of the table that match an absolute path. A row may occur more than once.
fn rows(parts: &[Part<'_>], places: &Places) -> Vec<&'static Row> {
    let table = Table::of(places.folds_case);
    let mut views = Vec::new();
    for parts in from_root(parts) {
        views.push(View { anchor: Anchor::Root, parts });
        let homes = places.homes.iter().filter_map(|home| places.below(home, parts));
        let homes = homes.chain(table.below_any_home(parts));
        views.extend(homes.map(|parts| View { anchor: Anchor::Home, parts }));
    }
    let mut rows = Vec::new();
    table.rows(&views, &mut rows);
    // A directory from the environment replaces a directory below a home; each such directory makes a further path.
    for (directory, home_path) in &places.stand_ins {
        if let Some(rest) = places.below(directory, parts) {
            let as_home: Vec<Part<'_>> =
                path_components(home_path).map(Part::known).chain(rest.iter().cloned()).collect();
            table.rows(&[View { anchor: Anchor::Home, parts: &as_home }], &mut rows);
        }
    }
    rows
}

/// The path from the root, and from other roots that lead to the same file system.
fn from_root<'p, 'a>(parts: &'p [Part<'a>]) -> impl Iterator<Item = &'p [Part<'a>]> {
    std::iter::once(parts).chain(through_proc(parts)).chain(without_private(parts))
}

/// Classifies a path by some consecutive components, if they match anything sensitive; the rest is unknown.
pub(crate) fn hint(parts: &[Part<'_>], places: &Places) -> Option<Kind> {
    let mut kind = Kind { scope: Scope::Outside, place: Scope::Outside, about: "" };
    let mut views = vec![View { anchor: Anchor::Anywhere, parts }];
    // Hidden names belong to a home: `$x/.bashrc` is sensitive, `$x/bin` is not.
    if matches!(parts.first(), Some(Part::Text(first)) if first.starts_with('.')) {
        views.push(View { anchor: Anchor::Home, parts });
    }
    let mut rows = Vec::new();
    Table::of(places.folds_case).rows(&views, &mut rows);
    for row in rows {
        kind.add(row.scope, row.about);
    }
    is_telling(kind.scope).then_some(kind)
}

impl Kind {
    fn add(&mut self, scope: Scope, about: &'static str) {
        if scope < self.scope {
            self.scope = scope;
            self.about = about;
        }
        if !is_sensitive(scope) {
            self.place = self.place.min(scope);
        }
    }

    /// Keeps the place and takes the more sensitive of both scopes.
    pub(crate) fn with_scope_of(self, other: Kind) -> Kind {
        let is_more = is_sensitive(other.scope) && other.scope < self.scope;
        if is_more { Kind { place: self.place, ..other } } else { self }
    }
}

/// The root of another process: `/proc/7/root/etc/shadow` is usually `/etc/shadow`.
fn through_proc<'p, 'a>(parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
    let (head, rest) = parts.split_at_checked(3)?;
    let is_root = head.first()?.may_be("proc") && head.last()?.may_be("root");
    is_root.then_some(rest)
}

/// `/etc`, `/tmp` and `/var` of macOS are symlinks into `/private`.
fn without_private<'p, 'a>(parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
    let (first, rest) = parts.split_first()?;
    let second = rest.first()?;
    let is_linked = ["etc", "tmp", "var"].iter().any(|name| second.may_be(name));
    (first.may_be("private") && is_linked).then_some(rest)
}

/// `C:/` is a root of Windows, and also a pattern directly below it.
fn is_drive(parts: &[Part<'_>], places: &Places) -> bool {
    let [Part::Text(drive), rest @ ..] = parts else { return false };
    let is_top = rest.first().is_none_or(|first| !first.is_known());
    places.is_windows && is_top && drive.len() == 2 && drive.ends_with(':')
}

/// Folds a name as case-insensitive file systems do. macOS also ignores characters without width. Windows also ignores
/// blanks and dots at the end of a name, and the name of a stream. Composed and decomposed characters stay different:
/// no name of the table contains any.
pub(crate) fn fold(text: &str) -> String {
    let has_width = |c: &char| {
        let bare = [
            '\u{200c}'..='\u{200f}',
            '\u{202a}'..='\u{202e}',
            '\u{206a}'..='\u{206f}',
            '\u{feff}'..='\u{feff}',
        ];
        !bare.iter().any(|range| range.contains(c))
    };
    let folded: String = text.chars().filter(has_width).flat_map(char::to_lowercase).collect();
    let names = folded.split('/').map(|name| match name.split_once("::$").map_or(name, |(file, _)| file) {
        dots @ ("." | "..") => dots,
        name => name.trim_end_matches([' ', '.']),
    });
    names.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            homes: vec!["/home/u".to_owned()],
            workspace: Some("/home/u/app".to_owned()),
            ..Places::default()
        }
    }

    fn absolute(path: &str) -> String {
        match path.strip_prefix("~/") {
            Some(rest) => format!("/home/u/{rest}"),
            None => path.to_owned(),
        }
    }

    fn fits(row: &Row, path: &str) -> bool {
        let parts: Vec<Part<'_>> = path_components(path).map(Part::known).collect();
        rows(&parts, &places()).iter().any(|found| found.about == row.about)
    }

    /// Each row has examples of matching paths and of similar paths that must not match.
    #[test]
    fn every_row_knows_its_paths_from_their_look_alikes() {
        let text = include_str!("../tests/facts/scope/rows.txt");
        let mut sections: std::collections::BTreeMap<&str, Vec<(bool, &str)>> = Default::default();
        let mut about = "";
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_at(2) {
                ("+ ", path) => sections.entry(about).or_default().push((true, path)),
                ("- ", path) => sections.entry(about).or_default().push((false, path)),
                _ => about = line.trim_matches(['[', ']']),
            }
        }
        for row in ROWS.iter() {
            let cases = sections.remove(row.about).unwrap_or_default();
            for side in [true, false] {
                assert!(
                    cases.iter().any(|(fits, _)| *fits == side),
                    "[{}] has no case for {side}",
                    row.about
                );
            }
            for (expected, path) in cases {
                let path = absolute(path);
                assert_eq!(fits(row, &path), expected, "{path}: {}", row.about);
                let scope = classify(&path, &places()).scope;
                assert!(!expected || scope <= row.scope, "{path} is {scope}");
            }
        }
        assert!(sections.is_empty(), "no rows: {sections:?}");
    }

    /// A pattern that matches nothing is hidden by an exception of its row, or is a typing error.
    #[test]
    fn every_pattern_is_found_by_a_path_that_it_describes() {
        for row in ROWS.iter() {
            for pattern in row.paths {
                let path =
                    pattern.replace("**/", "/srv/some/").replace("/**", "/some/thing").replace('*', "x");
                assert!(fits(row, &absolute(&path)), "{pattern} does not find {path}");
                let folder = pattern
                    .strip_suffix("/**")
                    .map(|folder| folder.replace("**/", "/srv/").replace('*', "x"));
                if let Some(folder) = folder {
                    assert!(fits(row, &absolute(&folder)), "{pattern} does not find {folder}");
                }
            }
        }
    }

    #[test]
    fn a_pattern_with_exceptions_is_wide() {
        let wide: Vec<_> =
            secret_patterns().filter(|(_, is_wide)| *is_wide).map(|(pattern, _)| pattern).collect();
        assert_eq!(wide, ["**/*.pem", "**/*.keystore", "**/.env.*", "**/*.env"]);
        let is_narrow = |pattern: &str| secret_patterns().any(|one| one == (pattern, false));
        for pattern in ["**/.ssh/**", "**/.env", "~/.aws/credentials", "**/.claude/.credentials.json"] {
            assert!(is_narrow(pattern), "{pattern}");
        }
        assert!(castellan_patterns().any(|pattern| pattern == "~/.config/castellan/**"));
    }

    #[test]
    fn a_path_is_seen_from_the_home_in_which_it_lies() {
        let cases = [
            ("/home/u", Some("/")),
            ("/home/u/", Some("/")),
            ("/home/u/.ssh/config", Some("/.ssh/config")),
            ("/home/u//x/", Some("/x/")),
            ("/home/*", Some("/")),
            ("/home/other/*", Some("/*")),
            ("/root/.bashrc", Some("/.bashrc")),
            ("/data/people/u/.bashrc", Some("/.bashrc")),
            ("/data/people/u", Some("/")),
            ("/data/people", None),
            ("/proc/1/root/home/u/x", Some("/x")),
            ("/private/var/root/x", Some("/x")),
            ("/home", None),
            ("/home/.snapshots/1", None),
            ("/proc/1/root/home/.snapshots/1", None),
            ("/", None),
            ("/*/u", None),
            ("/homes/u/x", None),
        ];
        let homes = ["/home/u", "/data/people/u", "/"].map(str::to_owned).to_vec();
        let places = Places { homes, ..places() };
        for (path, expected) in cases {
            let rest = home_of(path, &places).and_then(|bytes| path.get(bytes..));
            let rest = rest.map(|rest| if rest.trim_matches('/').is_empty() { "/" } else { rest });
            assert_eq!(rest, expected, "{path}");
        }
    }

    #[test]
    fn case_counts_where_the_file_system_says_so() {
        let cases = [
            ("/home/u/.SSH/ID_RSA", Scope::Home, Scope::Secret),
            ("/HOME/u/.bashrc", Scope::Outside, Scope::Startup),
            ("/home/u/app/.G\u{200c}it/config", Scope::Workspace, Scope::Hijack),
            ("/home/u/app/.git./hooks/x", Scope::Workspace, Scope::Hijack),
            ("/home/u/app/.env::$DATA", Scope::Workspace, Scope::Secret),
            ("/home/u/app/readme", Scope::Workspace, Scope::Workspace),
        ];
        for (path, exact, folded) in cases {
            assert_eq!(classify(path, &places()).scope, exact, "{path}");
            let folding = Places { folds_case: true, ..places() };
            assert_eq!(classify(path, &folding).scope, folded, "{path}, without case");
        }
    }
}
