//! The tokens of awk, precise enough to tell a regular expression from a division. A text that one of gawk, mawk and
//! busybox rejects is accepted where another one accepts it.

use super::super::is_mark;
use crate::limits::CODE_BYTES_MAX;

/// A program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// All tokens, without comments.
    pub tokens: Vec<Token>,
    /// False if a bracket has no partner.
    pub is_whole: bool,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A name or keyword. Unknown parts of the program are in names.
    Word(String),
    /// A string.
    Text {
        /// Its characters, with escapes as in gawk.
        value: String,
        /// False if another awk makes other characters of the escapes.
        is_sure: bool,
    },
    /// A number as it is written.
    Number(String),
    /// A regular expression.
    Regex,
    /// An operator or bracket.
    Sign(&'static str),
    /// The end of a line, if it may end a statement.
    End,
}

/// Signs; a longer sign is before the signs that it begins with.
const SIGNS: &[&str] = &[
    "||", "|&", "&&", ">>", ">=", "<=", "==", "!=", "++", "--", "|", "&", ">", "<", "(", ")", "[", "]", "{",
    "}", ";", ",", "$", "@", "=", "!", "~", "+", "-", "*", "/", "%", "^", "?", ":",
];

/// Words before the condition of a statement.
const CONTROLS: &[&str] = &["if", "while", "for", "switch"];

/// Words that a regular expression may follow.
const BEFORE_REGEX: &[&str] =
    &["print", "printf", "return", "exit", "if", "while", "case", "in", "else", "do", "getline"];

impl Program {
    /// Splits a text into tokens. `None` if it exceeds the limit, or if awk rejects a character, a string without end
    /// or a regular expression without end.
    pub fn read(text: &str) -> Option<Program> {
        let mut rest = Some(text).filter(|text| text.len() <= CODE_BYTES_MAX)?;
        let mut reader = Reader::default();
        while let Some(letter) = rest.chars().next() {
            rest = match letter {
                '#' => rest.trim_start_matches(|letter| letter != '\n'),
                '\n' => {
                    reader.end_line();
                    rest.get(1..)?
                }
                '\\' => ["\\\n", "\\\r\n"]
                    .iter()
                    .find_map(|end| rest.strip_prefix(end))
                    .or((rest == "\\").then_some(""))?,
                letter if letter.is_ascii_whitespace() => rest.get(1..)?,
                _ => {
                    let (token, after) = token(rest, reader.after_operand)?;
                    reader.push(token);
                    after
                }
            };
        }
        Some(Program { tokens: reader.tokens, is_whole: reader.open.is_empty() && !reader.is_broken })
    }
}

#[derive(Default)]
struct Reader {
    tokens: Vec<Token>,
    /// Open brackets: the partner, and if an operand ends with it.
    open: Vec<(&'static str, bool)>,
    is_broken: bool,
    /// The last token ends an operand: a slash divides.
    after_operand: bool,
}

impl Reader {
    /// A statement goes on after an operator, a comma and an opening bracket.
    fn end_line(&mut self) {
        if self.after_operand || matches!(self.tokens.last(), Some(Token::Word(_) | Token::Sign(")"))) {
            self.push(Token::End);
        }
    }

    fn push(&mut self, token: Token) {
        let is_control =
            |word: &Token| matches!(word, Token::Word(word) if CONTROLS.contains(&word.as_str()));
        let after_control = self.tokens.last().is_some_and(is_control);
        self.after_operand = match &token {
            Token::Word(word) => !BEFORE_REGEX.contains(&word.as_str()),
            Token::Text { .. } | Token::Number(_) | Token::Regex | Token::Sign("++" | "--") => true,
            Token::Sign(sign @ (")" | "]" | "}")) => {
                let (partner, ends_operand) = self.open.pop().unwrap_or_default();
                self.is_broken |= partner != *sign;
                ends_operand
            }
            Token::Sign(sign) => {
                match *sign {
                    "(" => self.open.push((")", !after_control)),
                    "[" => self.open.push(("]", true)),
                    "{" => self.open.push(("}", false)),
                    _ => {}
                }
                false
            }
            Token::End => false,
        };
        self.tokens.push(token);
    }
}

/// Reads the token at the start of a text, and returns the rest.
fn token(text: &str, after_operand: bool) -> Option<(Token, &str)> {
    let until = |after: &str| text.get(..text.len() - after.len()).map(str::to_owned);
    Some(match text.chars().next()? {
        '"' => quoted(text.get(1..)?)?,
        '/' if !after_operand => (Token::Regex, after_regex(text.get(1..)?)?),
        letter if letter.is_ascii_digit() || letter == '.' => {
            let after = after_number(text);
            (Token::Number(until(after)?), after)
        }
        letter if is_word(letter) => {
            let after = text.trim_start_matches(is_word);
            (Token::Word(until(after)?), after)
        }
        _ => {
            let sign = SIGNS.iter().copied().find(|sign| text.starts_with(sign))?;
            (Token::Sign(sign), text.get(sign.len()..)?)
        }
    })
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || is_mark(letter)
}

/// Returns the text after a number. A name may follow directly: `1system("ls")`.
fn after_number(text: &str) -> &str {
    let is_digit = |letter: char| letter.is_ascii_digit();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return hex.trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
    }
    let rest = text.trim_start_matches(|letter| is_digit(letter) || letter == '.');
    let exponent = rest.strip_prefix(['e', 'E']).map(|after| after.strip_prefix(['+', '-']).unwrap_or(after));
    exponent
        .filter(|digits| digits.starts_with(is_digit))
        .map_or(rest, |digits| digits.trim_start_matches(is_digit))
}

/// Reads a string after its first quote.
fn quoted(text: &str) -> Option<(Token, &str)> {
    let (mut bytes, mut is_sure) = (Vec::new(), true);
    let mut rest = text;
    loop {
        let end = rest.find(['"', '\\', '\n'])?;
        bytes.extend(rest.get(..end)?.bytes());
        rest = rest.get(end..)?;
        if let Some(after) = rest.strip_prefix('"') {
            let value = String::from_utf8_lossy(&bytes).into_owned();
            let is_sure = is_sure && value.as_bytes() == bytes;
            return Some((Token::Text { value, is_sure }, after));
        }
        rest = escape(rest.strip_prefix('\\')?, &mut bytes, &mut is_sure)?;
    }
}

/// Letters of escapes, and their characters in the same order. mawk keeps `\/`, which a shell reads as `/`.
const ESCAPES: (&str, &[u8]) = ("ntrabfv\"\\/", b"\n\t\r\x07\x08\x0c\x0b\"\\/");

/// Reads the escape after a backslash; returns the rest of the text.
fn escape<'t>(rest: &'t str, bytes: &mut Vec<u8>, is_sure: &mut bool) -> Option<&'t str> {
    let letter = rest.chars().next()?;
    let after = rest.get(letter.len_utf8()..)?;
    let (digits, radix, most) = match letter {
        '0'..='7' => (rest, 8, 3),
        'x' => (after, 16, 2),
        '\n' => return Some(after),
        letter => {
            let known = ESCAPES.0.find(letter).and_then(|at| ESCAPES.1.get(at));
            *is_sure &= known.is_some();
            // mawk keeps the backslash of others.
            let plain = rest.get(..letter.len_utf8())?.as_bytes();
            bytes.extend_from_slice(known.map_or(plain, std::slice::from_ref));
            return Some(after);
        }
    };
    let count = digits.chars().take(most).take_while(|letter| letter.is_digit(radix)).count();
    let (digits, after) = digits.split_at_checked(count)?;
    let [byte, ..] = u32::from_str_radix(digits, radix).unwrap_or_default().to_le_bytes();
    // Some programs end the string at a zero byte.
    *is_sure &= byte != 0;
    bytes.push(byte);
    Some(after)
}

/// Returns the text after a regular expression. A slash in brackets or after a backslash does not end it.
fn after_regex(text: &str) -> Option<&str> {
    let mut letters = text.char_indices().peekable();
    let mut depth = 0_usize;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()?),
            '\n' => return None,
            '/' if depth == 0 => return text.get(at + 1..),
            '[' if depth == 0 => {
                depth = 1;
                // A first bracket is text.
                letters.next_if(|(_, letter)| *letter == '^');
                letters.next_if(|(_, letter)| *letter == ']');
            }
            '[' if letters.peek().is_some_and(|(_, mark)| matches!(mark, ':' | '.' | '=')) => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
