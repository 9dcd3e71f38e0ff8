//! [`Pattern`]: a path with patterns of shells and searches, and its relation to a known path. It may match too much,
//! never too little. Must not know which paths matter.

use castellan_event::path_components;

/// A path whose components may be patterns, `**` among them.
#[derive(Debug, Clone)]
pub(super) struct Pattern<'p> {
    steps: Vec<&'p str>,
    /// No component is a pattern.
    is_closed: bool,
    /// Patterns match names with a leading dot: true in a search, false in a shell.
    hides: bool,
}

/// Relation of a path to a known path, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The known path, or a path below it if everything below it is included.
    Is,
    /// The directory that directly contains the known file.
    Holds,
    /// It is a directory further above.
    Above,
}

/// Matches any number of directories.
const DESCENT: &str = "**";

/// Letters that make a component a pattern.
const OPEN: &[char] = &['*', '?', '[', '{'];

/// Leading letters with which a pattern can identify a name, including the dot: `.c*` may well mean `.claude`.
const TELLING_BYTES: usize = 2;

impl<'p> Pattern<'p> {
    pub(super) fn of(path: &'p str) -> Pattern<'p> {
        let steps: Vec<&str> = path_components(path).collect();
        let hides = steps.contains(&DESCENT);
        let is_closed = !path.contains(OPEN) && !path.contains('(') && !path.contains("..");
        Pattern { steps, is_closed, hides }
    }

    /// Returns the number of components.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the path after so many components.
    pub(super) fn from(&self, at: usize) -> Pattern<'p> {
        Pattern { steps: self.steps.get(at..).unwrap_or_default().to_vec(), ..*self }
    }

    /// Returns true if any component is a pattern.
    pub(super) fn is_open(&self) -> bool {
        self.steps.iter().any(|step| step.contains(OPEN))
    }

    /// Returns true if the last component is a pattern.
    pub(super) fn ends_open(&self) -> bool {
        self.steps.last().is_some_and(|step| step.contains(OPEN))
    }

    fn ends_blank(&self) -> bool {
        self.steps.last().is_some_and(|step| step.bytes().all(|byte| matches!(byte, b'*' | b'?' | b'.')))
    }

    /// Returns true if a component is this name, or a matching pattern whose beginning identifies the name.
    pub(super) fn names_at(&self, at: usize, name: &str) -> bool {
        let Some(step) = self.steps.get(at) else { return false };
        let may_be = || {
            // A group begins with the letter before its parenthesis: `+(src|test)`.
            let group = step.find('(').map(|at| at.saturating_sub(1));
            let known = step.find(OPEN).into_iter().chain(group).min().unwrap_or(step.len());
            known >= TELLING_BYTES && fits(step, name, self.hides)
        };
        *step == name || !self.is_closed && may_be()
    }

    /// Returns the relation to a known path of these names. `is_deep`: everything below that path is included. If only
    /// `**` leads below it, just the names in `inside` match there.
    pub(super) fn relation<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        is_deep: bool,
        inside: &[&str],
    ) -> Option<Relation> {
        if self.is_closed {
            return self.closed_relation(names, is_deep);
        }
        let names: Vec<&str> = names.collect();
        self.open_relation(&names, is_deep, inside)
    }

    /// Like `relation` for a path without patterns: most paths, each compared with all guarded files.
    fn closed_relation<'n>(
        &self,
        mut names: impl Iterator<Item = &'n str>,
        is_deep: bool,
    ) -> Option<Relation> {
        for step in &self.steps {
            match names.next() {
                Some(name) if name == *step => {}
                None if is_deep => return Some(Relation::Is),
                Some(_) | None => return None,
            }
        }
        Some(match names.count() {
            0 => Relation::Is,
            1 if !is_deep => Relation::Holds,
            _ => Relation::Above,
        })
    }

    /// Walks the components once and keeps all possible matches, so the cost is linear in both.
    fn open_relation(&self, names: &[&str], is_deep: bool, inside: &[&str]) -> Option<Relation> {
        // The numbers of names that the steps so far may match.
        let mut reached = vec![false; names.len() + 1];
        *reached.first_mut()? = true;
        // Below the path: by its name, or only by `**`.
        let (mut is_inside, mut descended) = (false, false);
        for (at, step) in self.steps.iter().enumerate() {
            let is_last = at + 1 == self.steps.len();
            is_inside |= is_deep && reached.last() == Some(&true);
            if *step == DESCENT {
                let first = reached.iter().position(|one| *one);
                if is_last && first.is_some() {
                    return Some(Relation::Is);
                }
                descended |= is_deep && first.is_some();
                let end = names.len();
                let from = first.unwrap_or(reached.len());
                reached.iter_mut().take(end).skip(from).for_each(|one| *one = true);
                continue;
            }
            let mut next = vec![false; reached.len()];
            let pairs = reached.iter().zip(names).zip(next.iter_mut().skip(1));
            for ((is_reached, name), next) in pairs {
                *next = *is_reached && fits(step, name, self.hides);
            }
            if is_last && descended && inside.iter().any(|name| fits(step, name, true)) {
                return Some(Relation::Is);
            }
            reached = next;
            if !is_inside && !descended && !reached.contains(&true) {
                return None;
            }
        }
        let ends_at = reached.iter().rposition(|one| *one);
        match ends_at.map(|at| names.len() - at) {
            _ if is_inside => Some(Relation::Is),
            // A pattern that matches any name selects files, not a directory among them.
            Some(0) if is_deep && self.ends_blank() => Some(Relation::Holds),
            Some(0) => Some(Relation::Is),
            Some(1) if !is_deep => Some(Relation::Holds),
            Some(_) => Some(Relation::Above),
            None => None,
        }
    }
}

/// Returns true if a component may match this name. Brackets match any letter, groups (`@(a|b)`, `{}`) any text: it
/// matches too much, unlike the exact patterns of `castellan-shell`.
fn fits(pattern: &str, name: &str, hides: bool) -> bool {
    if !pattern.contains(OPEN) && !pattern.contains('(') {
        return pattern == name;
    }
    let tokens = tokens(pattern);
    let begins_open = matches!(tokens.first(), Some(Token::One | Token::Any));
    if begins_open && name.starts_with('.') && !hides {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut token) = (0, 0);
    // The last token that matches any text, and the start of its match.
    let mut retry: Option<(usize, usize)> = None;
    while at < name.len() {
        match tokens.get(token) {
            Some(Token::Any | Token::Group) => {
                retry = Some((token, at));
                token += 1;
            }
            Some(Token::One) => (at, token) = (at + 1, token + 1),
            Some(Token::Is(letter)) if name.get(at) == Some(letter) => (at, token) = (at + 1, token + 1),
            Some(Token::Is(_)) | None => {
                let Some((any, from)) = retry else { return false };
                retry = Some((any, from + 1));
                (token, at) = (any + 1, from + 1);
            }
        }
    }
    tokens.iter().skip(token).all(|token| matches!(token, Token::Any | Token::Group))
}

/// A token of a component's pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Is(char),
    One,
    Any,
    /// Any text, including a leading dot.
    Group,
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let closing = match first {
            '[' => after.find(']').map(|end| (Token::One, end + 1)),
            '{' => after.find('}').map(|end| (Token::Group, end + 1)),
            '*' | '?' | '+' | '@' | '!' if after.starts_with('(') => {
                after.rfind(')').map(|end| (Token::Group, end + 1))
            }
            _ => None,
        };
        let (token, taken) = closing.unwrap_or(match first {
            '*' => (Token::Any, 0),
            '?' => (Token::One, 0),
            letter => (Token::Is(letter), 0),
        });
        tokens.push(token);
        rest = after.get(taken..).unwrap_or_default();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_fit_names() {
        let check = |pattern: &str, name: &str, hides: bool, expected: bool| {
            assert_eq!(fits(pattern, name, hides), expected, "{pattern} as {name}");
        };
        for (pattern, name, expected) in [
            (".claude", ".claude", true),
            (".cl*", ".claude", true),
            (".c*e", ".claude", true),
            (".c*x", ".claude", false),
            (".cl?ude", ".claude", true),
            (".[c]laude", ".claude", true),
            ("*claude", ".claude", false),
            ("@(.claude)", ".claude", true),
            (".@(claude|x)", ".claude", true),
            (".!(x)", ".claude", true),
            ("{}", ".claude", true),
            ("*.json", "settings.json", true),
            ("*cache*", "settings.json", false),
            ("s*s*.json", "settings.json", true),
            ("settings", "settings.json", false),
            ("*", "settings.json", true),
            ("[", "[", true),
        ] {
            check(pattern, name, false, expected);
        }
        check("?claude", ".claude", true, true);
        check("*", ".claude", true, true);
    }

    #[test]
    fn many_descents_cost_no_more_than_their_number() {
        let path = "/**/*".repeat(100);
        assert_eq!(
            Pattern::of(&path).relation(path_components("/home/u/.claude/settings.json"), false, &[]),
            None
        );
    }

    #[test]
    fn a_path_without_a_pattern_lies_as_one_that_is_compared_step_by_step() {
        let paths =
            ["/", "/a", "/b", "/a/b", "/a/b/c", "/a/c", "/a/b/c/d", "/a/x/c", "/a/b/c/d/e", "//a/./b/"];
        for (path, known, is_deep) in paths
            .iter()
            .flat_map(|path| paths.iter().flat_map(move |known| [(path, known, true), (path, known, false)]))
        {
            let pattern = Pattern::of(path);
            assert!(pattern.is_closed);
            let names: Vec<&str> = path_components(known).collect();
            let expected = pattern.open_relation(&names, is_deep, &[]);
            assert_eq!(
                pattern.relation(path_components(known), is_deep, &[]),
                expected,
                "{path} to {known}, {is_deep}"
            );
        }
    }
}
