//! Paths, and patterns of paths as effects have them. Must not depend on files.

/// Returns true if `path` is below `directory`.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Matches a path with a pattern: `*`, `?`, `[...]` within a component; `**`, and find's `{}`, across components. Three
/// or more `X`s at the end are mktemp's.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.replace("{}", "**");
    let end = pattern.trim_end_matches('X');
    let pattern = if pattern.len() - end.len() >= 3 { format!("{end}*") } else { pattern };
    let (pattern, path): (Vec<char>, Vec<char>) = (pattern.chars().collect(), path.chars().collect());
    matches_from(&pattern, &path)
}

/// Returns true for a pattern.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{']) || path.ends_with("XXX")
}

/// Tracks the positions in the path that the pattern so far can reach: linear in pattern and path.
fn matches_from(pattern: &[char], path: &[char]) -> bool {
    let mut at = vec![false; path.len() + 1];
    at.iter_mut().take(1).for_each(|first| *first = true);
    let mut rest = pattern;
    while let Some((first, mut after)) = rest.split_first() {
        let (is_star, is_deep) = (*first == '*', *first == '*' && after.first() == Some(&'*'));
        let mut next = vec![false; path.len() + 1];
        let (accepts, taken) = class(*first, after);
        after = after.get(taken..).unwrap_or_default();
        if is_deep {
            after = after.get(1..).unwrap_or_default();
        }
        let mut is_reached = false;
        for place in 0..=path.len() {
            let before = place.checked_sub(1).and_then(|before| path.get(before));
            let was = at.get(place).copied().unwrap_or_default();
            let came = place.checked_sub(1).and_then(|before| at.get(before)).copied().unwrap_or_default();
            is_reached = match before {
                _ if is_star => was || is_reached && before.is_some_and(|char| is_deep || *char != '/'),
                Some(char) => came && accepts(*char),
                None => false,
            };
            if let Some(next) = next.get_mut(place) {
                *next = is_reached;
            }
        }
        at = next;
        rest = after;
    }
    at.last().copied().unwrap_or_default()
}

/// Returns the test of a pattern's first part, and the number of its further characters.
fn class(first: char, after: &[char]) -> (Box<dyn Fn(char) -> bool>, usize) {
    let end = after.iter().position(|char| *char == ']').filter(|end| first == '[' && *end > 0);
    match (first, end) {
        ('?', _) => (Box::new(|char| char != '/'), 0),
        // The class's members are not compared; that is finer than the comparison needs.
        ('[', Some(end)) => (Box::new(|char| char != '/'), end + 1),
        _ => (Box::new(move |char| char == first), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_paths() {
        for (pattern, path, expected) in [
            ("/w/*.o", "/w/a.o", true),
            ("/w/*.o", "/w/d/a.o", false),
            ("/w/{}", "/w/d/a.o", true),
            ("/w/**/x", "/w/a/b/x", true),
            ("/w/?[ab]", "/w/xa", true),
            ("/w/a", "/w/ab", false),
            ("/tmp/tmp.XXXXXXXXXX", "/tmp/tmp.a8Bd", true),
            ("/w/*", "/w/", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        assert!(is_below("/w/a", "/w") && !is_below("/wa", "/w") && is_below("/w", "/"));
    }
}
