//! [`State`]: the input of a decision besides the call, its facts and the policy. [`StateChange`]: the resulting
//! changes. Does not depend on the storage of either.

use std::time::Duration;

use castellan_event::{AccessLevel, Mode, ObligationKind, Session, Verdict};

use crate::call_class::CallClass;
use crate::grant::Grant;
use crate::plan::PlanCheck;
use crate::policy::Tester;
use crate::request::RequestId;
use crate::tries::{NO_TRIES, Tries};
use crate::ungoverned::Block;

/// Workspace trust: a person's decision about a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkspaceTrust {
    /// Sessions may work there as the profile permits.
    Trusted,
    /// No decision. Some profiles then allow only reading.
    Unknown,
    /// Sessions there have no tools.
    Denied,
}

/// The state in which a call is judged. A caller sets every field: none is completed later.
#[derive(Debug, Clone, Copy)]
pub struct State<'s> {
    /// The mode of enforcement.
    pub mode: Mode,
    /// If true, the agent asks a person when the answer at this event is ask. If it would run the call, ask becomes
    /// deny.
    pub agent_asks: bool,
    /// The agent itself asks a person about the call if castellan leaves the call to the agent.
    pub agent_prompts: bool,
    /// The agent runs a call without its own check if castellan allows it.
    pub honours_allow: bool,
    /// The agent's own model judges whether its user meant the call.
    pub host_judges: bool,
    /// No person can be asked.
    pub headless: bool,
    /// Highest access level of the session, independent of the profile: the agent's own mode lowers it.
    pub ceiling: AccessLevel,
    /// Trust in the session's workspace.
    pub workspace_trust: WorkspaceTrust,
    /// The call uses an MCP server that is newer than castellan and that nobody has agreed to.
    pub is_new_server: bool,
    /// A person has halted the session.
    pub is_halted: bool,
    /// A person has paused castellan. The mode is then `passthrough`.
    pub is_paused: bool,
    /// The settings require a sandbox, and the agent is in none.
    pub lacks_sandbox: bool,
    /// The reason why the session is blocked, if it is.
    pub block: Option<&'s Block>,
    /// The request id for this call if a person has to decide.
    pub next_request: RequestId,
    /// The call beside its session's plan; `None` without a plan, and without the need of one.
    pub plan: Option<&'s PlanCheck>,
    /// Marks of the session's earlier calls.
    pub session: &'s Session,
    /// Denials in the session so far.
    pub tries: &'s Tries,
    /// The grant for this call.
    pub grant: Option<&'s Grant>,
    /// Classes of calls that a person has granted in this session.
    pub granted_classes: &'s [CallClass],
    /// Classes of calls that a person has approved repeatedly in this session. castellan offers a grant for them.
    pub offered_classes: &'s [CallClass],
    /// This call, if it is already pending.
    pub pending: Option<&'s Pending>,
    /// A person has refused the call while it was held.
    pub is_refused: bool,
    /// The agent has asked about the call before, so the session already has its marks.
    pub is_repeated: bool,
    /// How long the call can be held for a person; `None`: it is not held.
    pub hold: Option<Duration>,
    /// The obligations that this agent and this machine can meet for the call.
    pub able: &'s [ObligationKind],
    /// Obligations of this call that castellan has failed to meet.
    pub failed: &'s [Failed],
    /// The program that tests the rules of this call in castellan's place. A policy whose rules castellan tests itself
    /// does not use it.
    pub tester: Option<&'s dyn Tester>,
}

/// A pending call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its id.
    pub id: RequestId,
    /// The grant that a person can give for it.
    pub grant: Grant,
}

/// An obligation that castellan has failed to meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its kind. No obligation of this kind is tried again for the call.
    pub kind: ObligationKind,
    /// The cause, for a person.
    pub why: String,
    /// The call is denied whatever the fallback: a reviewer refused it.
    pub denies: bool,
}

impl Failed {
    /// No reviewer lets the call run.
    pub fn review(why: impl Into<String>) -> Failed {
        Failed { kind: ObligationKind::Review, why: why.into(), denies: false }
    }

    /// The call cannot run in a sandbox.
    pub fn contain(why: impl Into<String>) -> Failed {
        Failed { kind: ObligationKind::Contain, why: why.into(), denies: false }
    }
}

impl<'s> State<'s> {
    /// The state for a call of no agent: enforce mode, a person can be asked, every obligation but containment can be met, nothing is
    /// held.
    pub fn plain(session: &'s Session) -> State<'s> {
        State {
            mode: Mode::Enforce,
            agent_asks: true,
            agent_prompts: false,
            honours_allow: true,
            host_judges: false,
            headless: false,
            ceiling: AccessLevel::FullAccess,
            workspace_trust: WorkspaceTrust::Trusted,
            is_new_server: false,
            is_halted: false,
            is_paused: false,
            lacks_sandbox: false,
            block: None,
            next_request: RequestId::from_seed(0),
            plan: None,
            session,
            tries: &NO_TRIES,
            grant: None,
            granted_classes: &[],
            offered_classes: &[],
            pending: None,
            is_refused: false,
            is_repeated: false,
            hold: None,
            able: &[ObligationKind::Review, ObligationKind::Hold, ObligationKind::Checkpoint],
            failed: &[],
            tester: None,
        }
    }
}

/// Changes after a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The request id of a call that a person can look up.
    pub request: Option<RequestId>,
    /// The answer, for the agent's second question about the same call.
    pub answer: Verdict,
    /// The class of a call that castellan asks about, if a grant may be that wide.
    pub class: Option<Box<CallClass>>,
    /// The person is offered a grant for the class.
    pub is_offered: bool,
    /// The grant has allowed the call.
    pub used_grant: bool,
    /// Labels of the marks of the session, sorted, without duplicates. A denied call sets only [`crate::PROBING`].
    pub marks: Vec<String>,
    /// Denial keys to count for an answered call: those of a denied call, and the key of a query about answers.
    pub denial_keys: Vec<String>,
}
