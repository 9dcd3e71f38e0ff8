//! What is done about calls that ran without a decision, against one, or with another input than the one judged, and about hooks of
//! others that could bring that about. It must not know how that is found out.

use std::str::FromStr;

use castellan_event::{AccessLevel, Code};

/// Settings of that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ungoverned {
    /// What is done.
    pub action: OnUngoverned,
    /// The highest access level that the session has from then on; `None`: as before.
    pub level: Option<AccessLevel>,
    /// Nothing runs while a hook of somebody else's could change it after it was judged, unless that hook is trusted.
    pub bars_foreign_hooks: bool,
    /// Hooks of others that are trusted, by their command lines.
    pub trusted_hooks: Vec<String>,
}

/// What is done about it, from the most lenient to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum OnUngoverned {
    /// It is recorded, and shown in the status.
    #[default]
    Record,
    /// The user is told as well.
    Notify,
    /// The session may do nothing more as well.
    Stop,
}

/// Why a session may do nothing more, until a person has looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// What kind of reason.
    pub code: Code,
    /// The reason, for a person and for the agent.
    pub message: String,
}

impl OnUngoverned {
    /// All of them, the most lenient first.
    pub const ALL: [OnUngoverned; 3] = [OnUngoverned::Record, OnUngoverned::Notify, OnUngoverned::Stop];

    /// Returns the word used in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            OnUngoverned::Record => "record",
            OnUngoverned::Notify => "notify",
            OnUngoverned::Stop => "stop",
        }
    }
}

impl FromStr for OnUngoverned {
    type Err = String;

    fn from_str(word: &str) -> Result<OnUngoverned, String> {
        let known = OnUngoverned::ALL.into_iter().find(|action| action.as_str() == word);
        known.ok_or_else(|| {
            let words = OnUngoverned::ALL.map(OnUngoverned::as_str).join(", ");
            format!("`{word}` is none of {words}")
        })
    }
}
