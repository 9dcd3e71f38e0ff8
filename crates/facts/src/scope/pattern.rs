//! [`Table`]: the indexed rows of the table. A path is compared only with patterns that share a name with it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use castellan_event::Scope;

use super::fold;
use super::part::{Fit, Name, Part, known_start};
use super::table::{HOMES, ROWS, Row};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Root,
    Home,
    Anywhere,
}

#[derive(Debug)]
pub(super) struct Pattern {
    anchor: Anchor,
    names: Vec<Name>,
    /// The pattern also matches everything below.
    is_deep: bool,
}

/// A view of a path for comparison with patterns: from the root, or from a home.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'p, 'a> {
    pub(super) anchor: Anchor,
    pub(super) parts: &'p [Part<'a>],
}

/// Patterns by their names. Names with a star are indexed by a byte at the beginning or end of every matching text.
#[derive(Debug)]
struct Index {
    by_text: HashMap<Cow<'static, str>, Vec<usize>>,
    /// By the first byte of the text before the star.
    by_first: Vec<Stars>,
    /// Names that begin with the star, by their last byte.
    by_last: Vec<Stars>,
}

/// Names with a star, and the patterns that contain them.
type Stars = Vec<(Name, Vec<usize>)>;

/// All patterns, indexed by their names.
#[derive(Debug)]
pub(super) struct Table {
    /// Each pattern with its row.
    patterns: Vec<(Pattern, usize)>,
    /// The exceptions of each row.
    except: Vec<Vec<Pattern>>,
    /// Each pattern under all its names: an unknown component may be any of them.
    by_any: Index,
    /// Each pattern under its rarest name: a wholly known path that matches must contain this name.
    by_rarest: Index,
    /// Each pattern of a secret under its last name.
    secret_ends: Index,
    /// The sorted keys of `by_any.by_text`: a shell pattern is compared with the keys that have its prefix.
    texts: Vec<Cow<'static, str>>,
    /// The same, sorted from their last bytes: for a shell pattern without a prefix.
    texts_by_end: Vec<Cow<'static, str>>,
    homes: Vec<Pattern>,
}

impl Table {
    /// The table for case-sensitive file systems, or for case-insensitive ones (`folds`).
    pub(super) fn of(folds: bool) -> &'static Table {
        static EXACT: LazyLock<Table> = LazyLock::new(|| Table::new(false));
        static FOLDED: LazyLock<Table> = LazyLock::new(|| Table::new(true));
        if folds { &FOLDED } else { &EXACT }
    }

    fn new(folds: bool) -> Table {
        let read = |text: &&'static str| Pattern::new(text, folds);
        let rows = ROWS.iter().enumerate();
        let patterns: Vec<(Pattern, usize)> =
            rows.flat_map(|(at, row)| row.paths.iter().map(move |text| (read(text), at))).collect();
        let mut by_any = Index::default();
        for (at, (pattern, _)) in patterns.iter().enumerate() {
            pattern.names.iter().for_each(|name| by_any.add(name, at));
        }
        let mut by_rarest = Index::default();
        for (at, (pattern, _)) in patterns.iter().enumerate() {
            let rarest = pattern.names.iter().min_by_key(|name| by_any.sharing(name));
            rarest.into_iter().for_each(|name| by_rarest.add(name, at));
        }
        let mut secret_ends = Index::default();
        let is_secret = |row: &usize| ROWS.get(*row).is_some_and(|row| row.scope == Scope::Secret);
        for (at, (pattern, _)) in patterns.iter().enumerate().filter(|(_, (_, row))| is_secret(row)) {
            pattern.names.last().into_iter().for_each(|name| secret_ends.add(name, at));
        }
        let mut texts: Vec<_> = by_any.by_text.keys().cloned().collect();
        texts.sort_unstable();
        let mut texts_by_end = texts.clone();
        texts_by_end.sort_unstable_by(|one, other| from_end(one).cmp(from_end(other)));
        Table {
            texts,
            texts_by_end,
            by_any,
            by_rarest,
            secret_ends,
            patterns,
            except: ROWS.iter().map(|row| row.except.iter().map(read).collect()).collect(),
            homes: HOMES.iter().map(read).collect(),
        }
    }

    /// Adds the rows that match any view of a path. A row may occur more than once.
    pub(super) fn rows(&self, views: &[View<'_, '_>], found: &mut Vec<&'static Row>) {
        let Some(longest) = views.iter().max_by_key(|view| view.parts.len()) else { return };
        let is_known = longest.parts.iter().all(Part::is_known);
        let index = if is_known { &self.by_rarest } else { &self.by_any };
        let mut candidates: Vec<usize> = Vec::new();
        for part in longest.parts.iter().filter(|part| !part.is_blank()) {
            match part {
                Part::Text(text) => index.of_text(part, text, &mut candidates),
                Part::Some { prefix, suffix, .. } => {
                    let fitting = self.texts_with(prefix, suffix).iter().filter(|text| part.may_be(text));
                    candidates.extend(fitting.filter_map(|text| index.by_text.get(text)).flatten());
                    index.of_ends(part, prefix, suffix, &mut candidates);
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        for at in candidates {
            let Some((pattern, row)) = self.patterns.get(at) else { continue };
            let fits = |view: &View<'_, '_>| pattern.fits(*view) && !self.excepts(*row, views);
            if views.iter().any(fits) {
                found.extend(ROWS.get(*row));
            }
        }
    }

    /// Reports whether the pattern of a secret may end with this name.
    pub(super) fn may_end_secret(&self, name: &str) -> bool {
        let mut candidates = Vec::new();
        self.secret_ends.of_text(&Part::known(name), name, &mut candidates);
        !candidates.is_empty()
    }

    /// Returns the texts that begin with the prefix. Without one, returns the texts that end with the suffix.
    fn texts_with(&self, prefix: &str, suffix: &str) -> &[Cow<'static, str>] {
        let (texts, first, len) = if prefix.is_empty() {
            let texts = &self.texts_by_end;
            let first = texts.partition_point(|text| from_end(text).lt(from_end(suffix)));
            let ends = |text: &&Cow<'_, str>| text.ends_with(suffix);
            (texts, first, texts.iter().skip(first).take_while(ends).count())
        } else {
            let first = self.texts.partition_point(|text| **text < *prefix);
            let begins = |text: &&Cow<'_, str>| text.starts_with(prefix);
            (&self.texts, first, self.texts.iter().skip(first).take_while(begins).count())
        };
        texts.get(first..first + len).unwrap_or_default()
    }

    /// True if a path is certainly among a row's exceptions. For a path that is known in part, an exception must cover
    /// everything below the known part, or must match every possible last name.
    fn excepts(&self, row: usize, views: &[View<'_, '_>]) -> bool {
        let except = self.except.get(row).map(Vec::as_slice).unwrap_or_default();
        views.iter().any(|view| {
            let certain = View { parts: known_start(view.parts), ..*view };
            let is_whole = certain.parts.len() == view.parts.len();
            let last = view.parts.last().filter(|_| certain.parts.len() + 1 == view.parts.len());
            if last.is_some_and(|last| except.iter().any(|pattern| pattern.is_certainly(last))) {
                return true;
            }
            except.iter().any(|pattern| (is_whole || pattern.is_deep) && pattern.fits(certain))
        })
    }

    /// Returns the components after the home of any user at the start of a path.
    pub(super) fn below_any_home<'p, 'a>(&self, parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
        self.homes.iter().find_map(|home| home.rest(parts))
    }
}

impl Default for Index {
    fn default() -> Index {
        let empty = || vec![Stars::new(); usize::from(u8::MAX) + 1];
        Index { by_text: HashMap::new(), by_first: empty(), by_last: empty() }
    }
}

impl Index {
    /// Adds a pattern to the index under one of its names.
    fn add(&mut self, name: &Name, at: usize) {
        let names = match name {
            Name::Text(text) => return self.by_text.entry(text.clone()).or_default().push(at),
            // A plain `*` matches every name, so it is not indexed.
            Name::Star { prefix, suffix } => match (prefix.as_bytes().first(), suffix.as_bytes().last()) {
                (Some(first), _) => self.by_first.get_mut(usize::from(*first)),
                (None, Some(last)) => self.by_last.get_mut(usize::from(*last)),
                (None, None) => None,
            },
        };
        let Some(names) = names else { return };
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, patterns)) => patterns.push(at),
            None => names.push((name.clone(), vec![at])),
        }
    }

    /// The number of patterns that share a name. Names with a star sort after all texts.
    fn sharing(&self, name: &Name) -> usize {
        match name {
            Name::Text(text) => self.by_text.get(text).map_or(0, Vec::len),
            Name::Star { prefix, suffix } if prefix.is_empty() && suffix.is_empty() => usize::MAX,
            Name::Star { .. } => usize::MAX - 1,
        }
    }

    fn of_text(&self, part: &Part<'_>, text: &str, candidates: &mut Vec<usize>) {
        if let Some(patterns) = self.by_text.get(text) {
            candidates.extend_from_slice(patterns);
        }
        let ends = [(&self.by_first, text.as_bytes().first()), (&self.by_last, text.as_bytes().last())];
        for (names, byte) in ends {
            if let Some(names) = byte.and_then(|byte| names.get(usize::from(*byte))) {
                add_fitting(names, part, candidates);
            }
        }
    }

    /// Adds the patterns with a star that share text with a component of these known ends. Names of another first or
    /// last byte cannot match.
    fn of_ends(&self, part: &Part<'_>, prefix: &str, suffix: &str, candidates: &mut Vec<usize>) {
        let ends = [(&self.by_first, prefix.bytes().next()), (&self.by_last, suffix.bytes().last())];
        for (names, byte) in ends {
            let of_byte = byte.map(usize::from).and_then(|byte| names.get(byte..=byte));
            let possible = of_byte.unwrap_or(names).iter();
            possible.for_each(|names| add_fitting(names, part, candidates));
        }
    }
}

fn from_end(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().rev()
}

/// Adds the patterns with a name that shares text with a component.
fn add_fitting(names: &[(Name, Vec<usize>)], part: &Part<'_>, candidates: &mut Vec<usize>) {
    for (name, patterns) in names {
        if part.fit(name) > Fit::Any {
            candidates.extend_from_slice(patterns);
        }
    }
}

impl Pattern {
    fn new(text: &'static str, folds: bool) -> Pattern {
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("**/") {
            (Anchor::Anywhere, rest)
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Anchor::Home, rest)
        } else {
            (Anchor::Root, text.strip_prefix('/').unwrap_or(text))
        };
        let (rest, is_deep) = rest.strip_suffix("/**").map_or((rest, false), |rest| (rest, true));
        let name =
            |name: &'static str| Name::new(if folds { fold(name).into() } else { Cow::Borrowed(name) });
        Pattern { anchor, names: rest.split('/').map(name).collect(), is_deep }
    }

    /// True if the pattern may match a view of a path.
    fn fits(&self, view: View<'_, '_>) -> bool {
        match (self.anchor, view.anchor) {
            (Anchor::Anywhere, _) => {
                let last_start = view.parts.len().saturating_sub(self.names.len());
                (0..=last_start)
                    .any(|start| view.parts.get(start..).is_some_and(|parts| self.fits_here(parts)))
            }
            (Anchor::Root, Anchor::Root) | (Anchor::Home, Anchor::Home) => self.fits_here(view.parts),
            (Anchor::Root | Anchor::Home, _) => false,
        }
    }

    /// True if these components match the pattern's names. At least one name must match by its text: `*/*` matches
    /// anything and proves nothing. For a pattern that may begin anywhere, the first name must match clearly.
    fn fits_here(&self, parts: &[Part<'_>]) -> bool {
        let is_whole =
            if self.is_deep { parts.len() >= self.names.len() } else { parts.len() == self.names.len() };
        let mut fits = self.names.iter().zip(parts).map(|(name, part)| part.fit(name));
        let Some(first) = fits.next().filter(|first| is_whole && *first > Fit::No) else { return false };
        if self.anchor == Anchor::Anywhere && first < Fit::Clear {
            return false;
        }
        fits.try_fold(first, |clearest, fit| (fit > Fit::No).then_some(clearest.max(fit)))
            .is_some_and(|clearest| clearest > Fit::Any)
    }

    /// True if the pattern matches a name at any position, for every value of its unknown part.
    fn is_certainly(&self, part: &Part<'_>) -> bool {
        let name = self.names.first().filter(|_| self.names.len() == 1 && !self.is_deep);
        self.anchor == Anchor::Anywhere && name.is_some_and(|name| part.is_certainly(name))
    }

    /// Returns the components after the pattern's names.
    fn rest<'p, 'a>(&self, parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
        let (own, rest) = parts.split_at_checked(self.names.len())?;
        own.iter().zip(&self.names).all(|(part, name)| part.fit(name) > Fit::No).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_no_secret_directory_is_secret_by_its_name_alone() {
        let secrets = ROWS.iter().filter(|row| row.scope == Scope::Secret).flat_map(|row| row.paths);
        for pattern in secrets {
            let named = pattern.strip_suffix("/**").unwrap_or(pattern);
            let name = named.rsplit('/').next().unwrap();
            assert!(name != "*", "{pattern}: no index finds it");
            assert!(Table::of(false).may_end_secret(&name.replace('*', "x")), "{pattern}");
        }
        for name in ["main.rs", "1", "README.md", "src", "Cargo.toml", ""] {
            assert!(!Table::of(false).may_end_secret(name), "{name}");
        }
    }

    #[test]
    fn patterns_are_of_the_form_that_is_read() {
        let all = ROWS.iter().flat_map(|row| row.paths.iter().chain(row.except)).chain(HOMES);
        for text in all {
            let body = text.strip_prefix("**").unwrap_or(text.strip_prefix('~').unwrap_or(text));
            assert!(body.starts_with('/'), "{text}");
            let body = body.strip_suffix("/**").unwrap_or(body);
            let names = || body.split('/').skip(1);
            assert!(names().all(|name| !name.is_empty() && name.matches('*').count() <= 1), "{text}");
            assert!(names().any(|name| name != "*"), "{text} says nothing");
        }
    }

    #[test]
    fn rows_have_names_of_their_own_and_no_pattern_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for row in ROWS.iter() {
            assert!(seen.insert(row.about.to_owned()), "{}", row.about);
            for path in row.paths {
                assert!(seen.insert(format!("{} {path}", row.scope)), "{path} twice in {}", row.scope);
            }
        }
    }
}
