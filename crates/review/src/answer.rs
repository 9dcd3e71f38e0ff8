//! [`read_answer`]: the strict reader of a model's answer. It must not guess: each text that is not exactly the answer
//! format is an error, and castellan then asks the user.

use std::fmt;

use castellan_event::is_invisible;
use serde::Deserialize;
use serde_json::error::Category;
use thiserror::Error;

use crate::limits::{ANSWER_BYTES_MAX, REASON_CHARS_MAX};

/// The answer of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The user asked for the call.
    Allow,
    /// The user did not ask for the call.
    Deny,
    /// The reviewer does not know it.
    Unsure,
}

/// An answer with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// The answer.
    pub answer: Answer,
    /// The reason in words of the model: visible characters, and at most 300 of the model's own.
    pub reason: String,
}

/// A text that is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BadAnswer {
    /// The text is too long.
    #[error("the answer is longer than {ANSWER_BYTES_MAX} bytes")]
    TooLong,
    /// The text is not one JSON value without text around it.
    #[error("the answer is not one JSON object alone")]
    NotJson,
    /// A key is missing, unknown or twice there, or a value has the wrong type.
    #[error("the answer has not exactly the keys `answer` and `reason` with texts")]
    Keys,
    /// The answer is none of the three words.
    #[error("the answer is neither `allow` nor `deny` nor `unsure`")]
    Word,
    /// The reason has a control character.
    #[error("the reason of the answer contains a control character")]
    Control,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    answer: String,
    reason: String,
}

impl Answer {
    /// All answers.
    pub const ALL: [Answer; 3] = [Answer::Allow, Answer::Deny, Answer::Unsure];

    /// Returns the word of the answer format and of records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Answer::Allow => "allow",
            Answer::Deny => "deny",
            Answer::Unsure => "unsure",
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads the text of a model: one JSON object with exactly the keys `answer` and `reason`. White space and one Markdown
/// code fence around it are ignored.
///
/// # Errors
/// [`BadAnswer`] for each other text.
pub fn read_answer(text: &str) -> Result<Opinion, BadAnswer> {
    if text.len() > ANSWER_BYTES_MAX {
        return Err(BadAnswer::TooLong);
    }
    let object = without_fence(text.trim());
    // A struct of serde is also read from an array.
    if !object.starts_with('{') {
        return Err(BadAnswer::NotJson);
    }
    let Raw { answer, reason } = serde_json::from_str(object).map_err(|error| match error.classify() {
        Category::Data => BadAnswer::Keys,
        Category::Io | Category::Syntax | Category::Eof => BadAnswer::NotJson,
    })?;
    let answer = Answer::ALL.into_iter().find(|word| word.as_str() == answer).ok_or(BadAnswer::Word)?;
    if reason.contains(char::is_control) {
        return Err(BadAnswer::Control);
    }
    Ok(Opinion { answer, reason: visible(&reason, REASON_CHARS_MAX) })
}

/// Returns the first `chars` characters, with an ellipsis if there are more. Invisible ones are escaped.
pub(crate) fn visible(text: &str, chars: usize) -> String {
    let mut shown = String::new();
    for c in text.chars().take(chars) {
        if is_invisible(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    if text.chars().nth(chars).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the text within a Markdown code fence around the whole text; else the text.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let lines = inner.and_then(|inner| inner.split_once('\n'));
    match lines {
        Some((language, object)) if matches!(language.trim(), "" | "json") => object.trim(),
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_format_is_an_answer() {
        use Answer::{Allow, Deny, Unsure};
        let long = format!(r#"{{"answer":"allow","reason":"{}"}}"#, "x".repeat(ANSWER_BYTES_MAX));
        let deep = "[".repeat(ANSWER_BYTES_MAX);
        let keyed = format!(r#"{{"answer":{deep}"#);
        for (text, expected) in [
            (r#"{"answer":"allow","reason":"asked"}"#, Ok(Allow)),
            (r#" {"reason":"", "answer":"deny"} "#, Ok(Deny)),
            ("```json\n{\"answer\":\"unsure\",\"reason\":\"r\"}\n```", Ok(Unsure)),
            ("```\n{\"answer\":\"allow\",\"reason\":\"r\"}```\n", Ok(Allow)),
            (r#"{"\u0061nswer":"allow","reason":"r"}"#, Ok(Allow)),
            ("", Err(BadAnswer::NotJson)),
            ("allow", Err(BadAnswer::NotJson)),
            (r#""allow""#, Err(BadAnswer::NotJson)),
            (r#"["allow","r"]"#, Err(BadAnswer::NotJson)),
            (r#"Sure! {"answer":"allow","reason":"r"}"#, Err(BadAnswer::NotJson)),
            (r#"{"answer":"allow","reason":"r"} Done."#, Err(BadAnswer::NotJson)),
            (r#"{"answer":"allow","reason":"r"}{"answer":"deny","reason":"r"}"#, Err(BadAnswer::NotJson)),
            ("```json\n{\"answer\":\"allow\",\"reason\":\"r\"}", Err(BadAnswer::NotJson)),
            ("```sh\n{\"answer\":\"allow\",\"reason\":\"r\"}\n```", Err(BadAnswer::NotJson)),
            ("```\n{\"answer\":\"allow\",\"reason\":\"r\"}\n```\n```\n{}\n```", Err(BadAnswer::NotJson)),
            (r#"{"answer":"allow","reason":"r""#, Err(BadAnswer::NotJson)),
            (r#"{'answer':'allow','reason':'r'}"#, Err(BadAnswer::NotJson)),
            ("{\"answer\":\"allow\",\"reason\":\"a\nb\"}", Err(BadAnswer::NotJson)),
            (r#"{"answer":"allow"}"#, Err(BadAnswer::Keys)),
            (r#"{"reason":"allow"}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":"allow","reason":"r","note":""}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":"deny","reason":"r","answer":"allow"}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":"deny","\u0061nswer":"allow","reason":"r"}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":"deny","reason":"r","reason":"s"}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":true,"reason":"r"}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":"allow","reason":["r"]}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":null,"reason":"r"}"#, Err(BadAnswer::Keys)),
            (r#"{"answer":"Allow","reason":"r"}"#, Err(BadAnswer::Word)),
            (r#"{"answer":"allow ","reason":"r"}"#, Err(BadAnswer::Word)),
            (r#"{"answer":"ask","reason":"r"}"#, Err(BadAnswer::Word)),
            (r#"{"answer":"allow","reason":"a\nb"}"#, Err(BadAnswer::Control)),
            (r#"{"answer":"allow","reason":"\u001b[2J"}"#, Err(BadAnswer::Control)),
            (long.as_str(), Err(BadAnswer::TooLong)),
            (deep.as_str(), Err(BadAnswer::NotJson)),
            (keyed.get(..ANSWER_BYTES_MAX).unwrap(), Err(BadAnswer::Keys)),
        ] {
            assert_eq!(read_answer(text).map(|opinion| opinion.answer), expected, "{text}");
        }
    }

    #[test]
    fn a_reason_is_visible_and_short() {
        let reason = |text: &str| {
            let answer = format!(r#"{{"answer":"allow","reason":"{text}"}}"#);
            read_answer(&answer).unwrap().reason
        };
        assert_eq!(reason("a\u{202e}b"), "a\\u{202e}b");
        let longest = "é".repeat(REASON_CHARS_MAX);
        assert_eq!(reason(&longest), longest);
        assert_eq!(reason(&format!("{longest}é")), format!("{longest}…"));
    }

    #[test]
    fn the_length_limit_is_exact() {
        let answer = r#"{"answer":"allow","reason":"r"}"#;
        let padded = |bytes: usize| format!("{answer}{}", " ".repeat(bytes - answer.len()));
        assert!(read_answer(&padded(ANSWER_BYTES_MAX)).is_ok());
        assert_eq!(read_answer(&padded(ANSWER_BYTES_MAX + 1)), Err(BadAnswer::TooLong));
    }
}
