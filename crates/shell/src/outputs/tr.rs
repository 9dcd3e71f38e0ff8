//! `tr`: replaces characters.

use std::collections::HashMap;

use super::Given;
use super::lines::by_character;
use crate::limits::SET_CHARS_MAX;
use crate::literals::{Escapes, unescaped};
use crate::patterns::in_class;
use crate::text::Text;

pub(super) fn tr(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut deletes = false;
    let mut squeezes = false;
    let mut complements = false;
    let mut sets = Vec::new();
    for arg in known {
        match arg.strip_prefix('-').filter(|letters| !letters.is_empty() && sets.is_empty()) {
            Some("-delete") => deletes = true,
            Some(letters) if letters.chars().all(|one| matches!(one, 'd' | 's' | 'c' | 'C')) => {
                deletes |= letters.contains('d');
                squeezes |= letters.contains('s');
                complements |= letters.contains(['c', 'C']);
            }
            Some(_) | None => sets.push(arg),
        }
    }
    let input = given.input?;
    if squeezes {
        // Squeezing next to an unknown part depends on its characters.
        input.as_str()?;
    }
    match sets.as_slice() {
        [set] if deletes && !squeezes => {
            let set = Set::read(set)?;
            Some(by_character(input, |one| (set.holds(one) == complements).then_some(one)))
        }
        [set] if squeezes && !deletes => {
            let set = Set::read(set)?;
            Some(Text::known(squeezed(input.as_str()?, |one| set.holds(one) != complements)))
        }
        [from, to] if !deletes => {
            let from = Set::read(from)?;
            let to = Set::read(to)?;
            let last = to.chars.last().copied()?;
            let changed = by_character(input, |one| {
                Some(match (complements, from.places.get(&one)) {
                    (false, Some(at)) => to.chars.get(*at).copied().unwrap_or(last),
                    (true, None) => last,
                    (false, None) | (true, Some(_)) => one,
                })
            });
            if squeezes {
                return Some(Text::known(squeezed(changed.as_str()?, |one| to.holds(one))));
            }
            Some(changed)
        }
        _ => None,
    }
}

fn squeezed(text: &str, counts: impl Fn(char) -> bool) -> String {
    let mut made = String::new();
    let mut before = None;
    for one in text.chars() {
        if before == Some(one) && counts(one) {
            continue;
        }
        made.push(one);
        before = Some(one);
    }
    made
}

/// A set of characters, in order.
struct Set {
    chars: Vec<char>,
    /// The last position of each character.
    places: HashMap<char, usize>,
}

impl Set {
    fn read(text: &str) -> Option<Set> {
        let (text, _) = unescaped(text, Escapes::Format)?;
        let mut chars = Vec::new();
        let mut rest = text.as_str();
        while let Some(one) = rest.chars().next() {
            if chars.len() > SET_CHARS_MAX {
                return None;
            }
            if let Some(class) = rest.strip_prefix("[:")
                && let Some((name, after)) = class.split_once(":]")
            {
                chars.extend((0u8..128).map(char::from).filter(|one| in_class(name, *one)));
                rest = after;
                continue;
            }
            let after = rest.get(one.len_utf8()..)?;
            let range = after.strip_prefix('-').and_then(|tail| tail.chars().next());
            match range {
                Some(last) if last >= one && u32::from(last) - u32::from(one) < 256 => {
                    chars.extend(one..=last);
                    rest = after.get(1 + last.len_utf8()..)?;
                }
                Some(_) | None => {
                    chars.push(one);
                    rest = after;
                }
            }
        }
        let places = chars.iter().copied().zip(0..).collect();
        Some(Set { chars, places })
    }

    fn holds(&self, one: char) -> bool {
        self.places.contains_key(&one)
    }
}
