//! The tokens of awk, precise enough to tell a regular expression from a division.

use super::super::is_mark;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// A literal, its escapes resolved.
    Text(String),
    Number,
    Regex,
    Sign(&'static str),
    /// The end of a line.
    End,
}

/// Signs; a longer sign is before the signs that it begins with.
const SIGNS: &[&str] = &[
    "||", "|&", "&&", ">>", ">=", "<=", "==", "!=", "++", "--", "|", "&", ">", "<", "(", ")", "[", "]", "{",
    "}", ";", ",", "$", "@", "=", "!", "~", "+", "-", "*", "/", "%", "^", "?", ":", ".",
];

/// Splits a text into tokens. `None` if a string or a regular expression has no end: the text is not a program.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (token, after) = match letter {
            '\n' => (Token::End, rest.get(1..)?),
            '\\' if rest.starts_with("\\\n") => {
                rest = rest.get(2..)?;
                continue;
            }
            letter if letter.is_whitespace() => {
                rest = rest.get(letter.len_utf8()..)?;
                continue;
            }
            '#' => {
                rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
                continue;
            }
            '"' => {
                let (text, after) = quoted(rest.get(1..)?)?;
                (Token::Text(text), after)
            }
            '/' if !is_operand(tokens.last()) => (Token::Regex, regex(rest.get(1..)?)?),
            letter if letter.is_ascii_digit() => {
                let is_more = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
                (Token::Number, rest.trim_start_matches(is_more))
            }
            letter if is_word(letter) => {
                let after = rest.trim_start_matches(is_word);
                let word = rest.get(..rest.len() - after.len())?;
                (Token::Word(word.to_owned()), after)
            }
            _ => {
                let sign = SIGNS.iter().copied().find(|sign| rest.starts_with(sign))?;
                (Token::Sign(sign), rest.get(sign.len()..)?)
            }
        };
        tokens.push(token);
        rest = after;
    }
    Some(tokens)
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || is_mark(letter)
}

/// Reports whether a token is an operand; a slash after it divides.
fn is_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Word(word)) => !matches!(
            word.as_str(),
            "print" | "printf" | "return" | "if" | "while" | "case" | "in" | "else" | "do" | "getline"
        ),
        Some(Token::Text(_) | Token::Number | Token::Regex) => true,
        Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "$" | "++" | "--"),
        Some(Token::End) | None => false,
    }
}

fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            '"' => return Some((value, rest)),
            '\\' => rest = escape(rest, &mut value)?,
            letter => value.push(letter),
        }
    }
    None
}

/// Reads the escape after a backslash; returns the rest of the text.
fn escape<'a>(rest: &'a str, value: &mut String) -> Option<&'a str> {
    let letter = rest.chars().next()?;
    let after = rest.get(letter.len_utf8()..)?;
    let (digits, radix, most) = match letter {
        '0'..='7' => (rest, 8, 3),
        'x' => (after, 16, 2),
        '\n' => return Some(after),
        letter => {
            let named = [
                ('n', '\n'),
                ('t', '\t'),
                ('r', '\r'),
                ('a', '\u{7}'),
                ('b', '\u{8}'),
                ('f', '\u{c}'),
                ('v', '\u{b}'),
            ];
            value
                .push(named.iter().find(|(name, _)| *name == letter).map_or(letter, |(_, control)| *control));
            return Some(after);
        }
    };
    let count = digits.chars().take(most).take_while(|letter| letter.is_digit(radix)).count();
    let (digits, after) = digits.split_at_checked(count)?;
    value.extend(u32::from_str_radix(digits, radix).ok().and_then(char::from_u32));
    Some(after)
}

/// Returns the text after a regular expression. A slash in brackets does not end it.
fn regex(text: &str) -> Option<&str> {
    let (mut escaped, mut in_brackets) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            '/' if !in_brackets => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}
