//! Checks of the parts behind the hooks: programs, home and daemon as [`Protection`] has them, service, rules, log.

use std::collections::BTreeMap;
use std::path::Path;

use castellan_daemon::{
    Config, Layout, PolicyOrigin, StatusReport, load_policy, read_applied, read_organisation,
};
use castellan_rules::{Problem, Severity};
use rustix::fs::Access;

use crate::agent_files::is_executable;
use crate::check::Check;
use crate::commands::log::problems;
use crate::commands::service::shown_service;
use crate::in_force;
use crate::launch;
use crate::output;
use crate::presence;
use crate::protection::Protection;
use crate::sandbox;
use crate::times;

/// Returns the checks of home and daemon. `layout` has files that this user can read.
pub(super) fn checks(protection: &Protection, layout: &Layout) -> anyhow::Result<Vec<Check>> {
    let Protection { status, of_home, .. } = protection;
    let mut checks = vec![hook_program()?, sandbox_program(layout)?];
    checks.extend(of_home.iter().cloned());
    if !layout.home().run().exists() {
        return Ok(checks);
    }
    checks.extend(service_check(layout, status.is_ok()));
    checks.extend(rules(layout));
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

/// Checks the service, if one is installed.
fn service_check(layout: &Layout, is_running: bool) -> Option<Check> {
    let (what, is_whole) = shown_service(layout, is_running)?;
    Some(match is_whole {
        true => Check::good("service", what),
        false => Check::doubtful("service", what, "castellan service status"),
    })
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

/// Checks the current files.
fn rules(layout: &Layout) -> Vec<Check> {
    let mut checks: Vec<Check> = organisation(layout).into_iter().collect();
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
