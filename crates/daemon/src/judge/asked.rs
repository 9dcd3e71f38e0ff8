//! What the steps of judging one event share: what the hook asked, and whose event it is. It must not know what is decided.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use castellan_agents::{self as agents, AgentId, PACKAGE_MANIFEST, Version};
use castellan_event::{AccessLevel, Call, Facts};
use castellan_policy::Standing;
use castellan_wire::Request;

use super::{Holding, Terms};
use crate::limits::MANIFEST_BYTES_MAX;
use crate::memory::{Entered, Epoch, Workspace};
use crate::peers::AgentProcess;
use crate::process::{arguments_of, executable_of};

/// One call being judged: what the steps below share.
pub(super) struct Asked<'a> {
    pub(super) agent: AgentId,
    pub(super) request: &'a Request,
    pub(super) process: AgentProcess,
    pub(super) started: Instant,
    /// When that was. It is looked at before what counts then.
    pub(super) epoch: Epoch,
    /// Those that were in force when the call came in.
    pub(super) in_force: Arc<Terms>,
    /// Those of its session's workspace, as soon as that is known.
    pub(super) in_workspace: OnceCell<Arc<Terms>>,
    pub(super) holding: Holding,
}

impl Asked<'_> {
    /// What the call is judged by.
    pub(super) fn terms(&self) -> &Terms {
        self.in_workspace.get().unwrap_or(&self.in_force)
    }

    pub(super) fn agent_pid(&self) -> u32 {
        if self.process.pid == 0 { self.request.parent_pid } else { self.process.pid }
    }

    /// Whether the agent is known to hold an ask about the call.
    pub(super) fn holds_ask(&self, call: &Call, facts: &Facts) -> bool {
        agents::holds_ask(self.agent, || self.agent_version(), call, facts)
            && !(agents::denies_unattended_asks(self.agent) && self.is_headless(&call.agent.permission_mode))
    }

    /// Whether it is known that nobody is there to answer at the agent's own prompt.
    pub(super) fn is_known_headless(&self, permission_mode: &str) -> bool {
        let arguments = arguments_of(self.agent_pid());
        arguments.is_some_and(|known| agents::is_headless(self.agent, Some(&known), permission_mode))
    }

    /// Whether nobody is there to be asked. Of a process that cannot be looked at it is not known, and it counts as such.
    pub(super) fn is_headless(&self, permission_mode: &str) -> bool {
        agents::is_headless(self.agent, arguments_of(self.agent_pid()).as_deref(), permission_mode)
    }

    fn agent_version(&self) -> Option<Version> {
        let executable = executable_of(self.agent_pid())?;
        let manifest = Path::new(&executable).with_file_name(PACKAGE_MANIFEST);
        let manifest = castellan_files::read_text(&manifest, MANIFEST_BYTES_MAX).ok();
        agents::executable_version(self.agent, &executable, manifest.as_deref())
    }
}

/// Whose event it is.
#[derive(Debug, Clone)]
pub(super) struct Whose {
    pub(super) session: Entered,
    /// Where the session works.
    pub(super) workspace: Option<Workspace>,
    /// What a person has said of that.
    pub(super) standing: Standing,
    /// The hash of the workspace's own files, where it is trusted with some.
    pub(super) project: Option<String>,
    /// The highest access level that the agent gives itself, and the one that it works for.
    pub(super) ceiling: AccessLevel,
}

impl Whose {
    /// The directory in which things count as the workspace's; empty where there is none.
    pub(super) fn inside(&self) -> &str {
        self.workspace.as_ref().map_or("", Workspace::inside)
    }
}
