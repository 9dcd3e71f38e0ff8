//! The answer of a reviewer, and the evidence for one.

use castellan_event::is_invisible;
use castellan_review::{Evidence, Finding, Prompt, Request, read_answer, suspicious};
use serde_json::Value;

/// Reads an answer, and quotes the lines of the text as evidence. An answer has a visible reason. The document contains
/// the evidence unchanged up to its limits.
pub fn review(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(opinion) = read_answer(text) {
        assert!(!opinion.reason.contains(is_invisible), "{:?}", opinion.reason);
    }
    let mut parts = text.splitn(5, '\n');
    let [prompt, rule, message, mark, call] = [(); 5].map(|()| parts.next().unwrap_or_default().to_owned());
    let evidence = Evidence {
        prompts: vec![Prompt { text: prompt.clone(), age_s: 1 }],
        call: call.clone(),
        findings: vec![Finding { rule: rule.clone(), message: message.clone() }],
        marks: vec![mark.clone()],
    };
    let _ = suspicious(&evidence);
    let request = Request::about(&evidence);
    assert!(!request.document.contains(is_invisible), "{}", request.document);
    let document: Value = serde_json::from_str(&request.document).unwrap_or_default();
    for (pointer, text) in [
        ("/prompts/0", prompt),
        ("/findings/0/rule", rule),
        ("/findings/0/message", message),
        ("/marks/0", mark),
        ("/call", call),
    ] {
        let part = document.pointer(pointer).unwrap_or(&Value::Null);
        let quoted = part.get("text").and_then(Value::as_str);
        let is_cut = part.get("cut") == Some(&Value::Bool(true));
        let is_whole =
            quoted.is_some_and(|quoted| if is_cut { text.starts_with(quoted) } else { text == quoted });
        assert!(is_whole, "{pointer}: {}", request.document);
    }
}
