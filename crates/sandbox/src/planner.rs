//! Policy, capabilities and survey → plan and report. Pure.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::bytes::Bytes;
use crate::capabilities::Capabilities;
use crate::error::PolicyError;
use crate::plan::{Namespaces, Plan};
use crate::policy::{Network, Policy};
use crate::report::{Aspect, Report};
use crate::seccomp::{self, Filter};
use crate::survey::Survey;

mod bubblewrap;
mod environment;
mod mounts;
mod network;
mod paths;
mod resources;
mod rules;

use paths::Paths;

/// What the parts of the planner share.
struct Ground<'a> {
    policy: &'a Policy,
    /// The capabilities of the machine, those of bubblewrap included.
    can: &'a Capabilities,
    /// Bubblewrap makes the namespaces.
    bubblewrap: bool,
    survey: &'a Survey,
    paths: Paths,
}

/// Plans a command under a policy.
///
/// # Errors
/// The policy contradicts itself, or cannot start any command. Nothing that the machine lacks is an error: it is an item
/// of the report that is not enforced.
pub fn plan(
    policy: &Policy,
    can: &Capabilities,
    survey: &Survey,
    command: &[OsString],
) -> Result<(Plan, Report), PolicyError> {
    let program = command.first().filter(|program| !program.is_empty()).ok_or(PolicyError::NoCommand)?;
    check_texts(policy, command)?;
    let paths = Paths::of(policy, survey)?;
    paths.check_start(policy, can, program)?;
    let other = bubblewrap::instead(can);
    let ground =
        Ground { policy, can: other.as_ref().unwrap_or(can), bubblewrap: other.is_some(), survey, paths };
    let can = ground.can;
    let mut plan = Plan { terminal: policy.terminal, ..Plan::default() };
    let mut report = Report::default();
    if can.namespaces {
        plan.namespaces = Some(Namespaces {
            uid: survey.uid,
            gid: survey.gid,
            network: policy.network != Network::Full && can.network_namespace,
        });
        mounts::plan(&ground, &mut plan);
    }
    paths::report(&ground, &mut report);
    isolation(&ground, &mut report);
    let sockets = network::plan(&ground, &mut plan, &mut report);
    if can.seccomp {
        plan.seccomp = seccomp::filter(Filter { sockets, outside: !can.namespaces });
    }
    if can.landlock > 0 {
        plan.landlock = Some(rules::plan(&ground, &plan));
    }
    resources::plan(&ground, &mut plan, &mut report);
    plan.environment = environment::plan(&ground, &mut plan);
    plan.command = command.iter().map(|part| Bytes::from(part.as_os_str())).collect();
    plan.directory = Bytes::from(ground.paths.directory.as_path());
    if ground.bubblewrap {
        bubblewrap::convert(&ground, &mut plan, &mut report);
    }
    Ok((plan, report))
}

fn check_texts(policy: &Policy, command: &[OsString]) -> Result<(), PolicyError> {
    let has_nul = |text: &OsStr| text.as_bytes().contains(&0);
    if command.iter().any(|part| has_nul(part)) {
        return Err(PolicyError::Nul { field: "command" });
    }
    if policy.environment.iter().any(|(name, value)| has_nul(name) || has_nul(value)) {
        return Err(PolicyError::Nul { field: "environment" });
    }
    Ok(())
}

/// Reports what follows from the machine alone.
fn isolation(ground: &Ground<'_>, report: &mut Report) {
    let can = ground.can;
    let (enforced, how) = match (can.namespaces, can.fresh_proc, can.landlock) {
        (true, true, _) => (true, "a process namespace and a new /proc"),
        (true, false, _) => (
            false,
            "a process namespace protects them, but /proc still shows them: this machine permits no new /proc",
        ),
        (false, _, 6..) => (
            false,
            "Landlock protects them from signals and debugging, the filter their limits and priorities; /proc shows them",
        ),
        (false, _, 1..) => {
            (false, "Landlock protects them from debugging, but not from signals; /proc shows them")
        }
        (false, _, 0) => (false, "this machine has neither process namespaces nor Landlock"),
    };
    report.add(Aspect::Processes, "", enforced, how);
    let (enforced, how) = if can.namespaces {
        (true, "the kernel ends the process namespace with its first process")
    } else {
        (
            false,
            "the launcher ends the processes that the command leaves; one that ends the launcher first survives",
        )
    };
    report.add(Aspect::End, "", enforced, how);
    let filter = can.seccomp && seccomp::is_known();
    let (enforced, how) = match (can.namespaces, filter) {
        (true, true) => (
            true,
            "no_new_privs, no capabilities; set-user-id has no effect on any mount, and no file gets it",
        ),
        (false, true) => (true, "no_new_privs, no capabilities; no file gets set-user-id"),
        (_, false) => (
            false,
            "no_new_privs and no capabilities inside; a file that gets set-user-id gives the user's rights to others outside",
        ),
    };
    report.add(Aspect::Privileges, "", enforced, how);
    let (enforced, how) = match (can.seccomp, seccomp::is_known()) {
        (true, true) => (true, "a seccomp filter"),
        (true, false) => (false, "castellan has no filter for this processor"),
        (false, _) => (false, "this machine has no seccomp filters"),
    };
    report.add(Aspect::SystemCalls, "", enforced, how);
    let (enforced, how) = match (ground.policy.terminal, enforced) {
        (false, _) => (true, "a session of its own, without a terminal"),
        (true, true) => (true, "the seccomp filter refuses TIOCSTI and TIOCLINUX"),
        (true, false) => {
            (false, "the command has the caller's terminal, and no filter refuses input into it")
        }
    };
    report.add(Aspect::Terminal, "", enforced, how);
    let (enforced, how) = match (can.namespaces, can.landlock) {
        (true, _) => (true, "a /dev of its own; device files work on no other mount"),
        (false, 1..) if rules::shows_devices(ground) => {
            (false, "the policy shows /dev, or / cannot be listed: devices that the user can read are open")
        }
        (false, 1..) => (true, "Landlock permits the harmless devices of /dev only, and to make none"),
        (false, 0) => (false, "this machine has neither mount namespaces nor Landlock"),
    };
    report.add(Aspect::Devices, "", enforced, how);
}

fn shown(path: &Path) -> String {
    Bytes::from(path).to_string()
}

fn starts_with_any<'a>(path: &Path, roots: impl IntoIterator<Item = &'a PathBuf>) -> bool {
    roots.into_iter().any(|root| path.starts_with(root))
}

#[cfg(test)]
mod tests;
