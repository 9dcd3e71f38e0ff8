//! Shared data of the steps that judge an event: the hook's request and the session. It must not know the decision.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use castellan_agents::{self as agents, AgentId, PACKAGE_MANIFEST, Version};
use castellan_event::{AccessLevel, Call, Facts};
use castellan_policy::WorkspaceTrust;
use castellan_wire::Request;

use super::review::Reviewed;
use super::{Holding, Terms};
use crate::limits::MANIFEST_BYTES_MAX;
use crate::memory::{Entered, Epoch, Workspace};
use crate::peers::Sender;
use crate::process::{arguments_of, executable_of};
use crate::sight;

/// An event that is being judged.
pub(super) struct Asked<'a> {
    pub(super) agent: AgentId,
    pub(super) request: &'a Request,
    pub(super) sender: Sender,
    /// Process id of the innermost run above the sender; 0 without one.
    pub(super) run: u32,
    pub(super) started: Instant,
    /// Epoch at the arrival. It is read before the data that it protects.
    pub(super) epoch: Epoch,
    /// Terms in force at the arrival.
    pub(super) in_force: Arc<Terms>,
    /// Terms of the session's workspace, once the workspace is known.
    pub(super) in_workspace: OnceCell<Arc<Terms>>,
    pub(super) holding: Holding,
    /// The review of the call. A call that is judged again is not reviewed again.
    pub(super) reviewed: Rc<RefCell<Option<Reviewed>>>,
}

impl Asked<'_> {
    /// Returns the terms that judge the call.
    pub(super) fn terms(&self) -> &Terms {
        self.in_workspace.get().unwrap_or(&self.in_force)
    }

    pub(super) fn agent_pid(&self) -> u32 {
        let pid = self.sender.agent.pid;
        if pid == 0 { self.request.parent_pid } else { pid }
    }

    /// Reports whether the agent is known to wait for a person when castellan asks about the call.
    pub(super) fn holds_ask(&self, call: &Call, facts: &Facts) -> bool {
        agents::holds_ask(self.agent, || self.agent_version(), call, facts)
            && !(agents::denies_unattended_asks(self.agent) && self.is_headless(&call.agent.permission_mode))
    }

    /// Reports whether certainly no person can answer the agent's own prompt.
    pub(super) fn is_known_headless(&self, permission_mode: &str) -> bool {
        if self.sender.is_embedding {
            return true;
        }
        let arguments = arguments_of(self.agent_pid());
        arguments.is_some_and(|known| agents::is_headless(self.agent, Some(&known), permission_mode))
    }

    /// Reports whether no person can be asked. A process that cannot be inspected is headless. So is a program
    /// that embeds an agent: castellan does not know its prompts.
    pub(super) fn is_headless(&self, permission_mode: &str) -> bool {
        self.sender.is_embedding
            || agents::is_headless(self.agent, arguments_of(self.agent_pid()).as_deref(), permission_mode)
    }

    fn agent_version(&self) -> Option<Version> {
        let executable = executable_of(self.agent_pid())?;
        let manifest = Path::new(&executable).with_file_name(PACKAGE_MANIFEST);
        let manifest = sight::read_text(&manifest, MANIFEST_BYTES_MAX).ok();
        agents::executable_version(self.agent, &executable, manifest.as_deref())
    }
}

/// The session of an event.
#[derive(Debug, Clone)]
pub(super) struct Whose {
    pub(super) session: Entered,
    /// The session's workspace.
    pub(super) workspace: Option<Workspace>,
    /// Workspace trust.
    pub(super) workspace_trust: WorkspaceTrust,
    /// Hash of the workspace's own files, if it is trusted with some.
    pub(super) project: Option<String>,
    /// The highest access level that the agent and its main agent give themselves.
    pub(super) ceiling: AccessLevel,
}

impl Whose {
    /// Returns the directory whose contents belong to the workspace; empty if there is none.
    pub(super) fn inside(&self) -> &str {
        self.workspace.as_ref().map_or("", Workspace::inside)
    }
}
