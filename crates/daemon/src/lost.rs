//! After the loss of the state on disk: restores halts and runs from the log, so that the loss loosens nothing. It must
//! not know how the state was lost.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use castellan_audit::{AuditError, ControlRecord, last_control};
use castellan_policy::Profile;

use crate::control::HaltOf;
use crate::judge::Judge;
use crate::memory::HaltPlace;
use crate::peers::AgentProcess;
use crate::process::Process;

/// The kernel's name of `castellan run`.
const CASTELLAN: &str = "castellan";

/// Restores halts and runs. Halts all agents if the last record is a halt, or if the log cannot be read.
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
