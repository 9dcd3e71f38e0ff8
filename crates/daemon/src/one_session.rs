//! [`OneSession`]: what the calls of one session leave behind, for whoever judges described calls without a daemon. It keeps what
//! the daemon's memory keeps, in the same parts, and it must not know where the calls come from.

use std::time::Duration;

use castellan_audit::Record;
use castellan_event::{Answers, Call, Facts, Recorder, Session};
use castellan_policy::{Decision, StateChange};

use crate::facts::facts_after;
use crate::judge::begun;
use crate::memory::{Changes, Marks, SessionKey, Workspace};
use crate::record::{Judged, Told};
use crate::workspace::workspace_of;

/// The only session there is.
const KEY: SessionKey = SessionKey([0; 32]);

/// Between two calls, on the clock of marks.
const CALL_MS: u64 = 1_000;

/// A session whose calls are judged one after the other, each done before the next.
#[derive(Debug)]
pub struct OneSession {
    workspace: Option<Workspace>,
    changes: Changes,
    marks: Marks,
    /// How many calls are done.
    done: u64,
    told: Told,
}

impl OneSession {
    /// A session that begins in a directory, of an agent's process.
    pub fn begin(cwd: &str, pid: u32, world: &mut Recorder<'_>) -> OneSession {
        OneSession {
            workspace: workspace_of(cwd, pid, world),
            changes: Changes::default(),
            marks: Marks::default(),
            done: 0,
            told: Told::default(),
        }
    }

    /// A session whose workspace is known, as a record tells it; empty where it has none.
    pub fn in_workspace(path: &str) -> OneSession {
        let is_border = !path.is_empty();
        OneSession {
            workspace: Some(Workspace { path: path.to_owned(), is_border }),
            changes: Changes::default(),
            marks: Marks::default(),
            done: 0,
            told: Told::default(),
        }
    }

    /// Finds what its next call would do. `own`: castellan's own files.
    pub fn facts(&self, call: &Call, own: &[String], world: &mut Recorder<'_>) -> Facts {
        let inside = self.workspace.as_ref().map_or("", Workspace::inside);
        facts_after(call, own, inside, self.changes.of(&KEY, None), world)
    }

    /// What a decision about its next call sees of it.
    pub fn session(&self) -> Session {
        self.marks.session(&KEY, self.done * CALL_MS)
    }

    /// The record of a decision about a call of it, which took `duration`.
    pub fn record(
        &self,
        call: &Call,
        decision: &Decision,
        answers: &Answers,
        change: &StateChange,
        duration: Duration,
    ) -> Record {
        let workspace = self.workspace.as_ref().map_or("", Workspace::inside);
        let told = &self.told;
        Judged { call, decision, answers, change, policy: "", workspace, told }.record(duration)
    }

    /// A call is done, and it set marks. An error when there is no room for them: then the daemon would have denied it.
    pub fn done(&mut self, call: &Call, facts: Facts, marks: &[String]) -> Result<(), String> {
        self.marks.check_room(&KEY, marks)?;
        self.marks.set(KEY, marks, self.done * CALL_MS);
        let inside = self.workspace.as_ref().map_or("", Workspace::inside);
        let _ = self.changes.begin(KEY, begun(call, self.done, facts, inside));
        // What goes on in the background stays open.
        let _ = self.changes.end_turn(&KEY);
        self.done += 1;
        Ok(())
    }
}
