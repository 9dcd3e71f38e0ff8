//! [`Consequence`]: what follows for a session from calls that ran against the decision, and its form in the journal.

use castellan_event::{AccessLevel, Code};
use castellan_policy::Block;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The consequence for one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// Highest access level of the session.
    pub(crate) ceiling: Option<AccessLevel>,
    /// The reason why the session is blocked.
    pub(crate) block: Option<Block>,
}

impl Consequence {
    pub(super) fn and(self, other: Consequence) -> Consequence {
        let ceiling = [self.ceiling, other.ceiling].into_iter().flatten().min();
        Consequence { ceiling, block: self.block.or(other.block) }
    }
}

/// Serialized form: the word of the level and the message of the block.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    ceiling: Option<String>,
    /// `bar` in versions 1 and 2 of the journal.
    #[serde(alias = "bar")]
    block: Option<String>,
}

impl Serialize for Consequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ceiling = self.ceiling.map(|level| level.as_str().to_owned());
        let block = self.block.as_ref().map(|block| block.message.clone());
        Words { ceiling, block }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Consequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Consequence, D::Error> {
        let Words { ceiling, block } = Words::deserialize(deserializer)?;
        let ceiling = ceiling.map(|word| word.parse()).transpose().map_err(serde::de::Error::custom)?;
        Ok(Consequence { ceiling, block: block.map(|message| Block { code: Code::Ungoverned, message }) })
    }
}
