//! [`Departure`]: a part of a call that a plan does not permit.

use serde::Serialize;

use crate::text::shortened;

/// A part of a call that is outside of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// The kind.
    pub kind: DepartureKind,
    /// The command, path, host, branch or part, shortened where it is long.
    pub subject: String,
    /// The step or arm whose command is nearest; the plan's command itself if no step has it. `None` if the call or the
    /// plan has no command, and in departures that only [`crate::covers`] returns.
    pub nearest: Option<String>,
}

impl Departure {
    pub(crate) fn new(kind: DepartureKind, subject: &str, nearest: Option<String>) -> Departure {
        Departure { kind, subject: shortened(subject), nearest }
    }
}

/// Declares the kinds in one table: the word for records and the meaning for people.
macro_rules! kinds {
    ($($variant:ident $word:literal $meaning:literal,)+) => {
        /// The kind of a departure. The words are stable: records hold them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        pub enum DepartureKind {
            $(#[doc = $meaning] #[serde(rename = $word)] $variant,)+
        }

        impl DepartureKind {
            /// Every kind, in the order of the table.
            pub const ALL: &'static [DepartureKind] = &[$(DepartureKind::$variant,)+];

            /// Returns the word for records.
            pub const fn as_str(self) -> &'static str {
                match self { $(DepartureKind::$variant => $word,)+ }
            }

            /// Returns one line for people.
            pub const fn meaning(self) -> &'static str {
                match self { $(DepartureKind::$variant => $meaning,)+ }
            }
        }
    };
}

kinds! {
    Command "command" "a program that the plan does not name",
    Arguments "arguments" "arguments that the plan does not have for this program",
    Write "write" "a path outside of `writes`, or an unknown one, is changed",
    Host "host" "a host outside of `hosts`, or an unknown one",
    Branch "branch" "a branch outside of `branches`, or an unknown one, is changed or pushed",
    Unclear "unclear" "a part that castellan does not understand",
    Operand "operand" "an unknown argument of a harmless action",
    OwnCode "own_code" "a part of the project's own file that castellan does not understand",
    Calls "calls" "the budget of calls is spent",
    Minutes "minutes" "the budget of minutes is spent",
    Expired "expired" "the plan has expired",
    More "more" "further departures, which are counted only",
    Unlimited "unlimited" "an effect for which an approved plan needs a list, and the plan has none",
    Nothing "nothing" "castellan knows neither a command nor an effect of the call",
    Secret "secret" "a path or copy that may hold a secret",
    Guarded "guarded" "a part of castellan's own guard",
    Place "place" "a path whose kind no plan covers",
    Remote "remote" "a command on another machine",
    Rights "rights" "a command with other rights, other variables, or in the background",
    Changed "changed" "a file that the session wrote or downloaded, and that the call may load or run",
    Protected "protected" "a branch that others build on, such as `main`",
    Kind "kind" "an effect of a kind that no plan covers",
}
