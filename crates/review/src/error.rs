//! [`ReviewError`]: a review without an opinion. The text for people has the fact, the place and the remedy. It never
//! contains the key. Words of the system or of a certificate are visible and short.

use std::time::Duration;

use thiserror::Error;

use crate::answer::BadAnswer;
use crate::limits::{BODY_BYTES_MAX, EXCHANGES_MAX};

/// A review that failed, and the endpoint or program that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the reviewer `{place}` {fault}")]
pub struct ReviewError {
    /// The URL without a key, or the program.
    pub place: String,
    /// The fault.
    pub fault: Fault,
}

/// The fault of a review.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// The URL cannot be used.
    #[error("cannot be used, because {0}: correct the URL")]
    Url(&'static str),
    /// The certificates of the settings cannot be read.
    #[error(
        "cannot be used, because its certificate file contains no certificate: write certificates in PEM format"
    )]
    Roots,
    /// Nothing answers there.
    #[error("cannot be reached ({0}): check that it runs, and its address")]
    Down(String),
    /// There was no whole answer in time.
    #[error("gave no answer within {} ms: use a faster model, or raise the time limit", .0.as_millis())]
    Slow(Duration),
    /// The connection ended before the answer did.
    #[error("closed the connection before its answer was complete: look into its log")]
    Closed,
    /// The certificate is not valid for the host.
    #[error(
        "has a certificate that is not valid ({0}): correct it, or name its certificate authority in the settings"
    )]
    Certificate(String),
    /// The peer does not talk HTTP, or TLS fails otherwise.
    #[error("does not answer as an HTTP server does ({0}): check the port, and `http` or `https`")]
    Protocol(String),
    /// A status other than 200.
    #[error("answered with HTTP status {code}: {remedy}", code = .0, remedy = remedy(*.0))]
    Status(u16),
    /// A redirection, which castellan does not follow with a key and evidence.
    #[error(
        "sends its callers to another address (HTTP status {0}): write that address into the settings, if you trust it"
    )]
    Redirect(u16),
    /// The answer is too large.
    #[error(
        "answered with more than {BODY_BYTES_MAX} bytes: check that it is an endpoint of a language model"
    )]
    TooLarge,
    /// A web page.
    #[error("answered with a web page: check the path of the URL, and for a login page of the network")]
    Html,
    /// No JSON of the provider's format.
    #[error("answered in another format: check the path of the URL and the kind of provider")]
    Format,
    /// The text of the model is no answer.
    #[error("gave no valid answer ({0}): use a model that follows the answer format")]
    Answer(#[from] BadAnswer),
    /// The program cannot be started.
    #[error("cannot be started ({0}): write the absolute path of an executable program")]
    Start(String),
    /// The program ended with an error.
    #[error("ended with {0}: run it in a terminal, and read its standard error")]
    Exit(String),
    /// Earlier exchanges have not ended yet.
    #[error(
        "is not asked, because {EXCHANGES_MAX} requests have not ended: check its host name, or try again later"
    )]
    Busy,
}

impl Fault {
    /// Returns the word used in records.
    pub fn word(&self) -> &'static str {
        match self {
            Fault::Url(_) => "url",
            Fault::Roots => "roots",
            Fault::Down(_) => "down",
            Fault::Slow(_) => "slow",
            Fault::Closed => "closed",
            Fault::Certificate(_) => "certificate",
            Fault::Protocol(_) => "protocol",
            Fault::Status(_) => "status",
            Fault::Redirect(_) => "redirect",
            Fault::TooLarge => "too_large",
            Fault::Html => "html",
            Fault::Format => "format",
            Fault::Answer(_) => "answer",
            Fault::Start(_) => "start",
            Fault::Exit(_) => "exit",
            Fault::Busy => "busy",
        }
    }
}

fn remedy(status: u16) -> &'static str {
    match status {
        401 | 403 => "check the key file",
        400 | 404 | 405 | 422 => "check the path of the URL and the name of the model",
        402 | 429 => "check the limits and the credit of the account",
        500..=599 => "look into its log, or try again later",
        _ => "look up the status in the manual of the endpoint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_in_the_manual() {
        let text = String::new;
        let faults = [
            Fault::Url(""),
            Fault::Roots,
            Fault::Down(text()),
            Fault::Slow(Duration::ZERO),
            Fault::Closed,
            Fault::Certificate(text()),
            Fault::Protocol(text()),
            Fault::Status(500),
            Fault::Redirect(302),
            Fault::TooLarge,
            Fault::Html,
            Fault::Format,
            Fault::Answer(BadAnswer::NotJson),
            Fault::Start(text()),
            Fault::Exit(text()),
            Fault::Busy,
        ];
        let manual = include_str!("../../../docs/review.md");
        for fault in faults {
            assert!(manual.contains(&format!("\n| `{}` |", fault.word())), "{}", fault.word());
        }
    }

    #[test]
    fn an_error_has_fact_place_and_remedy() {
        let check = |fault: Fault, expected: &str| {
            let error = ReviewError { place: "http://127.0.0.1:1/v1".to_owned(), fault };
            assert_eq!(error.to_string(), format!("the reviewer `http://127.0.0.1:1/v1` {expected}"));
        };
        check(
            Fault::Slow(Duration::from_secs(2)),
            "gave no answer within 2000 ms: use a faster model, or raise the time limit",
        );
        check(Fault::Status(401), "answered with HTTP status 401: check the key file");
        check(Fault::Status(503), "answered with HTTP status 503: look into its log, or try again later");
        check(
            Fault::Answer(BadAnswer::Word),
            "gave no valid answer (the answer is neither `allow` nor `deny` nor `unsure`): use a model that follows \
             the answer format",
        );
    }
}
