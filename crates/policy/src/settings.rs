//! [`Settings`] of the decision, and the [`Profile`]s that preset them. It must not know files.

use std::fmt;
use std::str::FromStr;

use castellan_event::{AccessLevel, Verdict};

use crate::operators::Operators;
use crate::rule_state::{RuleState, Tiers};
use crate::tags::Tags;
use crate::ungoverned::{OnUngoverned, Ungoverned};

/// Settings of the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The preset that the others come from.
    pub profile: Profile,
    /// The session may use tools.
    pub tools: bool,
    /// What is answered when nothing was found.
    pub default_verdict: Verdict,
    /// The same where nobody is there to be asked.
    pub headless_default: Verdict,
    /// The access level that sessions have; `None`: levels do not count.
    pub level: Option<AccessLevel>,
    /// The highest one where nobody has said that the workspace is trusted; `None`: the same.
    pub unknown_workspace: Option<AccessLevel>,
    /// The one that the organisation gives them: what is short of it, no allow list lifts.
    pub organisation_level: Option<AccessLevel>,
    /// The organisation says `allow_understood` itself: to its level, too, the project's own code is a part of the workspace.
    pub organisation_allows_understood: bool,
    /// What a call is answered that needs a higher one: ask or deny.
    pub on_insufficient: Verdict,
    /// What is answered to a program, target or code that was not understood: defer, ask or deny.
    pub opaque: Verdict,
    /// The same where nobody is there to be asked.
    pub headless_opaque: Verdict,
    /// What is answered to such parts of the project's own code, where a person sits at the agent's prompt: defer, or ask, which is what
    /// is answered to the others.
    pub own_opaque: Verdict,
    /// What is answered to a tool that castellan does not know: defer or deny.
    pub unknown_tool: Verdict,
    /// What is answered to a tool of an MCP server that came after castellan and that nobody has agreed to: defer, ask or deny.
    pub new_server: Verdict,
    /// What is answered to a session that tries again and again what is denied: defer or ask.
    pub probing: Verdict,
    /// A call that was understood whole and is safe runs without a prompt.
    pub allow_understood: bool,
    /// What is done about calls that ran as nobody decided.
    pub ungoverned: Ungoverned,
    /// The operators' short rules.
    pub operators: Operators,
    /// How far the shipped rules count, by what they answer.
    pub tiers: Tiers,
    /// Which tags of the user's rules say what. The organisation's and a project's rules use the default ones, which
    /// nobody can take from them.
    pub tags: Tags,
    /// What proves that a person is there.
    pub presence: Presence,
    /// For how many seconds a call that is asked about waits for a person's answer elsewhere, before its agent is told.
    pub ask_wait_s: u32,
    /// Whether a call that waits is shown on the desktop, where there is one.
    pub notify: bool,
}

/// What proves that a person is there when something is to be loosened, from the weakest on. All ask for the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Presence {
    /// A terminal that a person has opened, without an agent above it.
    #[default]
    Terminal,
    /// A PIN.
    Pin,
    /// The password of the person's account, which nobody can remove or set anew without the system's say.
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
    type Err = String;

    fn from_str(word: &str) -> Result<Presence, String> {
        let known = Presence::ALL.into_iter().find(|presence| presence.as_str() == word);
        known.ok_or_else(|| format!("`{word}` is none of {}", Presence::ALL.map(Presence::as_str).join(", ")))
    }
}

/// A named preset of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Stops the catastrophic, asks about what cannot be undone or understood, leaves the rest to the agent.
    Standard,
    /// The workspace is the border; what is not understood is denied.
    Strict,
    /// For agents that run unattended: what is understood and safe runs without a prompt.
    Autonomous,
    /// No tools at all.
    Observer,
    /// As Falco's coding-agents-kit: what no rule names is allowed.
    Kit,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 5] =
        [Profile::Standard, Profile::Strict, Profile::Autonomous, Profile::Observer, Profile::Kit];

    /// Returns the word used in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Standard => "standard",
            Profile::Strict => "strict",
            Profile::Autonomous => "autonomous",
            Profile::Observer => "observer",
            Profile::Kit => "kit",
        }
    }

    /// What the profile presets.
    pub fn settings(self) -> Settings {
        use Verdict::{Allow, Ask, Defer, Deny};
        let standard = Settings {
            profile: self,
            tools: true,
            default_verdict: Defer,
            headless_default: Defer,
            level: None,
            unknown_workspace: None,
            organisation_level: None,
            organisation_allows_understood: false,
            on_insufficient: Ask,
            opaque: Ask,
            headless_opaque: Ask,
            own_opaque: Defer,
            unknown_tool: Defer,
            new_server: Ask,
            probing: Defer,
            allow_understood: false,
            ungoverned: Ungoverned::default(),
            operators: Operators::default(),
            tiers: Tiers::default(),
            tags: Tags::default(),
            presence: Presence::Terminal,
            ask_wait_s: 0,
            notify: true,
        };
        let bounded = Settings {
            level: Some(AccessLevel::WorkspaceWrite),
            unknown_workspace: Some(AccessLevel::ReadOnly),
            headless_default: Deny,
            headless_opaque: Deny,
            own_opaque: Ask,
            unknown_tool: Deny,
            ungoverned: Ungoverned {
                action: OnUngoverned::Notify,
                level: Some(AccessLevel::ReadOnly),
                ..Ungoverned::default()
            },
            ..standard.clone()
        };
        match self {
            Profile::Standard => standard,
            Profile::Strict => {
                let ungoverned = Ungoverned { bars_foreign_hooks: true, ..bounded.ungoverned.clone() };
                Settings { opaque: Deny, probing: Ask, ungoverned, ..bounded }
            }
            Profile::Autonomous => Settings { allow_understood: true, ..bounded },
            Profile::Observer => Settings { tools: false, opaque: Deny, ..bounded },
            Profile::Kit => Settings {
                default_verdict: Allow,
                headless_default: Allow,
                opaque: Defer,
                headless_opaque: Defer,
                new_server: Defer,
                // Its rules know no such tag.
                tiers: Tiers { review: RuleState::Observe, ..standard.tiers },
                ..standard
            },
        }
    }
}

impl Settings {
    /// What is answered to what was not understood.
    pub(crate) fn opaque_verdict(&self, headless: bool) -> Verdict {
        if headless { self.headless_opaque.max(self.opaque) } else { self.opaque }
    }

    /// Whether code counts as not understood that would lie in a file of the project that is not there. Where nobody looks at what an
    /// agent does, another call may make it in time.
    pub(crate) fn minds_missing_code(&self) -> bool {
        match self.profile {
            Profile::Standard | Profile::Kit => false,
            Profile::Strict | Profile::Autonomous | Profile::Observer => true,
        }
    }

    /// Whether parts of the project's own code that were not understood are left to it. Where the agent prompts nobody, or the others are
    /// denied, these are no better.
    pub(crate) fn leaves_own_code(&self, headless: bool) -> bool {
        let prompts = !headless && self.default_verdict == Verdict::Defer;
        prompts && self.own_opaque == Verdict::Defer && self.opaque < Verdict::Deny
    }

    /// Whether anything is answered otherwise where nobody is there to be asked.
    pub fn minds_headless(&self) -> bool {
        self.headless_default != self.default_verdict
            || self.opaque_verdict(true) != self.opaque
            || self.leaves_own_code(false)
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
    type Err = String;

    fn from_str(word: &str) -> Result<Profile, String> {
        let known = Profile::ALL.into_iter().find(|profile| profile.as_str() == word);
        known.ok_or_else(|| {
            let words = Profile::ALL.map(Profile::as_str).join(", ");
            format!("`{word}` is none of {words}")
        })
    }
}
