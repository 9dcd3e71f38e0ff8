//! Paths with parts that may be anything: only their known parts classify them.

use castellan_event::path_components;
use castellan_programs::Arg;

use super::Located;
use super::lexical::{self, Unsure};
use crate::limits::COMPONENTS_MAX;
use crate::scope::{self, Kind, Part, Places};

/// Locates a path with parts that may be anything, also `..` and slashes. Only the parts beside them classify it.
pub(super) fn partly_known(raw: &Arg, written: String, cwd: Option<&str>, places: &Places) -> Located {
    let why = raw.why().unwrap_or_default();
    let components = lexical::components(raw, places);
    let mut best: Option<Kind> = None;
    let mut tell = |kind: Option<Kind>| {
        let better = kind.filter(|kind| best.is_none_or(|best| kind.scope < best.scope));
        best = better.or(best);
    };
    let mut start = 0;
    for (at, component) in components.iter().enumerate() {
        let is_last = at + 1 == components.len();
        if component.unsure != Unsure::Anything && !is_last {
            continue;
        }
        let run = components.get(start..=at).unwrap_or_default();
        let run: Vec<Part<'_>> = run.iter().map(|component| component.part.clone()).collect();
        // The part that breaks a run still has known text beside the unknown: `.env$x`.
        let before = if component.unsure == Unsure::Anything { at } else { at + 1 };
        let directory: Vec<Part<'_>> = run.get(..before - start).unwrap_or_default().to_vec();
        for parts in [&directory, &run] {
            let ends_blank = parts.last().is_none_or(Part::is_blank);
            if !ends_blank && !parts.iter().any(|part| matches!(part, Part::Text(text) if text == "..")) {
                tell(scope::hint(parts, places));
                let from_root =
                    (start == 0).then(|| lexical::from_root(&written, cwd, parts, places)).flatten();
                let kind = from_root.map(|parts| scope::kind(&parts, places));
                tell(kind.filter(|kind| scope::is_telling(kind.scope)));
            }
        }
        start = at + 1;
    }
    Located::unknown(written, why, best)
}

/// Classifies the names after the last `..`, in any location.
pub(super) fn hint_after_dots(names: &[&str], places: &Places) -> Option<Kind> {
    let start = names.iter().rposition(|name| *name == "..").map_or(0, |at| at + 1);
    let joined = names.get(start..).unwrap_or_default().join("/");
    let text = places.comparable(&joined);
    scope::hint(&path_components(&text).map(Part::known).collect::<Vec<_>>(), places)
}

/// Returns the most sensitive class that a too long path may have, by its last names. `.` is not a name here.
pub(super) fn telling_of_long(written: &str, places: &Places) -> Option<Kind> {
    let names = written.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".");
    let mut last: Vec<&str> = names.rev().take(COMPONENTS_MAX).collect();
    last.reverse();
    hint_after_dots(&last, places)
}
