//! Patterns of zsh with parentheses and ranges (zshexpn, "Glob Operators" and "Glob Qualifiers"), as patterns of
//! bash. This module must not know words.

use crate::syntax::Shell;

/// Returns the offset at which a pattern of zsh begins that reaches to the end of its word: with `(...)` or `<1-9>`.
pub(super) fn pattern_start(text: &str, shell: Shell, has_operators: bool) -> Option<usize> {
    let is_extended = has_operators && text.contains(['^', '#', '~']);
    let is_one = shell == Shell::Zsh && (is_extended || text.contains(['(', '<']));
    let first = text.find(['*', '?', '[', '(', '<', '^', '#'])?;
    is_one.then_some(first)
}

/// Returns a pattern of zsh as one of bash, without its qualifiers: `(a|b)*(.)` is `@(a|b)*`.
pub(super) fn as_pattern(text: &str) -> String {
    let mut text = text;
    if let Some((before, qualifiers)) = text.strip_suffix(')').and_then(|inner| inner.rsplit_once('('))
        && !qualifiers.contains('|')
        && !before.is_empty()
    {
        text = before;
    }
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(['(', '<']) {
        made.push_str(before);
        if rest.get(before.len()..).is_some_and(|rest| rest.starts_with('(')) {
            made.push_str("@(");
            rest = after;
        } else {
            // A range of numbers.
            made.push('*');
            rest = after.split_once('>').map_or("", |(_, rest)| rest);
        }
    }
    made.push_str(rest);
    made
}
