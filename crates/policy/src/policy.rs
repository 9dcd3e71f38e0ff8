//! [`Policy`]: the compiled rules and settings that calls are judged by, and the hash that names them in the record.

use castellan_event::{Call, CallRow, ToolKind, Verdict};
use castellan_rules::{Rule, RuleSet, Source};
use sha2::{Digest, Sha256};

/// Which tags carry which verdict.
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
    /// Marks the kit's bookkeeping rule, which is not a finding.
    pub seen: String,
}

impl Default for Tags {
    fn default() -> Tags {
        Tags {
            deny: "coding_agent_deny".into(),
            ask: "coding_agent_ask".into(),
            review: "coding_agent_review".into(),
            allow: "coding_agent_allow".into(),
            seen: "coding_agent_seen".into(),
        }
    }
}

/// Settings of the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What is answered when nothing was found: defer, or allow.
    pub default_verdict: Verdict,
    /// Which tags carry which verdict.
    pub tags: Tags,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { default_verdict: Verdict::Defer, tags: Tags::default() }
    }
}

/// What calls are judged by. Immutable: a reload builds another.
#[derive(Debug)]
pub struct Policy {
    rules: RuleSet,
    settings: Settings,
    hash: String,
    missing: Option<String>,
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
    /// Returns the strictest verdict among a rule's tags.
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
}

/// A rule that fired on a call, with the rows that made it fire.
#[derive(Debug)]
pub(crate) struct RuleMatch<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) verdict: RuleVerdict,
    /// The output, rendered on the first row.
    pub(crate) message: String,
    /// Positions of the rows on which it fired, ascending.
    pub(crate) rows: Vec<usize>,
}

impl Policy {
    /// Returns the policy of loaded rules; `sources` are the texts that they were loaded from.
    pub fn new(rules: RuleSet, sources: &[Source], settings: Settings) -> Policy {
        let hash = hash(sources, &settings);
        Policy { rules, settings, hash, missing: None }
    }

    /// Returns the policy that stands in when none could be loaded: everything but reading is denied. `problem` says why,
    /// with file and line.
    pub fn missing(problem: impl Into<String>) -> Policy {
        let settings = Settings::default();
        let hash = hash(&[], &settings);
        Policy { rules: RuleSet::default(), settings, hash, missing: Some(problem.into()) }
    }

    /// Hex SHA-256 over every rule file's name and text and the settings: the record's `policy`.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The compiled rules.
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Why there is no policy, where there is none.
    pub fn problem(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// What is answered when nothing was found. A tool that nobody knows is never allowed by default.
    pub(crate) fn default_for(&self, call: &Call) -> Verdict {
        if call.tool.kind == ToolKind::Unknown { Verdict::Defer } else { self.settings.default_verdict }
    }

    pub(crate) fn matches(&self, rows: &[CallRow<'_>]) -> Vec<RuleMatch<'_>> {
        let mut matches: Vec<RuleMatch<'_>> = Vec::new();
        for (position, row) in rows.iter().enumerate() {
            for hit in self.rules.evaluate(row) {
                let Some(rule) = self.rules.rules().get(hit.rule) else { continue };
                match matches.iter_mut().find(|found| std::ptr::eq(found.rule, rule)) {
                    Some(found) => found.rows.push(position),
                    None => {
                        let verdict = self.settings.tags.verdict_of(rule);
                        matches.push(RuleMatch { rule, verdict, message: hit.message, rows: vec![position] });
                    }
                }
            }
        }
        matches
    }
}

/// Lengths go into the hash so that no two sets of files run together.
fn hash(sources: &[Source], settings: &Settings) -> String {
    let Tags { deny, ask, review, allow, seen } = &settings.tags;
    let mut hasher = Sha256::new();
    let mut put = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    for text in [settings.default_verdict.as_str(), deny, ask, review, allow, seen] {
        put(text);
    }
    for source in sources {
        put(&source.name);
        put(&source.text);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
