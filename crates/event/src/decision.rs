//! [`Verdict`], [`Finding`], [`Layer`], [`Exemption`]: what stages return, and the words of a decision.

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

/// How decisions are carried out, ordered by strictness. Applied last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Rules are not consulted; every call is recorded and left to the agent.
    Passthrough,
    /// Every call is judged and recorded, and left to the agent.
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

/// Why a finding was made; stable in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The payload or the call was malformed.
    Malformed,
    /// A fault of our own: panic, unwritable record, missing answer of the world.
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
    /// The operator's allow patterns, which cover the whole call.
    OperatorAllow,
    /// A program that embeds the agent, or another hook, denies the call.
    OverrideDeny,
    /// One of them asks about it.
    OverrideAsk,
    /// One of them allows it.
    OverrideAllow,
    /// The session may not use tools at all.
    NoTools,
    /// The session's workspace is one in which sessions may do nothing.
    DeniedWorkspace,
    /// Calls of the session ran as nobody decided, and the operator has such sessions stopped.
    Ungoverned,
    /// A hook of somebody else's could change the call after it was judged, and nobody has said that it is trusted.
    ForeignHook,
    /// A part of the call was not understood, where that matters.
    Opaque,
    /// The call needs a higher access level than the session has.
    Access,
    /// The call was understood whole, and the profile calls it safe.
    Understood,
    /// A tool of an MCP server that came after castellan, and that nobody has agreed to.
    NewServer,
    /// The session tries again and again what is denied.
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

/// Why a finding is exempt: the finding is recorded and has no say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exemption {
    /// A person granted this call.
    Grant,
    /// The operator's allow rules cover every leaf of the call.
    Operator,
    /// The finding's rule is only observed. No stage grants this exemption; the rule's state does.
    Observe,
    /// An obligation of this kind is met: a contained call is not asked about.
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

/// Whose rules: a lower layer may tighten what a higher one says, and cannot change its rules. Highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Rules that stand above the user's files, castellan's own among them.
    Organisation,
    /// The shipped packs and the user's files.
    User,
    /// A workspace's own files, where a person trusts it.
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

/// What a stage found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What this finding alone would answer.
    pub verdict: Verdict,
    /// Why.
    pub code: Code,
    /// Name of the rule, where one made it; else empty.
    pub rule: String,
    /// The layer of that rule.
    pub layer: Option<Layer>,
    /// Positions of the rows that the rule fired on, ascending, as [`crate::rows`] makes them.
    pub rows: Vec<usize>,
    /// What happened, for a person and for the agent.
    pub message: String,
    /// Exemptions that the finding's stage admits, from the table of stages. Empty: nothing exempts the finding.
    pub liftable_by: &'static [Exemption],
    /// Nothing exempts the finding, whatever its stage admits: the organisation's rules, unless their tags say otherwise.
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

    /// Whether the call would not simply run by it.
    pub fn stops(&self) -> bool {
        self.verdict >= Verdict::Ask
    }

    /// Whether it has a say in the decision.
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
