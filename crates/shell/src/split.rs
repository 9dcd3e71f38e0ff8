//! Words of a line without quotes, as `xargs` and `env -S` split it.

/// Splits a line into words without quotes, as `xargs` and `env -S` do.
pub(crate) fn split_line(text: &str) -> Vec<String> {
    split_quotes(text, true)
}

pub(crate) fn split_quotes(text: &str, at_blanks: bool) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(one) = chars.next() {
        match (quote, one) {
            (Some(open), one) if one == open => quote = None,
            (Some(_), one) => word.get_or_insert_default().push(one),
            (None, '\'' | '"') => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, one) if at_blanks && one.is_whitespace() => words.extend(word.take()),
            (None, one) => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    words
}
