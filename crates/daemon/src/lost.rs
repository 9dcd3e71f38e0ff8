//! After the loss of the state on disk: restores halts, runs and the marks of contained calls from the log, so that the loss
//! loosens nothing. It must not know how the state was lost.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use castellan_audit::{AuditError, ControlRecord, last_control};
use castellan_policy::Profile;

use crate::control::HaltOf;
use crate::judge::{Judge, checkpoint_id};
use crate::memory::HaltPlace;
use crate::peers::AgentProcess;
use crate::process::Process;

/// The kernel's name of `castellan run`.
const CASTELLAN: &str = "castellan";

/// The action in the record of a contained command's start. Its argument: [`contained_argument`].
pub(crate) const CONTAINED: &str = "contained";
/// The start of a placeholder for a secret in a record.
const REDACTED: &str = "[redacted";

/// The argument in the record of a contained command's start. [`restore`] reads it.
pub(crate) fn contained_argument(checkpoint: &str, workspace: &str) -> String {
    format!("{checkpoint} {workspace}")
}

/// The start of the argument in the record of a keep or an undo. `left`: number of files that stay marked; with any, the
/// call is not settled for [`restore`].
pub(crate) fn settled_argument(checkpoint: &str, left: usize) -> String {
    match left {
        0 => checkpoint.to_owned(),
        left => format!("{checkpoint} in part, files left: {left}"),
    }
}

/// Restores halts, runs and marks. Halts all agents if the last record is a halt, or if the log cannot be read.
pub(crate) fn restore(judge: &Judge) {
    let dir = judge.log().dir();
    let is_halted = is_halted(dir).unwrap_or(true);
    if is_halted && let Err(why) = judge.halt(HaltPlace::All, HaltOf::All.to_string()) {
        judge.fail("state", &why);
    }
    for (process, recorded) in runs(dir).unwrap_or_default() {
        // A milder profile, which a person has permitted, is not restored.
        let profiles = [None].into_iter().chain(recorded);
        let profile = judge.terms().profiles.strictest(profiles);
        if let Err(why) = judge.start_run(process, profile, false) {
            judge.fail("state", &why);
        }
    }
    let marked = contained(dir).unwrap_or_else(|_| BTreeMap::from([("/".to_owned(), checkpoint_id(0))]));
    for (workspace, checkpoint) in marked {
        let told = judge.mark_contained(&checkpoint, &workspace).err().unwrap_or_else(|| {
            format!(
                "the files that contained commands wrote in `{workspace}` are not known any more, so each file there \
                 counts as written: a person settles them with `castellan keep {checkpoint}`"
            )
        });
        judge.fail("state", &told);
    }
}

/// Returns the workspaces in which contained commands ran that no person has settled, each with the checkpoint before the
/// first one.
fn contained(dir: &Path) -> Result<BTreeMap<String, String>, AuditError> {
    let begun: RefCell<BTreeMap<String, String>> = RefCell::default();
    let settled: RefCell<BTreeSet<String>> = RefCell::default();
    let collect = |control: &ControlRecord| {
        let argument: &str = &control.argument;
        match &*control.action {
            CONTAINED if control.accepted => {
                if let Some((checkpoint, workspace)) = argument.split_once(' ') {
                    begun.borrow_mut().insert(checkpoint.to_owned(), shown_part(workspace).to_owned());
                }
            }
            "keep" | "undo" if control.accepted => {
                let checkpoint = argument.split(':').next().unwrap_or_default();
                settled.borrow_mut().insert(checkpoint.to_owned());
            }
            _ => {}
        }
        // On to the first record.
        false
    };
    last_control(dir, collect)?;
    let settled = settled.into_inner();
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    // In the order of the calls.
    for (checkpoint, workspace) in begun.into_inner() {
        if !settled.contains(&checkpoint) {
            first.entry(workspace).or_insert(checkpoint);
        }
    }
    Ok(first)
}

/// Returns the directory of a path that a record shows. The log hides a name that resembles a secret.
fn shown_part(path: &str) -> &str {
    let Some(at) = path.find(REDACTED) else { return path };
    let shown = path.get(..at).and_then(|shown| shown.rsplit_once('/'));
    shown.map(|(dir, _)| dir).filter(|dir| !dir.is_empty()).unwrap_or("/")
}

/// Reports whether agents were halted, and no person has ended every halt since.
fn is_halted(dir: &Path) -> Result<bool, AuditError> {
    let is_meant = |control: &ControlRecord| {
        let ends_all = control.action == "resume" && *control.argument == *HaltOf::All.to_string();
        control.accepted && (control.action == "halt" || ends_all)
    };
    Ok(last_control(dir, is_meant)?.is_some_and(|control| control.action == "halt"))
}

/// Returns the processes of `castellan run` that still run, with all recorded profiles of each.
fn runs(dir: &Path) -> Result<BTreeMap<AgentProcess, Vec<Option<Profile>>>, AuditError> {
    let found: RefCell<BTreeMap<AgentProcess, Vec<Option<Profile>>>> = RefCell::default();
    let collect = |control: &ControlRecord| {
        let is_run = control.accepted && control.action == "run";
        let process = Some(control.peer_pid).filter(|_| is_run).and_then(Process::read);
        if let Some(process) = process.filter(|process| process.name == CASTELLAN) {
            let process = AgentProcess { pid: process.pid, started: process.started };
            found.borrow_mut().entry(process).or_default().push(control.argument.parse().ok());
        }
        // On to the first record.
        false
    };
    last_control(dir, collect)?;
    Ok(found.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_log_hides_marks_the_directory_above() {
        for (path, expected) in [
            ("/w/a", "/w/a"),
            ("/w/[redacted github token]", "/w"),
            ("/w/a-[redacted token]/b/[redacted token]", "/w"),
            ("/[redacted token]/b", "/"),
            ("[redacted token]", "/"),
        ] {
            assert_eq!(shown_part(path), expected, "{path}");
        }
    }
}
