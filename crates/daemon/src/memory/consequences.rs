//! Consequences for sessions of calls that ran against the decision: a lower access level, or a block. Does not depend
//! on how such a call was found.

use std::collections::HashMap;

use castellan_event::{AccessLevel, Code};
use castellan_policy::Bar;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::Entry;
use super::sessions::SessionKey;

/// Sessions with a consequence; at most one each. A consequence is never removed.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    sessions: HashMap<SessionKey, Consequence>,
}

/// The consequence for one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// Highest access level of the session.
    pub(crate) ceiling: Option<AccessLevel>,
    /// The reason why the session is blocked.
    pub(crate) bar: Option<Bar>,
}

impl Consequences {
    pub(super) fn of(&self, root: &SessionKey) -> Consequence {
        self.sessions.get(root).cloned().unwrap_or_default()
    }

    pub(super) fn add(&mut self, root: SessionKey, consequence: Consequence) {
        let own = self.sessions.entry(root).or_default();
        *own = std::mem::take(own).and(consequence);
    }

    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        if let Some(consequence) = self.sessions.remove(from) {
            self.add(into, consequence);
        }
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        self.sessions.remove(root);
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let entry = |(root, consequence): (&SessionKey, &Consequence)| Entry::Follows {
            root: *root,
            consequence: consequence.clone(),
        };
        self.sessions.iter().map(entry)
    }
}

impl Consequence {
    fn and(self, other: Consequence) -> Consequence {
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

#[cfg(test)]
mod tests {
    use super::*;

    const A: SessionKey = SessionKey([1; 32]);
    const B: SessionKey = SessionKey([2; 32]);

    fn capped(level: AccessLevel) -> Consequence {
        Consequence { ceiling: Some(level), bar: None }
    }

    fn barred() -> Consequence {
        Consequence { ceiling: None, bar: Some(Bar { code: Code::Ungoverned, message: "x".to_owned() }) }
    }

    #[test]
    fn consequences_only_add_up() {
        let mut all = Consequences::default();
        all.add(A, capped(AccessLevel::ReadOnly));
        all.add(A, capped(AccessLevel::WorkspaceWrite));
        all.add(A, barred());
        // A later consequence removes nothing.
        all.add(A, capped(AccessLevel::FullAccess));
        let both = Consequence { ceiling: Some(AccessLevel::ReadOnly), ..barred() };
        assert_eq!((all.of(&A), all.of(&B)), (both.clone(), Consequence::default()));
        all.merge(&A, B);
        assert_eq!((all.of(&A), all.of(&B)), (Consequence::default(), both));
        all.forget(&B);
        assert_eq!(all.entries().count(), 0);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for consequence in [capped(AccessLevel::ReadOnly), barred(), Consequence::default()] {
            let text = serde_json::to_string(&consequence).unwrap();
            assert_eq!(serde_json::from_str::<Consequence>(&text).unwrap(), consequence, "{text}");
        }
        assert!(serde_json::from_str::<Consequence>(r#"{"ceiling":"none","bar":null}"#).is_err());
    }
}
