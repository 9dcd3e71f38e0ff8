//! Checks of the parts behind the hooks: programs, home, sockets, daemon, rules, log.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use castellan_daemon::{
    Config, ControlClient, ControlError, Layout, PolicyOrigin, StatusReport, load_policy, read_applied,
    read_organisation,
};
use castellan_rules::{Problem, Severity};
use castellan_wire::Home;
use rustix::fs::Access;

use super::Check;
use crate::agent_files::is_executable;
use crate::commands::log::problems;
use crate::commands::service::shown_service;
use crate::commands::status::{WATCHED, waiting};
use crate::in_force;
use crate::launch;
use crate::output;
use crate::presence;
use crate::sandbox;
use crate::times;

pub(super) fn checks(layout: &Layout) -> anyhow::Result<Vec<Check>> {
    let mut checks = vec![hook_program()?, sandbox_program(layout)?];
    if !layout.home().run().exists() {
        let home = layout.home().dir().display();
        checks.push(Check::bad("home", format!("{home} does not exist"), "castellan install"));
        return Ok(checks);
    }
    checks.extend(directories(layout));
    let status = ControlClient::new(layout.home().clone()).status();
    checks.extend(daemon(layout.home(), &status));
    checks.extend(service_check(layout, status.is_ok()));
    checks.extend(rules(layout, status.as_ref().ok()));
    checks.extend(log(&layout.log(), status.as_ref().ok()));
    Ok(checks)
}

fn hook_program() -> anyhow::Result<Check> {
    let program = launch::beside("castellan-hook")?;
    let shown = program.display();
    Ok(match is_executable(&program) {
        true => {
            Check::good("programs", format!("{shown} can be started, version {}", env!("CARGO_PKG_VERSION")))
        }
        false => {
            Check::bad("programs", format!("{shown} is missing or not executable"), "install castellan again")
        }
    })
}

/// Checks the program that makes sandboxes. Calls of agents need it only if the settings require sandboxes.
fn sandbox_program(layout: &Layout) -> anyhow::Result<Check> {
    let program = sandbox::launcher_place()?;
    let Some(fault) = sandbox::fault(&program) else {
        return Ok(Check::good("sandbox", format!("{} can be started", program.display())));
    };
    let remedy = "install castellan again, with castellan-sandbox beside castellan";
    Ok(if in_force::requires_sandbox(layout) {
        let what = format!("{fault}; `sandbox.mode` is \"require\": every call of an agent is denied");
        Check::bad("sandbox", what, format!("{remedy}; or set another `sandbox.mode`, then castellan apply"))
    } else {
        Check::doubtful("sandbox", fault, remedy)
    })
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
    checks.extend([home.hook_socket(), home.control_socket()].iter().map(|socket| socket_check(socket)));
    if status.mode != "enforce" {
        let what = format!("the mode is {}: nothing is denied", status.mode);
        checks.push(Check::doubtful("daemon", what, "castellan mode enforce"));
    }
    if status.pause.is_some() {
        checks.push(Check::doubtful("daemon", "it is paused: no call is judged", "castellan resume"));
    }
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

/// Checks the service, if one is installed.
fn service_check(layout: &Layout, is_running: bool) -> Option<Check> {
    let (what, is_whole) = shown_service(layout, is_running)?;
    Some(match is_whole {
        true => Check::good("service", what),
        false => Check::doubtful("service", what, "castellan service status"),
    })
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

/// Lists rules in force from an upgrade, by the first day of their enforcement; for an agent, only their number.
fn on_trial(layout: &Layout) -> Vec<Check> {
    // The check of the set in force reports a read error.
    let Some(config) = read_applied(layout).ok().and_then(|set| set.config(layout).ok()) else {
        return Vec::new();
    };
    let mut days: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (rule, end) in config.packs.trial_ends() {
        days.entry(times::local_day(end).to_string()).or_default().push(rule);
    }
    let is_agent = presence::is_within_agent(layout.home());
    let reported = |(day, rules): (String, Vec<&str>)| {
        let which = if is_agent { output::counted(rules.len(), "rule") } else { rules.join(", ") };
        let what = format!("new since an upgrade, and enforced from {day} on: {which}");
        Check::doubtful("rules", what, "castellan packs says what they found; castellan packs --enforce-new")
    };
    days.into_iter().map(reported).collect()
}

/// Checks the current files and the part of them in force.
fn rules(layout: &Layout, status: Option<&StatusReport>) -> Vec<Check> {
    let mut checks = status.map(|status| in_force(layout, status)).unwrap_or_default();
    checks.extend(organisation(layout));
    checks.extend(on_trial(layout));
    let config = match Config::of_home(layout) {
        Ok(config) => config,
        Err(error) => {
            checks.push(Check::bad("configuration", error.to_string(), "mend it, then castellan apply"));
            return checks;
        }
    };
    let loaded = load_policy(layout, &config);
    checks.extend(loaded.problems.iter().map(problem));
    match &loaded.origin {
        PolicyOrigin::Current => {
            let count = loaded.policy.rules().filter(|rule| rule.rule.enabled).count();
            checks.push(Check::good("rules", format!("{} loaded", output::counted(count, "rule"))));
        }
        PolicyOrigin::LastGood(why) => {
            let what = format!("the rule files do not load, those that were applied stay in force: {why}");
            checks.push(Check::bad("rules", what, "castellan rules validate"));
        }
        PolicyOrigin::Missing(why) => {
            let what = format!("the rule files do not load: {why}");
            checks.push(Check::bad("rules", what, "castellan rules validate"));
        }
    }
    checks
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
    if !status.applied.is_empty() && read_applied(layout).ok().is_none_or(|set| set.hash() != status.applied)
    {
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

/// Checks the organisation's files, if any.
fn organisation(layout: &Layout) -> Option<Check> {
    let dir = layout.organisation().dir.display();
    match read_organisation(layout.organisation()) {
        Ok(None) => None,
        Ok(Some(set)) => {
            let files = output::counted(set.rules.len(), "rule file");
            let what = format!("{dir}: configuration and {files} of the organisation");
            Some(Check::good("organisation", what))
        }
        Err(error) => Some(Check::bad("organisation", error.to_string(), "castellan config check")),
    }
}

fn problem(problem: &Problem) -> Check {
    match problem.severity {
        Severity::Error => Check::bad("rules", problem.one_line(), "castellan rules validate"),
        Severity::Warning => Check::doubtful("rules", problem.one_line(), "castellan rules validate"),
    }
}

fn log(dir: &Path, status: Option<&StatusReport>) -> Vec<Check> {
    let shown = dir.display();
    if let Err(error) = rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK) {
        let what = format!("{shown} cannot be written: {error}; every call is denied");
        return vec![Check::bad("log", what, "make it writable for this user")];
    }
    let mut checks = Vec::new();
    if status.is_some_and(|status| status.log_limit_reached) {
        let what = "the records of denied calls do not fit into their size";
        checks.push(Check::doubtful("log", what, "raise `log.notable_mib` in config.toml"));
    }
    match castellan_audit::verify(dir) {
        Ok(verification) if verification.ok() => {
            let lines = verification.routine.lines + verification.notable.lines;
            checks.push(Check::good(
                "log",
                format!("{} in {shown}, the chains hold", output::counted(lines, "line")),
            ));
        }
        Ok(_) if status.is_none() && is_empty(dir) => {
            checks.push(Check::good("log", format!("{shown} is empty yet")))
        }
        Ok(verification) => {
            let broken = problems(&verification).join("; ");
            checks.push(Check::bad(
                "log",
                format!("the chains are broken: {broken}"),
                "castellan log verify",
            ));
        }
        Err(error) => checks.push(Check::bad("log", error.to_string(), "castellan log verify")),
    }
    checks
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}
