//! [`Cases`]: the evaluation set, in the files of `evaluation/`.

use serde::Deserialize;
use thiserror::Error;

use crate::answer::Answer;
use crate::evidence::{Evidence, Finding, Prompt};

/// The classes of cases, and their files.
const CLASSES: &[(&str, &str)] = &[
    ("clear", include_str!("../../evaluation/clear.toml")),
    ("step", include_str!("../../evaluation/step.toml")),
    ("scope", include_str!("../../evaluation/scope.toml")),
    ("none", include_str!("../../evaluation/none.toml")),
    ("contradiction", include_str!("../../evaluation/contradiction.toml")),
    ("negation", include_str!("../../evaluation/negation.toml")),
    ("old", include_str!("../../evaluation/old.toml")),
    ("opaque", include_str!("../../evaluation/opaque.toml")),
    ("self_confirmed", include_str!("../../evaluation/self_confirmed.toml")),
];

const INJECTIONS: &str = include_str!("../../evaluation/injections.toml");

/// Cases and attempts to steer the reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cases {
    /// The cases.
    pub cases: Vec<Case>,
    /// The attempts.
    pub injections: Vec<Injection>,
}

/// A call with its right answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// Its class.
    pub class: &'static str,
    /// The evidence.
    pub evidence: Evidence,
    /// The right answer.
    pub expect: Answer,
}

/// A case with text that tries to steer the reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// Its name.
    pub id: String,
    /// The case without the text, which has the right answer.
    pub of: String,
    /// The field that has the text.
    pub field: Field,
    /// The evidence with the text.
    pub evidence: Evidence,
}

/// A field of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// The effects.
    Call,
    /// The message of a finding.
    Finding,
    /// A mark.
    Mark,
    /// The newest prompt, with text that the user copied.
    Prompt,
}

/// An evaluation set that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CaseError {
    /// A file has another format.
    #[error("evaluation set: {0}")]
    Format(String),
    /// An attempt names no case, or text that its case has not exactly once.
    #[error("injection `{0}`: its case is not there, or does not contain `old` exactly once")]
    Injection(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    case: Vec<RawCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    id: String,
    /// Age in seconds and text.
    prompts: Vec<(u64, String)>,
    call: String,
    /// Rule and message.
    findings: Vec<(String, String)>,
    #[serde(default)]
    marks: Vec<String>,
    expect: Answer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InjectionFile {
    injection: Vec<RawInjection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInjection {
    id: String,
    of: String,
    field: Field,
    #[serde(default)]
    old: String,
    new: String,
}

/// Reads the evaluation set of this version.
///
/// # Errors
/// [`CaseError`] if a file of the set has another format.
pub fn shipped() -> Result<Cases, CaseError> {
    let mut cases = Vec::new();
    for (class, text) in CLASSES {
        let file: CaseFile = parse(text)?;
        cases.extend(file.case.into_iter().map(|raw| raw.case(class)));
    }
    let file: InjectionFile = parse(INJECTIONS)?;
    let of = |raw: RawInjection| {
        let case = cases.iter().find(|case| case.id == raw.of);
        let evidence = case.and_then(|case| raw.inject(&case.evidence));
        let evidence = evidence.ok_or_else(|| CaseError::Injection(raw.id.clone()))?;
        Ok(Injection { id: raw.id, of: raw.of, field: raw.field, evidence })
    };
    let injections = file.injection.into_iter().map(of).collect::<Result<_, _>>()?;
    Ok(Cases { cases, injections })
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, CaseError> {
    toml::from_str(text).map_err(|error| CaseError::Format(error.to_string()))
}

impl RawCase {
    fn case(self, class: &'static str) -> Case {
        let prompt = |(age_s, text)| Prompt { text, age_s };
        let finding = |(rule, message)| Finding { rule, message };
        let evidence = Evidence {
            prompts: self.prompts.into_iter().map(prompt).collect(),
            call: self.call,
            findings: self.findings.into_iter().map(finding).collect(),
            marks: self.marks,
        };
        Case { id: self.id, class, evidence, expect: self.expect }
    }
}

impl RawInjection {
    /// Returns the evidence with the text; none if the field is not there, or has `old` not exactly once.
    fn inject(&self, evidence: &Evidence) -> Option<Evidence> {
        let mut evidence = evidence.clone();
        match self.field {
            Field::Call => self.put(&mut evidence.call, "\n")?,
            Field::Finding => self.put(&mut evidence.findings.first_mut()?.message, "")?,
            Field::Mark => evidence.marks.push(self.new.clone()),
            Field::Prompt => self.put(&mut evidence.prompts.last_mut()?.text, "")?,
        }
        Some(evidence)
    }

    fn put(&self, text: &mut String, separator: &str) -> Option<()> {
        if self.old.is_empty() {
            text.push_str(separator);
            text.push_str(&self.new);
            return Some(());
        }
        (text.matches(&self.old).count() == 1).then(|| *text = text.replace(&self.old, &self.new))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::screen::suspicious;

    #[test]
    fn the_set_covers_every_class_answer_and_field() {
        let Cases { cases, injections } = shipped().unwrap();
        assert!(cases.len() >= 60 && injections.len() >= 40, "{} {}", cases.len(), injections.len());
        let ids = cases.iter().map(|case| &case.id).chain(injections.iter().map(|injection| &injection.id));
        let unique: BTreeSet<&String> = ids.collect();
        assert_eq!(unique.len(), cases.len() + injections.len());
        let answers: BTreeSet<Answer> = cases.iter().map(|case| case.expect).collect();
        assert_eq!(answers, BTreeSet::from(Answer::ALL));
        for (class, _) in CLASSES {
            assert!(cases.iter().filter(|case| case.class == *class).count() >= 5, "{class}");
        }
        for field in [Field::Call, Field::Finding, Field::Mark, Field::Prompt] {
            assert!(injections.iter().filter(|injection| injection.field == field).count() >= 6, "{field:?}");
        }
    }

    #[test]
    fn the_screen_stops_no_case_and_most_attempts() {
        let Cases { cases, injections } = shipped().unwrap();
        let stopped: Vec<&Case> = cases.iter().filter(|case| suspicious(&case.evidence).is_some()).collect();
        assert_eq!(stopped, Vec::<&Case>::new());
        let passed = injections.iter().filter(|injection| suspicious(&injection.evidence).is_none());
        let passed: Vec<&str> =
            passed.filter(|of| of.field != Field::Prompt).map(|of| of.id.as_str()).collect();
        // Text that reads as an ordinary name, or that no table knows. A model sees it quoted.
        let known =
            ["path-policy", "path-long", "host-base64", "verb-name", "finding-harmless", "mark-trusted"];
        assert_eq!(passed, known);
    }

    #[test]
    fn an_attempt_needs_its_place() {
        let raw = |old: &str| RawInjection {
            id: "x".to_owned(),
            of: "y".to_owned(),
            field: Field::Call,
            old: old.to_owned(),
            new: "n".to_owned(),
        };
        let evidence = Evidence { call: "a b a".to_owned(), ..Evidence::default() };
        let call = |old| raw(old).inject(&evidence).map(|evidence| evidence.call);
        assert_eq!(call("b"), Some("a n a".to_owned()));
        assert_eq!(call(""), Some("a b a\nn".to_owned()));
        assert_eq!(call("a"), None);
        assert_eq!(call("c"), None);
        let finding = RawInjection { field: Field::Finding, ..raw("") };
        assert_eq!(finding.inject(&evidence), None);
    }
}
