//! Reviews against a scripted reviewer on loopback, and against local programs.
#![cfg(test)]

mod command;
mod http;
mod injections;
mod judge;
mod properties;
mod tls;

use std::time::Duration;

use castellan_review::{
    Answer, Endpoint, Evidence, Fault, Finding, Limits, Prompt, Provider, Reviewed, Reviewer, Roots,
};

/// A limit that a busy machine keeps for an answer from loopback.
const PATIENT: Duration = Duration::from_secs(20);

/// A limit for a reviewer that does not answer in time.
const SHORT: Duration = Duration::from_millis(300);

fn evidence() -> Evidence {
    let message = "this puts commits where others see them".to_owned();
    Evidence {
        prompts: vec![Prompt { text: "Push \"main\" now".to_owned(), age_s: 3 }],
        call: "mutate git push origin main".to_owned(),
        findings: vec![Finding { rule: "Ask before pushing".to_owned(), message }],
        marks: Vec::new(),
    }
}

fn limits(time: Duration) -> Limits {
    Limits { time, ..Limits::default() }
}

fn open_ai(url: &str, time: Duration) -> Reviewer {
    let endpoint = Endpoint::new(url, "scripted", None, Roots::Mozilla).unwrap();
    Reviewer::new(Provider::OpenAi(endpoint), limits(time))
}

/// Returns the fault of a review.
fn fault(reviewed: &Reviewed) -> &Fault {
    assert_eq!(reviewed.answer(), Answer::Unsure, "an error is never an answer");
    &reviewed.opinion.as_ref().unwrap_err().fault
}
