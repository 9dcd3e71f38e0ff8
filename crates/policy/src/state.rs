//! [`State`]: what a decision depends on besides the call, its facts and the policy; and [`StateChange`]: what it leaves behind. It must not
//! know how either is stored.

use std::time::Duration;

use castellan_event::{AccessLevel, Mode, ObligationKind, Session, Verdict};

use crate::grant::Grant;
use crate::request::RequestId;
use crate::tries::{NO_TRIES, Tries};
use crate::ungoverned::Bar;

/// What a person has said of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Sessions may work there as the profile says.
    Trusted,
    /// Nothing. Some profiles let sessions only look around there.
    Unknown,
    /// Sessions there have no tools.
    Denied,
}

/// The state in which a call is judged. A caller sets every field: none is completed later.
#[derive(Debug, Clone, Copy)]
pub struct State<'s> {
    /// How decisions are carried out.
    pub mode: Mode,
    /// Whether the agent, told "ask" at this event, asks a person. Where it would run the call instead, ask becomes deny.
    pub agent_asks: bool,
    /// Nobody is there to be asked.
    pub headless: bool,
    /// The highest access level that the session may have, whatever the profile says: the agent's own mode lowers it.
    pub ceiling: AccessLevel,
    /// What a person has said of the session's workspace.
    pub standing: Standing,
    /// The call is of an MCP server that came after castellan and that nobody has agreed to.
    pub is_new_server: bool,
    /// Why the session may do nothing, where that is so.
    pub bar: Option<&'s Bar>,
    /// The id for this call, should a person have to look at it.
    pub next_request: RequestId,
    /// What the session left behind in earlier calls.
    pub session: &'s Session,
    /// What was denied in the session so far.
    pub tries: &'s Tries,
    /// What a person has granted of this call.
    pub grant: Option<&'s Grant>,
    /// The same call, where it waits for a person already.
    pub pending: Option<&'s Pending>,
    /// A person has refused the call while it was held.
    pub is_refused: bool,
    /// The agent has asked about the call before: the session has its marks.
    pub is_repeated: bool,
    /// How long the call can be held for a person; `None`: it is not held.
    pub hold: Option<Duration>,
    /// The obligations that this agent and this machine can meet for the call.
    pub able: &'s [ObligationKind],
    /// Obligations of this call that castellan has tried to meet in vain.
    pub failed: &'s [Failed],
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its id.
    pub id: RequestId,
    /// What the person can grant of it.
    pub grant: Grant,
}

/// An obligation that castellan has tried to meet in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its kind. No obligation of this kind is tried again for the call.
    pub kind: ObligationKind,
    /// The cause, for a person.
    pub why: String,
}

impl<'s> State<'s> {
    /// The state in which a call is judged that no agent makes now: enforced, a person can be asked, every obligation can be met, nothing
    /// is held.
    pub fn plain(session: &'s Session) -> State<'s> {
        State {
            mode: Mode::Enforce,
            agent_asks: true,
            headless: false,
            ceiling: AccessLevel::FullAccess,
            standing: Standing::Trusted,
            is_new_server: false,
            bar: None,
            next_request: RequestId::from_seed(0),
            session,
            tries: &NO_TRIES,
            grant: None,
            pending: None,
            is_refused: false,
            is_repeated: false,
            hold: None,
            able: &ObligationKind::ALL,
            failed: &[],
        }
    }
}

/// What is to be remembered of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The request id of a call that a person can look at.
    pub request: Option<RequestId>,
    /// The answer, for the agent's second question about the same call.
    pub answer: Verdict,
    /// The grant has let the call happen.
    pub used_grant: bool,
    /// Labels of the marks that the call sets on its session, sorted, each once. A call that is denied sets none but [`crate::PROBING`].
    pub marks: Vec<String>,
    /// Purposes to count of a call that is answered: those of a denied call, and that a call asks for the answers of castellan.
    pub purposes: Vec<String>,
}
