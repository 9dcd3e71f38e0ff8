//! [`OneSession`]: the state that the calls of one session leave, for judging described calls without a daemon. Uses
//! the same parts as the daemon's memory, which also holds the writes of ended sessions. Does not depend on the source
//! of the calls.

use std::time::Duration;

use castellan_audit::Record;
use castellan_event::{Answers, Call, Facts, Recorder, Session};
use castellan_policy::{Decision, EngineKind, StateChange};

use crate::facts::{facts_after, leave_to_sessions};
use crate::judge::begun;
use crate::memory::{Changes, Marks, NoRoom, Workspace};
use crate::record::{Judged, SeenTexts};
use crate::session_key::SessionKey;
use crate::workspace::workspace_of;

/// Time between two calls, on the clock of marks.
const CALL_MS: u64 = 1_000;

/// A session whose calls are judged in sequence; each is done before the next.
#[derive(Debug)]
pub struct OneSession {
    key: SessionKey,
    workspace: Option<Workspace>,
    changes: Changes,
    marks: Marks,
    /// Number of calls that are done.
    done: u64,
    seen_texts: SeenTexts,
    is_among_others: bool,
}

impl OneSession {
    /// Begins a session of an agent's process in a directory.
    pub fn begin(cwd: &str, pid: u32, world: &mut Recorder<'_>) -> OneSession {
        OneSession {
            key: key(0),
            workspace: workspace_of(cwd, pid, world),
            changes: Changes::default(),
            marks: Marks::default(),
            done: 0,
            seen_texts: SeenTexts::default(),
            is_among_others: false,
        }
    }

    /// Begins a session with the workspace of a record; an empty path means none.
    pub fn in_workspace(path: &str) -> OneSession {
        let is_border = !path.is_empty();
        OneSession {
            key: key(0),
            workspace: Some(Workspace { path: path.to_owned(), is_border }),
            changes: Changes::default(),
            marks: Marks::default(),
            done: 0,
            seen_texts: SeenTexts::default(),
            is_among_others: false,
        }
    }

    /// Returns the session of a daemon with further sessions: a file that any session may have written, this one
    /// included, is not the project's own.
    #[must_use]
    pub fn among_others(self) -> OneSession {
        OneSession { is_among_others: true, ..self }
    }

    /// Ends the session and begins another one in the same workspace. The writes of the ended session stay known.
    pub fn end(&mut self) {
        self.key = key(self.done);
    }

    /// Finds the effects of the next call. `own`: castellan's own files.
    pub fn facts(&self, call: &Call, own: &[String], world: &mut Recorder<'_>) -> Facts {
        let inside = self.workspace.as_ref().map_or("", Workspace::inside);
        let mut facts = facts_after(call, own, inside, self.changes.of(&self.key, None), world);
        if self.is_among_others {
            leave_to_sessions(
                &mut facts,
                |path| self.changes.has_any_written(path),
                |path| self.changes.has_any_foreign(path),
            );
        }
        facts
    }

    /// The session as the next decision sees it.
    pub fn session(&self) -> Session {
        self.marks.session(&self.key, self.done * CALL_MS)
    }

    /// Builds the record of a decision that took `duration`.
    pub fn record(
        &self,
        call: &Call,
        decision: &Decision,
        answers: &Answers,
        change: &StateChange,
        duration: Duration,
    ) -> Record {
        let workspace = self.workspace.as_ref().map_or("", Workspace::inside);
        let reported = &self.seen_texts;
        Judged {
            call,
            rewrite: "",
            decision,
            answers,
            change,
            policy: "",
            engine: EngineKind::Native,
            run: 0,
            review: "",
            workspace,
            reported,
        }
        .record(duration)
    }

    /// Registers the agent's report that a call is done, as it comes for a call in the background, too.
    pub fn reported(&mut self, call: &Call) {
        let _ = self.changes.end(&self.key, &call.tool.use_id);
    }

    /// Registers a finished call and its marks. Without room, returns an error; the daemon would have denied the call.
    pub fn done(&mut self, call: &Call, facts: Facts, marks: &[String]) -> Result<(), NoRoom> {
        self.marks.check_room(&self.key, marks)?;
        self.marks.set(self.key, marks, self.done * CALL_MS);
        let inside = self.workspace.as_ref().map_or("", Workspace::inside);
        let _ = self.changes.begin(self.key, begun(call, self.done, facts, inside));
        // Calls in the background stay open.
        let _ = self.changes.end_turn(&self.key);
        self.done += 1;
        Ok(())
    }
}

/// Returns the key of the session that begins after this number of calls.
fn key(done: u64) -> SessionKey {
    let mut key = [0; 32];
    key.iter_mut().zip(done.to_le_bytes()).for_each(|(byte, number)| *byte = number);
    SessionKey(key)
}
