//! [`ReviewSettings`]: the reviewer that castellan asks about review findings. It must not know how it is asked.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

/// Settings about reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSettings {
    /// The kind of reviewer.
    pub provider: ReviewProvider,
    /// The base URL of an endpoint; empty for a program.
    pub url: String,
    /// The model of an endpoint; empty for a program.
    pub model: String,
    /// The absolute path of the file with the key of an endpoint; empty without one.
    pub key_file: String,
    /// The program and its arguments; empty for an endpoint.
    pub command: Vec<String>,
    /// Milliseconds of one review.
    pub time_ms: u32,
    /// Reviews in an hour.
    pub per_hour: u32,
    /// Tokens in a day.
    pub tokens_per_day: u32,
    /// The reviewer is also asked about Opaque programs and code.
    pub opaque: bool,
    /// The reviewer is also asked where the agent's own model judges intent.
    pub with_host: bool,
}

/// The kind of reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewProvider {
    /// No reviews.
    Off,
    /// An endpoint with the interface of OpenAI's chat completions.
    OpenAi,
    /// Anthropic's Messages API.
    Anthropic,
    /// A local program.
    Command,
}

impl ReviewSettings {
    /// Settings without a reviewer; the limits are the default ones.
    pub const OFF: ReviewSettings = ReviewSettings {
        provider: ReviewProvider::Off,
        url: String::new(),
        model: String::new(),
        key_file: String::new(),
        command: Vec::new(),
        time_ms: 2000,
        per_hour: 60,
        tokens_per_day: 1_000_000,
        opaque: false,
        with_host: false,
    };

    /// Reports whether there is a reviewer.
    pub fn is_on(&self) -> bool {
        self.provider != ReviewProvider::Off
    }
}

impl ReviewProvider {
    /// All kinds.
    pub const ALL: [ReviewProvider; 4] =
        [ReviewProvider::Off, ReviewProvider::OpenAi, ReviewProvider::Anthropic, ReviewProvider::Command];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["off", "openai", "anthropic", "command"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            ReviewProvider::Off => "off",
            ReviewProvider::OpenAi => "openai",
            ReviewProvider::Anthropic => "anthropic",
            ReviewProvider::Command => "command",
        }
    }
}

impl FromStr for ReviewProvider {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<ReviewProvider, UnknownWord> {
        from_word(&ReviewProvider::ALL, ReviewProvider::as_str, word)
    }
}
