//! [`Check`]: the result of one check of the installation, with its remedy. It must not know how it is shown.

use serde_json::{Value as Json, json};

use crate::output::{BAD, GOOD, Style, WARN};

/// The state of a checked thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Good,
    Doubtful,
    /// With it, castellan does not protect, or only denies everything.
    Bad,
}

impl Outcome {
    /// Returns the word, mark and colour.
    pub(crate) fn shown(self) -> (&'static str, &'static str, Style) {
        match self {
            Outcome::Good => ("good", "✓", GOOD),
            Outcome::Doubtful => ("doubtful", "!", WARN),
            Outcome::Bad => ("bad", "✗", BAD),
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) outcome: Outcome,
    pub(crate) subject: String,
    pub(crate) what: String,
    /// The remedy; empty if none is needed.
    pub(crate) remedy: String,
}

impl Check {
    pub(crate) fn good(subject: &str, what: impl Into<String>) -> Check {
        let (subject, what) = (subject.to_owned(), what.into());
        Check { outcome: Outcome::Good, subject, what, remedy: String::new() }
    }

    pub(crate) fn doubtful(subject: &str, what: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { outcome: Outcome::Doubtful, remedy: remedy.into(), ..Check::good(subject, what) }
    }

    pub(crate) fn bad(subject: &str, what: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { outcome: Outcome::Bad, ..Check::doubtful(subject, what, remedy) }
    }

    pub(crate) fn json(&self) -> Json {
        let (word, ..) = self.outcome.shown();
        json!({ "outcome": word, "subject": self.subject, "what": self.what, "remedy": self.remedy })
    }
}
