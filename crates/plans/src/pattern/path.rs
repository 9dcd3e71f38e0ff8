//! [`PathPattern`]: a path with everything below it, written as in castellan's short rules.

use castellan_event::{matches_star, path_components};

use super::PatternError;

/// A path with everything below it. `*` matches any text within a name, `**` any names. `src` is below the workspace,
/// `~/x` below the home, `//etc/x` absolute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathPattern {
    from: From,
    names: Vec<Name>,
}

/// The beginning of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum From {
    Root,
    Home,
    Workspace,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    /// A name, in which `*` matches any text.
    Star(String),
    /// `**`: any names.
    Any,
}

/// The path of an effect, by each of its beginnings.
#[derive(Debug, Clone)]
pub(crate) struct Subject<'p> {
    root: Vec<&'p str>,
    home: Option<Vec<&'p str>>,
    workspace: Option<Vec<&'p str>>,
}

impl<'p> Subject<'p> {
    /// Builds the subject of an absolute path. `below_home`: the path relative to the home, if it is there. A path
    /// `of_shell` may be a pattern for file names: a pattern other than `*` within names is replaced by the directory
    /// that contains all its matches. Returns `None` for a pattern whose matches may be anywhere.
    pub(crate) fn new(
        path: &'p str,
        below_home: Option<&'p str>,
        workspace: &str,
        of_shell: bool,
    ) -> Option<Subject<'p>> {
        let kept = |text: &'p str| if of_shell { matched_below(text) } else { text };
        if path_components(path).any(|name| name == "..") {
            return None;
        }
        let inside = below(workspace, path);
        let names = |text: &'p str| path_components(kept(text)).collect::<Vec<_>>();
        // Where the name of the workspace or home has such letters, a shell's pattern may match outside of it.
        let relative = |text: &'p str| {
            let above = path.get(..path.len().saturating_sub(text.len())).unwrap_or_default();
            (!of_shell || !above.contains(SPECIAL)).then(|| names(text))
        };
        Some(Subject {
            root: names(path),
            home: below_home.and_then(relative),
            workspace: inside.and_then(relative),
        })
    }

    /// Reports whether the path is in the workspace.
    pub(crate) fn is_in_workspace(&self) -> bool {
        self.workspace.is_some()
    }
}

/// Returns the path below a directory; empty for the directory itself. Nothing is below a directory without a name: a
/// session may have no workspace.
pub(crate) fn below<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    if directory.is_empty() {
        return None;
    }
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Letters that mean more than themselves in a shell's pattern for file names.
const SPECIAL: &[char] = &['*', '?', '[', '{', '(', '\\'];

/// Returns the path itself, or the directory that contains every match of a shell's pattern. `*` alone stays: a `*` of
/// a plan's pattern matches every text that it can match.
pub(crate) fn matched_below(path: &str) -> &str {
    let is_special = |letter: char| letter != '*' && SPECIAL.contains(&letter);
    let special = path.find(is_special).into_iter().chain(path.find("**")).min();
    match special.and_then(|at| path.get(..at)) {
        None => path,
        Some(before) => before.rfind('/').and_then(|end| path.get(..end)).unwrap_or_default(),
    }
}

impl PathPattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<PathPattern, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        let (from, path) = if let Some(rest) = text.strip_prefix("//") {
            (From::Root, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (From::Home, rest)
        } else if text.starts_with(['/', '~']) {
            return Err(PatternError::PathBegin);
        } else {
            (From::Workspace, text)
        };
        if path_components(path).any(|name| name == "..") {
            return Err(PatternError::Parent);
        }
        let name = |name: &str| if name == "**" { Name::Any } else { Name::Star(name.to_owned()) };
        let mut names: Vec<Name> = path_components(path).map(name).collect();
        // Every path includes everything below it anyway.
        while names.pop_if(|last| *last == Name::Any).is_some() {}
        Ok(PathPattern { from, names })
    }

    /// Reports whether the path of an effect, with everything below it, is inside.
    pub(crate) fn matches(&self, subject: &Subject<'_>) -> bool {
        let names = match self.from {
            From::Root => Some(&subject.root),
            From::Home => subject.home.as_ref(),
            From::Workspace => subject.workspace.as_ref(),
        };
        names.is_some_and(|names| starts(&self.names, names))
    }

    /// Reports whether the pattern matches every path that the other matches. False if that is not sure.
    pub(crate) fn includes(&self, other: &PathPattern) -> bool {
        let is_within = |(one, other): (&Name, &Name)| match (one, other) {
            (Name::Star(one), Name::Star(other)) => {
                one == other || one == "*" || !other.contains('*') && matches_star(one, other)
            }
            (Name::Any, _) | (_, Name::Any) => false,
        };
        self == other
            || self.from == other.from
                && self.names.len() <= other.names.len()
                && self.names.iter().zip(&other.names).all(is_within)
    }

    /// Returns the text of the pattern.
    pub fn text(&self) -> String {
        let begin = match self.from {
            From::Root => "//",
            From::Home => "~/",
            From::Workspace if self.names.is_empty() => ".",
            // A first name that would be read as another beginning.
            From::Workspace if matches!(self.names.first(), Some(Name::Star(name)) if name.starts_with('~')) => {
                "./"
            }
            From::Workspace => "",
        };
        let name = |name: &Name| match name {
            Name::Star(text) => text.clone(),
            Name::Any => "**".to_owned(),
        };
        begin.to_owned() + &self.names.iter().map(name).collect::<Vec<_>>().join("/")
    }
}

/// Reports whether a path begins as the pattern says. After a mismatch it goes back to the last `**` only, so the work
/// is at most the product of both lengths.
fn starts(pattern: &[Name], path: &[&str]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), path.get(next)) {
            (None, _) => return true,
            (Some(Name::Any), _) => {
                at += 1;
                retry = Some((at, next));
                continue;
            }
            (Some(Name::Star(name)), Some(text)) if matches_star(name, text) => {
                at += 1;
                next += 1;
                continue;
            }
            (Some(Name::Star(_)), None) => return false,
            (Some(Name::Star(_)), Some(_)) => {}
        }
        let Some((behind, from)) = retry else { return false };
        (at, next) = (behind, from + 1);
        retry = Some((behind, from + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str, workspace: &str, of_shell: bool) -> bool {
        let pattern = PathPattern::parse(pattern).unwrap();
        let home = path.strip_prefix("/h/");
        Subject::new(path, home, workspace, of_shell).is_some_and(|subject| pattern.matches(&subject))
    }

    #[test]
    fn a_path_is_inside_or_not() {
        for (pattern, path, expected) in [
            (".", "/w", true),
            (".", "/w/a/b", true),
            (".", "/wx/a", false),
            (".", "/", false),
            ("x", "/wx", false),
            ("a", "/w/a/b", true),
            ("a", "/w/ab", false),
            ("a/*", "/w/a", false),
            ("a/*.rs", "/w/a/b.rs", true),
            ("a/*.rs", "/w/a/b/c.rs", false),
            ("a/**/c", "/w/a/c", true),
            ("a/**/c", "/w/a/b/b/c/d", true),
            ("a/**/c", "/w/a/b", false),
            ("**/b/**/d", "/w/a/b/b/c/d", true),
            ("**/b/*/d", "/w/a/b/b/c/d", true),
            ("**/b/*/e", "/w/a/b/b/c/d", false),
            ("//w/a", "/w/a/b", true),
            ("//", "/x", true),
            ("a", "/x/w/a", false),
            ("~/n", "/h/n/a", true),
            ("~/n", "/w/n", false),
            ("./~", "/w/~/a", true),
            ("a", "/w/a/../b", false),
            (".", "/w/a/*/..", false),
        ] {
            assert_eq!(matches(pattern, path, "/w", false), expected, "{pattern} {path}");
        }
        // Without a workspace, no path is in it.
        assert!(!matches(".", "/etc/a", "", false));
        assert!(!matches("etc", "/etc/a", "", false));
        assert!(matches("//etc", "/etc/a", "", false));
    }

    #[test]
    fn patterns_of_the_shell_match_where_each_of_their_files_does() {
        for (pattern, path, expected) in [
            ("a", "/w/a/*", true),
            ("a/*.rs", "/w/a/*.rs", true),
            ("a/*.rs", "/w/a/*", false),
            ("a/*/x", "/w/a/**/x", false),
            ("a", "/w/a/**/x", true),
            ("a/?", "/w/a/?", false),
            ("a/[b]", "/w/a/[b]", false),
            ("a/{b", "/w/a/{b,c/../../d}", false),
            ("a", "/w/a/{b,c}", true),
            ("a", "/w/(a|b)", false),
            ("a", "/w/a\\b", false),
            (".", "/w/?", true),
        ] {
            assert_eq!(matches(pattern, path, "/w", true), expected, "{pattern} {path}");
        }
        // A workspace with such a name: the text is a pattern for other directories, too.
        assert!(!matches("a", "/w[1]/a", "/w[1]", true));
        assert!(!matches("a", "/w*/a", "/w*", true));
        assert!(matches("a", "/w[1]/a", "/w[1]", false));
    }
}
