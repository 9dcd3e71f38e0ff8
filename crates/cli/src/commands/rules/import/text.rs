//! Imported rules as a rule file, with texts as JSON strings (valid YAML). This module must not know the origin.

use castellan_agents::PermissionVerdict;
use castellan_event::is_invisible;

use crate::commands::rules::quoted::quoted;

/// Maximum characters of a name and of the author's reason: a message has at most 400 bytes.
const NAME_CHARS_MAX: usize = 100;
const REASON_CHARS_MAX: usize = 80;

/// A permission rule before conversion to text.
#[derive(Debug)]
pub(super) struct ImportedRule {
    pub(super) number: usize,
    pub(super) verdict: PermissionVerdict,
    pub(super) about: String,
    pub(super) condition: String,
    /// The agent, file and line.
    pub(super) from: String,
    pub(super) original: String,
    /// The author's reason; may be empty.
    pub(super) reason: String,
}

/// Returns the text of the rule file.
pub(super) fn file(rules: &[ImportedRule]) -> String {
    let head = "# Made by `castellan rules import`. The strictest rule that matches decides, in whatever order they stand.\n";
    head.to_owned() + &rules.iter().map(ImportedRule::text).collect::<String>()
}

impl ImportedRule {
    fn text(&self) -> String {
        let (verb, tag, priority, output) = match self.verdict {
            PermissionVerdict::Deny => (
                "Deny",
                "coding_agent_deny",
                "CRITICAL",
                "A rule of this user denies this, so it was not run; tell the user what you need it for",
            ),
            PermissionVerdict::Ask => {
                ("Ask before", "coding_agent_ask", "WARNING", "A rule of this user asks before this")
            }
            PermissionVerdict::Allow => {
                ("Allow", "coding_agent_allow", "INFORMATIONAL", "A rule of this user allows this")
            }
        };
        // A `%` would name a field in a message.
        let reason: String =
            self.reason.chars().filter(|c| !is_invisible(*c) && *c != '%').take(REASON_CHARS_MAX).collect();
        let output = if reason.is_empty() { output.to_owned() } else { format!("{output} ({reason})") };
        let about: String = self.about.chars().filter(|c| !is_invisible(*c)).take(NAME_CHARS_MAX).collect();
        format!(
            "\n- rule: {}\n  desc: {}\n  condition: {}\n  output: {}\n  priority: {priority}\n  source: \
             coding_agent\n  tags: [{tag}]\n",
            quoted(format!("{verb} {about} (imported {})", self.number)),
            quoted(format!("{}: {}", self.from, self.original)),
            quoted(self.condition.clone()),
            quoted(output),
        )
    }
}
