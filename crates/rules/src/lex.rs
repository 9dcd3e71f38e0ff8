//! The tokens of a condition. Falco's lexer has no token stream: each grammar position tries its own tokens on the
//! text. So this is a cursor with one method for each token. It knows no grammar.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

/// A string constant that cannot be read: the fault and its place.
#[derive(Debug)]
pub(crate) struct BadString {
    pub(crate) message: &'static str,
    pub(crate) at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks; returns true if there were any.
    pub(crate) fn blank(&mut self) -> bool {
        self.take(self.rest().bytes().take_while(|byte| is_blank(*byte)).count()).is_some()
    }

    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Skips `not` before a blank or a parenthesis; `not_x` is a macro.
    pub(crate) fn not(&mut self) -> bool {
        let follows = self.rest().strip_prefix("not").and_then(|rest| rest.bytes().next());
        follows.is_some_and(|byte| is_blank(byte) || byte == b'(') && self.eat("not")
    }

    /// Reads the name of a macro, or of a list at a place for a single word.
    pub(crate) fn identifier(&mut self) -> Option<&'t str> {
        self.take(identifier_len(self.rest()))
    }

    pub(crate) fn field_name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let mut len = identifier_len(rest);
        let first = len;
        while len > 0 && rest.as_bytes().get(len) == Some(&b'.') {
            match identifier_len(rest.get(len + 1..).unwrap_or_default()) {
                0 => break,
                more => len += 1 + more,
            }
        }
        if len > first { self.take(len) } else { None }
    }

    /// Reads a field's argument in brackets: without quotes, or with quotes that are part of it.
    pub(crate) fn bare_argument(&mut self, quotes: bool) -> Option<&'t str> {
        let ends = |char: char| match char {
            '"' | '\'' => !quotes,
            char => char.is_ascii_whitespace() || matches!(char, '[' | ']'),
        };
        let rest = self.rest();
        self.take(rest.find(ends).unwrap_or(rest.len()))
    }

    /// Reads a string constant without quotes.
    pub(crate) fn bare_string(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        self.take(rest.find(ends_bare_string).unwrap_or(rest.len()))
    }

    /// Reads a number as written: `0x1f`, `-5`, `1.5e+3`. A later check decides which of them a field accepts.
    pub(crate) fn number(&mut self) -> Option<&'t str> {
        let bytes = self.rest().as_bytes();
        let hex = hex_len(bytes);
        self.take(if hex > 0 { hex } else { decimal_len(bytes) })
    }

    /// Reads and unescapes a quoted string; `None` when no quote is next.
    pub(crate) fn quoted(&mut self) -> Result<Option<String>, BadString> {
        let rest = self.rest();
        let Some(quote) = rest.chars().next().filter(|char| matches!(char, '"' | '\'')) else {
            return Ok(None);
        };
        let start = self.at;
        let body = rest.get(1..).unwrap_or_default();
        // A quote after a backslash never ends the string, even after two backslashes (Falco 0.43).
        let mut previous = quote;
        let closes = |(_, char): &(usize, char)| {
            let closes = *char == quote && previous != '\\';
            previous = *char;
            closes
        };
        let Some((end, _)) = body.char_indices().find(closes) else {
            return Err(BadString { message: "this string has no closing quote", at: start });
        };
        self.at += end + 2;
        unescape(body.get(..end).unwrap_or_default(), quote, start + 1).map(Some)
    }

    fn take(&mut self, len: usize) -> Option<&'t str> {
        let token = self.rest().get(..len).filter(|token| !token.is_empty())?;
        self.at += len;
        Some(token)
    }
}

/// Reports whether a constant can be written without quotes.
pub(crate) fn is_bare_string(text: &str) -> bool {
    !text.is_empty() && !text.contains(ends_bare_string)
}

/// Reports whether a name can be the name of a macro.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_len(text) == text.len()
}

/// Matches space, tab, and the two characters that end lines.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn ends_bare_string(char: char) -> bool {
    matches!(char, '(' | ')' | '"' | '\'' | '=' | ',' | ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn identifier_len(text: &str) -> usize {
    if !text.starts_with(|char: char| char.is_ascii_alphabetic()) {
        return 0;
    }
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn hex_len(bytes: &[u8]) -> usize {
    let Some((b"0x" | b"0X", digits)) = bytes.split_at_checked(2) else { return 0 };
    match digits.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count() {
        0 => 0,
        len => len + 2,
    }
}

fn decimal_len(bytes: &[u8]) -> usize {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let digits = |at: usize| bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(byte(0), b'+' | b'-'));
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut len = sign + whole;
    if byte(len) == b'.' {
        len += 1 + digits(len + 1);
    }
    if matches!(byte(len), b'e' | b'E') && matches!(byte(len + 1), b'+' | b'-') && digits(len + 2) > 0 {
        len += 2 + digits(len + 2);
    }
    len
}

fn unescape(body: &str, quote: char, start: usize) -> Result<String, BadString> {
    let mut value = String::with_capacity(body.len());
    let mut chars = body.char_indices();
    while let Some((at, char)) = chars.next() {
        if char != '\\' {
            value.push(char);
            continue;
        }
        value.push(match chars.next() {
            Some((_, 'b')) => '\u{8}',
            Some((_, 'f')) => '\u{c}',
            Some((_, 'n')) => '\n',
            Some((_, 'r')) => '\r',
            Some((_, 't')) => '\t',
            // Falco keeps the backslash of `\ ` for old rules.
            Some((_, '\\' | ' ')) => '\\',
            Some((_, '/')) => '/',
            Some((_, char)) if char == quote => quote,
            _ => return Err(BadString { message: "unknown escape in this string", at: start + at }),
        });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("5)", Some("5")),
            ("-1", Some("-1")),
            ("+5", Some("+5")),
            ("4.9e+2x", Some("4.9e+2")),
            ("1e5", Some("1")),
            ("0x1F,", Some("0x1F")),
            ("0x", Some("0")),
            ("five", None),
            ("-", None),
        ] {
            assert_eq!(Cursor::new(text).number(), expected, "{text}");
        }
    }

    #[test]
    fn quoted_strings() {
        for (text, expected) in [
            (r#""a b" x"#, Some("a b")),
            (r#"'a"b'"#, Some("a\"b")),
            (r#""a\"b""#, Some("a\"b")),
            (r#""a\\b\n\t\/""#, Some("a\\b\n\t/")),
            (r#""a\ b""#, Some("a\\b")),
            (r#""ends in \\""#, None),
            (r#""\s""#, None),
            (r#""\'""#, None),
            (r#""open"#, None),
            ("\"\"", Some("")),
        ] {
            let value = Cursor::new(text).quoted().ok().flatten();
            assert_eq!(value.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn field_names() {
        for (text, expected) in [
            ("a.b_1[x]", Some("a.b_1")),
            ("a.b.c =", Some("a.b.c")),
            ("a", None),
            ("a.", None),
            ("a..b", None),
            (".a", None),
        ] {
            assert_eq!(Cursor::new(text).field_name(), expected, "{text}");
        }
    }
}
