//! [`Table`]: the rows of the table made ready, so that a path is compared only with the patterns that share a name with it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::fold;
use super::part::{Fit, Name, Part, known_start};
use super::table::{HOMES, ROWS, Row};

/// Where a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Root,
    Home,
    Anywhere,
}

/// A path pattern of the table.
#[derive(Debug)]
pub(super) struct Pattern {
    anchor: Anchor,
    names: Vec<Name>,
    /// It stands for everything below, too.
    is_deep: bool,
}

/// One of the views of a path that patterns are compared with: from the root, or from a home.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'p, 'a> {
    pub(super) anchor: Anchor,
    pub(super) parts: &'p [Part<'a>],
}

/// Names with a star, and the patterns in which they stand, by a byte that a fitting text begins or ends with.
#[derive(Debug, Default)]
struct Stars {
    by_first: HashMap<u8, Vec<(Name, Vec<usize>)>>,
    /// Those that begin with the star.
    by_last: HashMap<u8, Vec<(Name, Vec<usize>)>>,
}

/// Every pattern, and where its names stand.
#[derive(Debug)]
pub(super) struct Table {
    /// Each pattern with its row.
    patterns: Vec<(Pattern, usize)>,
    /// The exceptions of each row.
    except: Vec<Vec<Pattern>>,
    by_text: HashMap<Cow<'static, str>, Vec<usize>>,
    /// The keys of `by_text`, side by side: a shell pattern is compared with each.
    texts: Vec<Cow<'static, str>>,
    by_star: Stars,
    homes: Vec<Pattern>,
}

impl Table {
    /// The table for file systems that tell `A` from `a`, or for those that do not.
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
        let mut table = Table {
            patterns: Vec::new(),
            except: ROWS.iter().map(|row| row.except.iter().map(read).collect()).collect(),
            by_text: HashMap::new(),
            texts: Vec::new(),
            by_star: Stars::default(),
            homes: HOMES.iter().map(read).collect(),
        };
        for (at, (pattern, _)) in patterns.iter().enumerate() {
            table.index(at, pattern);
        }
        table.texts = table.by_text.keys().cloned().collect();
        table.patterns = patterns;
        table
    }

    /// Files a pattern under every name that a path could share with it.
    fn index(&mut self, at: usize, pattern: &Pattern) {
        for name in &pattern.names {
            match name {
                Name::Text(text) => self.by_text.entry(text.clone()).or_default().push(at),
                Name::Star { prefix, suffix } => self.by_star.add(name, prefix, suffix, at),
            }
        }
    }

    /// The rows that a path fits, seen in any of its views. A row may come more than once.
    pub(super) fn rows(&self, views: &[View<'_, '_>], found: &mut Vec<&'static Row>) {
        let Some(longest) = views.iter().max_by_key(|view| view.parts.len()) else { return };
        let mut candidates: Vec<usize> = Vec::new();
        for part in longest.parts.iter().filter(|part| !part.is_blank()) {
            match part {
                Part::Text(text) => {
                    candidates.extend(self.by_text.get(text).into_iter().flatten());
                    self.by_star.of_text(part, text, &mut candidates);
                }
                Part::Some { .. } => {
                    let fitting = self.texts.iter().filter(|text| part.may_be(text));
                    candidates.extend(fitting.filter_map(|text| self.by_text.get(text)).flatten());
                    self.by_star.of_any(part, &mut candidates);
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

    /// Whether a path is certainly among a row's exceptions. Of one that is not wholly known that is certain only where
    /// everything below what is known is excepted.
    fn excepts(&self, row: usize, views: &[View<'_, '_>]) -> bool {
        let except = self.except.get(row).map(Vec::as_slice).unwrap_or_default();
        views.iter().any(|view| {
            let certain = View { parts: known_start(view.parts), ..*view };
            let is_whole = certain.parts.len() == view.parts.len();
            except.iter().any(|pattern| (is_whole || pattern.is_deep) && pattern.fits(certain))
        })
    }

    /// What follows the home of some user at the start of a path.
    pub(super) fn below_any_home<'p, 'a>(&self, parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
        self.homes.iter().find_map(|home| home.rest(parts))
    }
}

impl Stars {
    fn add(&mut self, name: &Name, prefix: &str, suffix: &str, at: usize) {
        let (map, byte) = match (prefix.as_bytes().first(), suffix.as_bytes().last()) {
            (Some(first), _) => (&mut self.by_first, *first),
            (None, Some(last)) => (&mut self.by_last, *last),
            // A mere `*` tells no path from another.
            (None, None) => return,
        };
        let names = map.entry(byte).or_default();
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, patterns)) => patterns.push(at),
            None => names.push((name.clone(), vec![at])),
        }
    }

    fn of_text(&self, part: &Part<'_>, text: &str, candidates: &mut Vec<usize>) {
        let first = text.as_bytes().first().and_then(|byte| self.by_first.get(byte));
        let last = text.as_bytes().last().and_then(|byte| self.by_last.get(byte));
        let names = first.into_iter().chain(last).flatten();
        candidates.extend(fitting(names, part));
    }

    fn of_any(&self, part: &Part<'_>, candidates: &mut Vec<usize>) {
        let names = self.by_first.values().chain(self.by_last.values()).flatten();
        candidates.extend(fitting(names, part));
    }
}

/// The patterns in which a name stands that a component shares text with.
fn fitting<'n>(
    names: impl Iterator<Item = &'n (Name, Vec<usize>)>,
    part: &Part<'_>,
) -> impl Iterator<Item = usize> {
    names.filter(move |(name, _)| part.fit(name) > Fit::Any).flat_map(|(_, patterns)| patterns).copied()
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

    /// Whether a view of a path may be what the pattern stands for.
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

    /// Whether these components are the pattern's names, at least one of them by its text: `*/*` may be anything, and
    /// means nothing in particular. Where the pattern may begin anywhere, its first name must be clear.
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

    /// What follows the names.
    fn rest<'p, 'a>(&self, parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
        let (own, rest) = parts.split_at_checked(self.names.len())?;
        own.iter().zip(&self.names).all(|(part, name)| part.fit(name) > Fit::No).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for row in ROWS {
            assert!(seen.insert(row.about.to_owned()), "{}", row.about);
            for path in row.paths {
                assert!(seen.insert(format!("{} {path}", row.scope)), "{path} twice in {}", row.scope);
            }
        }
    }
}
