//! Whose event it is: the session, where it works, and what is known of both. It must not know what is decided.

use std::io;

use castellan_agents as agents;
use castellan_event::{Agent, Mark, Recorder, Session};
use castellan_policy::{Policy, Standing};

use super::{Asked, Failure, Judge, Whose, digest};
use crate::control::{DecidedWorkspace, WorkspaceStanding};
use crate::limits::SUSPECT_MARKS;
use crate::memory::{SessionKey, WorkspaceDecision};
use crate::record;
use crate::workspace::workspace_of;
use crate::world::FileSystem;

impl Judge {
    /// An agent's event: which session it is of. The first one fixes where the session works.
    pub(super) fn whose(&self, asked: &Asked<'_>, of: &Agent) -> Result<Whose, Failure> {
        let id = SessionKey(digest(&[asked.agent.word(), &of.session_id]));
        let mut memory = self.memory();
        let session = memory.enter(id, asked.process).map_err(Failure::unkept)?;
        let known = memory.workspace(&id).cloned();
        drop(memory);
        let found = match known {
            Some(known) => Some(known),
            None => workspace_of(&of.cwd, of.pid, &mut Recorder::new(&FileSystem::default())),
        };
        let mut memory = self.memory();
        if let Some(found) = found.filter(|_| memory.workspace(&id).is_none()) {
            memory.fix_workspace(session, found);
        }
        // As another event of the session may have fixed it in between.
        let workspace = memory.workspace(&id).cloned();
        let standing = memory.standing(workspace.as_ref());
        let own = agents::ceiling(asked.agent, &of.permission_mode);
        // Not every event tells a mode.
        let is_main = of.subagent_id.is_empty() && !of.permission_mode.is_empty();
        let ceiling = memory.ceiling(&id, is_main, own);
        Ok(Whose { session, workspace, standing, ceiling })
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

    /// Records, once a session, that nobody has said whether it may work where it does.
    pub(super) fn tell_unknown(&self, whose: &Whose, agent: &Agent, policy: &Policy) {
        let matters = policy.settings().unknown_workspace.is_some();
        if whose.standing != Standing::Unknown || !matters || !self.memory().is_to_tell(&whose.session.id) {
            return;
        }
        let path = whose.workspace.as_ref().map_or("", |workspace| &workspace.path);
        // That the record fails shows in the status; the call has its own.
        let _ = self.append(&record::trust_required(agent, path));
    }

    /// What persons have decided about workspaces.
    pub(crate) fn decided_workspaces(&self) -> Vec<DecidedWorkspace> {
        let memory = self.memory();
        let decided = memory.trust().all().map(|(workspace, decided)| DecidedWorkspace {
            workspace: workspace.to_owned(),
            standing: match decided {
                WorkspaceDecision::Trusted => WorkspaceStanding::Trusted,
                WorkspaceDecision::Denied => WorkspaceStanding::Denied,
            },
        });
        decided.collect()
    }

    /// Decides about a workspace; `None` forgets what was decided. An error when it could not be kept.
    pub(crate) fn decide(&self, workspace: &str, decided: Option<WorkspaceDecision>) -> io::Result<()> {
        let mut memory = self.memory();
        // What was answered before answers no second question any more.
        memory.outdate();
        memory.decide(workspace, decided)
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
