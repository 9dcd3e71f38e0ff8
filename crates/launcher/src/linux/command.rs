//! The command's own process.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use castellan_sandbox::{Bytes, Failed, Message, Plan, Resource};
use rustix::io::Errno;
use rustix::process::{Pid, Resource as Limit, Rlimit, getrlimit, setrlimit, setsid};

use crate::linux::control::Control;
use crate::linux::error::{Result, failed};
use crate::linux::sys;

/// Directories of programs where the environment names none.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// Starts the command in a child of the first process.
pub(crate) fn start(control: &Control, plan: &Plan) -> Result<Pid> {
    sys::fork_shared(|| run(control, plan)).map_err(|errno| failed("start a process", "", errno))
}

/// Becomes the command. Returns the exit code if that fails.
pub(crate) fn run(control: &Control, plan: &Plan) -> u8 {
    let reason = become_command(control, plan).unwrap_or_else(|reason| reason);
    let code = reason.code;
    control.send(&Message::Failed(reason), &[]);
    code
}

/// Returns only if the command cannot be started.
fn become_command(control: &Control, plan: &Plan) -> Result<Failed> {
    if !plan.terminal {
        setsid().map_err(|errno| failed("leave the terminal", "", errno))?;
    }
    for (resource, most) in &plan.limits {
        limit(*resource, *most)?;
    }
    let arguments = texts(&plan.command)?;
    let environment = texts(&plan.environment)?;
    control.pass_report().map_err(|errno| failed("pass on", "descriptor 3", errno))?;
    sys::default_signals();
    let name = plan.command.first().cloned().unwrap_or_default();
    let mut reason = Errno::NOENT;
    for candidate in candidates(plan, &name) {
        let Ok(program) = CString::new(candidate.as_os_str().as_bytes()) else { continue };
        match sys::execute(&program, &arguments, &environment) {
            Errno::NOENT | Errno::NOTDIR => {}
            errno => reason = errno,
        }
    }
    let (code, step) = match reason {
        Errno::NOENT => (127, "find the program"),
        _ => (126, "execute"),
    };
    Ok(Failed { code, step: step.to_owned(), what: name, errno: reason.raw_os_error() })
}

fn candidates(plan: &Plan, name: &Bytes) -> Vec<PathBuf> {
    if name.0.contains(&b'/') {
        return vec![name.path().to_owned()];
    }
    let path = plan.environment.iter().find_map(|variable| variable.0.strip_prefix(b"PATH="));
    let parts = path.unwrap_or(DEFAULT_PATH).split(|byte| *byte == b':');
    // An empty part is the working directory, where a session could have put anything: it is left out.
    parts
        .filter(|part| !part.is_empty())
        .map(|part| Path::new(OsStr::from_bytes(part)).join(name.path()))
        .collect()
}

fn texts(all: &[Bytes]) -> Result<Vec<CString>> {
    let text =
        |one: &Bytes| CString::new(one.0.clone()).map_err(|_| failed("pass on", one.clone(), Errno::INVAL));
    all.iter().map(text).collect()
}

/// Sets a limit, at most the one that is in force.
fn limit(resource: Resource, most: u64) -> Result<()> {
    let (kind, word) = match resource {
        Resource::Processes => (Limit::Nproc, "processes"),
        Resource::Data => (Limit::Data, "memory"),
        Resource::Cpu => (Limit::Cpu, "processor time"),
        Resource::FileSize => (Limit::Fsize, "file sizes"),
        Resource::OpenFiles => (Limit::Nofile, "open files"),
        Resource::Core => (Limit::Core, "core files"),
    };
    let old = getrlimit(kind);
    let most = Some(old.maximum.map_or(most, |old| old.min(most)));
    setrlimit(kind, Rlimit { current: most, maximum: most })
        .map_err(|errno| failed("limit", Bytes::from(word), errno))
}
