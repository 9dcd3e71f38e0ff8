//! [`Text`] and [`Input`]: the types of a record's fields that come from outside. They are redacted and cut while they
//! are written, so no field of a record can be written as it is.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::clean;

/// A text of a record. It is redacted and cut while it is written, not before.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct Text(String);

/// A tool's input in a record. Its secrets are redacted, and it is cut, while it is written, not before.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Input(Value);

impl Text {
    /// Returns the text as it is in memory: not redacted unless it was read from a record.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        clean::text(&self.0, serializer)
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        clean::input(&self.0, serializer)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for Input {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.to_owned())
    }
}

impl From<Text> for String {
    fn from(text: Text) -> String {
        text.0
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Input {
        Input(value)
    }
}

impl From<Input> for Value {
    fn from(input: Input) -> Value {
        input.0
    }
}
