//! Checks of the agents: whether each one that is here asks castellan.

use castellan_agents::{AgentId, needs_trust};
use castellan_daemon::{StatusReport, UnguardedAgent};

use crate::check::{Check, Outcome};
use crate::guard::{Fault, Guard};
use crate::output::{counted, printable};

pub(super) fn checks(guards: &[Guard], status: Option<&StatusReport>) -> Vec<Check> {
    let mut checks: Vec<Check> = guards.iter().flat_map(registered).collect();
    if guards.iter().all(|guard| !guard.is_installed()) {
        let what = "none was found on this machine, and none is guarded";
        let words = AgentId::ALL.map(AgentId::word).join(", ");
        checks.push(Check::bad("agents", what, format!("castellan install, with one of {words}")));
    }
    let unguarded = status.map(|status| status.unguarded.as_slice()).unwrap_or_default();
    checks.extend(unguarded.iter().map(|UnguardedAgent { agent, pid, cwd, why }| {
        let (agent, cwd, why) = (printable(agent), printable(cwd), printable(why));
        let what = format!("{agent}, process {pid} in {cwd}, does not ask castellan: {why}");
        Check::bad("unguarded", what, "mend that, and start it again")
    }));
    checks
}

/// Returns a check for each fault, or a good one for the user's hooks if there is none.
fn registered(guard: &Guard) -> Vec<Check> {
    let title = guard.agent.title();
    let mut checks: Vec<Check> = guard.faults.iter().map(|fault| check(title, fault)).collect();
    // The hooks of the machine judge each call, whatever is wrong with the user's.
    for (check, fault) in checks.iter_mut().zip(&guard.faults) {
        if guard.is_by_machine && *fault != Fault::NoHome {
            check.outcome = check.outcome.min(Outcome::Doubtful);
        }
    }
    if checks.is_empty() && guard.for_user {
        let (count, file) = &guard.user_hooks;
        let trusted = if needs_trust(guard.agent) { ", trusted" } else { "" };
        checks.push(Check::good(
            title,
            format!("{} in {}, unchanged{trusted}", counted(*count, "hook"), file.display()),
        ));
    }
    checks
}

fn check(title: &str, fault: &Fault) -> Check {
    match fault {
        Fault::NotRegistered(_) => Check::bad(title, "is on this machine and not guarded", fault.remedy()),
        Fault::Distrusted(..) if !fault.is_gap() => Check::doubtful(title, fault.what(), fault.remedy()),
        Fault::PluginUnseen(..)
        | Fault::Unreadable(..)
        | Fault::Unread(..)
        | Fault::Missing(..)
        | Fault::Changed(..)
        | Fault::NoProgram(..)
        | Fault::OtherProgram(..)
        | Fault::OtherHome(..)
        | Fault::NoHome
        | Fault::SwitchedOff(..)
        | Fault::Distrusted(..) => Check::bad(title, fault.what(), fault.remedy()),
    }
}
