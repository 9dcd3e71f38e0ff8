//! `jq -n` and `jq -Rs` that make an object of their filter and arguments. Only objects, lists, texts, numbers and given
//! values are computed. Source: the manual of jq 1.7.

use castellan_event::Why;
use castellan_programs::Arg;

use super::Given;
use crate::limits::NESTED_VALUES_MAX;
use crate::text::Text;

/// `jq -n --arg NAME VALUE FILTER`, `jq -Rs FILTER`.
pub(super) fn jq(given: Given<'_>) -> Option<Text> {
    let mut maker = Maker::default();
    let mut filter = None;
    let (mut is_null, mut is_raw, mut is_whole) = (false, false, false);
    let mut args = given.args.iter();
    while let Some(arg) = args.next() {
        match arg.prefix() {
            "--arg" => maker.values.push((args.next()?.as_str()?, args.next()?, Kind::Text)),
            "--argjson" => maker.values.push((args.next()?.as_str()?, args.next()?, Kind::Json)),
            "--null-input" => is_null = true,
            "--raw-input" => is_raw = true,
            "--slurp" => is_whole = true,
            "--compact-output" => maker.is_compact = true,
            "--raw-output" => {}
            flags if flags.starts_with('-') => {
                if flags.starts_with("--") || !flags.chars().skip(1).all(|flag| "nRscr".contains(flag)) {
                    return None;
                }
                is_null |= flags.contains('n');
                is_raw |= flags.contains('R');
                is_whole |= flags.contains('s');
                maker.is_compact |= flags.contains('c');
            }
            _ if filter.is_none() => filter = Some(arg.as_str()?),
            _ => return None,
        }
    }
    let input = given.input.filter(|_| is_raw && is_whole && !is_null).map(Text::to_arg);
    maker.input = input.as_ref();
    if !is_null && maker.input.is_none() {
        return None;
    }
    maker.rest = filter?.trim();
    if !maker.rest.starts_with(['{', '[']) {
        return None;
    }
    maker.value(0)?;
    if !maker.rest.trim().is_empty() {
        return None;
    }
    maker.made.push_str("\n");
    Some(maker.made)
}

/// The form of a given value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
}

/// Reads a filter and writes the JSON that it makes.
#[derive(Default)]
struct Maker<'a> {
    rest: &'a str,
    values: Vec<(&'a str, &'a Arg, Kind)>,
    input: Option<&'a Arg>,
    is_compact: bool,
    made: Text,
}

impl<'a> Maker<'a> {
    fn takes(&mut self, sign: char) -> bool {
        self.rest = self.rest.trim_start();
        let behind = self.rest.strip_prefix(sign);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn line(&mut self, depth: usize) {
        if !self.is_compact {
            self.made.push_str(&format!("\n{}", "  ".repeat(depth)));
        }
    }

    /// One value. `None` for what is not computed.
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > NESTED_VALUES_MAX {
            return None;
        }
        if self.takes('{') {
            return self.elements(depth, ['{', '}'], |maker| maker.key());
        }
        if self.takes('[') {
            return self.elements(depth, ['[', ']'], |_| Some(true));
        }
        if self.rest.starts_with('"') {
            let text = self.literal()?;
            self.made.push_str(text);
            return Some(());
        }
        if self.takes('$') {
            let name = self.word();
            return self.given(name);
        }
        if self.takes('.') {
            let input = self.input?;
            self.quoted(input);
            return Some(());
        }
        let word = self.word();
        let is_plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        (is_plain || matches!(word, "true" | "false" | "null")).then(|| self.made.push_str(word))
    }

    /// The elements of an object or a list. `key` writes an element's key, and says if a value follows.
    fn elements(
        &mut self,
        depth: usize,
        [open, close]: [char; 2],
        key: fn(&mut Maker<'a>) -> Option<bool>,
    ) -> Option<()> {
        self.made.push_str(&open.to_string());
        let mut is_first = true;
        while !self.takes(close) {
            if !is_first {
                self.takes(',').then_some(())?;
                self.made.push_str(",");
            }
            is_first = false;
            self.line(depth + 1);
            if key(self)? {
                self.value(depth + 1)?;
            }
        }
        if !is_first {
            self.line(depth);
        }
        self.made.push_str(&close.to_string());
        Some(())
    }

    /// A key: a word, a text, or `$name`, which is key and value.
    fn key(&mut self) -> Option<bool> {
        let colon = if self.is_compact { ":" } else { ": " };
        if self.takes('$') {
            let name = self.word();
            self.made.push_str(&format!("\"{name}\"{colon}"));
            self.given(name)?;
            return Some(false);
        }
        if self.rest.starts_with('"') {
            let text = self.literal()?;
            self.made.push_str(text);
        } else {
            let name = self.word();
            self.made.push_str(&format!("\"{name}\""));
        }
        self.made.push_str(colon);
        self.takes(':').then_some(true)
    }

    fn word(&mut self) -> &'a str {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        word
    }

    /// A text with its quotes, if jq prints it as it is written.
    fn literal(&mut self) -> Option<&'a str> {
        let mut is_escaped = false;
        for (at, letter) in self.rest.char_indices().skip(1) {
            match letter {
                '"' if !is_escaped => {
                    let (text, rest) = self.rest.split_at_checked(at + 1)?;
                    self.rest = rest;
                    return Some(text);
                }
                '(' | 'u' | '/' if is_escaped => return None,
                _ if letter.is_control() => return None,
                _ => is_escaped = letter == '\\' && !is_escaped,
            }
        }
        None
    }

    fn given(&mut self, name: &str) -> Option<()> {
        let (_, value, kind) = self.values.iter().rev().find(|(known, ..)| *known == name).copied()?;
        if kind == Kind::Text {
            self.quoted(value);
        } else {
            self.made.push_unknown(value.why().unwrap_or(Why::Substitution), &value.written());
        }
        Some(())
    }

    /// A text in quotes. An unknown part may hold signs that jq escapes.
    fn quoted(&mut self, value: &Arg) {
        self.made.push_str("\"");
        for piece in value.pieces() {
            match piece {
                castellan_programs::Piece::Text(text) => self.made.push_str(&escaped(text)),
                castellan_programs::Piece::Unknown { why, written } => self.made.push_unknown(*why, written),
            }
        }
        self.made.push_str("\"");
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            letter if letter.is_control() => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(args: &[&str], input: Option<&str>) -> Option<String> {
        let args: Vec<Arg> = args.iter().map(|arg| Arg::known(*arg)).collect();
        let input = input.map(Text::known);
        jq(Given { args: &args, input: input.as_ref() }).map(|text| text.to_arg().written().into_owned())
    }

    #[test]
    fn objects_are_made_as_jq_prints_them() {
        for (args, input, expected) in [
            (
                vec!["-nc", "{query: \"a\", b: {c: [1, true]}}"],
                None,
                Some("{\"query\":\"a\",\"b\":{\"c\":[1,true]}}\n"),
            ),
            (
                vec!["-n", "--arg", "id", "x\"y", "{$id, e: {}, \"f\": []}"],
                None,
                Some("{\n  \"id\": \"x\\\"y\",\n  \"e\": {},\n  \"f\": []\n}\n"),
            ),
            (vec!["-cRs", "{query: .}"], Some("a\nb"), Some("{\"query\":\"a\\nb\"}\n")),
            (vec!["-c", "{query: .}"], Some("a"), None),
            (vec!["-n", "{a: env.HOME}"], None, None),
            (vec!["-n", "{a: \"\\(1)\"}"], None, None),
            (vec!["-n", "--slurpfile", "a", "b", "{a: $a}"], None, None),
            (vec!["-nr", "\"text\""], None, None),
            (vec!["-n", "{a: 1} | .a"], None, None),
        ] {
            assert_eq!(made(&args, input).as_deref(), expected, "{args:?}");
        }
    }
}
