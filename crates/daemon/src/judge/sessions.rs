//! Finds the session of an event, its workspace, and the facts about both. This module must not know the decision.

use std::io;
use std::path::Path;
use std::sync::Arc;

use castellan_agents as agents;
use castellan_event::{Agent, Answer, Mark, PartsHash, Query, Recorder, Session, World};
use castellan_policy::{Policy, WorkspaceTrust};

use super::{Asked, Failure, Judge, Terms, Whose};
use crate::control::{DecidedWorkspace, ProjectFiles, TrustDecision};
use crate::file_set::read_project;
use crate::limits::SUSPECT_MARKS;
use crate::memory::{ReportState, Workspace, WorkspaceDecision};
use crate::record;
use crate::session_key::SessionKey;
use crate::workspace::workspace_of;
use crate::world::FileSystem;

/// The moment of a check whether a person should decide about a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Before a call.
    Call,
    /// After a prompt of the user.
    Prompt,
}

impl Judge {
    /// Finds the session of an agent's event. The session's first event fixes its workspace.
    pub(super) fn whose(&self, asked: &Asked<'_>, of: &Agent) -> Result<Whose, Failure> {
        let id = SessionKey(PartsHash::of([asked.agent.word(), &of.session_id]).bytes());
        let mut memory = self.memory();
        if memory.needs_room(&id) {
            memory.watch(self.live.ids());
        }
        let session = memory.enter(id, asked.sender.agent).map_err(Failure::crowded)?;
        let known = memory.workspace(&id).cloned();
        drop(memory);
        let found = match known {
            Some(known) => known,
            None => workspace_of(&of.cwd, of.pid, &mut Recorder::new(&FileSystem::default()))
                .unwrap_or_else(Workspace::nowhere),
        };
        let is_denied_here = self.is_denied(&of.cwd);
        let mut memory = self.memory();
        if memory.workspace(&id).is_none() {
            memory.fix_workspace(session, found);
        }
        // Read again, because another event of the session may have fixed it in between.
        let workspace = memory.workspace(&id).cloned();
        let workspace_trust = memory.workspace_trust(workspace.as_ref());
        let project = memory.project(workspace.as_ref());
        let own = agents::ceiling(asked.agent, &of.permission_mode);
        // Not every event contains a permission mode.
        let is_main = of.subagent_id.is_empty() && !of.permission_mode.is_empty();
        let ceiling = memory.ceiling(&id, is_main, own);
        drop(memory);
        let terms = project.as_ref().map(|hash| self.terms_with(&asked.in_force, hash));
        let workspace_trust = match &terms {
            _ if is_denied_here => WorkspaceTrust::Denied,
            // The copy of the trusted files cannot be read, so the workspace is not trusted.
            Some(None) => WorkspaceTrust::Unknown,
            Some(Some(_)) | None => workspace_trust,
        };
        // An event has a single workspace, so this is the first call of `set`.
        let terms = terms.flatten().unwrap_or_else(|| Arc::clone(&asked.in_force));
        let _ = asked.in_workspace.set(terms);
        Ok(Whose { session, workspace, workspace_trust, project, ceiling })
    }

    /// Reports whether a person has denied the agent's present directory, whatever its workspace is now. A directory
    /// that cannot be resolved may be a denied one.
    fn is_denied(&self, cwd: &str) -> bool {
        if !self.memory().trust().has_denied() {
            return false;
        }
        let query = Query::RealPath { base: "/".to_owned(), path: cwd.to_owned() };
        match FileSystem::default().answer(&query) {
            Some(Answer::RealPath(real)) => self.memory().trust().denies(&real),
            _ => true,
        }
    }

    /// Returns the state left by the session's earlier calls. A session with lost state has every mark that rules set.
    pub(super) fn session(&self, whose: &Whose, policy: &Policy) -> Session {
        let memory = self.memory();
        let mut session = memory.session(&whose.session.root);
        if memory.is_suspect(&whose.session.root) {
            let mark = Mark { count: SUSPECT_MARKS, at_ms: session.now_ms };
            let labels = policy.rules().flat_map(|rule| rule.marks);
            session.marks.extend(labels.map(|label| (label.clone(), mark)));
        }
        session
    }

    /// Records once a session that a person should decide about its workspace, or about the workspace's own files.
    /// Reads these files at the session's first call and at each prompt.
    pub(super) fn tell_trust(&self, whose: &Whose, agent: &Agent, policy: &Policy, when: Look) {
        let report_state = self.memory().report_state(&whose.session.id).copied();
        let why = match (report_state, when) {
            (None | Some(ReportState::Reported), _) => return,
            (Some(ReportState::Unlooked), _) | (Some(ReportState::Nothing), Look::Prompt) => {
                undecided(whose, policy).or_else(|| disregarded(whose))
            }
            (Some(ReportState::Nothing), Look::Call) => undecided(whose, policy),
        };
        // Another event of the session may have recorded it in between.
        let before = self.memory().report_state(&whose.session.id).map(|report_state| {
            let now = if why.is_some() { ReportState::Reported } else { ReportState::Nothing };
            std::mem::replace(report_state, now.max(*report_state))
        });
        if let Some(why) = why.filter(|_| before != Some(ReportState::Reported)) {
            let path = whose.workspace.as_ref().map_or("", |workspace| &workspace.path);
            // If the record fails, the status shows it; the call has its own record.
            let _ = self.append(&record::trust_required(agent, path, why));
        }
    }

    /// Returns the decisions about workspaces. Reads the files of trusted ones.
    pub(crate) fn decided_workspaces(&self) -> Vec<DecidedWorkspace> {
        let decided: Vec<(String, WorkspaceDecision)> =
            self.memory().trust().all().map(|(path, decided)| (path.to_owned(), decided.clone())).collect();
        let terms = self.terms();
        let reported = |(workspace, decided): (String, WorkspaceDecision)| match decided {
            WorkspaceDecision::Trusted { project } => DecidedWorkspace {
                files: self.project_files(&workspace, project.as_deref(), &terms),
                workspace,
                trust: TrustDecision::Trusted,
            },
            WorkspaceDecision::Denied => {
                DecidedWorkspace { workspace, trust: TrustDecision::Denied, files: None }
            }
        };
        decided.into_iter().map(reported).collect()
    }

    /// Compares a workspace's own files with the trusted ones. Files that cannot be read count as changed.
    fn project_files(
        &self,
        workspace: &str,
        trusted: Option<&str>,
        terms: &Arc<Terms>,
    ) -> Option<ProjectFiles> {
        if trusted.is_some_and(|hash| self.terms_with(terms, hash).is_none()) {
            return Some(ProjectFiles::Lost);
        }
        let now = read_project(Path::new(workspace)).map(|set| set.map(|set| set.hash()));
        match (now, trusted) {
            (Ok(None), None) => None,
            (Ok(now), trusted) if now.as_deref() == trusted => Some(ProjectFiles::Same),
            _ => Some(ProjectFiles::Changed),
        }
    }

    /// Decides about a workspace; `None` removes the decision. Returns an error if the decision could not be stored.
    pub(crate) fn decide(&self, workspace: &str, decided: Option<WorkspaceDecision>) -> io::Result<()> {
        let mut memory = self.memory();
        // Earlier answers are no longer valid for a second question.
        memory.outdate();
        if let Some(WorkspaceDecision::Trusted { project: Some(hash) }) = &decided {
            self.terms().projects.look_again(hash);
        }
        memory.decide(workspace, decided)
    }

    /// Reports whether a trusted workspace has files with this hash.
    pub(crate) fn needs_copy(&self, hash: &str) -> bool {
        self.memory().trust().needs(hash)
    }

    /// Returns the number of grants.
    pub(crate) fn grants(&self) -> usize {
        self.memory().grants()
    }

    /// Returns the number of known sessions.
    pub(crate) fn sessions(&self) -> usize {
        self.memory().sessions()
    }

    /// Writes the state to disk. No reply may be sent before.
    pub(super) fn save(&self) -> Result<(), Failure> {
        self.memory().save().map_err(|error| Failure::unkept(&error))
    }

    /// Rewrites the state on disk if another program has changed or removed it.
    pub(crate) fn mend_state(&self) {
        let mended = self.memory().mend();
        match mended {
            Ok(false) => {}
            Ok(true) => self.fail(
                "state",
                "somebody else has changed or removed the state on disk: it has been written again",
            ),
            Err(error) => self.fail("state", &format!("the state cannot be written again: {error}")),
        }
    }
}

/// Returns an empty reason if no person has decided about the workspace and the policy limits unknown workspaces.
fn undecided(whose: &Whose, policy: &Policy) -> Option<&'static str> {
    let matters = policy.settings().unknown_workspace.is_some();
    (whose.workspace_trust == WorkspaceTrust::Unknown && matters).then_some("")
}

/// Returns the reason why a person should decide about a workspace's own files.
fn disregarded(whose: &Whose) -> Option<&'static str> {
    let border = whose.workspace.as_ref().filter(|workspace| workspace.is_border)?;
    // Files that cannot be read count as files.
    let own_files = || read_project(Path::new(&border.path)).map(|set| set.map(|set| set.hash()));
    match whose.workspace_trust {
        WorkspaceTrust::Denied => None,
        WorkspaceTrust::Unknown => (!matches!(own_files(), Ok(None))).then_some("its own files do not count"),
        WorkspaceTrust::Trusted => {
            let is_same = own_files().is_ok_and(|now| now == whose.project);
            (!is_same).then_some("its own files are others than those that count")
        }
    }
}
