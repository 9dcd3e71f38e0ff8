//! Paths with shell patterns.

use castellan_event::{Recorder, Why, path_components};
use castellan_programs::Arg;

use super::Located;
use super::known::{base_of, join, real_path};
use super::lexical::{self, Component, Unsure, collapse};
use crate::scope::{self, Part, Places};

/// Locates a path with shell patterns, which remain in the result.
pub(super) fn pattern(
    raw: &Arg,
    written: String,
    cwd: Option<&str>,
    places: &Places,
    world: &mut Recorder<'_>,
) -> Located {
    let mut components = lexical::components(raw, places);
    let first = components.iter().position(|component| component.unsure != Unsure::No).unwrap_or_default();
    let rest = components.split_off(first);
    // The parent of a matching directory depends on the match.
    let climbs = rest.iter().any(|component| component.written == "..");
    let names: Vec<&str> = components.iter().map(|component| component.written.as_str()).collect();
    let directory = if written.starts_with('/') { format!("/{}", names.join("/")) } else { names.join("/") };
    let parts: Vec<Part<'static>> = rest.iter().map(|component| component.part.clone()).collect();
    let lexical = collapse(cwd, &directory);
    let of = |directory: &str| {
        let directory = places.comparable(directory);
        let known: Vec<&str> = path_components(&directory).collect();
        let known: Vec<Part<'_>> = known.into_iter().map(Part::known).collect();
        let kinds = descents(&rest).map(|rest| scope::kind(&[known.clone(), rest].concat(), places));
        kinds.min_by_key(|kind| kind.scope).unwrap_or_else(|| scope::kind(&known, places))
    };
    let as_written = || lexical.as_deref().map(of);
    let why = match base_of(&written, cwd) {
        None => Why::Dynamic,
        Some(_) if climbs => Why::Glob,
        Some(base) => match real_path(base, &directory, world) {
            None => Why::Unreadable,
            Some(real) => {
                let kind = of(&real);
                let is_linked = lexical.as_ref() != Some(&real);
                let as_written = is_linked.then(as_written).flatten();
                let kind = as_written.map_or(kind, |as_written| kind.with_scope_of(as_written));
                let path = rest.iter().fold(real, |path, component| join(&path, &component.written));
                return Located { is_linked, ..Located::found(path, written, kind) };
            }
        },
    };
    let telling = as_written().filter(|kind| scope::is_telling(kind.scope));
    let anywhere = || scope::hint(&parts, places);
    Located::unknown(written, why, telling.or_else(anywhere))
}

/// Levels that a `**` is tried with. Sensitive files lie at most so far below the directory that holds them.
const DESCENT_LEVELS: usize = 4;

/// Returns the parts of a pattern, with `**` repeated for each number of directories that it may match.
fn descents<'c>(components: &'c [Component]) -> impl Iterator<Item = Vec<Part<'static>>> + 'c {
    let descent = components.iter().position(|component| component.written == "**");
    let levels = if descent.is_some() { 0..DESCENT_LEVELS } else { 1..2 };
    levels.map(move |levels| {
        let repeated = |(at, component): (usize, &Component)| {
            let times = if Some(at) == descent { levels } else { 1 };
            std::iter::repeat_n(component.part.clone(), times)
        };
        components.iter().enumerate().flat_map(repeated).collect()
    })
}
