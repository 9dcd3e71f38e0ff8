//! Laws for any text.

use castellan_review::{Evidence, Finding, Prompt, Request, read_answer, suspicious};
use proptest::prelude::*;
use serde_json::Value;

/// Any characters, and many that JSON, Markdown or chat templates use.
fn text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        "\"", "\\", "\\\"", "\n", "\r", "\0", "\u{1b}", "{", "}", "[", "]", ",", ":", "`", "<|", "|>",
        "\\u0022", "\u{2028}", "\u{202e}", "\u{feff}", "\u{fffd}", "\"}]}", "allow", "%22",
    ]);
    let one = prop_oneof![special.prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    prop::collection::vec(one, 0..40).prop_map(|parts| parts.concat())
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let prompts = prop::collection::vec((text(), any::<u64>()), 0..4);
    let findings = prop::collection::vec((text(), text()), 0..4);
    (prompts, text(), findings, prop::collection::vec(text(), 0..4)).prop_map(
        |(prompts, call, findings, marks)| Evidence {
            prompts: prompts.into_iter().map(|(text, age_s)| Prompt { text, age_s }).collect(),
            call,
            findings: findings.into_iter().map(|(rule, message)| Finding { rule, message }).collect(),
            marks,
        },
    )
}

/// Returns each text of a document, in the order of the evidence.
fn texts(document: &Value) -> Vec<&str> {
    let list = |key: &str| document[key].as_array().unwrap().iter();
    let of = |part: &'_ Value| part["text"].as_str().is_some();
    let findings = list("findings").flat_map(|finding| [&finding["rule"], &finding["message"]]);
    let parts: Vec<&Value> =
        list("prompts").chain([&document["call"]]).chain(findings).chain(list("marks")).collect();
    assert!(parts.iter().all(|part| of(part)));
    parts.into_iter().map(|part| part["text"].as_str().unwrap()).collect()
}

proptest! {
    #[test]
    fn evidence_stays_in_its_quotes(evidence in evidence()) {
        let request = Request::about(&evidence);
        let document: Value = serde_json::from_str(&request.document).unwrap();
        let findings = evidence.findings.iter().flat_map(|finding| [&finding.rule, &finding.message]);
        let prompts = evidence.prompts.iter().map(|prompt| &prompt.text);
        let expected: Vec<&String> = prompts.chain([&evidence.call]).chain(findings).chain(&evidence.marks).collect();
        prop_assert_eq!(texts(&document), expected);
        prop_assert_eq!(document.as_object().unwrap().len(), 7);
        prop_assert!(!request.document.contains(['<', '>', '|', '`', '\n']));
        prop_assert_eq!(request.document.chars().find(|c| castellan_event::is_invisible(*c)), None);
    }

    #[test]
    fn the_screen_takes_any_text(evidence in evidence()) {
        let _ = suspicious(&evidence);
    }

    #[test]
    fn an_answer_that_is_read_is_the_one_that_was_written(word in "[a-z]{1,8}", reason in text()) {
        let text = serde_json::json!({ "answer": word, "reason": reason }).to_string();
        if let Ok(opinion) = read_answer(&text) {
            prop_assert_eq!(opinion.answer.as_str(), word);
            prop_assert!(!opinion.reason.contains(castellan_event::is_invisible));
        }
    }

    #[test]
    fn the_reader_takes_any_text(text in text()) {
        let _ = read_answer(&text);
    }
}
