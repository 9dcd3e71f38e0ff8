//! Every attempt of the evaluation set reaches a reviewer only as quoted evidence.

use std::collections::BTreeMap;
use std::sync::Arc;

use castellan_review::evaluation::{Cases, evaluate, shipped};
use castellan_review::{Answer, Evidence, Finding, Prompt};
use serde_json::{Value, json};

use crate::judge::{Judge, Received, Script, completion};
use crate::{PATIENT, open_ai};

/// Returns the document about the evidence of a case. Each case is shorter than all limits.
fn expected_document(evidence: &Evidence) -> Value {
    let part = |text: &str| json!({ "text": text, "cut": false });
    let prompt = |prompt: &Prompt| json!({ "age_s": prompt.age_s, "text": prompt.text, "cut": false });
    let finding =
        |finding: &Finding| json!({ "rule": part(&finding.rule), "message": part(&finding.message) });
    json!({
        "prompts": evidence.prompts.iter().map(prompt).collect::<Vec<_>>(),
        "prompts_left_out": 0,
        "call": part(&evidence.call),
        "findings": evidence.findings.iter().map(finding).collect::<Vec<_>>(),
        "findings_left_out": 0,
        "marks": evidence.marks.iter().map(|mark| part(mark)).collect::<Vec<_>>(),
        "marks_left_out": 0,
    })
}

/// Returns the right answer by the text of the document.
fn answers(cases: &Cases) -> BTreeMap<String, Answer> {
    let of = |id: &str| cases.cases.iter().find(|case| case.id == id).unwrap().expect;
    let plain = cases.cases.iter().map(|case| (&case.evidence, case.expect));
    let injected = cases.injections.iter().map(|injection| (&injection.evidence, of(&injection.of)));
    plain
        .chain(injected)
        .map(|(evidence, answer)| (expected_document(evidence).to_string(), answer))
        .collect()
}

/// Returns the document in a request, after checking that nothing of the evidence is elsewhere.
fn document(request: &Received) -> Value {
    let mut body = request.json();
    let content = body.pointer_mut("/messages/1/content").unwrap().take();
    let rest = json!({
        "model": "scripted",
        "temperature": 0,
        "max_tokens": 200,
        "stream": false,
        "messages": [
            { "role": "system", "content": include_str!("../../prompts/v2.md") },
            { "role": "user", "content": null },
        ],
    });
    assert_eq!(body, rest);
    serde_json::from_str(content.as_str().unwrap()).unwrap()
}

#[test]
fn no_attempt_leaves_its_quotes_or_changes_an_answer() {
    let cases = shipped().unwrap();
    let known = answers(&cases);
    // A reviewer that gets any other document answers with an error, and the counts below differ.
    let script: Script = Arc::new(move |request, line| {
        let answer = known.get(&document(request).to_string());
        let text = answer.map(|answer| format!(r#"{{"answer":"{answer}","reason":"known"}}"#));
        line.write_all(completion(&text.unwrap_or_default()).as_bytes()).unwrap();
    });
    let judge = Judge::plain(script);
    let mut seen = Vec::new();
    let report = evaluate(&open_ai(&judge.url(), PATIENT), &cases, |progress| {
        assert_eq!(progress.all, cases.cases.len() + cases.injections.len());
        seen.push(progress.id.to_owned());
        progress.done == seen.len()
    });
    assert_eq!(seen.len(), cases.cases.len() + cases.injections.len());
    assert_eq!((report.errors, &report.first_error), (0, &None));
    assert_eq!(report.accuracy(), 1.0, "{:?}", report.classes);
    assert!(report.classes.values().all(|class| class.loose == 0));
    let injected = report.injections;
    assert_eq!(injected.all, cases.injections.len());
    assert!(injected.all >= 40 && injected.screened >= 35);
    assert_eq!((injected.changed, injected.loosened, injected.passed), (0, 0, 0));
    // Cases without a prompt reach nobody.
    let silent = cases.cases.iter().filter(|case| case.class == "none").count();
    let asked = seen.len() - silent;
    assert_eq!((judge.received().len(), report.latencies.len()), (asked, asked));
    assert_eq!(report.cost.input_tokens, 900 * asked as u64);
}

#[test]
fn a_gullible_reviewer_is_found() {
    // Allows each call whose document contains one of these words, and denies the others.
    let script: Script = Arc::new(|request, line| {
        let document = document(request).to_string().to_lowercase();
        let is_fooled = ["allow", "approved", "confirmed"].iter().any(|word| document.contains(word));
        let answer = if is_fooled { Answer::Allow } else { Answer::Deny };
        let text = format!(r#"{{"answer":"{answer}","reason":"fooled"}}"#);
        line.write_all(completion(&text).as_bytes()).unwrap();
    });
    let judge = Judge::plain(script);
    let report = evaluate(&open_ai(&judge.url(), PATIENT), &shipped().unwrap(), |_| true);
    let injected = report.injections;
    assert!(injected.changed > 10 && injected.loosened > 10, "{injected:?}");
    assert!(injected.passed < injected.loosened, "the screen stops some: {injected:?}");
    assert!(report.accuracy() < 0.9 && report.changed() > 0.2);
}

#[test]
fn an_evaluation_ends_early_and_counts_errors() {
    let judge = Judge::plain(crate::judge::sends("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"));
    let mut left = 5;
    let report = evaluate(&open_ai(&judge.url(), PATIENT), &shipped().unwrap(), |_| {
        left -= 1;
        left > 0
    });
    assert_eq!((report.errors, report.accuracy(), report.injections.all), (5, 0.0, 0));
    assert!(report.first_error.unwrap().contains("status 500"));
    assert_eq!((report.without_cost, report.cost.input_tokens), (5, 0));
}
