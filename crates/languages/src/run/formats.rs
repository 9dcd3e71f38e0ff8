//! Texts built by a format: `%`, `sprintf`, `format`. A part that is not modelled is unknown.

use castellan_event::Why;

use super::{Argument, Machine};
use crate::limits::VALUE_BYTES_MAX;
use crate::tree::Node;
use crate::value::Value;

/// The conversion letters.
const LETTERS: &str = "sdiuxXobBcfFgGeEaAr";

/// The specification after a `%`.
#[derive(Debug, Default)]
struct Spec {
    to_the_left: bool,
    with_zeros: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

impl Machine<'_> {
    /// `left % right`
    pub(super) fn formatted(&mut self, node: &Node, left: &Value, right: &Value) -> Value {
        let Some(format) = left.as_str() else { return self.unknown(node, Why::Dynamic) };
        let (values, known) = match right {
            Value::List(_) => self.elements(node, right),
            other => (vec![other.clone()], true),
        };
        let mut values = values.into_iter();
        let map = matches!(right, Value::Map(_));
        let mut parts = Vec::new();
        let mut rest = format;
        while let Some((before, after)) = rest.split_once('%') {
            parts.push(Value::text(before));
            rest = after;
            if let Some(after) = rest.strip_prefix('%') {
                parts.push(Value::text("%"));
                rest = after;
                continue;
            }
            let named = rest.strip_prefix('(').and_then(|inside| inside.split_once(')'));
            let value = match named {
                Some((name, after)) => {
                    rest = after;
                    self.index(node, right, &Value::text(name))
                }
                None if map || !known => self.unknown(node, Why::Dynamic),
                None => values.next().unwrap_or_else(|| self.unknown(node, Why::Dynamic)),
            };
            let Some((spec, after)) = Spec::read(rest) else {
                // The next value and the end of the specification are unknown.
                parts.push(self.unknown(node, Why::Dynamic));
                rest = "";
                break;
            };
            rest = after;
            parts.push(spec.apply(&value).unwrap_or_else(|| self.unknown(node, Why::Dynamic)));
        }
        parts.push(Value::text(rest));
        self.concatenated(node, &parts)
    }

    /// `format.format(...)`
    pub(super) fn format(&mut self, node: &Node, format: &str, arguments: &[Argument]) -> Value {
        // After a spread, the positions of arguments are unknown.
        if arguments.iter().any(|one| one.is_spread) {
            return self.unknown(node, Why::Dynamic);
        }
        let mut parts = Vec::new();
        let mut next = 0;
        let mut rest = format;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            parts.push(Value::text(before));
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                parts.push(Value::text(if from.starts_with('{') { "{" } else { "}" }));
                rest = after;
                continue;
            }
            let Some((field, after)) = from.strip_prefix('{').and_then(|inside| inside.split_once('}'))
            else {
                return self.unknown(node, Why::Dynamic);
            };
            rest = after;
            let argument = match field {
                "" => {
                    next += 1;
                    arguments.iter().filter(|one| one.name.is_none()).nth(next - 1)
                }
                field => match field.parse::<usize>() {
                    Ok(at) => arguments.get(at),
                    Err(_) => arguments.iter().find(|one| one.name.as_deref() == Some(field)),
                },
            };
            let value = argument.map(|one| one.value.clone());
            parts.push(value.unwrap_or_else(|| self.unknown(node, Why::Dynamic)));
        }
        parts.push(Value::text(rest));
        self.concatenated(node, &parts)
    }
}

impl Spec {
    /// Parses flags, width, precision, number size and letter; returns the specification and the rest.
    fn read(text: &str) -> Option<(Spec, &str)> {
        let mut spec = Spec::default();
        let flags = text.find(|letter: char| !matches!(letter, '-' | '0')).unwrap_or(text.len());
        let (flags, rest) = text.split_at_checked(flags)?;
        spec.to_the_left = flags.contains('-');
        spec.with_zeros = flags.contains('0');
        let (width, rest) = digits(rest)?;
        spec.width = width.unwrap_or(0);
        let rest = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = digits(rest)?;
                spec.precision = Some(precision.unwrap_or(0));
                rest
            }
            None => rest,
        };
        let rest = rest.trim_start_matches(['h', 'l', 'q', 'L', 'z', 't', 'j']);
        spec.letter = rest.chars().next().filter(|letter| LETTERS.contains(*letter))?;
        Some((spec, rest.get(1..)?))
    }

    fn apply(&self, value: &Value) -> Option<Value> {
        let is_plain = self.width == 0 && self.precision.is_none();
        let text = match (self.letter, value) {
            ('s', Value::Any(_)) if is_plain => return Some(value.clone()),
            ('s' | 'd' | 'i', Value::Unknown(..)) if is_plain => return Some(value.clone()),
            ('s', _) => {
                let arg = value.to_arg()?;
                if is_plain {
                    return Some(Value::arg((*arg).clone()));
                }
                let text = arg.as_str()?;
                text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
            }
            ('d' | 'i' | 'u', Value::Number(number)) if self.precision.is_none() => number.to_string(),
            ('d' | 'i' | 'u', Value::Text(text)) if self.precision.is_none() => {
                text.as_str()?.trim().parse::<i64>().ok()?.to_string()
            }
            ('c', Value::Number(number)) => char::from_u32(u32::try_from(*number).ok()?)?.to_string(),
            ('x', Value::Number(number)) if *number >= 0 => format!("{number:x}"),
            ('X', Value::Number(number)) if *number >= 0 => format!("{number:X}"),
            ('o', Value::Number(number)) if *number >= 0 => format!("{number:o}"),
            ('b', Value::Number(number)) if *number >= 0 => format!("{number:b}"),
            _ => return None,
        };
        self.padded(text).map(Value::text)
    }

    fn padded(&self, text: String) -> Option<String> {
        let missing = self.width.saturating_sub(text.chars().count());
        if missing == 0 {
            return Some(text);
        }
        if self.width > VALUE_BYTES_MAX || (self.with_zeros && (self.letter == 's' || text.starts_with('-')))
        {
            return None;
        }
        let zeros = self.with_zeros && !self.to_the_left;
        let filler = if zeros { "0" } else { " " }.repeat(missing);
        Some(if self.to_the_left { text + &filler } else { filler + &text })
    }
}

/// Parses the number at the beginning, if there is one; returns it and the rest.
fn digits(text: &str) -> Option<(Option<usize>, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let number = if digits.is_empty() { None } else { Some(digits.parse().ok()?) };
    Some((number, rest))
}
