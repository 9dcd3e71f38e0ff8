//! Texts, numbers, variables and the names of types.

use castellan_event::Why;

use super::{Reader, is_double_quote, is_name, is_single_quote};
use crate::tree::{Kind, Node};

impl Reader<'_> {
    /// Reads a text in quotes, or a here-string.
    pub(super) fn quoted(&mut self) -> Node {
        let from = self.at;
        let is_here = self.eats("@");
        let double = self.bump().is_some_and(is_double_quote);
        if is_here {
            // The rest of the opening line is no part of the text.
            self.take(|letter| letter != '\n');
            self.bump();
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let Some(letter) = self.peek() else {
                self.wrong(from, Why::Syntax);
                break;
            };
            let closes = if double { is_double_quote(letter) } else { is_single_quote(letter) };
            if is_here && matches!(letter, '\n' | '\r') && self.closes_here(double) {
                break;
            }
            self.bump();
            match letter {
                _ if closes && is_here => text.push(letter),
                _ if closes => {
                    let again = self.peek().is_some_and(|next| {
                        if double { is_double_quote(next) } else { is_single_quote(next) }
                    });
                    if !again {
                        break;
                    }
                    text.extend(self.bump());
                }
                '`' if double => self.escape(&mut text),
                '$' if double && self.peek().is_some_and(|next| is_name(next) || "{(".contains(next)) => {
                    self.at -= 1;
                    parts.push(self.node(from, Kind::Text(std::mem::take(&mut text).into())));
                    parts.push(self.deeper(Self::variable));
                }
                other => text.push(other),
            }
        }
        parts.push(self.node(from, Kind::Text(text.into())));
        self.node(from, Kind::Join(parts))
    }

    /// Skips the end of a here-string, if it comes next: it begins a line.
    fn closes_here(&mut self, double: bool) -> bool {
        let rest = self.rest();
        let after = rest.trim_start_matches('\r');
        self.pay(rest.len() - after.len());
        let Some(line) = after.strip_prefix('\n') else { return false };
        let mut letters = line.chars();
        let first = letters.next().unwrap_or(' ');
        let quote = if double { is_double_quote(first) } else { is_single_quote(first) };
        let closes = quote && letters.next() == Some('@');
        if closes {
            self.at = self.text.len() - letters.as_str().len();
        }
        closes
    }

    /// Reads an escape sequence after a backtick.
    fn escape(&mut self, text: &mut String) {
        match self.bump() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('0') => text.push('\0'),
            Some('a') => text.push('\u{7}'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('v') => text.push('\u{b}'),
            Some('e') => text.push('\u{1b}'),
            Some('u') if self.eats("{") => {
                let digits = self.take(|letter| letter.is_ascii_hexdigit());
                self.eats("}");
                text.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
            }
            other => text.extend(other),
        }
    }

    /// `$name`, `${name}`, `$env:name`, `$(...)`
    pub(super) fn variable(&mut self) -> Node {
        let from = self.at;
        self.bump();
        match self.peek() {
            Some('(') => {
                self.bump();
                let value = self.pipelines(')');
                self.expect(")");
                value
            }
            Some('{') => {
                self.bump();
                let name = self.take(|letter| letter != '}');
                let name = name.replace('`', "");
                if !self.eats("}") {
                    self.wrong(from, Why::Syntax);
                }
                self.named(from, &name)
            }
            Some(letter) if is_name(letter) => {
                let mut name = self.take(is_name).to_owned();
                let after = self.rest().strip_prefix(':').and_then(|rest| rest.chars().next());
                if after.is_some_and(is_name) && !self.rest().starts_with("::") {
                    self.bump();
                    name = format!("{name}:{}", self.take(is_name));
                }
                self.named(from, &name)
            }
            Some(letter @ ('?' | '^' | '$')) => {
                self.bump();
                self.node(from, Kind::Name(format!("${letter}").into()))
            }
            _ => self.node(from, Kind::Text("$".into())),
        }
    }

    fn named(&self, from: usize, name: &str) -> Node {
        let (scope, bare) = name.split_once(':').unwrap_or(("", name));
        let kind = match scope.to_ascii_lowercase().as_str() {
            "" | "global" | "script" | "local" | "private" | "using" | "variable" | "workflow" => {
                Kind::Name(format!("${}", bare.to_lowercase()).into())
            }
            "env" => Kind::Name(format!("$env:{bare}").into()),
            "function" => Kind::Name(bare.to_lowercase().into()),
            // A file on this drive.
            _ => return self.own(from, "drive", vec![self.node(from, Kind::Text(name.into()))]),
        };
        self.node(from, kind)
    }

    /// Reads a number, with its unit.
    pub(super) fn number(&mut self) -> Node {
        let from = self.at;
        if self.eats("0x") || self.eats("0X") {
            let digits = self.take(|letter| letter.is_ascii_hexdigit());
            let number = i64::from_str_radix(digits, 16).ok();
            self.take(|letter| letter.is_ascii_alphabetic());
            return self.node(from, number.map_or(Kind::Constant, Kind::Number));
        }
        let whole = self.take(|letter| letter.is_ascii_digit());
        let mut number = whole.parse::<i64>().ok();
        if self.peek() == Some('.')
            && self.second() != Some('.')
            && !self.second().is_some_and(char::is_alphabetic)
        {
            self.bump();
            self.take(|letter| letter.is_ascii_digit());
            number = None;
        }
        let unit = self.take(|letter| letter.is_ascii_alphabetic()).to_ascii_lowercase();
        let factor = match unit.as_str() {
            "" | "l" | "d" | "n" | "u" => Some(1),
            "kb" => Some(1 << 10),
            "mb" => Some(1 << 20),
            "gb" => Some(1 << 30),
            _ => None,
        };
        let number = number.zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
        self.node(from, number.map_or(Kind::Constant, Kind::Number))
    }

    /// Reads a type in square brackets; returns it in lower case, without blanks, `system.` and `[]`.
    pub(super) fn type_name(&mut self) -> String {
        let from = self.at;
        let mut open = 0_usize;
        let mut name = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                '[' => open += 1,
                ']' => open = open.saturating_sub(1),
                // The arguments of an attribute may be anything.
                letter if is_single_quote(letter) || is_double_quote(letter) => {
                    self.deeper(Self::quoted);
                    continue;
                }
                '{' => {
                    let block = self.deeper(|reader| reader.script_block(true));
                    self.kept.attributes.push(block);
                    continue;
                }
                _ => {}
            }
            self.bump();
            if open == 0 {
                return short(&name);
            }
            let is_outer = letter == '[' && open == 1;
            if !is_outer && !letter.is_whitespace() {
                name.push(letter);
            }
        }
        self.wrong(from, Why::Syntax);
        short(&name)
    }
}

/// Returns a type's name as the tables write it; an array type has the name of its element type.
pub(super) fn short(name: &str) -> String {
    let name = name.to_lowercase();
    let name = name.split_once(',').filter(|(name, _)| !name.contains('[')).map_or(&*name, |(name, _)| name);
    let name = name.trim_end_matches("[]").trim_end_matches('[');
    let name = name.strip_prefix("system.").unwrap_or(name);
    name.split_once('[').map_or(name, |(name, _)| name).to_owned()
}
