//! [`Table`]: the rows of the table made ready, so that a path is compared only with the patterns that share a name with it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::fold;
use super::part::{Fit, Name, Part};
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

/// Every pattern, and where its names stand.
#[derive(Debug)]
pub(super) struct Table {
    /// Each pattern with its row.
    patterns: Vec<(Pattern, usize)>,
    /// The exceptions of each row.
    except: Vec<Vec<Pattern>>,
    by_text: HashMap<Cow<'static, str>, Vec<usize>>,
    /// Patterns whose only names have a star in them, by one of those.
    by_star: Vec<(Name, Vec<usize>)>,
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
            by_star: Vec::new(),
            homes: HOMES.iter().map(read).collect(),
        };
        for (at, (pattern, _)) in patterns.iter().enumerate() {
            table.index(at, pattern);
        }
        table.patterns = patterns;
        table
    }

    /// Files a pattern under every name that a path could share with it.
    fn index(&mut self, at: usize, pattern: &Pattern) {
        for name in &pattern.names {
            match (name, self.by_star.iter_mut().find(|(star, _)| star == name)) {
                (Name::Text(text), _) => self.by_text.entry(text.clone()).or_default().push(at),
                (Name::Star { .. }, Some((_, patterns))) => patterns.push(at),
                (Name::Star { .. }, None) => self.by_star.push((name.clone(), vec![at])),
            }
        }
    }

    /// The rows that a path fits, seen in any of its views. A row may come more than once.
    pub(super) fn rows<'t>(&'t self, views: &[View<'_, '_>], found: &mut Vec<&'static Row>) {
        let Some(longest) = views.iter().max_by_key(|view| view.parts.len()) else { return };
        let mut candidates: Vec<usize> = Vec::new();
        for part in longest.parts.iter().filter(|part| !part.is_blank()) {
            match part {
                Part::Text(text) => candidates.extend(self.by_text.get(text).into_iter().flatten()),
                Part::Some { .. } => {
                    let fitting = self.by_text.iter().filter(|(text, _)| part.may_be(text));
                    candidates.extend(fitting.flat_map(|(_, patterns)| patterns));
                }
            }
            let fitting = self.by_star.iter().filter(|(star, _)| part.fit(star) > Fit::Any);
            candidates.extend(fitting.flat_map(|(_, patterns)| patterns));
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

    /// Whether a path is among a row's exceptions. One that is not wholly known may be another one.
    fn excepts(&self, row: usize, views: &[View<'_, '_>]) -> bool {
        let except = self.except.get(row).map(Vec::as_slice).unwrap_or_default();
        let is_known = views.iter().all(|view| view.parts.iter().all(Part::is_known));
        is_known && except.iter().any(|pattern| views.iter().any(|view| pattern.fits(*view)))
    }

    /// What follows the home of some user at the start of a path.
    pub(super) fn below_any_home<'p, 'a>(&self, parts: &'p [Part<'a>]) -> Option<&'p [Part<'a>]> {
        self.homes.iter().find_map(|home| home.rest(parts))
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

    /// Whether a view of a path may be what the pattern stands for.
    fn fits(&self, view: View<'_, '_>) -> bool {
        match (self.anchor, view.anchor) {
            (Anchor::Anywhere, _) => {
                let starts = 0..=view.parts.len().saturating_sub(self.names.len());
                starts.into_iter().any(|start| {
                    view.parts.get(start..).is_some_and(|parts| self.fits_here(parts, Fit::Clear))
                })
            }
            (Anchor::Root, Anchor::Root) | (Anchor::Home, Anchor::Home) => {
                self.fits_here(view.parts, Fit::Vague)
            }
            (Anchor::Root | Anchor::Home, _) => false,
        }
    }

    /// Whether these components are the pattern's names, at least one of them by its text: `*/*` may be anything, and
    /// means nothing in particular. `needed` says how clear names must be.
    fn fits_here(&self, parts: &[Part<'_>], needed: Fit) -> bool {
        let is_whole =
            if self.is_deep { parts.len() >= self.names.len() } else { parts.len() == self.names.len() };
        let mut clearest = Fit::No;
        let each = self.names.iter().zip(parts).all(|(name, part)| {
            let fit = part.fit(name);
            clearest = clearest.max(fit);
            fit == Fit::Any || fit >= needed
        });
        is_whole && each && clearest > Fit::Any
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
