//! Texts: their methods, formats, slices and decodings.

use castellan_event::Why;
use castellan_programs::Arg;

use super::call::MethodCall;
use super::{Argument, Machine};
use crate::limits::{BYTES_PER_WORK, PIECES_MAX, VALUE_BYTES_MAX};
use crate::tree::Node;
use crate::value::{Value, concat};

/// Methods that return the same text for the purpose of this crate.
const SAME: &[&str] = &["encode", "decode", "toString", "valueOf", "format_map", "normalize", "as_posix"];

impl Machine<'_> {
    /// Converts a value for use inside a text.
    pub(super) fn as_text(&mut self, node: &Node, value: &Value) -> Value {
        match value {
            Value::List(_) if self.language == crate::language::Language::JavaScript => {
                self.joined_by(node, &Value::text(","), value)
            }
            Value::Any(_) => self.over(node, value, |machine, one| machine.as_text(node, one)),
            other => other.to_arg().map_or_else(|| self.unknown(node, Why::Dynamic), Value::Text),
        }
    }

    pub(super) fn joined_by(&mut self, node: &Node, by: &Value, list: &Value) -> Value {
        let (elements, known) = self.elements(node, list);
        let mut parts = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                parts.push(by.clone());
            }
            parts.push(element.clone());
        }
        if !known {
            parts.push(self.unknown(node, Why::Dynamic));
        }
        // Joins many single letters in one step each, instead of one new text for each.
        let mut args: Vec<Arg> = Vec::new();
        for part in &parts {
            match self.args(node, part).as_slice() {
                [only] => args.push((**only).clone()),
                _ => return self.concatenated(node, &parts),
            }
        }
        self.step(args.len() as u64);
        Value::arg(concat(&args))
    }

    pub(super) fn repeated(&mut self, node: &Node, left: &Value, right: &Value) -> Value {
        let (of, count) = match (left, right) {
            (Value::Number(left), Value::Number(right)) => {
                let product = left.checked_mul(*right).map(Value::Number);
                return product.unwrap_or_else(|| self.unknown(node, Why::Arithmetic));
            }
            (of, Value::Number(count)) | (Value::Number(count), of) => (of, *count),
            _ => return self.unknown(node, Why::Dynamic),
        };
        let count = usize::try_from(count).unwrap_or(0);
        match (of, of.as_str()) {
            (_, Some(text)) if text.len().saturating_mul(count) <= VALUE_BYTES_MAX => {
                self.step((text.len() * count / BYTES_PER_WORK) as u64);
                Value::text(text.repeat(count))
            }
            // The same elements, repeated.
            (Value::List(_), _) => {
                let (elements, known) = self.elements(node, of);
                if known && elements.len().saturating_mul(count) <= PIECES_MAX {
                    let all: Vec<Value> = (0..count).flat_map(|_| elements.iter().cloned()).collect();
                    return self.list(all);
                }
                let value = self.any(node, elements);
                self.listed([value], true)
            }
            _ => self.unknown(node, Why::Dynamic),
        }
    }

    /// `/` joins paths of a library type.
    pub(super) fn divided(&mut self, node: &Node, left: &Value, right: &Value) -> Value {
        let kind = [left, right].into_iter().flat_map(Value::choices).find_map(|one| match one {
            Value::Object(space, _) => Some(*space),
            _ => None,
        });
        match kind {
            Some(kind) => {
                let path = self.beside(node, left, right);
                Value::Object(kind, path.into())
            }
            None => self.unknown(node, Why::Dynamic),
        }
    }

    pub(super) fn slice(&mut self, node: &Node, of: &Node, bounds: &[Option<Box<Node>>; 3]) -> Value {
        let of = self.eval(of);
        let range = self.bounds(bounds);
        let (known, [from, to, step]) = (range.is_some(), range.unwrap_or_default());
        let (elements, all) = match &of {
            Value::Text(arg) => match arg.as_str() {
                Some(text) => (text.chars().map(|c| Value::text(c.to_string())).collect(), true),
                None => (Vec::new(), false),
            },
            Value::List(_) => self.elements(node, &of),
            _ => (Vec::new(), false),
        };
        self.step(elements.len() as u64);
        if !known || !all {
            return match of {
                Value::List(_) => self.same_elements(node, &of, false),
                Value::Any(_) if self.is_capable(&of) => self.same_elements(node, &of, false),
                Value::Unknown(..) => of,
                _ => self.unknown(node, Why::Dynamic),
            };
        }
        let taken = sliced(&elements, from, to, step.unwrap_or(1));
        match of {
            Value::Text(_) => Value::text(taken.iter().filter_map(Value::as_str).collect::<String>()),
            _ => self.list(taken),
        }
    }

    /// Returns from, to and step of a slice, if all given bounds are known.
    pub(super) fn bounds(&mut self, bounds: &[Option<Box<Node>>; 3]) -> Option<[Option<i64>; 3]> {
        let mut known = true;
        let range = bounds.each_ref().map(|bound| match bound.as_ref().map(|bound| self.eval(bound)) {
            Some(Value::Number(number)) => Some(number),
            None | Some(Value::Constant) => None,
            Some(_) => {
                known = false;
                None
            }
        });
        known.then_some(range)
    }

    /// The result of a text method on an unknown value is unknown for the same reason.
    fn method_of_unknown(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        let is_text =
            SAME.contains(&name) || matches!(name, "strip" | "trim" | "replace" | "read" | "split" | "text");
        for argument in arguments.iter().filter(|_| is_text) {
            self.hand(node, &argument.value);
        }
        is_text.then(|| of.clone())
    }

    /// Runs a method of a text; `None` for other values.
    pub(super) fn text_method(&mut self, call: MethodCall<'_>) -> Option<Value> {
        let MethodCall { node, of, name, arguments } = call;
        if let Value::Unknown(..) = of {
            return self.method_of_unknown(call);
        }
        let (Value::Text(_) | Value::Number(_)) = of else { return None };
        let first = call.first();
        if name == "join" {
            return Some(self.joined_by(node, of, &first?));
        }
        if SAME.contains(&name) {
            let is_plain =
                first.as_ref().is_none_or(|encoding| encoding.as_str().is_some_and(is_plain_encoding));
            return Some(if is_plain { of.clone() } else { self.unknown(node, Why::Encoding) });
        }
        if name == "concat" {
            let parts: Vec<Value> =
                std::iter::once(of.clone()).chain(arguments.iter().map(|one| one.value.clone())).collect();
            return Some(self.concatenated(node, &parts));
        }
        let Some(text) = of.as_str().map(str::to_owned) else { return Some(self.inert(node, arguments)) };
        self.step((text.len() / BYTES_PER_WORK) as u64);
        if name == "format" {
            return Some(self.format(node, &text, arguments));
        }
        let texts: Vec<Option<&str>> = arguments.iter().map(|one| one.value.as_str()).collect();
        let made = match (name, texts.as_slice()) {
            ("lower" | "toLowerCase", _) => text.to_lowercase(),
            ("upper" | "toUpperCase", _) => text.to_uppercase(),
            ("strip" | "trim", []) => text.trim().to_owned(),
            ("strip", [Some(letters)]) => text.trim_matches(|c| letters.contains(c)).to_owned(),
            ("lstrip", [Some(letters)]) => text.trim_start_matches(|c| letters.contains(c)).to_owned(),
            ("rstrip", [Some(letters)]) => text.trim_end_matches(|c| letters.contains(c)).to_owned(),
            ("lstrip" | "trimStart", []) => text.trim_start().to_owned(),
            ("rstrip" | "trimEnd", []) => text.trim_end().to_owned(),
            ("replace" | "replaceAll", [Some(from), Some(to)]) => {
                let all = name == "replaceAll" || self.language == crate::language::Language::Python;
                let grows = to.len() > from.len() && text.len() * (to.len() + 1) > VALUE_BYTES_MAX;
                match (grows, all) {
                    (true, _) => return Some(self.unknown(node, Why::Size)),
                    (false, true) => text.replace(from, to),
                    (false, false) => text.replacen(from, to, 1),
                }
            }
            ("repeat", _) => return Some(self.repeated(node, of, &first?)),
            ("split", _) => return Some(self.split(node, &text, first.as_ref(), arguments.len())),
            ("slice" | "substring" | "substr" | "charAt" | "at", _) => {
                return Some(self.cut(node, &text, name, arguments));
            }
            _ => return Some(self.inert(node, arguments)),
        };
        Some(Value::text(made))
    }

    fn split(&mut self, node: &Node, text: &str, by: Option<&Value>, count: usize) -> Value {
        let parts: Vec<Value> = match by {
            None => text.split_whitespace().map(Value::text).collect(),
            Some(by) => match by.as_str() {
                Some("") => text.chars().map(|c| Value::text(c.to_string())).collect(),
                Some(by) if count == 1 => text.split(by).map(Value::text).collect(),
                _ => return self.unknown(node, Why::Dynamic),
            },
        };
        self.step(parts.len() as u64);
        self.list(parts)
    }

    /// Runs JavaScript's methods for a part of a text.
    fn cut(&mut self, node: &Node, text: &str, name: &str, arguments: &[Argument]) -> Value {
        let numbers: Option<Vec<i64>> = arguments.iter().map(|one| one.value.number()).collect();
        let Some(numbers) = numbers else { return self.unknown(node, Why::Dynamic) };
        let letters: Vec<Value> = text.chars().map(|c| Value::text(c.to_string())).collect();
        let from = numbers.first().copied().unwrap_or(0);
        let to = match name {
            "charAt" | "at" => Some(from + 1).filter(|to| *to != 0),
            "substr" => numbers.get(1).map(|count| from + count),
            _ => numbers.get(1).copied(),
        };
        let taken = sliced(&letters, Some(from), to, 1);
        Value::text(taken.iter().filter_map(Value::as_str).collect::<String>())
    }
}

/// Reports whether an encoding keeps text as it is.
fn is_plain_encoding(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().replace('_', "-").as_str(),
        "" | "utf8" | "utf-8" | "ascii" | "latin1" | "latin-1" | "iso-8859-1" | "binary" | "us-ascii"
    )
}

/// Slices like Python.
fn sliced(elements: &[Value], from: Option<i64>, to: Option<i64>, step: i64) -> Vec<Value> {
    let count = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let place =
        |at: i64, low: i64, high: i64| (if at < 0 { at.saturating_add(count) } else { at }).clamp(low, high);
    let (from, to) = if step > 0 {
        (from.map_or(0, |at| place(at, 0, count)), to.map_or(count, |at| place(at, 0, count)))
    } else {
        (from.map_or(count - 1, |at| place(at, -1, count - 1)), to.map_or(-1, |at| place(at, -1, count - 1)))
    };
    let mut taken = Vec::new();
    let mut at = from;
    while step != 0 && ((step > 0 && at < to) || (step < 0 && at > to)) {
        taken.extend(usize::try_from(at).ok().and_then(|at| elements.get(at)).cloned());
        at = at.saturating_add(step);
    }
    taken
}

/// Converts bytes to text: UTF-8, else one character per byte.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

pub(crate) fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            b'\n' | b'\r' | b' ' | b'\t' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(text_of(bytes))
}

/// Decodes little-endian UTF-16; each character of the argument is a byte.
pub(crate) fn utf16(bytes: &str) -> Option<String> {
    let bytes: Option<Vec<u8>> = bytes.chars().map(|byte| u8::try_from(u32::from(byte)).ok()).collect();
    let pair = |pair: &[u8]| Some(u16::from_le_bytes([*pair.first()?, *pair.get(1)?]));
    let units: Option<Vec<u16>> = bytes?.chunks(2).map(pair).collect();
    String::from_utf16(&units?).ok()
}

pub(super) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect::<Option<Vec<u8>>>().map(text_of)
}

pub(super) fn rot13(text: &str) -> Option<String> {
    let turned = text.chars().map(|letter| match letter {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(letter) + 13),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(letter) - 13),
        other => Some(other),
    });
    turned.collect()
}

pub(super) fn percent(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                bytes.extend(part.bytes().skip(2));
            }
            None => {
                bytes.push(b'%');
                bytes.extend(part.bytes());
            }
        }
    }
    Some(text_of(bytes))
}
