//! The user inside, and what the user loses.

use castellan_sandbox::{Namespaces, Plan};
use rustix::process::DumpableBehavior;

use crate::linux::error::{Result, failed};
use crate::linux::setting::write;
use crate::linux::sys;

/// Maps the user and the group to themselves. Every other user is nobody.
pub(crate) fn map_ids(namespaces: &Namespaces) -> Result<()> {
    let Namespaces { uid, gid, .. } = namespaces;
    write("/proc/self/setgroups".as_ref(), b"deny")?;
    write("/proc/self/uid_map".as_ref(), format!("{uid} {uid} 1").as_bytes())?;
    write("/proc/self/gid_map".as_ref(), format!("{gid} {gid} 1").as_bytes())
}

/// Drops every privilege for good.
pub(crate) fn drop(plan: &Plan) -> Result<()> {
    sys::drop_capabilities().map_err(|errno| failed("drop capabilities", "", errno))?;
    rustix::thread::set_no_new_privs(true).map_err(|errno| failed("exclude new privileges", "", errno))?;
    if plan.namespaces.is_some() {
        // The command must not write into the memory of this process, which holds the end of the sandbox.
        close_memory()?;
    }
    Ok(())
}

/// Keeps other processes of the user out of the memory of this one, until it becomes another program.
pub(crate) fn close_memory() -> Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|errno| failed("protect the memory of the launcher", "", errno))
}
