//! The verdicts that a setting may have: a type for each set, named after its members. Does not depend on the settings.

use std::str::FromStr;

use castellan_event::{UnknownWord, Verdict, from_word};

/// Defines the types. The members of each are in the order of strictness that configuration merges by.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident { $($member:ident),+ })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {$(
            #[doc = concat!("[`Verdict::", stringify!($member), "`].")]
            $member,
        )+}

        impl $name {
            /// All members, the mildest first.
            pub const ALL: &'static [$name] = &[$($name::$member),+];

            /// The words of the members, the mildest first.
            pub const WORDS: &'static [&'static str] = &[$(Verdict::$member.as_str()),+];

            /// Returns the verdict.
            pub const fn verdict(self) -> Verdict {
                match self { $($name::$member => Verdict::$member),+ }
            }

            /// Returns the word used in configuration.
            pub const fn as_str(self) -> &'static str {
                self.verdict().as_str()
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<$name, UnknownWord> {
                from_word($name::ALL, $name::as_str, word)
            }
        }
    )+};
}

choices! {
    /// Never stops a call.
    AllowOrDefer { Allow, Defer }
    /// Every verdict but ask, for sessions without a person.
    NotAsk { Allow, Defer, Deny }
    /// Every verdict but allow.
    NotAllow { Defer, Ask, Deny }
    /// Leaves a call to the agent, or asks.
    DeferOrAsk { Defer, Ask }
    /// Leaves a call to the agent, or denies.
    DeferOrDeny { Defer, Deny }
    /// Lets a call run, or asks.
    AllowOrAsk { Allow, Ask }
    /// Never lets a call run by itself.
    AskOrDeny { Ask, Deny }
}

/// The treatment of Opaque parts of the project's own code, and of runs of that code above the session's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnOpaque {
    /// Left to the agent if a person is at its prompt and has trusted the workspace, or if the agent itself asks; code
    /// that sessions changed only if the agent itself asks.
    Defer,
    /// Left to the agent only if the agent itself asks a person about the call.
    Prompted,
    /// As other Opaque parts.
    Ask,
}

impl OwnOpaque {
    /// All members, the mildest first.
    pub const ALL: &'static [OwnOpaque] = &[OwnOpaque::Defer, OwnOpaque::Prompted, OwnOpaque::Ask];

    /// The words of the members, the mildest first.
    pub const WORDS: &'static [&'static str] = &["defer", "prompted", "ask"];

    /// Returns the word used in configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            OwnOpaque::Defer => "defer",
            OwnOpaque::Prompted => "prompted",
            OwnOpaque::Ask => "ask",
        }
    }
}

impl FromStr for OwnOpaque {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<OwnOpaque, UnknownWord> {
        from_word(OwnOpaque::ALL, OwnOpaque::as_str, word)
    }
}
