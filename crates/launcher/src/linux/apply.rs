//! The first process of the sandbox: applies the plan in its order, and starts the command or becomes it.

use castellan_sandbox::{Failed, Message, Plan};
use rustix::fs::{CWD, Mode, mkdirat, unlinkat};
use rustix::process::Signal;

use crate::linux::control::Control;
use crate::linux::error::{Result, failed};
use crate::linux::setting::write;
use crate::linux::{command, landlock, mounts, network, privileges, supervise, sys};

/// Applies the plan as the first process of a process namespace, and waits for the command. Returns its exit code.
pub(crate) fn first_process(control: &Control, plan: &Plan) -> u8 {
    match apply(control, plan).and_then(|()| command::start(control, plan)) {
        Ok(command) => {
            let code = supervise::as_first(command);
            if plan.namespaces.as_ref().is_some_and(|namespaces| namespaces.network) {
                control.send(&Message::Unreachable(network::unreachable()), &[]);
            }
            code
        }
        Err(reason) => report(control, reason),
    }
}

/// Applies the plan and becomes the command: without a process namespace. Returns only if that fails.
pub(crate) fn only_process(control: &Control, plan: &Plan) -> u8 {
    match apply(control, plan) {
        Ok(()) => command::run(control, plan),
        Err(reason) => report(control, reason),
    }
}

fn report(control: &Control, reason: Failed) -> u8 {
    let code = reason.code;
    control.send(&Message::Failed(reason), &[]);
    code
}

fn apply(control: &Control, plan: &Plan) -> Result<()> {
    end_with_parent()?;
    if let Some(namespaces) = &plan.namespaces {
        privileges::map_ids(namespaces)?;
    }
    network::prepare(control, plan)?;
    mounts::apply(&plan.steps)?;
    let directory = plan.directory.path();
    rustix::process::chdir(directory)
        .map_err(|errno| failed("enter the working directory", directory, errno))?;
    // Capabilities of the namespaces: they end here.
    privileges::drop(plan)?;
    end_with_parent()?;
    if let Some(rules) = &plan.landlock {
        landlock::apply(rules)?;
    }
    if !plan.seccomp.is_empty() {
        sys::filter(&plan.seccomp).map_err(|errno| failed("filter system calls", "", errno))?;
    }
    control.send(&Message::Started, &[]);
    Ok(())
}

/// The kernel ends this process, and with it the namespace, when the launcher is killed. A change of privileges resets it.
fn end_with_parent() -> Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| failed("end with the launcher", "", errno))
}

/// A control group that is removed with this value.
pub(crate) struct Group(std::path::PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        // A group with processes that could not be ended stays; it holds nothing else.
        let _ = unlinkat(CWD, &self.0, rustix::fs::AtFlags::REMOVEDIR);
    }
}

/// Makes the control group of the plan, and enters it.
pub(crate) fn make_group(plan: &Plan) -> Result<Option<Group>> {
    let Some(cgroup) = &plan.cgroup else { return Ok(None) };
    let path = cgroup.path.path();
    mkdirat(CWD, path, Mode::RWXU).map_err(|errno| failed("make the control group", path, errno))?;
    let group = Group(path.to_owned());
    for (file, text) in &cgroup.settings {
        write(&path.join(file.path()), &text.0)?;
    }
    write(&path.join("cgroup.procs"), b"0")?;
    Ok(Some(group))
}
