//! The screen of `castellan status`.

use std::io::Write;
use std::time::{Duration, SystemTime};

use castellan_agents::machine_family;
use castellan_daemon::{ControlError, RunStatus, StatusReport};

use super::needs::{self, Need};
use super::today::Today;
use crate::check::Outcome;
use crate::commands::engine;
use crate::global::Global;
use crate::guard::Guard;
use crate::output::{self, BAD, Cell, FAINT, GOOD, WARN, counted, printable};
use crate::protection::{Answer, Protection};
use crate::service::Service;
use crate::times;

pub(super) fn write(out: &mut impl Write, global: &Global, protection: &Protection) -> anyhow::Result<()> {
    let answer = protection.answer();
    let (style, word) = match answer {
        Answer::Protected => (GOOD, "protected"),
        Answer::Unprotected | Answer::NoDaemon => (BAD, "not protected"),
    };
    writeln!(out, "{style}{word}{style:#}: {}\n", printable(&by(protection, answer)))?;
    let mut rows = agents(&protection.guards);
    match &protection.status {
        Ok(report) => rows.extend(daemon(global, protection, report)?),
        Err(_) => rows.push(row("home", &protection.layout.home().dir().display().to_string())),
    }
    output::write_table(out, &rows)?;
    let needs = needs::of(protection);
    if needs.is_empty() {
        return Ok(writeln!(out, "\nnothing needs you")?);
    }
    writeln!(out, "\nneeds you:")?;
    let mut rows = Vec::new();
    for Need { subject, what, remedy } in &needs {
        rows.push(vec![Cell::new(printable(subject), WARN), Cell::from(printable(what))]);
        if !remedy.is_empty() {
            rows.push(vec!["".into(), Cell::new(format!("→ {}", printable(remedy)), FAINT)]);
        }
    }
    Ok(output::write_table(out, &rows)?)
}

/// Describes the protection, or the reason why there is none.
fn by(protection: &Protection, answer: Answer) -> String {
    match (&protection.status, answer) {
        (Err(ControlError::NotRunning), _) if protection.layout.home().stopped_marker().exists() => {
            "castellan is stopped, so every call is blocked. Run: castellan start".to_owned()
        }
        (Err(ControlError::NotRunning), _) => {
            "the daemon is not running; the next call of a guarded agent starts it, or `castellan start`"
                .to_owned()
        }
        (Ok(report), Answer::Protected) => {
            let level = protection.level().map_or("nothing", |level| level.title());
            let (mode, profile) = (&report.mode, &report.profile);
            let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(report.since_s));
            let since = since.map(times::local_minute).unwrap_or_default();
            format!("{level}, mode {mode}, profile {profile}, since {since}")
        }
        (Ok(_) | Err(_), _) => {
            let checks = protection.checks();
            let bad = checks.iter().filter(|check| check.outcome == Outcome::Bad).count();
            let first = checks.first().map(|check| format!("{}: {}", check.subject, check.what));
            let more = if bad > 1 { format!(", and {} more", bad.saturating_sub(1)) } else { String::new() };
            format!("{}{more}", first.unwrap_or_default())
        }
    }
}

/// Returns a row for each agent that is installed or registered.
fn agents(guards: &[Guard]) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = guards.iter().filter(|guard| guard.is_installed()).map(agent).collect();
    if rows.is_empty() {
        rows.push(row("agents", "none is installed: `castellan agents` lists the supported ones"));
    }
    rows
}

fn agent(guard: &Guard) -> Vec<Cell> {
    let (text, style) = match (guard.gap(), guard.faults.first()) {
        (Some(gap), _) => (format!("not guarded: {}", printable(&gap.what())), BAD),
        (None, _) if !guard.is_guarded() => ("not guarded".to_owned(), FAINT),
        (None, Some(fault)) => (format!("guarded, but {}", printable(&fault.what())), WARN),
        (None, None) if guard.can_be_switched_off() => {
            let closes = match machine_family(guard.agent) {
                Some(_) => "; `castellan install --managed` closes that",
                None => "",
            };
            (format!("guarded, but a repository can switch this off{closes}"), WARN)
        }
        (None, None) => ("guarded, for everybody on this machine".to_owned(), GOOD),
    };
    vec![Cell::from(guard.agent.title()), Cell::new(text, style)]
}

/// Returns the rows about a daemon that answers.
fn daemon(global: &Global, protection: &Protection, report: &StatusReport) -> anyhow::Result<Vec<Vec<Cell>>> {
    let up = humantime::format_duration(Duration::from_secs(report.uptime_s));
    let policy =
        if global.verbose { report.policy.as_str() } else { report.policy.get(..12).unwrap_or_default() };
    let mode_style = if report.mode == "enforce" { GOOD } else { WARN };
    let mut rows = vec![
        row("today", &Today::of(report, SystemTime::now()).text()),
        vec!["mode".into(), Cell::new(&report.mode, mode_style)],
        row("profile", &printable(&report.profile)),
        row("daemon", &format!("running for {up}, process {}, version {}", report.pid, report.version)),
        row("policy", &format!("{}, {policy} ({})", counted(report.rules, "rule"), report.policy_origin)),
        row("engine", &engine::line(&report.engine)),
        undo(report),
        row("log", &format!("{}, {}", report.log, counted(report.log_last_seq, "record"))),
        row("home", &protection.layout.home().dir().display().to_string()),
    ];
    if let Some(service) = Service::installed(protection.layout.home())? {
        rows.push(row("service", &format!("{}, {}", service.manager.title(), service.name())));
    }
    for RunStatus { pid, profile, agents, .. } in &report.runs {
        let agents = counted(*agents as u64, "agent");
        rows.push(row("run", &format!("process {pid}, profile {profile}, {agents}")));
    }
    Ok(rows)
}

/// Returns the row about checkpoints.
fn undo(report: &StatusReport) -> Vec<Cell> {
    let undo = &report.undo;
    let mib = |bytes: u64| bytes.div_ceil(1024 * 1024);
    let (used, ceiling) = (mib(undo.bytes), mib(undo.ceiling));
    let kept = format!("{}, {used} of {ceiling} MiB", counted(undo.checkpoints, "checkpoint"));
    row("undo", &if undo.is_on { kept } else { format!("off; {kept}") })
}

fn row(name: &str, value: &str) -> Vec<Cell> {
    vec![name.into(), value.into()]
}
