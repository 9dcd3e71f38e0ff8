//! What follows for sessions from calls that ran as nobody decided: less access, or none. It must not know how they were found.

use std::collections::HashMap;

use castellan_event::{AccessLevel, Code};
use castellan_policy::Bar;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::Entry;
use super::sessions::SessionKey;

/// The sessions for which something follows; no more than there are sessions. Nothing is ever taken back.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    sessions: HashMap<SessionKey, Consequence>,
}

/// What follows for a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// The highest access level that it has.
    pub(crate) ceiling: Option<AccessLevel>,
    /// Why it may do nothing at all.
    pub(crate) bar: Option<Bar>,
}

impl Consequences {
    /// What follows for the session `root`.
    pub(super) fn of(&self, root: &SessionKey) -> Consequence {
        self.sessions.get(root).cloned().unwrap_or_default()
    }

    /// Something more follows.
    pub(super) fn add(&mut self, root: SessionKey, consequence: Consequence) {
        let own = self.sessions.entry(root).or_default();
        *own = std::mem::take(own).and(consequence);
    }

    /// Two sessions turn out to be one.
    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        if let Some(consequence) = self.sessions.remove(from) {
            self.add(into, consequence);
        }
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        self.sessions.remove(root);
    }

    /// What makes them again.
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

/// How it is written: the word of the level, and the message of the bar.
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
        // What follows later takes nothing back.
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
