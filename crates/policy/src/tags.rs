//! The meaning of a rule's tags: a verdict, and marks to set. Does not depend on the owner of a rule.

use castellan_rules::{Options, Rule, TagWords};

/// The meaning of tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    /// Denies.
    pub deny: String,
    /// Asks.
    pub ask: String,
    /// Runs the call in a sandbox, or asks where castellan cannot.
    pub contain: String,
    /// Asks about a call that is fine if the user wanted it.
    pub review: String,
    /// Allows without the agent's prompt.
    pub allow: String,
    /// The kit's bookkeeping rule, which is not a finding.
    pub seen: String,
    /// Prefix of a tag that sets a mark; the label follows. A tag without label sets nothing.
    pub mark: String,
}

impl Default for Tags {
    fn default() -> Tags {
        Tags {
            deny: "coding_agent_deny".into(),
            ask: "coding_agent_ask".into(),
            contain: "coding_agent_contain".into(),
            review: "coding_agent_review".into(),
            allow: "coding_agent_allow".into(),
            seen: "coding_agent_seen".into(),
            mark: "coding_agent_mark:".into(),
        }
    }
}

/// The verdict of a rule's tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleVerdict {
    /// Deny.
    Deny,
    /// Ask.
    Ask,
    /// Run the call in a sandbox, or ask.
    Contain,
    /// Ask about a call that is fine if the user wanted it.
    Review,
    /// Allow without the agent's prompt.
    Allow,
    /// The kit's bookkeeping: no verdict.
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
            RuleVerdict::Contain => "contain",
            RuleVerdict::Review => "review",
            RuleVerdict::Allow => "allow",
            RuleVerdict::Seen => "seen",
            RuleVerdict::Notice => "notice",
        }
    }
}

/// The tag of an organisation's rule whose ask may be exempted by a person or the operator.
pub(crate) const LIFTABLE: &str = "coding_agent_liftable";

/// Prefix of every tag that castellan reads, unless the configuration names others.
const BEGIN: &str = "coding_agent_";

impl Tags {
    /// Returns the permitted tags, including those of the organisation's and of projects' rules. Any other tag with the
    /// prefix would leave its rule without effect.
    pub fn words(&self) -> TagWords {
        let default = Tags::default();
        let whole = |tags: &Tags| {
            let Tags { deny, ask, contain, review, allow, seen, mark: _ } = tags.clone();
            [deny, ask, contain, review, allow, seen]
        };
        let mut words: Vec<String> = whole(self).into_iter().chain(whole(&default)).collect();
        words.push(LIFTABLE.to_owned());
        let mut openings = vec![self.mark.clone(), default.mark];
        for list in [&mut words, &mut openings] {
            list.sort();
            list.dedup();
        }
        TagWords { begin: BEGIN.to_owned(), words, openings }
    }

    /// Options for reading rule files with these tags; otherwise as Falco reads them.
    pub fn options(&self) -> Options {
        Options { tags: self.words(), ..Options::default() }
    }

    /// The strictest verdict among a rule's tags. A mark is no verdict: a rule that only sets a mark is a notice.
    pub fn verdict_of(&self, rule: &Rule) -> RuleVerdict {
        let verdicts = [
            (&self.deny, RuleVerdict::Deny),
            (&self.ask, RuleVerdict::Ask),
            (&self.contain, RuleVerdict::Contain),
            (&self.review, RuleVerdict::Review),
            (&self.allow, RuleVerdict::Allow),
            (&self.seen, RuleVerdict::Seen),
        ];
        let strictest = verdicts.into_iter().find(|(tag, _)| rule.tags.contains(tag));
        strictest.map_or(RuleVerdict::Notice, |(_, verdict)| verdict)
    }

    pub(crate) fn marks_of(&self, rule: &Rule) -> Vec<String> {
        let labels = rule.tags.iter().filter_map(|tag| tag.strip_prefix(&self.mark));
        labels.filter(|label| !label.is_empty()).map(str::to_owned).collect()
    }
}
