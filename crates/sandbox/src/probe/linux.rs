//! The checks on Linux.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::capabilities::{Capabilities, Cgroups};
use crate::landlock;
use crate::launch::{LaunchError, Streams, run};
use crate::limits::{PROBE_MS, PROBE_TEXT_BYTES};
use crate::policy::Policy;

use super::{Check, Probe, cgroups, markers};

/// Probes this machine with the launcher. It takes some 50 ms; each check ends after [`PROBE_MS`].
#[must_use]
pub fn probe(launcher: &Path) -> Probe {
    let launcher = &std::fs::canonicalize(launcher).unwrap_or_else(|_| launcher.to_owned());
    let mut checks = Vec::new();
    let mut can = Capabilities { cgroups: cgroups::own(), ..Capabilities::none() };
    namespaces(launcher, &mut can, &mut checks);
    filters(launcher, &mut can, &mut checks);
    checks.push(bubblewrap(launcher, &mut can));
    checks.push(Check {
        what: "control groups",
        works: matches!(can.cgroups, Cgroups::Delegated(_)),
        tested: "their files were read; no group was made",
        found: match &can.cgroups {
            Cgroups::None => "none".to_owned(),
            Cgroups::V1 => "version 1, which is not used".to_owned(),
            Cgroups::NotDelegated => "version 2, not delegated to this user".to_owned(),
            Cgroups::Delegated(path) => format!("version 2, delegated below {}", path.display()),
        },
        costs: "limits of memory hold for each process alone, not for all together",
    });
    let whole = try_with(launcher, &can);
    checks.push(Check {
        what: "all together",
        works: whole.is_ok(),
        tested: "the launcher ran a program with everything that works alone",
        found: whole.err().unwrap_or_default(),
        costs: "the sandbox cannot be used",
    });
    Probe { can, checks, container: markers(Path::new("/"), std::env::vars_os().map(|(name, _)| name)) }
}

/// The combinations of namespaces, from the most to the least.
fn namespaces(launcher: &Path, can: &mut Capabilities, checks: &mut Vec<Check>) {
    let combinations = [
        (true, true, true),
        (true, true, false),
        (true, false, false),
        (false, true, true),
        (false, true, false),
        (false, false, false),
    ];
    let mut reason = String::new();
    for (network_namespace, fresh_proc, pid_limit) in combinations {
        let tried = Capabilities {
            namespaces: true,
            network_namespace,
            fresh_proc,
            pid_limit,
            ..Capabilities::none()
        };
        match try_with(launcher, &tried) {
            Ok(()) => {
                *can = Capabilities {
                    namespaces: true,
                    network_namespace,
                    fresh_proc,
                    pid_limit,
                    ..can.clone()
                };
                break;
            }
            Err(error) if reason.is_empty() => reason = error,
            Err(_) => {}
        }
    }
    let mut add = |what, works: bool, costs| {
        let found = if works { String::new() } else { reason.clone() };
        let tested = "the launcher ran a program in them";
        checks.push(Check { what, works, tested, found, costs });
    };
    add(
        "user, mount and process namespaces",
        can.namespaces,
        "protected paths in writable directories can be changed; processes that outlive the launcher survive",
    );
    add("network namespace", can.network_namespace, "a list of hosts is enforced by port only");
    add("new /proc", can.fresh_proc, "the command sees the processes outside");
    add("limit of process numbers", can.pid_limit, "the number of root's processes is not limited");
}

fn filters(launcher: &Path, can: &mut Capabilities, checks: &mut Vec<Check>) {
    let filter = try_with(launcher, &Capabilities { seccomp: true, ..Capabilities::none() });
    can.seccomp = filter.is_ok() && crate::seccomp::is_known();
    checks.push(Check {
        what: "seccomp filters",
        works: can.seccomp,
        tested: "the launcher ran a program under the filter",
        found: filter.err().unwrap_or_default(),
        costs: "dangerous system calls are open, and so is input into the caller's terminal",
    });
    let version = version(launcher).unwrap_or(0);
    let rules = try_with(launcher, &Capabilities { landlock: version, ..Capabilities::none() });
    if rules.is_ok() {
        can.landlock = version.min(landlock::NEWEST);
    }
    checks.push(Check {
        what: "Landlock",
        works: can.landlock > 0,
        tested: "the kernel told its version, and the launcher ran a program under rules",
        found: rules.err().unwrap_or_else(|| format!("version {version}")),
        costs: "mounts alone keep files; without namespaces nothing does",
    });
}

/// Runs the launcher itself as the program that does nothing.
fn try_with(launcher: &Path, can: &Capabilities) -> Result<(), String> {
    let mut policy = Policy::read_only(Path::new("/"));
    policy.limits.wall_ms = Some(PROBE_MS);
    policy.limits.processes = Some(PROBE_PROCESSES);
    policy.files.private_tmp = (can.namespaces || can.bubblewrap.is_some()) && !launcher.starts_with("/tmp");
    let null = || std::fs::OpenOptions::new().read(true).open("/dev/null").map_err(|error| error.to_string());
    let streams =
        Streams { stdin: null()?.into(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    let command: [OsString; 2] = [launcher.into(), "--version".into()];
    match run(&policy, can, &command, launcher, streams, false) {
        Ok((outcome, _)) if outcome.code == 0 => Ok(()),
        Ok((outcome, _)) => Err(format!("the program ended with {}", outcome.code)),
        Err(LaunchError::Failed(failed)) => {
            Err(format!("{}: {}", failed.step, std::io::Error::from_raw_os_error(failed.errno)))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Processes of a probe; the kernel's least limit is 301.
const PROBE_PROCESSES: u64 = 1000;

fn version(launcher: &Path) -> Option<u32> {
    let mut child = Command::new(launcher);
    child.arg("--landlock").env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    let (ended, text) = within_time(child)?;
    if ended { text.trim().parse().ok() } else { None }
}

/// Installations of bubblewrap.
const BUBBLEWRAPS: &[&str] = &["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

fn bubblewrap(launcher: &Path, can: &mut Capabilities) -> Check {
    let mut found = format!("there is none at {}", BUBBLEWRAPS.join(" or "));
    let installed = BUBBLEWRAPS.iter().map(PathBuf::from).filter(|path| path.exists());
    for (program, sizes) in installed.flat_map(|path| [(path.clone(), true), (path, false)]) {
        let tried =
            Capabilities { bubblewrap: Some(program), bubblewrap_sizes: sizes, ..Capabilities::none() };
        match try_with(launcher, &tried) {
            Ok(()) => {
                (can.bubblewrap, can.bubblewrap_sizes) = (tried.bubblewrap, sizes);
                break;
            }
            Err(reason) => found = reason,
        }
    }
    Check {
        what: "bubblewrap",
        works: can.bubblewrap.is_some(),
        tested: "it ran the launcher with a program in all namespaces",
        found: can.bubblewrap.as_ref().map_or(found, |path| path.display().to_string()),
        costs: "nothing where the launcher's own namespaces work",
    }
}

/// Runs a program for at most [`PROBE_MS`]. Returns whether it succeeded, and the start of what it wrote.
fn within_time(mut command: Command) -> Option<(bool, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        if start.elapsed() > Duration::from_millis(PROBE_MS) {
            child.kill().ok()?;
            child.wait().ok()?;
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut text = String::new();
    child.stdout.take()?.take(PROBE_TEXT_BYTES).read_to_string(&mut text).ok()?;
    Some((status.success(), text))
}
