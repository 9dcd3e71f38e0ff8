//! [`Terms`]: the policy and mode that judge calls, and their changes at runtime. It must not know calls.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use castellan_event::Mode;
use castellan_policy::Policy;

use super::{Asked, Judge};
use crate::limits::PROJECTS_MAX;
use crate::peers::AgentProcess;
use crate::profiles::Profiles;
use crate::projects::{Lost, Projects};
use crate::session_key::SessionKey;

/// The policy and mode that judge calls. They change together: a call sees all new values or none.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) policy: Arc<Policy>,
    pub(crate) mode: Mode,
    /// Policies for workspaces with their own files.
    pub(crate) projects: Arc<Projects>,
    /// Policies for runs under a profile of their own.
    pub(crate) profiles: Arc<Profiles>,
    /// A person has paused castellan, so the mode is the mildest.
    pub(crate) in_pause: bool,
}

impl Terms {
    /// Reports whether a pause leaves a call without judgement. A stricter mode of a workspace's own files holds.
    pub(super) fn is_paused(&self) -> bool {
        self.in_pause && self.mode == Mode::Passthrough
    }

    /// Returns the mode for failures: a session without tools has none in any mode.
    fn mode_of_failures(&self) -> Mode {
        if self.policy.settings().tools { self.mode } else { Mode::Enforce }
    }
}

#[cfg(test)]
impl Terms {
    /// Returns terms without workspaces that have their own files.
    pub(crate) fn new(policy: Arc<Policy>, mode: Mode) -> Terms {
        Terms { policy, mode, projects: Arc::default(), profiles: Arc::default(), in_pause: false }
    }
}

impl Judge {
    /// Returns the terms in force.
    pub(crate) fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.terms.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts terms in force that were made under the mode `seen`. A stricter mode that was set since stays.
    pub(crate) fn put(&self, seen: Mode, new: Terms) {
        self.swap(|terms| {
            let since = Some(terms.mode).filter(|since| *since > seen);
            Terms { mode: since.map_or(new.mode, |since| since.max(new.mode)), ..new }
        });
    }

    /// Changes only the mode, and only to a stricter one.
    pub(crate) fn tighten(&self, mode: Mode) {
        self.swap(|terms| Terms { mode: mode.max(terms.mode), ..terms.clone() });
    }

    /// Changes only the mode.
    pub(crate) fn set_mode(&self, mode: Mode) {
        self.swap(|terms| Terms { mode, ..terms.clone() });
    }

    fn swap(&self, change: impl FnOnce(&Terms) -> Terms) {
        let mut terms = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        let before = terms.mode;
        *terms = Arc::new(change(&terms));
        let is_other_mode = terms.mode != before;
        drop(terms);
        self.memory().outdate();
        if is_other_mode {
            self.begin_anew();
        }
    }

    /// Returns the terms with a trusted workspace's own files below them; `None` if the copy of these cannot be used.
    /// Own files change nothing where there are no tools.
    pub(super) fn terms_with(&self, in_force: &Arc<Terms>, hash: &str) -> Option<Arc<Terms>> {
        if !in_force.policy.settings().tools {
            return Some(Arc::clone(in_force));
        }
        match in_force.projects.get(hash) {
            Ok(project) => Some(Arc::new(Terms {
                policy: Arc::clone(&project.policy),
                mode: project.mode.map_or(in_force.mode, |mode| mode.max(in_force.mode)),
                ..Terms::clone(in_force)
            })),
            Err(Lost { why, is_news }) => {
                if is_news {
                    let what =
                        "workspaces with these files count as unknown until somebody trusts them again";
                    self.fail("project", &format!("{what}: {why}"));
                }
                None
            }
        }
    }

    /// Returns the mode for a failed event; its workspace's own files can tighten it.
    pub(super) fn mode_of_failure(&self, asked: &Asked<'_>) -> Mode {
        if self.may_be_halted(Some(asked.agent), asked.sender.agent) {
            return Mode::Enforce;
        }
        match asked.in_workspace.get() {
            Some(terms) => terms.mode_of_failures(),
            None => self.mode_of_unknown(&asked.in_force, asked.sender.agent),
        }
    }

    /// Returns the mode for the reply to a rejected connection of an agent's process. If `peer`, the connected process,
    /// embeds agents, their workspaces can tighten it.
    pub(crate) fn mode_of_refusal(&self, process: AgentProcess, peer: AgentProcess) -> Mode {
        if self.may_be_halted(None, process) || self.may_be_halted(None, peer) {
            return Mode::Enforce;
        }
        let mode = |of| self.mode_of_unknown(&self.terms_below(self.ancestors(of).as_ref()), of);
        let is_known = !self.memory().sessions_in(&peer).is_empty();
        if is_known { mode(process).max(mode(peer)) } else { mode(process) }
    }

    /// Returns the mode for an event of an unknown session: the strictest of its process's sessions. For an unknown
    /// process, any workspace is possible, so it is the strictest of all trusted workspaces with own files.
    fn mode_of_unknown(&self, in_force: &Arc<Terms>, process: AgentProcess) -> Mode {
        let own = in_force.mode_of_failures();
        if own == Mode::Enforce {
            return own;
        }
        let memory = self.memory();
        let sessions = memory.sessions_in(&process);
        let projects: BTreeSet<String> = match sessions.is_empty() {
            true => memory.trust().projects().map(str::to_owned).collect(),
            false => sessions.iter().filter_map(|id| memory.project(memory.workspace(id))).collect(),
        };
        drop(memory);
        // More than the compiled policies in memory: compiling each would take long.
        if projects.len() > PROJECTS_MAX {
            return Mode::Enforce;
        }
        let terms = projects.iter().filter_map(|hash| self.terms_with(in_force, hash));
        terms.map(|terms| terms.mode_of_failures()).fold(own, Mode::max)
    }

    /// Returns the terms that judge a session's calls now.
    pub(super) fn terms_of(&self, session: &SessionKey) -> Arc<Terms> {
        let memory = self.memory();
        let project = memory.project(memory.workspace(session));
        let profiles = memory.profiles_of(session);
        drop(memory);
        let in_force = self.terms_under(self.terms_now(), profiles);
        project.and_then(|hash| self.terms_with(&in_force, &hash)).unwrap_or(in_force)
    }
}
