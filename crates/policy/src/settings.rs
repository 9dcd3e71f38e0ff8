//! [`Settings`] of the decision, and the [`Profile`]s that preset them. Does not depend on files.

use std::fmt;
use std::str::FromStr;

use castellan_event::{AccessLevel, UnknownWord, from_word};

use crate::boundary::{BoundaryMode, BoundarySettings};
use crate::choices::{AllowOrDefer, AskOrDeny, DeferOrAsk, DeferOrDeny, NotAllow, NotAsk, OwnOpaque};
use crate::containment::ContainmentMode;
use crate::engine::EngineSettings;
use crate::operators::Operators;
use crate::plan::PlanSettings;
use crate::review::ReviewSettings;
use crate::rule_state::{RuleState, Tiers};
use crate::sandbox::SandboxSettings;
use crate::tags::Tags;
use crate::undo::UndoSettings;
use crate::ungoverned::{OnUngoverned, Ungoverned};

/// Settings of the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The preset of the other settings.
    pub profile: Profile,
    /// The session may use tools.
    pub tools: bool,
    /// The verdict without findings.
    pub default_verdict: AllowOrDefer,
    /// The verdict without findings in a headless session.
    pub headless_default: NotAsk,
    /// The access level of sessions; `None`: no levels.
    pub level: Option<AccessLevel>,
    /// The highest level in a workspace that no person has trusted; `None`: no limit.
    pub unknown_workspace: Option<AccessLevel>,
    /// The access level that the organisation gives. No allow list exempts a call that needs more.
    pub organisation_level: Option<AccessLevel>,
    /// The organisation itself sets `allow_understood`: for its level, too, the workspace includes the project's own
    /// code.
    pub organisation_allows_understood: bool,
    /// The verdict for a call that needs a higher level.
    pub on_insufficient: AskOrDeny,
    /// The verdict for an Opaque program, target or code.
    pub opaque: NotAllow,
    /// The verdict for Opaque parts in a headless session.
    pub headless_opaque: NotAllow,
    /// The verdict for Opaque parts of the project's own code when a person is at the agent's prompt. Ask means the
    /// verdict for other Opaque parts.
    pub own_opaque: OwnOpaque,
    /// The verdict for an unknown tool.
    pub unknown_tool: DeferOrDeny,
    /// The verdict for a tool of an MCP server that came after castellan and that nobody approved.
    pub new_server: NotAllow,
    /// The verdict for a session that repeatedly attempts denied calls.
    pub probing: DeferOrAsk,
    /// A call that was understood completely and is safe runs without a prompt.
    pub allow_understood: bool,
    /// Reaction to calls that ran against the decision.
    pub ungoverned: Ungoverned,
    /// The effect of plans.
    pub plans: PlanSettings,
    /// The reviewer of review findings.
    pub review: ReviewSettings,
    /// The sandbox of agents and commands.
    pub sandbox: SandboxSettings,
    /// Calls that castellan does not understand run in a sandbox, where possible, instead of being asked about.
    pub containment: ContainmentMode,
    /// The checkpoints.
    pub undo: UndoSettings,
    /// The boundary of the workspace.
    pub boundary: BoundarySettings,
    /// The program that tests the rules.
    pub engine: EngineSettings,
    /// The operators' short rules.
    pub operators: Operators,
    /// States of the shipped rules, by verdict.
    pub tiers: Tiers,
    /// The tags of the user's rules. Rules of the organisation and of projects use the default tags, which are fixed.
    pub tags: Tags,
    /// The user presence check.
    pub presence: Presence,
    /// Seconds that an asked call waits for a person's answer elsewhere before its agent gets an answer.
    pub ask_wait_s: u32,
    /// Pending calls are shown on the desktop, if there is one.
    pub notify: bool,
}

/// Proof of a person's presence for a request that loosens, from the weakest on. All include the terminal check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Presence {
    /// A terminal that a person has opened, without an agent above it.
    #[default]
    Terminal,
    /// A PIN.
    Pin,
    /// The password of the person's account, which only the system can remove or reset.
    Password,
}

impl Presence {
    /// Every kind, from the weakest on.
    pub const ALL: [Presence; 3] = [Presence::Terminal, Presence::Pin, Presence::Password];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Presence::Terminal => "terminal",
            Presence::Pin => "pin",
            Presence::Password => "password",
        }
    }
}

impl FromStr for Presence {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Presence, UnknownWord> {
        from_word(&Presence::ALL, Presence::as_str, word)
    }
}

/// A named preset of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Denies catastrophic calls, asks about irreversible and Opaque ones, and leaves the rest to the agent.
    Standard,
    /// As `Standard`, but runs understood and safe calls without a prompt.
    Quiet,
    /// The workspace is the limit; Opaque calls are denied.
    Strict,
    /// For agents that run unattended: understood and safe calls run without a prompt.
    Autonomous,
    /// No tools: every call is denied, whatever else applies.
    Observer,
    /// Like Falco's coding-agents-kit: allows a call that no rule matches.
    Kit,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 6] = [
        Profile::Standard,
        Profile::Quiet,
        Profile::Strict,
        Profile::Autonomous,
        Profile::Observer,
        Profile::Kit,
    ];

    /// Returns the word used in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Standard => "standard",
            Profile::Quiet => "quiet",
            Profile::Strict => "strict",
            Profile::Autonomous => "autonomous",
            Profile::Observer => "observer",
            Profile::Kit => "kit",
        }
    }

    /// The preset settings of the profile.
    pub fn settings(self) -> Settings {
        let standard = Settings { profile: self, ..Settings::standard() };
        let bounded = Settings {
            level: Some(AccessLevel::WorkspaceWrite),
            unknown_workspace: Some(AccessLevel::ReadOnly),
            headless_default: NotAsk::Deny,
            headless_opaque: NotAllow::Deny,
            own_opaque: OwnOpaque::Prompted,
            unknown_tool: DeferOrDeny::Deny,
            ungoverned: Ungoverned {
                action: OnUngoverned::Notify,
                level: Some(AccessLevel::ReadOnly),
                ..Ungoverned::default()
            },
            ..standard.clone()
        };
        match self {
            Profile::Standard => standard,
            Profile::Quiet => {
                let review = ReviewSettings { opaque: true, ..ReviewSettings::OFF };
                Settings { allow_understood: true, review, ..standard }
            }
            Profile::Strict => {
                let ungoverned = Ungoverned { blocks_foreign_hooks: true, ..bounded.ungoverned.clone() };
                let boundary = BoundarySettings { mode: BoundaryMode::Strict, ..bounded.boundary };
                Settings { opaque: NotAllow::Deny, probing: DeferOrAsk::Ask, ungoverned, boundary, ..bounded }
            }
            Profile::Autonomous => Settings { allow_understood: true, ..bounded },
            // No value is milder than that of another profile, so that a switch to it only tightens.
            Profile::Observer => {
                let strict = Profile::Strict.settings();
                Settings { profile: self, tools: false, own_opaque: OwnOpaque::Ask, ..strict }
            }
            Profile::Kit => Settings {
                default_verdict: AllowOrDefer::Allow,
                headless_default: NotAsk::Allow,
                opaque: NotAllow::Defer,
                headless_opaque: NotAllow::Defer,
                new_server: NotAllow::Defer,
                boundary: BoundarySettings { mode: BoundaryMode::Off, ..standard.boundary },
                // The kit's rules have no such tag.
                tiers: Tiers { review: RuleState::Observe, ..standard.tiers },
                ..standard
            },
        }
    }
}

impl Settings {
    /// The preset of `standard`, on which the others build.
    fn standard() -> Settings {
        Settings {
            profile: Profile::Standard,
            tools: true,
            default_verdict: AllowOrDefer::Defer,
            headless_default: NotAsk::Defer,
            level: None,
            unknown_workspace: None,
            organisation_level: None,
            organisation_allows_understood: false,
            on_insufficient: AskOrDeny::Ask,
            opaque: NotAllow::Ask,
            headless_opaque: NotAllow::Ask,
            own_opaque: OwnOpaque::Defer,
            unknown_tool: DeferOrDeny::Defer,
            new_server: NotAllow::Ask,
            probing: DeferOrAsk::Defer,
            allow_understood: false,
            ungoverned: Ungoverned::default(),
            plans: PlanSettings::default(),
            review: ReviewSettings::OFF,
            sandbox: SandboxSettings::DEFAULT,
            containment: ContainmentMode::Prefer,
            undo: UndoSettings::DEFAULT,
            boundary: BoundarySettings::DEFAULT,
            engine: EngineSettings::native(),
            operators: Operators::default(),
            tiers: Tiers::default(),
            tags: Tags::default(),
            presence: Presence::Terminal,
            ask_wait_s: 0,
            notify: true,
        }
    }

    pub(crate) fn opaque_verdict(&self, headless: bool) -> NotAllow {
        if headless { self.headless_opaque.max(self.opaque) } else { self.opaque }
    }

    /// Reports whether code in a missing file is Opaque. Another call may create the file in time if nobody watches.
    pub(crate) fn minds_missing_code(&self) -> bool {
        match self.profile {
            Profile::Standard | Profile::Quiet | Profile::Kit => false,
            Profile::Strict | Profile::Autonomous | Profile::Observer => true,
        }
    }

    /// Reports whether Opaque parts of the project's own code get no finding. `agent_prompts`: the agent itself asks a
    /// person about the call. `is_trusted`: a person has trusted the workspace.
    pub(crate) fn leaves_own_code(&self, headless: bool, agent_prompts: bool, is_trusted: bool) -> bool {
        let is_attended = !headless && self.default_verdict == AllowOrDefer::Defer;
        is_attended
            && match self.own_opaque {
                OwnOpaque::Defer => self.opaque != NotAllow::Deny && (agent_prompts || is_trusted),
                OwnOpaque::Prompted => agent_prompts,
                OwnOpaque::Ask => false,
            }
    }

    /// Reports whether any verdict differs in a headless session.
    pub fn minds_headless(&self) -> bool {
        self.headless_default.verdict() != self.default_verdict.verdict()
            || self.opaque_verdict(true) != self.opaque
            || self.leaves_own_code(false, true, true)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Profile::Standard.settings()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Profile, UnknownWord> {
        from_word(&Profile::ALL, Profile::as_str, word)
    }
}
