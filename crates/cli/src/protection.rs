//! [`Protection`]: the judgement whether castellan protects this user here, for `castellan status` and `castellan doctor`. It
//! reads settings files and asks the daemon once. It must not know how the judgement is shown.

mod agents;
mod home;
mod level;

use std::time::Duration;

use castellan_agents::AgentId;
use castellan_daemon::{ControlError, Layout, StatusReport};

use crate::check::{Check, Outcome};
use crate::exit::Exit;
use crate::global::Global;
use crate::guard::Guard;
pub(crate) use home::{waiting, without_falco};
pub(crate) use level::GuardLevel;

/// The answer to the question whether castellan protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Every agent that was found asks castellan, and castellan enforces its decisions.
    Protected,
    /// Something that the checks name is bad.
    Unprotected,
    /// No daemon listens.
    NoDaemon,
}

impl Answer {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Answer::Protected => "protected",
            Answer::Unprotected => "unprotected",
            Answer::NoDaemon => "no_daemon",
        }
    }

    pub(crate) fn exit(self) -> Exit {
        match self {
            Answer::Protected => Exit::Done,
            Answer::Unprotected => Exit::No,
            Answer::NoDaemon => Exit::NotRunning,
        }
    }
}

/// The protection of this user in the current directory.
#[derive(Debug)]
pub(crate) struct Protection {
    pub(crate) layout: Layout,
    pub(crate) status: Result<StatusReport, ControlError>,
    /// The given agents, in their order.
    pub(crate) guards: Vec<Guard>,
    /// Checks of home and daemon.
    pub(crate) of_home: Vec<Check>,
    /// Checks of the agents.
    pub(crate) of_agents: Vec<Check>,
}

impl Protection {
    /// Looks at the protection of `agents`. The daemon has `time` to answer.
    pub(crate) fn of(global: &Global, agents: &[AgentId], time: Duration) -> anyhow::Result<Protection> {
        // The files of a daemon of the system are not copied: a log is large, and `time` does not hold for the copies.
        let layout = global.layout_itself()?;
        let status = global.client()?.status_within(time);
        let guards: Vec<Guard> =
            agents.iter().map(|agent| Guard::of(*agent, &layout)).collect::<anyhow::Result<_>>()?;
        let of_home = home::checks(&layout, &status);
        let of_agents = agents::checks(&guards, status.as_ref().ok());
        Ok(Protection { layout, status, guards, of_home, of_agents })
    }

    /// Returns all checks, the worst first.
    pub(crate) fn checks(&self) -> Vec<&Check> {
        let mut checks: Vec<&Check> = self.of_home.iter().chain(&self.of_agents).collect();
        checks.sort_by_key(|check| std::cmp::Reverse(check.outcome));
        checks
    }

    /// Judges. A daemon that listens and does not answer protects nobody.
    pub(crate) fn answer(&self) -> Answer {
        match &self.status {
            Err(ControlError::NotRunning) => Answer::NoDaemon,
            Ok(_) if self.checks().iter().all(|check| check.outcome < Outcome::Bad) => Answer::Protected,
            Ok(_) | Err(_) => Answer::Unprotected,
        }
    }

    /// Returns the strength of the protection; `None` if no agent is guarded.
    pub(crate) fn level(&self) -> Option<GuardLevel> {
        GuardLevel::of(&self.guards, self.status.as_ref().ok())
    }
}
