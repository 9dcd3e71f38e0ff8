//! Changes of a known text by an operation: removed, replaced, cut, in other case. This module must not know variables.

use castellan_event::Why;

use crate::limits::{COMPARISONS_MAX, VALUE_BYTES_MAX};
use crate::patterns::Pattern;
use crate::text::Text;
use crate::tree::ReplaceAt;

/// Returns the range of `offset:length` in a list of `count` elements.
pub(super) fn bounds(count: usize, offset: i64, length: Option<i64>) -> Option<(usize, usize)> {
    let count = i64::try_from(count).ok()?;
    let begin = if offset < 0 { count.checked_add(offset)? } else { offset };
    if begin < 0 || begin > count {
        return None;
    }
    let end = match length {
        None => count,
        Some(length) if length < 0 => count.checked_add(length)?,
        Some(length) => begin.saturating_add(length).min(count),
    };
    Some((usize::try_from(begin).ok()?, usize::try_from(end.max(begin)).ok()?))
}

fn too_much(text: &[char], pattern: &Pattern) -> bool {
    text.len().saturating_mul(text.len()).saturating_mul(pattern.len().max(1)) > COMPARISONS_MAX
}

pub(super) fn removed(text: &str, pattern: &Pattern, suffix: bool, longest: bool) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_clear = text.is_ascii() || pattern.is_literal();
    if too_much(&chars, pattern) || !is_clear {
        return None;
    }
    let rest = if suffix {
        pattern.suffix(&chars, longest).map_or(chars.as_slice(), |at| chars.get(..at).unwrap_or_default())
    } else {
        pattern.prefix(&chars, longest).map_or(chars.as_slice(), |at| chars.get(at..).unwrap_or_default())
    };
    Some(rest.iter().collect())
}

pub(super) fn replaced(text: &str, pattern: &Pattern, replacement: &str, at: ReplaceAt) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_clear = text.is_ascii() || pattern.is_literal();
    if too_much(&chars, pattern) || !is_clear || replacement.contains('&') {
        return None;
    }
    // bash versions differ on matches in an empty text.
    if chars.is_empty() && pattern.len() > 0 {
        return None;
    }
    match at {
        ReplaceAt::Start => Some(match pattern.prefix(&chars, true) {
            Some(end) => replacement.chars().chain(chars.into_iter().skip(end)).collect(),
            None => text.to_owned(),
        }),
        ReplaceAt::End => Some(match pattern.suffix(&chars, true) {
            Some(begin) => chars.into_iter().take(begin).chain(replacement.chars()).collect(),
            None => text.to_owned(),
        }),
        ReplaceAt::First | ReplaceAt::All => {
            let mut made = String::new();
            let mut from = 0;
            let mut done = false;
            while from < chars.len() {
                let rest = chars.get(from..).unwrap_or_default();
                match pattern.prefix(rest, true) {
                    Some(length) if length > 0 && !done => {
                        made.push_str(replacement);
                        if made.len() > VALUE_BYTES_MAX {
                            return None;
                        }
                        from += length;
                        done = at == ReplaceAt::First;
                    }
                    Some(_) | None => {
                        made.extend(rest.first());
                        from += 1;
                    }
                }
            }
            Some(made)
        }
    }
}

pub(super) fn cased(text: &str, upper: bool, all: bool, only: Option<&Pattern>) -> String {
    let mut made = String::with_capacity(text.len());
    for (at, one) in text.chars().enumerate() {
        let changes = (all || at == 0) && only.is_none_or(|pattern| pattern.fits(&[one]));
        match (changes, upper) {
            (false, _) => made.push(one),
            (true, true) => made.extend(one.to_uppercase()),
            (true, false) => made.extend(one.to_lowercase()),
        }
    }
    made
}

/// Returns the reason that a changed text is unknown. A pattern for names in the working directory stays `Glob`. A
/// changed name of another directory may be any path.
pub(super) fn why_of_changed(text: &Text) -> Why {
    let leads_away =
        || text.has_text() && text.written().starts_with(['/', '~']) || text.written().contains("..");
    match text.why_of_parts() {
        Some(Why::Glob) if leads_away() => Why::Expansion,
        why => why.unwrap_or(Why::Expansion),
    }
}
