//! Whose event it is: the session, where it works, and what is known of both. It must not know what is decided.

use std::io;
use std::path::Path;
use std::sync::Arc;

use castellan_agents as agents;
use castellan_event::{Agent, Answer, Mark, Query, Recorder, Session, World};
use castellan_policy::{Policy, Standing};

use super::{Asked, Failure, Judge, Terms, Whose, digest};
use crate::control::{DecidedWorkspace, ProjectFiles, WorkspaceStanding};
use crate::file_set::read_project;
use crate::limits::SUSPECT_MARKS;
use crate::memory::{SessionKey, Telling, Workspace, WorkspaceDecision};
use crate::record;
use crate::workspace::workspace_of;
use crate::world::FileSystem;

/// When it is looked whether a person should say something about a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Before a call.
    Call,
    /// When the user has said something.
    Prompt,
}

impl Judge {
    /// An agent's event: which session it is of. The first one fixes where the session works.
    pub(super) fn whose(&self, asked: &Asked<'_>, of: &Agent) -> Result<Whose, Failure> {
        let id = SessionKey(digest(&[asked.agent.word(), &of.session_id]));
        let mut memory = self.memory();
        if memory.needs_room(&id) {
            memory.watch(self.live.ids());
        }
        let session = memory.enter(id, asked.process).map_err(Failure::crowded)?;
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
        // As another event of the session may have fixed it in between.
        let workspace = memory.workspace(&id).cloned();
        let standing = memory.standing(workspace.as_ref());
        let project = memory.project(workspace.as_ref());
        let own = agents::ceiling(asked.agent, &of.permission_mode);
        // Not every event tells a mode.
        let is_main = of.subagent_id.is_empty() && !of.permission_mode.is_empty();
        let ceiling = memory.ceiling(&id, is_main, own);
        drop(memory);
        let terms = project.as_ref().map(|hash| self.terms_with(&asked.in_force, hash));
        let standing = match &terms {
            _ if is_denied_here => Standing::Denied,
            // What the person trusted it with is not known any more.
            Some(None) => Standing::Unknown,
            Some(Some(_)) | None => standing,
        };
        // One event is of one workspace: this is the first time.
        let terms = terms.flatten().unwrap_or_else(|| Arc::clone(&asked.in_force));
        let _ = asked.in_workspace.set(terms);
        Ok(Whose { session, workspace, standing, project, ceiling })
    }

    /// Whether a person has denied the directory that an agent works in now, whichever workspace that is by now. Where that cannot be
    /// told, it may be one.
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

    /// What earlier calls of the session left behind. One of which nothing is known has set every mark that a rule sets, now.
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

    /// Records, once a session, that a person should say whether it may work where it does, and whether the workspace's own files are to
    /// count. Looks at these with the session's first call, and with each prompt.
    pub(super) fn tell_trust(&self, whose: &Whose, agent: &Agent, policy: &Policy, when: Look) {
        let telling = self.memory().telling(&whose.session.id).copied();
        let why = match (telling, when) {
            (None | Some(Telling::Told), _) => return,
            (Some(Telling::Unlooked), _) | (Some(Telling::Nothing), Look::Prompt) => {
                undecided(whose, policy).or_else(|| disregarded(whose))
            }
            (Some(Telling::Nothing), Look::Call) => undecided(whose, policy),
        };
        // Another event of the session may have told it in between.
        let before = self.memory().telling(&whose.session.id).map(|telling| {
            let now = if why.is_some() { Telling::Told } else { Telling::Nothing };
            std::mem::replace(telling, now.max(*telling))
        });
        if let Some(why) = why.filter(|_| before != Some(Telling::Told)) {
            let path = whose.workspace.as_ref().map_or("", |workspace| &workspace.path);
            // That the record fails shows in the status; the call has its own.
            let _ = self.append(&record::trust_required(agent, path, why));
        }
    }

    /// What persons have decided about workspaces. Looks at the files of trusted ones.
    pub(crate) fn decided_workspaces(&self) -> Vec<DecidedWorkspace> {
        let decided: Vec<(String, WorkspaceDecision)> =
            self.memory().trust().all().map(|(path, decided)| (path.to_owned(), decided.clone())).collect();
        let terms = self.terms();
        let told = |(workspace, decided): (String, WorkspaceDecision)| match decided {
            WorkspaceDecision::Trusted { project } => DecidedWorkspace {
                files: self.project_files(&workspace, project.as_deref(), &terms),
                workspace,
                standing: WorkspaceStanding::Trusted,
            },
            WorkspaceDecision::Denied => {
                DecidedWorkspace { workspace, standing: WorkspaceStanding::Denied, files: None }
            }
        };
        decided.into_iter().map(told).collect()
    }

    /// How a workspace's own files are now against those that it was trusted with. Files that cannot be read are others.
    fn project_files(&self, workspace: &str, trusted: Option<&str>, terms: &Terms) -> Option<ProjectFiles> {
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

    /// Decides about a workspace; `None` forgets what was decided. An error when it could not be kept.
    pub(crate) fn decide(&self, workspace: &str, decided: Option<WorkspaceDecision>) -> io::Result<()> {
        let mut memory = self.memory();
        // What was answered before answers no second question any more.
        memory.outdate();
        if let Some(WorkspaceDecision::Trusted { project: Some(hash) }) = &decided {
            self.terms().projects.look_again(hash);
        }
        memory.decide(workspace, decided)
    }

    /// Whether some trusted workspace has files with this hash.
    pub(crate) fn needs_copy(&self, hash: &str) -> bool {
        self.memory().trust().needs(hash)
    }

    /// How many grants are kept.
    pub(crate) fn grants(&self) -> usize {
        self.memory().grants()
    }

    /// How many sessions are kept in mind.
    pub(crate) fn sessions(&self) -> usize {
        self.memory().sessions()
    }

    /// Keeps what has happened: nobody is answered before.
    pub(super) fn save(&self) -> Result<(), Failure> {
        self.memory().save().map_err(|error| Failure::unkept(format!("the state cannot be written: {error}")))
    }

    /// Looks whether the state on disk is what was written, and writes it again if somebody else has changed or removed it.
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

/// Whether a person should say something about a session's workspace as nobody has said anything, and that matters: without a word why.
fn undecided(whose: &Whose, policy: &Policy) -> Option<&'static str> {
    let matters = policy.settings().unknown_workspace.is_some();
    (whose.standing == Standing::Unknown && matters).then_some("")
}

/// Why a person should say something about a workspace's own files.
fn disregarded(whose: &Whose) -> Option<&'static str> {
    let border = whose.workspace.as_ref().filter(|workspace| workspace.is_border)?;
    // Files that cannot be read are files.
    let own_files = || read_project(Path::new(&border.path)).map(|set| set.map(|set| set.hash()));
    match whose.standing {
        Standing::Denied => None,
        Standing::Unknown => (!matches!(own_files(), Ok(None))).then_some("its own files do not count"),
        Standing::Trusted => {
            let is_same = own_files().is_ok_and(|now| now == whose.project);
            (!is_same).then_some("its own files are others than those that count")
        }
    }
}
