//! 64-bit numbers in JSON as a string of decimal digits: `jq` and JavaScript round a JSON number to 53 bits.
//!
//! For `#[serde(with = "castellan_audit::wide")]` on a [`u64`]. Zero means "none" and becomes the empty string.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// Serializes the number as a string.
pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        0 => serializer.serialize_str(""),
        number => serializer.collect_str(number),
    }
}

/// Reads such a string, or the number that castellan wrote before version 2 of the log's format.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Wide)
}

struct Wide;

impl Visitor<'_> for Wide {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0, as digits in a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            "" => Ok(0),
            digits if is_plain => digits.parse().map_err(|_| E::custom(format!("`{digits}` is too large"))),
            other => Err(E::custom(format!("`{other}` is not a whole number from 0"))),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct One(#[serde(with = "super")] u64);

    #[test]
    fn what_is_written_is_a_string_that_reads_back() {
        let check = |number: u64, written: &str| {
            assert_eq!(serde_json::to_string(&One(number)).unwrap(), written);
            assert_eq!(serde_json::from_str::<One>(written).unwrap(), One(number));
        };
        check(0, r#""""#);
        check(1, r#""1""#);
        check((1 << 53) - 1, r#""9007199254740991""#);
        check((1 << 53) + 1, r#""9007199254740993""#);
        check(u64::MAX, r#""18446744073709551615""#);
    }

    #[test]
    fn numbers_of_before_are_read_and_nothing_else() {
        let check = |written: &str, number: Option<u64>| {
            assert_eq!(serde_json::from_str::<One>(written).ok(), number.map(One), "{written}");
        };
        check("0", Some(0));
        check("18446744073709551615", Some(u64::MAX));
        check(r#""007""#, Some(7));
        for wrong in [
            "-1",
            "1.5",
            "1e3",
            "18446744073709551616",
            "null",
            "true",
            "[]",
            r#""-1""#,
            r#""+1""#,
            r#"" 1""#,
        ] {
            check(wrong, None);
        }
        for wrong in [r#""1.0""#, r#""1e3""#, r#""0x1""#, r#""18446744073709551616""#, r#""١""#, r#""x""#] {
            check(wrong, None);
        }
    }
}
