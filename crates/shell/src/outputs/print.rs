//! `echo`, `printf`, and `print` of zsh and ksh.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::Given;
use crate::limits::{PRINTF_ROUNDS_MAX, PRINTF_WIDTH_MAX};
use crate::literals::{Escapes, unescaped};
use crate::text::Text;

pub(super) fn echo(given: Given<'_>) -> Option<Text> {
    let mut newline = true;
    let mut escapes = false;
    let mut rest = given.args;
    while let Some((first, after)) = rest.split_first()
        && let Some(letters) = first.as_str().and_then(|text| text.strip_prefix('-'))
        && !letters.is_empty()
        && letters.chars().all(|letter| matches!(letter, 'n' | 'e' | 'E'))
    {
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
        rest = after;
    }
    let mut text = Text::default();
    for (number, arg) in rest.iter().enumerate() {
        if number > 0 {
            text.push_str(" ");
        }
        for piece in arg.pieces() {
            match piece {
                Piece::Text(known) if escapes => {
                    let (made, ended) = unescaped(known, Escapes::Echo)?;
                    text.push_str(&made);
                    if ended {
                        return Some(text);
                    }
                }
                Piece::Text(known) => text.push_str(known),
                Piece::Unknown { why, written } => text.push_unknown(*why, written),
            }
        }
    }
    if newline {
        text.push_str("\n");
    }
    Some(text)
}

/// `print` of zsh and ksh. Escapes are read but for `-r`; other options than those here are not modelled.
pub(super) fn print(given: Given<'_>) -> Option<Text> {
    let (mut is_raw, mut newline, mut between) = (false, true, " ");
    let mut rest = given.args;
    while let Some((first, after)) = rest.split_first()
        && let Some(letters) = first.as_str().and_then(|text| text.strip_prefix('-'))
    {
        rest = after;
        if letters == "f" {
            return printf(Given { args: rest, input: given.input });
        }
        if matches!(letters, "" | "-") {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'r' | 'R' => is_raw = true,
                'n' => newline = false,
                'l' => between = "\n",
                _ => return None,
            }
        }
    }
    let mut text = Text::default();
    for (number, arg) in rest.iter().enumerate() {
        if number > 0 {
            text.push_str(between);
        }
        for piece in arg.pieces() {
            match piece {
                Piece::Text(known) if is_raw => text.push_str(known),
                Piece::Text(known) => {
                    let (made, ended) = unescaped(known, Escapes::Echo)?;
                    text.push_str(&made);
                    if ended {
                        return Some(text);
                    }
                }
                Piece::Unknown { why, written } => text.push_unknown(*why, written),
            }
        }
    }
    if newline {
        text.push_str("\n");
    }
    Some(text)
}

pub(super) fn printf(given: Given<'_>) -> Option<Text> {
    let mut args = given.args;
    if args.first().and_then(Arg::as_str) == Some("--") {
        args = args.get(1..)?;
    }
    let (format, mut rest) = args.split_first()?;
    let format = format.as_str()?;
    if rest.iter().any(Arg::splits) {
        return None;
    }
    let mut text = Text::default();
    for _ in 0..PRINTF_ROUNDS_MAX {
        let before = rest.len();
        if formatted(format, &mut rest, &mut text)? {
            return Some(text);
        }
        if rest.is_empty() || rest.len() == before {
            return Some(text);
        }
    }
    text.push_unknown(Why::Budget, "printf");
    Some(text)
}

/// Applies the format once. Returns true if `\c` ended the output.
fn formatted(format: &str, args: &mut &[Arg], text: &mut Text) -> Option<bool> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at_checked(at)?;
        text.push_str(&unescaped(before, Escapes::Format)?.0);
        let spec = Spec::read(after.strip_prefix('%')?, args)?;
        rest = spec.rest;
        if spec.letter == '%' {
            text.push_str("%");
            continue;
        }
        let arg = match args.split_first() {
            Some((first, others)) => {
                *args = others;
                Some(first)
            }
            None => None,
        };
        let Some(known) = arg.map_or(Some(""), Arg::as_str) else {
            let arg = Text::from(arg?);
            if matches!(spec.letter, 's' | 'b') && spec.width == 0 && spec.precision.is_none() {
                text.push(&arg);
            } else {
                text.push_unknown(arg.why()?, &arg.written());
            }
            continue;
        };
        let (made, ended) = spec.made(known)?;
        text.push_str(&made);
        if ended || text.is_cut() {
            return Some(true);
        }
    }
    text.push_str(&unescaped(rest, Escapes::Format)?.0);
    Some(false)
}

/// A conversion specification `%...`.
struct Spec<'f> {
    left: bool,
    zero: bool,
    plus: bool,
    hash: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
    rest: &'f str,
}

impl<'f> Spec<'f> {
    fn read(text: &'f str, args: &mut &[Arg]) -> Option<Spec<'f>> {
        let mut spec = Spec {
            left: false,
            zero: false,
            plus: false,
            hash: false,
            width: 0,
            precision: None,
            letter: '%',
            rest: text,
        };
        while let Some(one) = spec.rest.chars().next() {
            match one {
                '-' => spec.left = true,
                '0' => spec.zero = true,
                '+' => spec.plus = true,
                '#' => spec.hash = true,
                ' ' => {}
                _ => break,
            }
            spec.rest = spec.rest.get(1..)?;
        }
        spec.width = spec.number(args)?.unwrap_or(0);
        if let Some(rest) = spec.rest.strip_prefix('.') {
            spec.rest = rest;
            spec.precision = Some(spec.number(args)?.unwrap_or(0));
        }
        spec.rest = spec.rest.trim_start_matches(['h', 'l', 'L']);
        let mut chars = spec.rest.chars();
        spec.letter = chars.next()?;
        spec.rest = chars.as_str();
        Some(spec)
    }

    #[expect(clippy::option_option, reason = "no number and one that is not known are different answers")]
    fn number(&mut self, args: &mut &[Arg]) -> Option<Option<usize>> {
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            let (first, others) = args.split_first()?;
            *args = others;
            let number: usize = first.as_str()?.parse().ok()?;
            return (number <= PRINTF_WIDTH_MAX).then_some(Some(number));
        }
        let end = self.rest.find(|one: char| !one.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        if digits.is_empty() {
            return Some(None);
        }
        let number: usize = digits.parse().ok()?;
        (number <= PRINTF_WIDTH_MAX).then_some(Some(number))
    }

    /// Formats an argument. Also returns true if `\c` ended the output.
    fn made(&self, arg: &str) -> Option<(String, bool)> {
        let mut ended = false;
        let made = match self.letter {
            's' => self.cut(arg.to_owned()),
            'b' => {
                let (text, stop) = unescaped(arg, Escapes::Argument)?;
                ended = stop;
                self.cut(text)
            }
            'q' => backslashed(arg)?,
            'c' => arg.chars().next().map(String::from).unwrap_or_default(),
            'd' | 'i' => {
                let number = integer(arg)?;
                if self.plus && number >= 0 { format!("+{number}") } else { number.to_string() }
            }
            'u' => integer(arg)?.cast_unsigned().to_string(),
            'x' if self.hash => format!("{:#x}", integer(arg)?),
            'x' => format!("{:x}", integer(arg)?),
            'X' => format!("{:X}", integer(arg)?),
            'o' => format!("{:o}", integer(arg)?),
            _ => return None,
        };
        let missing = self.width.saturating_sub(made.chars().count());
        let padded = match (self.left, self.zero && !matches!(self.letter, 's' | 'b' | 'q' | 'c')) {
            (true, _) => format!("{made}{}", " ".repeat(missing)),
            (false, true) => match made.strip_prefix('-') {
                Some(digits) => format!("-{}{digits}", "0".repeat(missing)),
                None => format!("{}{made}", "0".repeat(missing)),
            },
            (false, false) => format!("{}{made}", " ".repeat(missing)),
        };
        Some((padded, ended))
    }

    fn cut(&self, text: String) -> String {
        match self.precision {
            Some(length) => text.chars().take(length).collect(),
            None => text,
        }
    }
}

/// `%q`: quotes as bash does. Returns `None` for text that bash quotes in another style.
fn backslashed(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("''".to_owned());
    }
    let mut made = String::new();
    for one in text.chars() {
        match one {
            ' ' | '!' | '"' | '$' | '&' | '\'' | '(' | ')' | '*' | ',' | ';' | '<' | '>' | '?' | '['
            | '\\' | ']' | '^' | '`' | '{' | '|' | '}' => made.extend(['\\', one]),
            one if one.is_ascii_alphanumeric() || "_-./:=@%+".contains(one) => made.push(one),
            _ => return None,
        }
    }
    Some(made)
}

/// Parses a number as `printf` does: decimal, `0x`, octal, or a quote and a character.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    if text.is_empty() {
        return Some(0);
    }
    if let Some(quoted) = text.strip_prefix(['\'', '"']) {
        return Some(i64::from(u32::from(quoted.chars().next().unwrap_or('\0'))));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(digits, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(if negative { -value } else { value })
}
