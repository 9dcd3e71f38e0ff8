//! Finds the model of a program by its name.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::program::Program;

// `IMAGE`, `STARTS`, `NAMES`, `NAME_ENDS`, `OWNERS` and `PATTERNS`: without pointers, so that the loader has nothing to
// relocate, and only the models that are used take memory of the process.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The models that were read from the image. A model is read when its program is first asked for.
static PROGRAMS: [OnceLock<Option<Box<Program>>>; STARTS.len()] = [const { OnceLock::new() }; STARTS.len()];

/// Returns the model of the program of this name (no directory). Windows names end in `.exe`, in upper or lower case.
pub fn find(name: &str) -> Option<&'static Program> {
    named(name).or_else(|| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(".exe".len())?)?;
        if end.eq_ignore_ascii_case(".exe") { named(&stem.to_ascii_lowercase()) } else { None }
    })
}

/// Returns every program that has a model.
pub fn all() -> impl Iterator<Item = &'static Program> {
    (0..PROGRAMS.len()).filter_map(program)
}

fn named(name: &str) -> Option<&'static Program> {
    if let Some(at) = position(name) {
        return program(at);
    }
    let (above, sub) = name.split_once('-')?;
    let program = program(position(above)?).filter(|program| program.dashed)?;
    program.subs.iter().find(|one| one.names.contains(&sub))
}

/// Returns the model at this position. An unreadable model is none: its program is unknown.
fn program(at: usize) -> Option<&'static Program> {
    let read = || postcard::from_bytes(IMAGE.get(*STARTS.get(at)? as usize..)?).ok().map(Box::new);
    PROGRAMS.get(at)?.get_or_init(read).as_deref()
}

fn position(name: &str) -> Option<usize> {
    if let Some(place) = place(name) {
        return OWNERS.get(place).map(|at| usize::from(*at));
    }
    PATTERNS.iter().find(|(pattern, _)| fits(pattern, name)).map(|(_, at)| usize::from(*at))
}

/// Returns the place of a name in the order of the names' bytes.
fn place(name: &str) -> Option<usize> {
    let (mut low, mut high) = (0, NAME_ENDS.len());
    while low < high {
        let middle = low.midpoint(high);
        match name_at(middle)?.cmp(name) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => high = middle,
        }
    }
    None
}

fn name_at(place: usize) -> Option<&'static str> {
    let start = place.checked_sub(1).and_then(|before| NAME_ENDS.get(before)).copied().unwrap_or(0);
    NAMES.get(start as usize..*NAME_ENDS.get(place)? as usize)
}

/// Matches `mkfs.*` with any ending but none, unlike `matches_star`, and `python3.#` with an ending of digits and dots.
fn fits(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        return name.len() > start.len() && name.starts_with(start);
    }
    let version = pattern.strip_suffix('#').and_then(|start| name.strip_prefix(start));
    version.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

impl Program {
    /// Returns the usual name.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_readable_and_found_by_each_name() {
        assert_eq!(all().count(), STARTS.len());
        for (at, program) in (0..STARTS.len()).zip(all()) {
            for name in program.names.iter().filter(|name| !name.contains(['*', '#'])) {
                assert_eq!(position(name), Some(at), "{name}");
            }
        }
    }
}
