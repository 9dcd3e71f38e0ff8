//! [`Consequence`]: what follows for a session from calls that ran against the decision, and its form in the journal.

use castellan_event::{AccessLevel, Code};
use castellan_policy::Bar;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The consequence for one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// Highest access level of the session.
    pub(crate) ceiling: Option<AccessLevel>,
    /// The reason why the session is blocked.
    pub(crate) bar: Option<Bar>,
}

impl Consequence {
    pub(super) fn and(self, other: Consequence) -> Consequence {
        let ceiling = [self.ceiling, other.ceiling].into_iter().flatten().min();
        Consequence { ceiling, bar: self.bar.or(other.bar) }
    }
}

/// Serialized form: the word of the level and the message of the block.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    ceiling: Option<String>,
    bar: Option<String>,
}

impl Serialize for Consequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ceiling = self.ceiling.map(|level| level.as_str().to_owned());
        let bar = self.bar.as_ref().map(|bar| bar.message.clone());
        Words { ceiling, bar }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Consequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Consequence, D::Error> {
        let Words { ceiling, bar } = Words::deserialize(deserializer)?;
        let ceiling = ceiling.map(|word| word.parse()).transpose().map_err(serde::de::Error::custom)?;
        Ok(Consequence { ceiling, bar: bar.map(|message| Bar { code: Code::Ungoverned, message }) })
    }
}
