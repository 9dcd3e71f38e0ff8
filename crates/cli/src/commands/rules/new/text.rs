//! The text of a new rule and its cases. Texts of the call are written as JSON strings, which YAML reads unchanged.

use castellan_event::{Verdict, is_invisible};
use castellan_policy::RuleVerdict;
use castellan_trial::{Case, WORKSPACE};
use serde_json::{Value as Json, json};

use crate::commands::rules::quoted::quoted;

/// A rule before conversion to text.
#[derive(Debug)]
pub(super) struct NewRule {
    pub(super) name: String,
    pub(super) condition: String,
    pub(super) verdict: RuleVerdict,
    /// The command of the call; empty if there is none.
    pub(super) line: String,
}

/// A command derived from the call's command.
#[derive(Debug)]
pub(super) struct DerivedCase {
    /// The word in the case file.
    pub(super) shows: &'static str,
    pub(super) command: String,
    pub(super) case: Case,
    pub(super) verdict: Verdict,
}

impl NewRule {
    pub(super) fn text(&self) -> String {
        let (tag, priority, output) = match self.verdict {
            RuleVerdict::Deny => (
                "coding_agent_deny",
                "CRITICAL",
                "A rule of this user denies this, so it was not run; tell the user what you need it for",
            ),
            RuleVerdict::Contain => (
                "coding_agent_contain",
                "WARNING",
                "A rule of this user runs this in a sandbox, or asks first",
            ),
            RuleVerdict::Review => {
                ("coding_agent_review", "WARNING", "A rule of this user has this looked at first")
            }
            RuleVerdict::Allow => ("coding_agent_allow", "INFORMATIONAL", "A rule of this user allows this"),
            RuleVerdict::Ask | RuleVerdict::Seen | RuleVerdict::Notice => {
                ("coding_agent_ask", "WARNING", "A rule of this user asks before this")
            }
        };
        let desc = if self.line.is_empty() {
            "Made of a call.".to_owned()
        } else {
            format!("Made of: {}", self.line)
        };
        let condition = self.condition.replace(['\n', '\r'], " ");
        let (name, desc, output) = (quoted(self.name.as_str()), quoted(desc), quoted(output));
        format!(
            "- rule: {name}\n  desc: {desc}\n  condition: >\n    {}\n  output: {output}\n  priority: {priority}\n  \
             source: coding_agent\n  tags: [{tag}]\n",
            condition.trim(),
        )
    }
}

/// Returns the default name of a rule.
pub(super) fn name(verdict: RuleVerdict, about: &str) -> String {
    let first = match verdict {
        RuleVerdict::Deny => "Deny",
        RuleVerdict::Allow => "Allow",
        RuleVerdict::Contain => "Contain",
        RuleVerdict::Ask | RuleVerdict::Review | RuleVerdict::Seen | RuleVerdict::Notice => "Ask before",
    };
    let about: String = about.chars().filter(|c| !is_invisible(*c)).collect();
    format!("{first} {about}")
}

/// Converts the name to a file name.
pub(super) fn slug(name: &str) -> String {
    let dashed: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(64).collect();
    if slug.is_empty() { "rule".to_owned() } else { slug }
}

/// Returns the text of the case file.
pub(super) fn cases(rule: &str, call: &Case, verdict: Verdict, derived: &[DerivedCase]) -> String {
    let mut text = "version: 2\ncases:\n".to_owned();
    text.push_str(&line(rule, call, verdict, None));
    for case in derived {
        text.push_str(&line(rule, &case.case, case.verdict, Some(case.shows)));
    }
    text
}

/// Returns a case in one line: JSON is YAML.
fn line(rule: &str, case: &Case, verdict: Verdict, shows: Option<&str>) -> String {
    let mut call = serde_json::Map::new();
    call.insert("tool".to_owned(), case.call.tool.as_str().into());
    call.insert("agent".to_owned(), case.agent.word().into());
    if case.cwd != WORKSPACE {
        call.insert("cwd".to_owned(), case.cwd.as_str().into());
    }
    call.extend(case.call.input.clone());
    let mut line = json!({ "call": call, "verdict": verdict.as_str(), "rule": rule });
    if let (Json::Object(line), Some(shows)) = (&mut line, shows) {
        line.insert("as".to_owned(), shows.into());
    }
    format!("  - {}\n", quoted(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_rule() {
        for (name, expected) in [
            ("Deny git push --force", "deny-git-push-force"),
            ("../../x", "x"),
            ("  ", "rule"),
            ("Ä", "rule"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
