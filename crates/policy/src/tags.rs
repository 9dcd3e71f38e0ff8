//! What a rule says by its tags: a verdict, and marks to set. It must not know whose rule it is.

use castellan_rules::Rule;

/// Which tags say what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    /// Denies.
    pub deny: String,
    /// Asks.
    pub ask: String,
    /// Asks, unless the user wanted it.
    pub review: String,
    /// Allows without the agent's prompt.
    pub allow: String,
    /// The kit's bookkeeping rule, which is not a finding.
    pub seen: String,
    /// Sets the mark whose label stands behind it. A tag that ends here has no label and sets nothing.
    pub mark: String,
}

impl Default for Tags {
    fn default() -> Tags {
        Tags {
            deny: "coding_agent_deny".into(),
            ask: "coding_agent_ask".into(),
            review: "coding_agent_review".into(),
            allow: "coding_agent_allow".into(),
            seen: "coding_agent_seen".into(),
            mark: "coding_agent_mark:".into(),
        }
    }
}

/// What a rule says by its tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleVerdict {
    /// Deny.
    Deny,
    /// Ask.
    Ask,
    /// Ask, unless the user wanted it.
    Review,
    /// Allow without the agent's prompt.
    Allow,
    /// The kit's bookkeeping: nothing.
    Seen,
    /// No verdict: recorded only.
    Notice,
}

impl RuleVerdict {
    /// Returns the word for tables and records.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleVerdict::Deny => "deny",
            RuleVerdict::Ask => "ask",
            RuleVerdict::Review => "review",
            RuleVerdict::Allow => "allow",
            RuleVerdict::Seen => "seen",
            RuleVerdict::Notice => "notice",
        }
    }
}

impl Tags {
    /// The strictest verdict among a rule's tags. Marks are none: a rule that only sets a mark is a notice.
    pub fn verdict_of(&self, rule: &Rule) -> RuleVerdict {
        let verdicts = [
            (&self.deny, RuleVerdict::Deny),
            (&self.ask, RuleVerdict::Ask),
            (&self.review, RuleVerdict::Review),
            (&self.allow, RuleVerdict::Allow),
            (&self.seen, RuleVerdict::Seen),
        ];
        let strictest = verdicts.into_iter().find(|(tag, _)| rule.tags.contains(tag));
        strictest.map_or(RuleVerdict::Notice, |(_, verdict)| verdict)
    }

    /// The labels of the marks that a rule sets.
    pub(crate) fn marks_of(&self, rule: &Rule) -> Vec<String> {
        let labels = rule.tags.iter().filter_map(|tag| tag.strip_prefix(&self.mark));
        labels.filter(|label| !label.is_empty()).map(str::to_owned).collect()
    }
}
