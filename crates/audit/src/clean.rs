//! Writes the values of a record straight into the line, redacted and cut, without a copy of the input.
//!
//! Every string of a record that comes from outside passes through this module. It must not know files and streams.

use std::borrow::Cow;
use std::cell::Cell;

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::limits::{
    INPUT_BYTES_MAX, INPUT_DEPTH_MAX, INPUT_ITEMS_MAX, REDACT_LOOKAHEAD_BYTES, TEXT_BYTES_MAX,
    WRITTEN_BYTES_MAX,
};
use crate::redact::{placeholder, replace, secret_name, spans};

/// Serializes a string.
pub(crate) fn text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&cleaned(text))
}

/// Serializes a tool's input.
pub(crate) fn input<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let budget = Budget { bytes: Cell::new(INPUT_BYTES_MAX), items: Cell::new(INPUT_ITEMS_MAX) };
    Bounded { value, budget: &budget, depth: 0 }.serialize(serializer)
}

/// Serializes a list of entries; each text of an entry has its own key. The first entry over `bytes_max` ends the list:
/// the rest is left out unread, and a last entry gives the number of omitted entries under the key `marked`.
pub(crate) fn list<T, const N: usize, S: Serializer>(
    entries: &[T],
    texts: fn(&T) -> [(&'static str, &str); N],
    marked: &'static str,
    bytes_max: usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut left = bytes_max;
    let mut seq = serializer.serialize_seq(None)?;
    for (index, entry) in entries.iter().enumerate() {
        let texts = Texts(texts(entry).map(|(key, text)| (key, cleaned(text))));
        if let Some(rest) = left.checked_sub(texts.written()) {
            left = rest;
            seq.serialize_element(&texts)?;
        } else {
            let cut = marker(entries.len().saturating_sub(index), "items");
            seq.serialize_element(&Texts([(marked, Cow::Owned(cut))]))?;
            break;
        }
    }
    seq.end()
}

/// An entry of a list, cleaned.
struct Texts<'a, const N: usize>([(&'static str, Cow<'a, str>); N]);

impl<const N: usize> Texts<'_, N> {
    /// Returns the bytes of the entry as JSON writes it.
    fn written(&self) -> usize {
        const BESIDE_ENTRY: usize = "{},".len();
        const BESIDE_TEXT: usize = r#""":"","#.len();
        let texts = self.0.iter().map(|(key, text)| key.len().saturating_add(width(text)));
        texts.sum::<usize>().saturating_add(N.saturating_mul(BESIDE_TEXT)).saturating_add(BESIDE_ENTRY)
    }
}

impl<const N: usize> Serialize for Texts<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, text)| (key, text)))
    }
}

/// Returns the text redacted, and cut at a character boundary if it is long. The search for secrets ends shortly after
/// the cut, so the cost does not grow with the text.
fn cleaned(text: &str) -> Cow<'_, str> {
    let window = text.floor_char_boundary(TEXT_BYTES_MAX.saturating_add(REDACT_LOOKAHEAD_BYTES));
    let spans = spans(text.get(..window).unwrap_or_default());
    if spans.is_empty() && text.len() <= TEXT_BYTES_MAX && fits(text) {
        return Cow::Borrowed(text);
    }
    let (mut out, end) = replace(text, &spans, text.floor_char_boundary(TEXT_BYTES_MAX));
    let mut missing = text.len().saturating_sub(end);
    if !fits(&out) {
        let kept = fitting(&out);
        missing = missing.saturating_add(out.len().saturating_sub(kept));
        out.truncate(kept);
    }
    if missing > 0 {
        out.push_str(&marker(missing, "bytes"));
    }
    Cow::Owned(out)
}

/// Reports whether the text, as JSON writes it, is within its limit. Only a long text needs the exact width.
fn fits(text: &str) -> bool {
    text.len().saturating_mul(LONGEST_ESCAPE) <= WRITTEN_BYTES_MAX || width(text) <= WRITTEN_BYTES_MAX
}

/// Returns the length of the longest prefix that fits, in whole characters. The text itself must be too long.
fn fitting(text: &str) -> usize {
    let mut written: usize = 0;
    let over = text.bytes().position(|byte| {
        written = written.saturating_add(1).saturating_add(usize::from(escape_width(byte)));
        written > WRITTEN_BYTES_MAX
    });
    text.floor_char_boundary(over.unwrap_or(text.len()))
}

/// Returns the bytes of a text as JSON writes it, without its quotes.
fn width(text: &str) -> usize {
    // Sums of one byte each, which cannot overflow, and no branches: sixteen bytes can be processed at once.
    let escapes = text.as_bytes().chunks(32).map(|chunk| {
        let sum = chunk.iter().fold(0, |sum: u8, byte| sum.wrapping_add(escape_width(*byte)));
        usize::from(sum)
    });
    escapes.fold(text.len(), usize::saturating_add)
}

/// Returns the number of bytes that JSON adds to a byte by its escape.
fn escape_width(byte: u8) -> u8 {
    let control = u8::from(byte < 0x20);
    let short = u8::from(matches!(byte, 0x08..=0x0a | 0x0c | 0x0d));
    let quoted = u8::from(byte == b'"') | u8::from(byte == b'\\');
    // The three forms: `\u0001`, `\n` and `\"`.
    control.wrapping_mul(5).wrapping_sub(short.wrapping_mul(4)).wrapping_add(quoted)
}

/// Bytes of `\u0001`.
const LONGEST_ESCAPE: usize = 6;

fn marker(count: usize, unit: &str) -> String {
    format!("…[cut {count} {unit}]")
}

/// The remaining limits of an input.
struct Budget {
    bytes: Cell<usize>,
    items: Cell<usize>,
}

impl Budget {
    /// Returns the cleaned text, or a marker when the bytes are used up. A text replaced by a marker is not searched
    /// for secrets, so the cost of an input is bounded like its length.
    fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.len().min(TEXT_BYTES_MAX) > self.bytes.get() {
            return Cow::Owned(marker(text.len(), "bytes"));
        }
        let text = cleaned(text);
        self.bytes.set(self.bytes.get().saturating_sub(width(&text)));
        text
    }

    /// Takes one item. Returns false when the items are used up.
    fn take_item(&self) -> bool {
        let left = self.items.get().checked_sub(1);
        self.items.set(left.unwrap_or(0));
        left.is_some()
    }
}

struct Bounded<'a> {
    value: &'a Value,
    budget: &'a Budget,
    depth: usize,
}

impl Bounded<'_> {
    fn inner<'a>(&'a self, value: &'a Value) -> Bounded<'a> {
        Bounded { value, budget: self.budget, depth: self.depth.saturating_add(1) }
    }
}

impl Serialize for Bounded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.value.serialize(serializer),
            Value::String(text) => serializer.serialize_str(&self.budget.text(text)),
            Value::Array(items) if self.depth >= INPUT_DEPTH_MAX => {
                serializer.serialize_str(&marker(items.len(), "items"))
            }
            Value::Object(members) if self.depth >= INPUT_DEPTH_MAX => {
                serializer.serialize_str(&marker(members.len(), "items"))
            }
            Value::Array(items) => self.array(items, serializer),
            Value::Object(members) => self.object(members, serializer),
        }
    }
}

impl Bounded<'_> {
    fn array<S: Serializer>(&self, items: &[Value], serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        let mut secret = None;
        for (index, item) in items.iter().enumerate() {
            if !self.budget.take_item() {
                seq.serialize_element(&marker(items.len().saturating_sub(index), "items"))?;
                break;
            }
            match secret {
                Some(label) if holds_secret(item) => seq.serialize_element(&placeholder(label))?,
                _ => seq.serialize_element(&self.inner(item))?,
            }
            // In an argument list the value of `--password` is the next item.
            secret = item.as_str().filter(|flag| flag.starts_with("--")).and_then(secret_name);
        }
        seq.end()
    }

    fn object<S: Serializer>(
        &self,
        members: &serde_json::Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (index, (key, value)) in members.iter().enumerate() {
            if !self.budget.take_item() {
                map.serialize_entry("…", &marker(members.len().saturating_sub(index), "items"))?;
                break;
            }
            let name = self.budget.text(key);
            match secret_name(key) {
                Some(label) if holds_secret(value) => map.serialize_entry(&name, &placeholder(label))?,
                _ => map.serialize_entry(&name, &self.inner(value))?,
            }
        }
        map.end()
    }
}

/// Reports whether a value under a secret's name can hold a secret. A switch (`"password": true`) cannot.
fn holds_secret(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(value: &Value, expected: &Value) {
        assert_eq!(&written(value), expected);
    }

    fn written(value: &Value) -> Value {
        let mut bytes = Vec::new();
        input(value, &mut serde_json::Serializer::new(&mut bytes)).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn values_under_secret_names_are_replaced_whole() {
        check(
            &json!({"env": {"GITHUB_TOKEN": "abc", "PORT": "1"}, "password": ["a", {"b": 1}], "api-key": 12}),
            &json!({"env": {"GITHUB_TOKEN": "[redacted token]", "PORT": "1"},
                "password": "[redacted password]", "api-key": "[redacted api key]"}),
        );
        check(
            &json!({"password": true, "token": "", "max_tokens": 5, "secret": null}),
            &json!({"password": true, "token": "", "max_tokens": 5, "secret": null}),
        );
        check(
            &json!({"args": ["login", "--password", "x", "--user", "y"]}),
            &json!({"args": ["login", "--password", "[redacted password]", "--user", "y"]}),
        );
        check(
            &json!({"command": "PGPASSWORD=x psql"}),
            &json!({"command": "PGPASSWORD=[redacted password] psql"}),
        );
    }

    #[test]
    fn long_texts_are_cut_at_a_character_with_the_count_of_what_is_missing() {
        let whole = "a".repeat(TEXT_BYTES_MAX);
        assert_eq!(cleaned(&whole), whole);
        assert_eq!(cleaned(&format!("{whole}b")), format!("{whole}…[cut 1 bytes]"));
        let wide = "ü".repeat(TEXT_BYTES_MAX);
        assert_eq!(cleaned(&format!("x{wide}")), format!("x{}…[cut 4098 bytes]", "ü".repeat(2047)));
    }

    #[test]
    fn a_secret_across_the_cut_is_redacted_whole() {
        let token = format!("ghp_{}", "aB3".repeat(12));
        let before = "a ".repeat(TEXT_BYTES_MAX / 2 - 3);
        let text = format!("{before}{token} and more");
        assert_eq!(cleaned(&text), format!("{before}[redacted github token]…[cut 9 bytes]"));
    }

    #[test]
    fn an_input_over_its_limits_is_cut_and_stays_json() {
        let texts = written(&json!(vec!["a".repeat(4000); 20]));
        assert_eq!(texts[15], json!("a".repeat(4000)));
        assert_eq!(texts[16], json!("…[cut 4000 bytes]"));

        let items = written(&json!(vec![0; INPUT_ITEMS_MAX + 5]));
        assert_eq!(items[INPUT_ITEMS_MAX], json!("…[cut 5 items]"));
        let many: serde_json::Map<_, _> =
            (0..INPUT_ITEMS_MAX + 5).map(|i| (format!("k{i}"), json!(i))).collect();
        assert_eq!(written(&Value::Object(many))["…"], json!("…[cut 5 items]"));

        let nest = |depth| (0..depth).fold(json!([1, 2]), |inner, _| json!([inner]));
        assert_eq!(written(&nest(INPUT_DEPTH_MAX - 1)), nest(INPUT_DEPTH_MAX - 1));
        assert!(written(&nest(INPUT_DEPTH_MAX)).to_string().contains("…[cut 2 items]"));
    }

    /// Each byte of these texts becomes several in the line, by its escape or by the placeholder for a secret.
    #[test]
    fn escapes_and_placeholders_make_no_text_longer_than_its_limit() {
        for unit in ["\u{1}", "\n", "\"", "\\", "token=a ", "a://:b@", "ü\u{7f}\u{0}"] {
            let text = unit.repeat(TEXT_BYTES_MAX / unit.len());
            let written = serde_json::to_string(&cleaned(&text)).unwrap();
            let (start, count) = written.rsplit_once("…[cut ").unwrap();
            assert!(
                (WRITTEN_BYTES_MAX - 8..=WRITTEN_BYTES_MAX + 1).contains(&start.len()),
                "{unit:?} {written}"
            );
            assert!(count.ends_with(" bytes]\""), "{unit:?} {written}");
        }
        // The longest text that remains whole.
        let lines = "\n".repeat(WRITTEN_BYTES_MAX / 2);
        assert_eq!(cleaned(&lines), lines);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "(?s).{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::hash_map("[a-z_]{0,8}|password", inner, 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_input_is_written_as_json_within_the_limit(value in any_json()) {
            // The last text may exceed the limit by its marker and escapes. Each item costs some bytes beside its text.
            let limit = INPUT_BYTES_MAX + 2 * WRITTEN_BYTES_MAX + 64 * INPUT_ITEMS_MAX;
            prop_assert!(written(&value).to_string().len() <= limit);
        }
    }
}
