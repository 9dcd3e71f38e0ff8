//! [`Request`]: the text that a model gets. The instructions are a file of this crate; the evidence is one JSON
//! document. No text of the evidence can leave the quotes of its JSON string, and none can form a token of a chat
//! template.

use std::io::{self, Write};

use castellan_event::is_invisible;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::evidence::{Evidence, Prompt};
use crate::limits::{
    CALL_BYTES_MAX, FINDING_BYTES_MAX, FINDINGS_MAX, MARK_BYTES_MAX, MARKS_MAX, PROMPT_BYTES_MAX,
    PROMPTS_BYTES_MAX, PROMPTS_MAX,
};

/// Version of the instructions. Each change of the file needs a new version, because cached opinions name it.
pub const PROMPT_VERSION: u32 = 2;

const INSTRUCTIONS: &str = include_str!("../prompts/v2.md");

/// The text of one review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The instructions, equal for all reviews.
    pub instructions: &'static str,
    /// The evidence: one JSON document on one line.
    pub document: String,
}

/// A quoted text.
#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
    cut: bool,
}

#[derive(Serialize)]
struct PromptPart<'a> {
    age_s: u64,
    #[serde(flatten)]
    part: Part<'a>,
}

#[derive(Serialize)]
struct FindingPart<'a> {
    rule: Part<'a>,
    message: Part<'a>,
}

#[derive(Serialize)]
struct Document<'a> {
    prompts: Vec<PromptPart<'a>>,
    prompts_left_out: usize,
    call: Part<'a>,
    findings: Vec<FindingPart<'a>>,
    findings_left_out: usize,
    marks: Vec<Part<'a>>,
    marks_left_out: usize,
}

impl Request {
    /// Writes the request about the evidence. The newest prompts come first where not all have room.
    pub fn about(evidence: &Evidence) -> Request {
        let prompts = newest(&evidence.prompts);
        let findings = evidence.findings.iter().take(FINDINGS_MAX).map(|finding| FindingPart {
            rule: Part::of(&finding.rule, FINDING_BYTES_MAX),
            message: Part::of(&finding.message, FINDING_BYTES_MAX),
        });
        let marks = evidence.marks.iter().take(MARKS_MAX);
        let document = Document {
            prompts_left_out: evidence.prompts.len() - prompts.len(),
            prompts,
            call: Part::of(&evidence.call, CALL_BYTES_MAX),
            findings: findings.collect(),
            findings_left_out: evidence.findings.len().saturating_sub(FINDINGS_MAX),
            marks: marks.map(|mark| Part::of(mark, MARK_BYTES_MAX)).collect(),
            marks_left_out: evidence.marks.len().saturating_sub(MARKS_MAX),
        };
        Request { instructions: INSTRUCTIONS, document: quoted(&document) }
    }

    /// Returns the bytes of both texts.
    pub fn bytes(&self) -> usize {
        self.instructions.len() + self.document.len()
    }
}

impl<'a> Part<'a> {
    fn of(text: &'a str, bytes: usize) -> Part<'a> {
        let end = text.floor_char_boundary(bytes);
        Part { text: text.get(..end).unwrap_or_default(), cut: end < text.len() }
    }
}

/// Returns the newest prompts that have room together, oldest first.
fn newest(prompts: &[Prompt]) -> Vec<PromptPart<'_>> {
    let mut left = PROMPTS_BYTES_MAX;
    let mut parts = Vec::new();
    for prompt in prompts.iter().rev().take(PROMPTS_MAX) {
        let part = Part::of(&prompt.text, PROMPT_BYTES_MAX);
        // A prompt in part could lack the word that decides, so it is left out with all older ones.
        let Some(rest) = left.checked_sub(part.text.len()) else { break };
        left = rest;
        parts.push(PromptPart { age_s: prompt.age_s, part });
    }
    parts.reverse();
    parts
}

/// Writes a value as JSON. Writing to memory does not fail, and the types above have no value that JSON lacks. A
/// failure would leave an incomplete document, which the model cannot take for evidence.
fn quoted(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Quoting));
    String::from_utf8(bytes).unwrap_or_default()
}

/// Compact JSON. Escapes more than JSON demands: characters of chat templates (`<|im_start|>`, `[INST]`, fences), since
/// some servers look for these tokens in the text of a message, and characters that a person does not see.
struct Quoting;

impl Formatter for Quoting {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        for c in text.chars() {
            let mut buffer = [0; 2];
            if matches!(c, '<' | '>' | '[' | ']' | '|' | '`') || is_invisible(c) {
                for unit in c.encode_utf16(&mut buffer) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            } else {
                write!(writer, "{c}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::evidence::Finding;

    fn document(evidence: &Evidence) -> Value {
        serde_json::from_str(&Request::about(evidence).document).unwrap()
    }

    fn prompt(text: &str) -> Prompt {
        Prompt { text: text.to_owned(), age_s: 1 }
    }

    /// Returns a field of the document, and a flag beside it.
    fn at<'a>(document: &'a Value, pointer: &str) -> &'a Value {
        document.pointer(pointer).unwrap()
    }

    #[test]
    fn the_instructions_are_those_of_the_version() {
        let known = "6d612c8be62ef459ba2160ce673b334edcbe1ffb18b409922d6e6b7013fc8bd1";
        assert_eq!(castellan_event::sha256_hex(INSTRUCTIONS), known, "new text: a new version and file");
        assert_eq!(PROMPT_VERSION, 2);
    }

    #[test]
    fn the_document_is_small_and_plain() {
        let evidence = Evidence {
            prompts: vec![prompt("Push <main>, \"now\"\n")],
            call: "mutate git push origin/main".to_owned(),
            findings: vec![Finding { rule: "Ask before a push".to_owned(), message: "m".to_owned() }],
            marks: vec!["web".to_owned()],
        };
        let expected = concat!(
            r#"{"prompts":[{"age_s":1,"text":"Push \u003cmain\u003e, \"now\"\n","cut":false}],"#,
            r#""prompts_left_out":0,"#,
            r#""call":{"text":"mutate git push origin/main","cut":false},"#,
            r#""findings":[{"rule":{"text":"Ask before a push","cut":false},"message":{"text":"m","cut":false}}],"#,
            r#""findings_left_out":0,"marks":[{"text":"web","cut":false}],"marks_left_out":0}"#,
        );
        assert_eq!(Request::about(&evidence).document, expected);
    }

    #[test]
    fn no_text_forms_a_token_of_a_template() {
        for token in ["<|im_start|>system", "[INST]", "</s>", "```", "\u{202e}x", "\u{e0041}", "\u{7f}"] {
            let evidence = Evidence { prompts: vec![prompt(token)], ..Evidence::default() };
            let request = Request::about(&evidence);
            assert!(!request.document.contains(token), "{}", request.document);
            assert_eq!(at(&document(&evidence), "/prompts/0/text"), token);
        }
    }

    #[test]
    fn each_text_is_cut_at_its_limit() {
        let long = |bytes: usize| "x".repeat(bytes);
        let with = |bytes: [usize; 5]| Evidence {
            prompts: vec![prompt(&long(bytes[0]))],
            call: long(bytes[1]),
            findings: vec![Finding { rule: long(bytes[2]), message: long(bytes[3]) }],
            marks: vec![long(bytes[4])],
        };
        let most = [PROMPT_BYTES_MAX, CALL_BYTES_MAX, FINDING_BYTES_MAX, FINDING_BYTES_MAX, MARK_BYTES_MAX];
        let places = ["/prompts/0", "/call", "/findings/0/rule", "/findings/0/message", "/marks/0"];
        for (place, bytes) in places.into_iter().zip(most) {
            for (over, is_cut) in [(0, false), (1, true)] {
                let document = document(&with(most.map(|bytes| bytes + over)));
                assert_eq!(at(&document, &format!("{place}/cut")), is_cut, "{place}");
                assert_eq!(at(&document, &format!("{place}/text")).as_str().unwrap().len(), bytes);
            }
        }
        let evidence = Evidence { call: "é".repeat(CALL_BYTES_MAX), ..Evidence::default() };
        assert_eq!(at(&document(&evidence), "/call/text").as_str().unwrap().len(), CALL_BYTES_MAX);
    }

    #[test]
    fn what_is_left_out_is_counted_and_the_newest_prompts_stay() {
        let check = |prompts: Vec<Prompt>, first: &str, left_out: usize| {
            let document = document(&Evidence { prompts, ..Evidence::default() });
            assert!(at(&document, "/prompts/0/text").as_str().unwrap().starts_with(first));
            assert_eq!(at(&document, "/prompts_left_out"), left_out);
        };
        let numbered = |count: usize| (0..count).map(|n| prompt(&format!("p{n}"))).collect();
        check(numbered(PROMPTS_MAX), "p0", 0);
        check(numbered(PROMPTS_MAX + 1), "p1", 1);
        let large = |n: u8| prompt(&char::from(n).to_string().repeat(PROMPT_BYTES_MAX));
        let fit = PROMPTS_BYTES_MAX / PROMPT_BYTES_MAX;
        check((b'a'..).take(fit).map(large).collect(), "a", 0);
        check((b'a'..).take(fit + 2).map(large).collect(), "c", 2);

        let evidence = Evidence {
            findings: vec![Finding::default(); FINDINGS_MAX + 2],
            marks: vec![String::new(); MARKS_MAX + 3],
            ..Evidence::default()
        };
        let document = document(&evidence);
        assert_eq!(at(&document, "/findings").as_array().unwrap().len(), FINDINGS_MAX);
        assert_eq!(at(&document, "/findings_left_out"), 2);
        assert_eq!(at(&document, "/marks").as_array().unwrap().len(), MARKS_MAX);
        assert_eq!(at(&document, "/marks_left_out"), 3);
    }
}
