//! [`Code`]: the reason of a finding, as a word in records.

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
    /// A rule tagged contain: fine in a sandbox.
    ContainRule,
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
    /// A person has halted the agents.
    Halted,
    /// A person has paused castellan: the call is not judged.
    Paused,
    /// The session may not use tools at all.
    NoTools,
    /// The agent is in no sandbox, and the settings require one.
    NoSandbox,
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
    /// The call runs in a sandbox.
    Contained,
    /// A tool of an MCP server that was added after castellan, and that no person has approved.
    NewServer,
    /// The session repeats calls that castellan denies.
    Probing,
    /// The call departs from its session's plan, or has no plan that it needs.
    Plan,
    /// The call leaves the workspace by a link, or reads or writes a large or binary file.
    Boundary,
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
            Code::ContainRule => "contain_rule",
            Code::ReviewRule => "review_rule",
            Code::AllowRule => "allow_rule",
            Code::OperatorDeny => "operator_deny",
            Code::OperatorAsk => "operator_ask",
            Code::OperatorAllow => "operator_allow",
            Code::OverrideDeny => "override_deny",
            Code::OverrideAsk => "override_ask",
            Code::OverrideAllow => "override_allow",
            Code::Halted => "halted",
            Code::Paused => "paused",
            Code::NoTools => "no_tools",
            Code::NoSandbox => "no_sandbox",
            Code::DeniedWorkspace => "denied_workspace",
            Code::Ungoverned => "ungoverned",
            Code::ForeignHook => "foreign_hook",
            Code::Opaque => "opaque",
            Code::Access => "access",
            Code::Understood => "understood",
            Code::Contained => "contained",
            Code::NewServer => "new_server",
            Code::Probing => "probing",
            Code::Plan => "plan",
            Code::Boundary => "boundary",
            Code::UnknownTool => "unknown_tool",
            Code::Notice => "notice",
            Code::Unmet => "unmet",
        }
    }
}
