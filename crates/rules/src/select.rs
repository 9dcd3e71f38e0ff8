//! Rule selection: enables and disables rules after loading, like Falco's `rules`.

use crate::options::{Selected, Selection};
use crate::rule::Rule;

pub(crate) fn apply(selections: &[Selection], rules: &mut [Rule]) {
    for selection in selections {
        for rule in rules.iter_mut().filter(|rule| is_selected(&selection.of, rule)) {
            rule.enabled = selection.enable;
        }
    }
}

fn is_selected(of: &Selected, rule: &Rule) -> bool {
    match of {
        Selected::Rule(pattern) => matches(pattern, &rule.name),
        Selected::Tag(tag) => rule.tags.contains(tag),
    }
}

/// Reports whether a whole name matches a pattern, in which `*` matches any text. Linear in the name for each `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(name) = name.strip_prefix(first).and_then(|name| name.strip_suffix(last)) else { return false };
    let mut left = Some(name);
    for part in middle.split('*') {
        left = left.and_then(|left| left.split_once(part)).map(|(_, behind)| behind);
    }
    left.is_some()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn wildcards() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "any name", true),
            ("a*", "abc", true),
            ("a*", "bac", false),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*a", "a", false),
            ("*b*", "abc", true),
            ("*b*d*", "abcde", true),
            ("*d*b*", "abcde", false),
            ("**", "x", true),
            ("a?c", "abc", false),
            ("[a]*", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
