//! Checks after a call whether the files whose code it ran are as judged. Runs after the reply: nothing waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;

use castellan_audit::ScriptRecord;
use castellan_event::{Agent, Answer, Query, ScriptFile, World, sha256_hex};

use super::Judge;
use crate::memory::Ended;
use crate::record;
use crate::world::FileSystem;

/// A completed call and its agent.
#[derive(Debug)]
pub(super) struct Check {
    agent: Agent,
    ended: Ended,
}

impl Judge {
    /// Stores completed calls for [`Judge::check_scripts`].
    pub(super) fn check_later(&self, agent: &Agent, ended: impl IntoIterator<Item = Ended>) {
        let with_scripts = ended.into_iter().filter(|ended| !ended.scripts.is_empty());
        let checks = with_scripts.map(|ended| Check { agent: agent.clone(), ended });
        self.due.lock().unwrap_or_else(PoisonError::into_inner).extend(checks);
    }

    /// Checks the scripts of completed calls, and records each that differs from the judged contents.
    pub(crate) fn check_scripts(&self) {
        let due = std::mem::take(&mut *self.due.lock().unwrap_or_else(PoisonError::into_inner));
        for check in due {
            let looked = catch_unwind(AssertUnwindSafe(|| self.check(&check)));
            if looked.is_err() {
                self.fail("panic", "a panic while files were looked at that a call has run");
            }
        }
    }

    fn check(&self, Check { agent, ended }: &Check) {
        // Each call has its own limit of steps, as each decision has.
        let machine = FileSystem::default();
        let scripts: Vec<_> = ended.scripts.iter().filter_map(|script| looked_at(script, &machine)).collect();
        if scripts.is_empty() {
            return;
        }
        if let Err(error) = self.append(&record::scripts(agent, &ended.id, scripts)) {
            self.tally.failed(&format!("what a call has run could not be recorded: {error}"));
        }
    }
}

/// Compares a file with its judged contents. Returns `None` if they are equal.
fn looked_at(script: &ScriptFile, machine: &FileSystem) -> Option<ScriptRecord> {
    let found = match machine.answer(&Query::Contents { path: script.path.clone() }) {
        Some(Answer::Contents(Some(bytes))) => Some(sha256_hex(&bytes)),
        _ => None,
    };
    let message = match (&script.sha256, &found) {
        (Some(judged), Some(found)) if judged == found => return None,
        (Some(_), Some(_)) if script.is_written => CHANGED_BY_CALL,
        (Some(_), Some(_)) => CHANGED,
        (Some(_), None) if script.is_written => GONE_BY_CALL,
        (Some(_), None) => GONE,
        (None, _) => MADE,
    };
    Some(ScriptRecord {
        path: script.path.clone(),
        sha256: script.sha256.clone().unwrap_or_default(),
        found: found.unwrap_or_default(),
        message: message.to_owned(),
    })
}

const CHANGED: &str = "it is not what was judged";
const CHANGED_BY_CALL: &str = "it is not what was judged; the call itself writes it";
const GONE: &str = "it cannot be read any more";
const GONE_BY_CALL: &str = "it cannot be read any more; the call itself writes it";
const MADE: &str = "the call itself put there what ran";
