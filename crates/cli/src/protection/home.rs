//! Checks of a home and its daemon. They read few files, because a shell prompt runs them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use castellan_daemon::{
    ControlError, EngineState, EngineStatus, Layout, PauseStatus, StatusReport, read_applied,
};
use castellan_policy::EngineKind;
use castellan_wire::Home;

use crate::check::Check;
use crate::output;
use crate::system::Copies;

/// Warning for `rules.reload = "watch"`.
const WATCHED: &str = "rule files are watched: an edit is in force at once, whoever makes it, an agent too";

pub(super) fn checks(layout: &Layout, status: &Result<StatusReport, ControlError>) -> Vec<Check> {
    if !layout.home().run().exists() {
        let home = layout.home().dir().display();
        return vec![Check::bad("home", format!("{home} does not exist"), "castellan install")];
    }
    let mut checks = match layout.home().system_user() {
        None => directories(layout),
        Some(user) => of_system(layout.home(), user, status.as_ref().ok()),
    };
    checks.extend(daemon(layout.home(), status));
    checks.extend(status.as_ref().map(|status| in_force(layout, status)).unwrap_or_default());
    checks
}

/// Checks a daemon that has a user of its own: the guarded user can write neither its home nor its sockets, and its reader
/// answers.
fn of_system(home: &Home, user: u32, status: Option<&StatusReport>) -> Vec<Check> {
    let run = home.run();
    let is_closed = |dir: &Path| {
        std::fs::symlink_metadata(dir)
            .is_ok_and(|found| found.is_dir() && found.uid() != user && found.mode() & 0o022 == 0)
    };
    let remedy = "sudo castellan install --system --user NAME";
    let mut checks = Vec::new();
    for dir in [home.dir(), &run] {
        if !is_closed(dir) {
            let what = format!("{} is missing, or open to user {user}", dir.display());
            checks.push(Check::bad("home", what, remedy));
        }
    }
    if checks.is_empty() {
        checks.push(Check::good("home", format!("{} is closed to user {user}", home.dir().display())));
    }
    let system = status.and_then(|status| status.system.as_ref());
    checks.extend(system.map(|system| match system.reader.as_str() {
        "" => Check::good("reader", format!("it reads the files of user {user}")),
        why => Check::bad("reader", why, format!("sudo systemctl restart castellan-reader@{user}")),
    }));
    checks
}

/// Checks the directories and their permissions for other users. Write access to rules controls the verdicts, and read
/// access to the log reveals the agents' actions.
fn directories(layout: &Layout) -> Vec<Check> {
    let dirs = [
        (layout.home().run(), 0o077),
        (layout.rules_shipped(), 0o022),
        (layout.rules_user(), 0o022),
        (layout.log(), 0o077),
    ];
    let mut checks: Vec<Check> =
        dirs.iter().filter_map(|(dir, forbidden)| directory(dir, *forbidden)).collect();
    if checks.is_empty() {
        checks.push(Check::good("home", format!("{} is yours alone", layout.home().dir().display())));
    }
    checks
}

fn directory(dir: &Path, forbidden: u32) -> Option<Check> {
    let own = rustix::process::geteuid().as_raw();
    let shown = dir.display();
    match std::fs::metadata(dir) {
        Ok(meta) if meta.uid() != own => {
            let what = format!("{shown} is another user's");
            Some(Check::bad("home", what, format!("chown it to user {own}")))
        }
        Ok(meta) if meta.mode() & forbidden != 0 => {
            let what = format!("{shown} is open to others ({:o})", meta.mode() & 0o7777);
            Some(Check::bad("home", what, format!("chmod 700 {shown}")))
        }
        Ok(_) => None,
        Err(error) => Some(Check::bad("home", format!("{shown}: {error}"), "castellan install")),
    }
}

fn daemon(home: &Home, status: &Result<StatusReport, ControlError>) -> Vec<Check> {
    let status = match status {
        Ok(status) => status,
        Err(ControlError::NotRunning) if home.stopped_marker().exists() => {
            let what = "it was stopped: every call of a guarded agent is denied";
            return vec![Check::bad("daemon", what, "castellan start")];
        }
        Err(ControlError::NotRunning) => {
            return vec![Check::doubtful(
                "daemon",
                "not running; the next call starts it",
                "castellan start",
            )];
        }
        Err(ControlError::NoAnswer(time)) => {
            let what = format!("it does not answer within {} s", time.as_secs_f32());
            return vec![Check::bad("daemon", what, "castellan restart")];
        }
        Err(error) => return vec![Check::bad("daemon", error.to_string(), "castellan restart")],
    };
    let mut checks = Vec::new();
    let own = env!("CARGO_PKG_VERSION");
    checks.push(match status.version == own {
        true => Check::good("daemon", format!("running, process {}, version {own}", status.pid)),
        false => {
            let what = format!("it is of version {}, this is {own}", status.version);
            Check::bad("daemon", what, "castellan restart")
        }
    });
    // The sockets of the system are open: the daemon checks who connects.
    if home.system_user().is_none() {
        checks.extend([home.hook_socket(), home.control_socket()].iter().map(|socket| socket_check(socket)));
    }
    if status.mode != "enforce" {
        let what = format!("the mode is {}: nothing is denied", status.mode);
        checks.push(Check::bad("daemon", what, "castellan mode enforce"));
    }
    if let Some(PauseStatus { left_s, .. }) = status.pause {
        let left = humantime::format_duration(Duration::from_secs(left_s));
        checks.push(Check::bad("pause", format!("no call is judged for {left} more"), "castellan resume"));
    }
    checks.extend(engine(status));
    if status.failures > 0 {
        let what = format!(
            "{} of castellan itself, the last: {}",
            output::counted(status.failures, "failure"),
            output::printable(&status.last_failure)
        );
        checks.push(Check::doubtful("daemon", what, "castellan log"));
    }
    checks
}

/// The fate of calls while Falco is the engine and does not judge. Only `enforce` holds calls back.
pub(crate) fn without_falco(status: &StatusReport) -> &'static str {
    let is_enforced = status.mode == "enforce" && status.pause.is_none();
    if is_enforced { "every call is denied" } else { "no call is judged" }
}

/// Checks a Falco that judges. Without it castellan protects nothing, and blocks everything in the mode `enforce`.
fn engine(status: &StatusReport) -> Option<Check> {
    let EngineStatus { kind, state, version, restarts, problem, log, .. } = &status.engine;
    if kind != EngineKind::Falco.as_str() {
        return None;
    }
    let why = if problem.is_empty() { "it has not connected yet" } else { problem.as_str() };
    let why = output::printable(why);
    let bad = |is: &str| {
        let remedy = format!("{log} has Falco's messages; castellan engine native");
        Some(Check::bad("engine", format!("{}: Falco {is}: {why}", without_falco(status)), remedy))
    };
    match state {
        EngineState::Judging if *restarts > 0 => {
            let what = format!(
                "Falco {version} judges, and was started again {}",
                output::counted(*restarts, "time")
            );
            Some(Check::doubtful("engine", what, format!("{log} has Falco's messages")))
        }
        EngineState::Judging => Some(Check::good("engine", format!("Falco {version} judges"))),
        EngineState::Starting => bad("starts"),
        EngineState::Pausing => bad("does not run"),
        EngineState::Refused => bad("cannot judge here"),
    }
}

fn socket_check(socket: &Path) -> Check {
    let shown = socket.display();
    match std::fs::metadata(socket) {
        Ok(meta) if meta.mode() & 0o077 != 0 => {
            Check::bad("sockets", format!("{shown} is open to others"), "castellan restart")
        }
        Ok(_) if castellan_wire::connect(socket).is_err() => {
            Check::bad("sockets", format!("{shown} does not answer"), "castellan restart")
        }
        Ok(_) => Check::good("sockets", format!("{shown} answers")),
        Err(error) => Check::bad("sockets", format!("{shown}: {error}"), "castellan restart"),
    }
}

/// Remedy for the organisation's files, which take effect without `castellan apply`.
const MENDED: &str = "mend the organisation's files, which then count by themselves";

/// Checks the daemon's report on the set in force.
fn in_force(layout: &Layout, status: &StatusReport) -> Vec<Check> {
    let mut checks = Vec::new();
    if status.policy_origin == "missing" {
        let what = format!("nothing is in force, all but reading is denied: {}", status.problems.join("; "));
        let remedy = if status.awaits_organisation { MENDED } else { "castellan apply" };
        checks.push(Check::bad("rules", what, remedy));
    }
    // Neither the user whom the system guards nor that user's programs can read or change the set.
    let is_closed = Copies::are_needed(layout);
    let is_other = || read_applied(layout).ok().is_none_or(|set| set.hash() != status.applied);
    if !is_closed && !status.applied.is_empty() && is_other() {
        let what =
            "the applied set on disk was changed, by whom else than castellan; the next start would load it";
        checks.push(Check::bad("rules", what, "castellan apply"));
    }
    if let Some(waiting) = waiting(status) {
        checks.push(Check::doubtful("rules", waiting, "castellan apply"));
    }
    if status.reload == "watch" {
        let remedy = "set `rules.reload = \"apply\"` in config.toml, then castellan apply";
        checks.push(Check::doubtful("rules", WATCHED, remedy));
    }
    checks
}

/// Lists the edited files that are pending for `castellan apply`; `None` if there are none.
pub(crate) fn waiting(report: &StatusReport) -> Option<String> {
    let files = report.pending.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let is = !report.pending.is_empty();
    is.then(|| format!("edited files are not in force until `castellan apply`: {files}"))
}
