//! [`Evidence`]: all that a reviewer sees of a call. It has no place for the agent's reasoning, for results of tools or
//! for fetched text, so no caller can pass them by mistake.

use castellan_event::PartsHash;

/// The evidence about one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The user's own prompts of this session, newest last.
    pub prompts: Vec<Prompt>,
    /// The typed effects of the call, one a line.
    pub call: String,
    /// The findings that castellan asks about.
    pub findings: Vec<Finding>,
    /// The provenance words of the call and the session.
    pub marks: Vec<String>,
}

/// A prompt that the user wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// Seconds between the prompt and the call.
    pub age_s: u64,
}

/// A finding of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule or stage.
    pub rule: String,
    /// Its message, with values of the call.
    pub message: String,
}

impl Evidence {
    /// Returns the hash of the texts of the prompts, without their ages: the intent in a [`crate::CacheKey`].
    pub fn intent_hash(&self) -> String {
        PartsHash::of(self.prompts.iter().map(|prompt| &prompt.text)).hex()
    }
}
