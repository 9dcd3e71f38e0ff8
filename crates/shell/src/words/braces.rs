//! Brace expansion: `a{b,c}` to `ab ac`, `{1..3}` to `1 2 3`. Brace expansion runs before every other expansion and
//! treats parameters and substitutions as indivisible parts.

use crate::limits::{BRACES_DEPTH_MAX, BRACES_MAX, BRACES_RANGE_MAX};
use crate::scope::Source;
use crate::tree::{Part, Span, Word};

/// A piece of a word during brace expansion: text, or a part that is expanded later.
#[derive(Debug, Clone)]
pub(crate) enum Segment<'a> {
    Text { text: String, quoted: bool },
    Part(&'a Part),
}

impl Segment<'_> {
    /// Returns the span of a part that will be expanded. The span of arithmetic is unknown.
    pub(crate) fn expanded(&self) -> Option<Span> {
        match self {
            Segment::Text { .. } | Segment::Part(Part::Text { .. }) => None,
            Segment::Part(Part::Parameter { parameter, .. }) => Some(parameter.span),
            Segment::Part(Part::Command { body, .. } | Part::Process { body, .. }) => Some(body.span),
            Segment::Part(Part::Arithmetic { .. }) => Some(Span::default()),
            Segment::Part(Part::Hole(hole)) => Some(hole.span),
        }
    }
}

/// Returns the words from brace expansion, or `None` over a limit. `copies`: the remaining characters to copy.
pub(crate) fn expand<'w>(word: &'w Word, copies: &mut usize) -> Option<Vec<Vec<Segment<'w>>>> {
    if !has_brace(word) {
        return Some(vec![segments(word)]);
    }
    let mut atoms = Vec::new();
    for part in &word.parts {
        match part {
            Part::Text { text, quoted: false } => {
                atoms.extend(text.chars().map(Atom::Char));
            }
            Part::Text { .. }
            | Part::Parameter { .. }
            | Part::Command { .. }
            | Part::Process { .. }
            | Part::Arithmetic { .. }
            | Part::Hole(_) => atoms.push(Atom::Whole(segment(part))),
        }
    }
    let matched = matching(&atoms);
    let words = nested(&atoms, &matched, (0, atoms.len()), 0, copies)?;
    let words: Vec<Vec<Segment<'w>>> = words.into_iter().map(joined).collect();
    // Braces expand before parameters: `{$x,a}1` is `$x1` and `a1`, with another parameter.
    let is_other = |pair: &[Segment<'_>]| match pair {
        [Segment::Part(Part::Parameter { parameter, .. }), Segment::Text { text, .. }] => {
            let is_plain = parameter.span.end - parameter.span.start == 1 + parameter.name.len() as u32;
            is_plain && text.starts_with(|one: char| one == '_' || one.is_ascii_alphanumeric())
        }
        _ => false,
    };
    let several = words.len() > 1;
    (!several || !words.iter().any(|word| word.windows(2).any(is_other))).then_some(words)
}

/// Returns the word without brace expansion.
pub(crate) fn segments(word: &Word) -> Vec<Segment<'_>> {
    word.parts.iter().map(segment).collect()
}

/// Returns true if a word contains braces and a parameter with an unclosed brace. In `${x:-{a}{b,c}}`, parameter
/// expansion ends at the first `}`, but brace expansion ends at the last.
pub(crate) fn is_unclear(word: &Word, source: &Source) -> bool {
    let opens = |part: &Part| match part {
        Part::Parameter { parameter, .. } => {
            let written = source.written(parameter.span);
            written.matches('{').count() > written.matches('}').count()
        }
        Part::Text { .. } | Part::Command { .. } | Part::Process { .. } => false,
        Part::Arithmetic { .. } | Part::Hole(_) => false,
    };
    has_brace(word) && word.parts.iter().any(opens)
}

pub(super) fn has_brace(word: &Word) -> bool {
    let braced = |part: &Part| matches!(part, Part::Text { text, quoted: false } if text.contains('{'));
    word.parts.iter().any(braced)
}

/// Returns true if a word may have a range of numbers or letters in braces.
pub(super) fn has_range(word: &Word) -> bool {
    let ranged = |part: &Part| matches!(part, Part::Text { text, quoted: false } if text.contains(".."));
    word.parts.iter().any(ranged)
}

/// Converts one part.
pub(super) fn segment(part: &Part) -> Segment<'_> {
    if let Part::Text { text, quoted } = part {
        return Segment::Text { text: text.clone(), quoted: *quoted };
    }
    Segment::Part(part)
}

#[derive(Debug, Clone)]
enum Atom<'a> {
    Char(char),
    Whole(Segment<'a>),
}

/// Returns the position of the closing brace for each opening brace.
fn matching(atoms: &[Atom<'_>]) -> Vec<Option<usize>> {
    let mut matched = vec![None; atoms.len()];
    let mut open = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Char('{') => open.push(at),
            Atom::Char('}') => {
                if let Some(begin) = open.pop()
                    && let Some(slot) = matched.get_mut(begin)
                {
                    *slot = Some(at);
                }
            }
            Atom::Char(_) | Atom::Whole(_) => {}
        }
    }
    matched
}

type Made<'a> = Vec<Vec<Atom<'a>>>;

/// Returns the words from the atoms of a range.
fn nested<'a>(
    atoms: &[Atom<'a>],
    matched: &[Option<usize>],
    (from, to): (usize, usize),
    depth: usize,
    copies: &mut usize,
) -> Option<Made<'a>> {
    if depth > BRACES_DEPTH_MAX {
        return None;
    }
    let mut words: Made<'a> = vec![Vec::new()];
    let mut at = from;
    while at < to {
        let atom = atoms.get(at)?;
        let close = matched.get(at).copied().flatten().filter(|close| *close < to);
        if let (Atom::Char('{'), Some(close)) = (atom, close)
            && let Some(inner) = choices(atoms, matched, (at + 1, close), depth, copies)
        {
            let inner = inner?;
            if words.len().saturating_mul(inner.len()) > BRACES_MAX {
                return None;
            }
            let length = |words: &Made<'_>| words.iter().map(Vec::len).sum::<usize>();
            let copied = length(&words) * inner.len() + length(&inner) * words.len();
            *copies = copies.checked_sub(copied)?;
            words = words
                .iter()
                .flat_map(|word| inner.iter().map(move |end| word.iter().chain(end).cloned().collect()))
                .collect();
            at = close + 1;
            continue;
        }
        if let (Atom::Char('{'), Some(close)) = (atom, close)
            && is_range_of_braces(atoms, matched, (at + 1, close))
        {
            return None;
        }
        if words.len() > 1 || depth > 0 {
            *copies = copies.checked_sub(words.len())?;
        }
        for word in &mut words {
            word.push(atom.clone());
        }
        at += 1;
    }
    Some(words)
}

/// Reports whether a range has braces inside, outside of which its `..` is. bash takes `{1..{1..3}}` for text, and zsh
/// does not; in bash, `{1..{a,b}}` loses the outer braces.
fn is_range_of_braces(atoms: &[Atom<'_>], matched: &[Option<usize>], (from, to): (usize, usize)) -> bool {
    let (mut has_dots, mut has_braces) = (false, false);
    let mut at = from;
    while at < to {
        match (atoms.get(at), atoms.get(at + 1), matched.get(at).copied().flatten()) {
            (Some(Atom::Char('{')), _, Some(close)) => {
                has_braces = true;
                at = close;
            }
            (Some(Atom::Char('.')), Some(Atom::Char('.')), _) => has_dots = true,
            _ => {}
        }
        at += 1;
    }
    has_dots && has_braces
}

/// Expands the text between two braces. Returns `None` if it is no expansion, `Some(None)` if it is too large.
#[expect(clippy::option_option, reason = "no expansion and one that is too large are different answers")]
fn choices<'a>(
    atoms: &[Atom<'a>],
    matched: &[Option<usize>],
    (from, to): (usize, usize),
    depth: usize,
    copies: &mut usize,
) -> Option<Option<Made<'a>>> {
    let mut commas = Vec::new();
    let mut at = from;
    while at < to {
        match atoms.get(at) {
            Some(Atom::Char('{')) => at = matched.get(at).copied().flatten().unwrap_or(at),
            Some(Atom::Char(',')) => commas.push(at),
            Some(Atom::Char(_) | Atom::Whole(_)) | None => {}
        }
        at += 1;
    }
    if commas.is_empty() {
        return range(atoms, from, to);
    }
    let mut all = Vec::new();
    let mut begin = from;
    for end in commas.into_iter().chain([to]) {
        match nested(atoms, matched, (begin, end), depth + 1, copies) {
            Some(words) => all.extend(words),
            None => return Some(None),
        }
        if all.len() > BRACES_MAX {
            return Some(None);
        }
        begin = end + 1;
    }
    Some(Some(all))
}

/// Expands `1..5`, `a..e`, `01..10..3`.
#[expect(clippy::option_option, reason = "no range and one that is too large are different answers")]
fn range<'a>(atoms: &[Atom<'a>], from: usize, to: usize) -> Option<Option<Made<'a>>> {
    if to.saturating_sub(from) > BRACES_RANGE_MAX {
        // A brace inside ends the search at once, so nested braces cost no more than their length.
        let may_be =
            |atom: &Atom<'_>| matches!(atom, Atom::Char('+' | '-' | '.' | '0'..='9' | 'a'..='z' | 'A'..='Z'));
        return atoms.get(from..to)?.iter().all(may_be).then_some(None);
    }
    let mut text = String::new();
    for atom in atoms.get(from..to)? {
        match atom {
            Atom::Char(one) => text.push(*one),
            Atom::Whole(_) => return None,
        }
    }
    let mut parts = text.split("..");
    let (first, last, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step: i64 = match step {
        Some(step) => step.parse().ok()?,
        None => 1,
    };
    let step = if step == 0 { 1 } else { step.unsigned_abs() };
    let letters = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|one| one.is_ascii_alphabetic() && chars.next().is_none())
    };
    let (begin, end, number) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(begin), Ok(end)) => (begin, end, true),
        _ => (i64::from(u32::from(letters(first)?)), i64::from(u32::from(letters(last)?)), false),
    };
    if begin.abs_diff(end) / step >= BRACES_MAX as u64 {
        return Some(None);
    }
    let padded =
        |text: &str| text.trim_start_matches('-').starts_with('0') && text.trim_start_matches('-').len() > 1;
    let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
    let mut words = Vec::new();
    for round in 0..=begin.abs_diff(end) / step {
        let distance = i64::try_from(round.saturating_mul(step)).ok()?;
        let value = if begin <= end { begin + distance } else { begin - distance };
        let text = if number {
            format!("{value:0width$}")
        } else {
            u32::try_from(value).ok().and_then(char::from_u32).map(String::from)?
        };
        words.push(text.chars().map(Atom::Char).collect());
    }
    Some(Some(words))
}

/// Merges adjacent characters into text.
fn joined(atoms: Vec<Atom<'_>>) -> Vec<Segment<'_>> {
    let mut segments: Vec<Segment<'_>> = Vec::new();
    for atom in atoms {
        match (segments.last_mut(), atom) {
            (Some(Segment::Text { text, quoted: false }), Atom::Char(one)) => text.push(one),
            (_, Atom::Char(one)) => segments.push(Segment::Text { text: one.to_string(), quoted: false }),
            (_, Atom::Whole(segment)) => segments.push(segment),
        }
    }
    segments
}
