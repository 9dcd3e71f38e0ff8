//! Finds the model of a program by its name.

// Types in the generated tables.
use castellan_event::EffectKind;

use crate::program::{
    Attribute, EffectRow, Form, Opt, Place, Program, Slot, SlotRole, Source, Style, Takes, Term, Test,
    Wrapper,
};

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Returns the model of the program of this name (no directory). Windows names end in `.exe`, in upper or lower case.
pub fn find(name: &str) -> Option<&'static Program> {
    named(name).or_else(|| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(".exe".len())?)?;
        if end.eq_ignore_ascii_case(".exe") { named(&stem.to_ascii_lowercase()) } else { None }
    })
}

/// Returns every program that has a model.
pub fn all() -> &'static [Program] {
    PROGRAMS
}

fn named(name: &str) -> Option<&'static Program> {
    if let Some(at) = position(name) {
        return PROGRAMS.get(at);
    }
    let (program, sub) = name.split_once('-')?;
    let program = PROGRAMS.get(position(program)?).filter(|program| program.dashed)?;
    program.subs.iter().find(|one| one.names.contains(&sub))
}

fn position(name: &str) -> Option<usize> {
    if let Ok(at) = NAMES.binary_search_by_key(&name, |(one, _)| one) {
        return NAMES.get(at).map(|(_, position)| *position);
    }
    PATTERNS.iter().find(|(pattern, _)| fits(pattern, name)).map(|(_, position)| *position)
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
