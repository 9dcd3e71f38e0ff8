//! The simplest pattern: `*` matches any text.

/// Reports whether the whole text matches a pattern, in which `*` matches any text, also an empty one. Linear in the
/// text for each `*`.
pub fn matches_star(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_star;

    #[test]
    fn stars_match_any_text() {
        for (pattern, text, expected) in [
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
            assert_eq!(matches_star(pattern, text), expected, "{pattern} {text}");
        }
    }
}
