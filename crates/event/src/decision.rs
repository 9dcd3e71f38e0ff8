//! [`Verdict`], [`Finding`], [`Layer`], [`Exemption`]: the results of stages, and the words of a decision.

use std::fmt;
use std::str::FromStr;

use crate::obligation::ObligationKind;

/// The answer to a call, ordered by strictness.
///
/// `Allow` suppresses the agent's own permission prompt; `Defer` leaves it to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No opinion: the agent's own permissions decide.
    Defer,
    /// Runs without the agent's prompt.
    Allow,
    /// A person must decide.
    Ask,
    /// Does not run.
    Deny,
}

impl Verdict {
    /// All verdicts, from the most lenient to the strictest.
    pub const ALL: [Verdict; 4] = [Verdict::Defer, Verdict::Allow, Verdict::Ask, Verdict::Deny];

    /// Returns the word used in configuration, records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Defer => "defer",
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// The effect of decisions, ordered by strictness. Applied last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Every call is recorded without consulting the rules, and the agent decides.
    Passthrough,
    /// Every call is judged and recorded, and the agent decides.
    Monitor,
    /// Decisions are enforced.
    Enforce,
}

impl Mode {
    /// All modes, from the loosest to the tightest.
    pub const ALL: [Mode; 3] = [Mode::Passthrough, Mode::Monitor, Mode::Enforce];

    /// Returns the word used in configuration, records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Passthrough => "passthrough",
            Mode::Monitor => "monitor",
            Mode::Enforce => "enforce",
        }
    }
}

/// The reason for a finding; stable in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The payload or the call was malformed.
    Malformed,
    /// A fault of castellan itself: panic, unwritable record, missing answer of the world.
    FailClosed,
    /// No valid rule set could be loaded.
    NoPolicy,
    /// A rule tagged deny.
    DenyRule,
    /// A rule tagged ask.
    AskRule,
    /// A rule tagged review: fine if the user asked for it.
    ReviewRule,
    /// A rule tagged allow.
    AllowRule,
    /// One of the operator's deny patterns.
    OperatorDeny,
    /// One of the operator's ask patterns.
    OperatorAsk,
    /// The operator's allow patterns cover the whole call.
    OperatorAllow,
    /// A program that embeds the agent, or another hook, denies the call.
    OverrideDeny,
    /// A program that embeds the agent, or another hook, asks about the call.
    OverrideAsk,
    /// A program that embeds the agent, or another hook, allows the call.
    OverrideAllow,
    /// The session may not use tools at all.
    NoTools,
    /// Sessions may do nothing in the session's workspace.
    DeniedWorkspace,
    /// Calls of the session ran without a decision, and the operator wants such sessions stopped.
    Ungoverned,
    /// A foreign hook could change the call after castellan judged it, and no person has declared the hook trusted.
    ForeignHook,
    /// An Opaque part in a place that matters.
    Opaque,
    /// The call needs a higher access level than the session has.
    Access,
    /// castellan understood the whole call, and the profile calls it safe.
    Understood,
    /// A tool of an MCP server that was added after castellan, and that no person has approved.
    NewServer,
    /// The session repeats calls that castellan denies.
    Probing,
    /// A tool that this version does not know.
    UnknownTool,
    /// A rule without a verdict tag: recorded only.
    Notice,
    /// An obligation that was not met.
    Unmet,
}

impl Code {
    /// Returns the word used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Malformed => "malformed",
            Code::FailClosed => "fail_closed",
            Code::NoPolicy => "no_policy",
            Code::DenyRule => "deny_rule",
            Code::AskRule => "ask_rule",
            Code::ReviewRule => "review_rule",
            Code::AllowRule => "allow_rule",
            Code::OperatorDeny => "operator_deny",
            Code::OperatorAsk => "operator_ask",
            Code::OperatorAllow => "operator_allow",
            Code::OverrideDeny => "override_deny",
            Code::OverrideAsk => "override_ask",
            Code::OverrideAllow => "override_allow",
            Code::NoTools => "no_tools",
            Code::DeniedWorkspace => "denied_workspace",
            Code::Ungoverned => "ungoverned",
            Code::ForeignHook => "foreign_hook",
            Code::Opaque => "opaque",
            Code::Access => "access",
            Code::Understood => "understood",
            Code::NewServer => "new_server",
            Code::Probing => "probing",
            Code::UnknownTool => "unknown_tool",
            Code::Notice => "notice",
            Code::Unmet => "unmet",
        }
    }
}

/// The reason why a finding is exempt. An exempt finding is recorded and does not affect the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exemption {
    /// A person granted this call.
    Grant,
    /// The operator's allow rules cover every leaf of the call.
    Operator,
    /// The finding's rule is in the state "observe". The rule's state gives this exemption, not a stage.
    Observe,
    /// An obligation of this kind is met. For example, castellan does not ask about a contained call.
    Met(ObligationKind),
}

impl Exemption {
    /// Returns the word used in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Exemption::Grant => "grant",
            Exemption::Operator => "operator",
            Exemption::Observe => "observe",
            Exemption::Met(kind) => kind.as_str(),
        }
    }
}

/// The owner of rules, highest first. A lower layer may tighten a higher layer's decisions, not change its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Rules above the user's files, castellan's own among them.
    Organisation,
    /// The shipped packs and the user's files.
    User,
    /// A workspace's own files, if a person trusts the workspace.
    Project,
}

impl Layer {
    /// All layers.
    pub const ALL: [Layer; 3] = [Layer::Organisation, Layer::User, Layer::Project];

    /// Returns the word used in records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::Organisation => "organisation",
            Layer::User => "user",
            Layer::Project => "project",
        }
    }
}

/// The result of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The verdict of this finding alone.
    pub verdict: Verdict,
    /// The reason.
    pub code: Code,
    /// Name of the rule that made the finding; empty if no rule did.
    pub rule: String,
    /// The layer of that rule.
    pub layer: Option<Layer>,
    /// Positions of the rows that the rule fired on, ascending, as [`crate::rows`] makes them.
    pub rows: Vec<usize>,
    /// The message for the person and the agent.
    pub message: String,
    /// Exemptions that the finding's stage admits, from the table of stages. Empty: nothing exempts the finding.
    pub liftable_by: &'static [Exemption],
    /// Nothing exempts the finding, despite `liftable_by`: the organisation's rules, unless their tags say otherwise.
    pub is_firm: bool,
    /// The exemption in force, if any.
    pub lifted: Option<Exemption>,
}

impl Finding {
    /// Returns a finding that no rule made.
    pub fn new(verdict: Verdict, code: Code, message: impl Into<String>) -> Finding {
        Finding {
            verdict,
            code,
            rule: String::new(),
            layer: None,
            rows: Vec::new(),
            message: message.into(),
            liftable_by: &[],
            is_firm: false,
            lifted: None,
        }
    }

    /// Reports whether the finding admits the exemption.
    pub fn is_liftable_by(&self, exemption: Exemption) -> bool {
        !self.is_firm && self.liftable_by.contains(&exemption)
    }

    /// Reports whether the verdict keeps the call from running without a question.
    pub fn stops(&self) -> bool {
        self.verdict >= Verdict::Ask
    }

    /// Reports whether the finding affects the decision.
    pub fn counts(&self) -> bool {
        self.verdict > Verdict::Defer && self.lifted.is_none()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(word: &str) -> Result<Verdict, String> {
        from_word(&Verdict::ALL, Verdict::as_str, word)
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(word: &str) -> Result<Mode, String> {
        from_word(&Mode::ALL, Mode::as_str, word)
    }
}

pub(crate) fn from_word<T: Copy>(all: &[T], as_str: fn(T) -> &'static str, word: &str) -> Result<T, String> {
    let known = all.iter().copied().find(|value| as_str(*value) == word);
    known.ok_or_else(|| {
        let words: Vec<_> = all.iter().map(|value| as_str(*value)).collect();
        format!("`{word}` is none of {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_unknown_ones_name_the_choices() {
        for verdict in Verdict::ALL {
            assert_eq!(verdict.as_str().parse(), Ok(verdict));
        }
        for mode in Mode::ALL {
            assert_eq!(mode.as_str().parse(), Ok(mode));
        }
        assert_eq!("x".parse::<Mode>(), Err("`x` is none of passthrough, monitor, enforce".to_owned()));
    }
}
