//! [`without_comments`]: removes comments from JSON, as Gemini CLI and Qwen Code do before they parse a settings text.

/// Removes line and block comments. Strings stay unchanged. An unterminated block comment also stays, so that the text
/// remains invalid.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        let (before, from) = rest.split_at(at);
        kept.push_str(before);
        let length = match (from.starts_with('"'), comment(from)) {
            (true, _) => string(from),
            (false, Some(length)) => {
                // A space keeps two tokens apart.
                kept.push(' ');
                rest = from.get(length..).unwrap_or_default();
                continue;
            }
            (false, None) => 1,
        };
        kept.push_str(from.get(..length).unwrap_or(from));
        rest = from.get(length..).unwrap_or_default();
    }
    kept + rest
}

/// The length in bytes of the comment at the start of a text, without the end of the line.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    let block = text.strip_prefix("/*")?;
    block.find("*/").map(|at| at + 4)
}

/// The length in bytes of the string at the start of a text.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_go() {
        let check = |text: &str, expected: &str| assert_eq!(without_comments(text), expected, "{text}");
        check(r#"{"a": 1}"#, r#"{"a": 1}"#);
        check("{ // c\n\"a\": 1 /* d */ }// e", "{  \n\"a\": 1   } ");
        check("{ // c\r\n}", "{  \r\n}");
        check(r#"{"a//b": "/* c */\"//"}"#, r#"{"a//b": "/* c */\"//"}"#);
        check("1/**/2 / 3", "1 2 / 3");
        check("/* open", "/* open");
        check("\"open // \u{e9}\\", "\"open // \u{e9}\\");
        check("\u{e9}/*\u{e9}*/\u{e9}", "\u{e9} \u{e9}");
    }
}
