//! `pack` of Perl and Ruby: builds text from a template. A template that is not fully modelled gives no text.

use castellan_event::Why;

use super::Machine;
use super::bound::Bound;
use crate::limits::{BYTES_PER_WORK, VALUE_BYTES_MAX};
use crate::tree::Node;
use crate::value::Value;

/// The count of a template letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Times(usize),
    /// `*`
    All,
}

impl Machine<'_> {
    /// `pack TEMPLATE, LIST`
    pub(super) fn packed(&mut self, node: &Node, bound: &Bound) -> Value {
        let template = bound.first();
        let (values, known) = self.flattened(node, &bound.without(1));
        let made = template.as_str().filter(|_| known).and_then(|template| text(template, &values));
        match made {
            Some(text) => {
                self.step((text.len() / BYTES_PER_WORK) as u64);
                Value::text(text)
            }
            None => {
                let why = values.iter().find_map(|value| match value {
                    Value::Unknown(why, _) => Some(*why),
                    _ => None,
                });
                self.unknown(node, why.unwrap_or(Why::Encoding))
            }
        }
    }
}

fn text(template: &str, values: &[Value]) -> Option<String> {
    let mut text = String::new();
    let mut values = values.iter();
    let mut rest = template.trim_start();
    while let Some(letter) = rest.chars().next() {
        let (count, after) = count(rest.get(letter.len_utf8()..)?)?;
        rest = after.trim_start();
        match letter {
            'A' | 'a' => text.push_str(&padded(&written(values.next()?)?, count, letter)?),
            'H' | 'h' => text.push_str(&of_digits(&written(values.next()?)?, count, letter)?),
            'C' | 'c' | 'U' | 'W' => {
                let mut left = match count {
                    Count::Times(times) => times,
                    Count::All => values.len(),
                };
                while left > 0 {
                    let Value::Number(number) = values.next()? else { return None };
                    let number = u32::try_from(*number).ok()?;
                    if matches!(letter, 'C' | 'c') && number > 255 {
                        return None;
                    }
                    text.push(char::from_u32(number)?);
                    left -= 1;
                }
            }
            _ => return None,
        }
        if text.len() > VALUE_BYTES_MAX {
            return None;
        }
    }
    Some(text)
}

/// Parses the count after a letter; returns it and the rest.
fn count(rest: &str) -> Option<(Count, &str)> {
    if let Some(after) = rest.strip_prefix('*') {
        return Some((Count::All, after));
    }
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at_checked(end)?;
    let times = if digits.is_empty() { 1 } else { digits.parse().ok()? };
    Some((Count::Times(times), after))
}

fn written(value: &Value) -> Option<String> {
    value.to_arg()?.as_str().map(str::to_owned)
}

/// Pads or cuts a text to this number of characters.
fn padded(text: &str, count: Count, letter: char) -> Option<String> {
    let Count::Times(times) = count else { return Some(text.to_owned()) };
    if times > VALUE_BYTES_MAX {
        return None;
    }
    let filler = if letter == 'A' { ' ' } else { '\0' };
    Some(text.chars().chain(std::iter::repeat(filler)).take(times).collect())
}

/// Returns the bytes of this number of hexadecimal digits.
fn of_digits(digits: &str, count: Count, letter: char) -> Option<String> {
    let all = digits.len();
    let times = match count {
        Count::Times(times) => times.min(all),
        Count::All => all,
    };
    let digits =
        digits.get(..times).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    let mut pairs = String::with_capacity(times + 1);
    for pair in digits.as_bytes().chunks(2) {
        let first = char::from(*pair.first()?);
        let second = pair.get(1).map_or('0', |digit| char::from(*digit));
        let (high, low) = if letter == 'H' { (first, second) } else { (second, first) };
        pairs.extend([high, low]);
    }
    super::texts::hex(&pairs)
}
