//! Glob patterns: matches known text against `*.rs` and finds the matching part. The matcher takes time linear in
//! pattern times text and never backtracks beyond the last star. This module must not know words.

use crate::limits::PATTERN_SET_MAX;

/// A pattern made of known text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pattern {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Char(char),
    Any,
    Star,
    Set { negated: bool, members: Vec<Member> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Member {
    Range(char, char),
    Class(&'static str),
}

/// A character of a pattern; a quoted character matches itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) char: char,
    pub(crate) quoted: bool,
}

const CLASSES: &[&str] = &[
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit", "word",
];

impl Pattern {
    /// Builds a pattern. Returns `None` for unsupported patterns: `@(a|b)`, one of these operators, or a set over
    /// [`PATTERN_SET_MAX`].
    pub(crate) fn new(marks: &[Mark], operators: &str) -> Option<Pattern> {
        if marks.iter().any(|mark| !mark.quoted && operators.contains(mark.char)) {
            return None;
        }
        let mut steps = Vec::new();
        let closes = closes(marks);
        let mut at = 0;
        while let Some(mark) = marks.get(at) {
            at += 1;
            if mark.quoted {
                steps.push(Step::Char(mark.char));
                continue;
            }
            let group = marks.get(at).is_some_and(|next| next.char == '(' && !next.quoted);
            match mark.char {
                '?' | '*' | '+' | '@' | '!' if group => return None,
                '*' if steps.last() == Some(&Step::Star) => {}
                '*' => steps.push(Step::Star),
                '?' => steps.push(Step::Any),
                '\\' => match marks.get(at) {
                    Some(next) => {
                        steps.push(Step::Char(next.char));
                        at += 1;
                    }
                    None => steps.push(Step::Char('\\')),
                },
                '[' => {
                    let close = closes.get(at).copied().unwrap_or(usize::MAX);
                    let is_closed = close < at.saturating_add(PATTERN_SET_MAX);
                    if !is_closed && close != usize::MAX {
                        return None;
                    }
                    let window = marks.get(at..marks.len().min(at + PATTERN_SET_MAX)).unwrap_or_default();
                    match is_closed.then(|| set(window)).flatten() {
                        Some((step, length)) => {
                            steps.push(step);
                            at += length;
                        }
                        None => steps.push(Step::Char('[')),
                    }
                }
                other => steps.push(Step::Char(other)),
            }
        }
        Some(Pattern { steps })
    }

    /// Returns true if the pattern matches the whole text.
    pub(crate) fn fits(&self, text: &[char]) -> bool {
        let (mut step, mut at) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        loop {
            match self.steps.get(step) {
                Some(Step::Star) => {
                    star = Some((step, at));
                    step += 1;
                    continue;
                }
                Some(one) if text.get(at).is_some_and(|char| one.fits(*char)) => {
                    step += 1;
                    at += 1;
                    continue;
                }
                None if at == text.len() => return true,
                Some(_) | None => {}
            }
            match star {
                Some((star_step, star_at)) if star_at < text.len() => {
                    star = Some((star_step, star_at + 1));
                    step = star_step + 1;
                    at = star_at + 1;
                }
                Some(_) | None => return false,
            }
        }
    }

    /// Returns the length of the shortest or longest matching prefix.
    pub(crate) fn prefix(&self, text: &[char], longest: bool) -> Option<usize> {
        let mut ends = 0..=text.len();
        let fits = |end: &usize| text.get(..*end).is_some_and(|part| self.fits(part));
        if longest { ends.rev().find(fits) } else { ends.find(fits) }
    }

    /// Returns the start of the shortest or longest matching suffix.
    pub(crate) fn suffix(&self, text: &[char], longest: bool) -> Option<usize> {
        let mut begins = 0..=text.len();
        let fits = |begin: &usize| text.get(*begin..).is_some_and(|part| self.fits(part));
        if longest { begins.find(fits) } else { begins.rev().find(fits) }
    }

    /// Reports whether only one text matches.
    pub(crate) fn is_literal(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Char(_)))
    }

    /// Returns the number of steps of one match attempt, for the budget.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

impl Step {
    fn fits(&self, char: char) -> bool {
        match self {
            Step::Char(one) => *one == char,
            Step::Any => true,
            Step::Star => false,
            Step::Set { negated, members } => *negated != members.iter().any(|member| member.holds(char)),
        }
    }
}

impl Member {
    fn holds(&self, char: char) -> bool {
        match self {
            Member::Range(first, last) => (*first..=*last).contains(&char),
            Member::Class(name) => in_class(name, char),
        }
    }
}

/// Returns true if a character belongs to `[:name:]`.
pub(crate) fn in_class(name: &str, char: char) -> bool {
    match name {
        "alnum" => char.is_alphanumeric(),
        "alpha" => char.is_alphabetic(),
        "blank" => matches!(char, ' ' | '\t'),
        "cntrl" => char.is_control(),
        "digit" => char.is_ascii_digit(),
        "graph" => !char.is_control() && !char.is_whitespace(),
        "lower" => char.is_lowercase(),
        "print" => !char.is_control(),
        "punct" => char.is_ascii_punctuation(),
        "space" => char.is_whitespace(),
        "upper" => char.is_uppercase(),
        "xdigit" => char.is_ascii_hexdigit(),
        "word" => char.is_alphanumeric() || char == '_',
        _ => false,
    }
}

/// For each position: the next closing bracket. An opening bracket without one does not start a set.
fn closes(marks: &[Mark]) -> Vec<usize> {
    let mut closes = vec![usize::MAX; marks.len()];
    let mut next = usize::MAX;
    for (at, (mark, close)) in marks.iter().zip(&mut closes).enumerate().rev() {
        if mark.char == ']' && !mark.quoted {
            next = at;
        }
        *close = next;
    }
    closes
}

/// Parses the members of a set after its opening bracket. Returns the length including the closing bracket.
fn set(marks: &[Mark]) -> Option<(Step, usize)> {
    let negated = marks.first().is_some_and(|mark| matches!(mark.char, '!' | '^') && !mark.quoted);
    let begin = usize::from(negated);
    let mut members = Vec::new();
    let mut at = begin;
    loop {
        let mark = marks.get(at)?;
        if mark.char == ']' && !mark.quoted && at > begin {
            return Some((Step::Set { negated, members }, at + 1));
        }
        if mark.char == '['
            && marks.get(at + 1).is_some_and(|next| next.char == ':')
            && let Some((class, length)) = class(marks.get(at + 2..)?)
        {
            members.push(Member::Class(class));
            at += 2 + length;
            continue;
        }
        let dash = marks.get(at + 1).is_some_and(|next| next.char == '-' && !next.quoted);
        match marks.get(at + 2) {
            Some(last) if dash && last.char != ']' => {
                members.push(Member::Range(mark.char, last.char));
                at += 3;
            }
            _ => {
                members.push(Member::Range(mark.char, mark.char));
                at += 1;
            }
        }
    }
}

fn class(marks: &[Mark]) -> Option<(&'static str, usize)> {
    CLASSES.iter().find_map(|name| {
        let length = name.len() + ":]".len();
        let there = marks.get(..length)?;
        there.iter().map(|mark| mark.char).eq(name.chars().chain(":]".chars())).then_some((*name, length))
    })
}
