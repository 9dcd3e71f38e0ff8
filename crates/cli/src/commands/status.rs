//! `castellan status`: the state of the daemon, and the protection of each agent.

use std::io::Write;
use std::time::Duration;

use castellan_agents::{AgentId, machine_family};
use castellan_daemon::{
    ControlError, HaltStatus, OutsideStatus, PauseStatus, RunStatus, StatusReport, UnguardedAgent,
};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::guard::{Fault, Guard};
use crate::output::{self, BAD, Cell, FAINT, GOOD, WARN, counted};
use crate::service::Service;

/// Options of `castellan status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Warning for `rules.reload = "watch"`.
pub(crate) const WATCHED: &str =
    "rule files are watched: an edit is in force at once, whoever makes it, an agent too";

/// Returns the status as JSON.
pub(crate) fn report(global: &Global) -> anyhow::Result<Json> {
    let (guards, report) = found(global)?;
    json_of(report.as_ref(), &guards)
}

fn found(global: &Global) -> anyhow::Result<(Vec<Guard>, Option<StatusReport>)> {
    let layout = global.layout()?;
    let guards: Vec<Guard> =
        AgentId::ALL.into_iter().map(|agent| Guard::of(agent, &layout)).collect::<anyhow::Result<_>>()?;
    match global.client()?.status() {
        Ok(report) => Ok((guards, Some(report))),
        Err(ControlError::NotRunning) => Ok((guards, None)),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let (guards, report) = found(global)?;
    let mut out = anstream::stdout();
    if options.json {
        writeln!(out, "{:#}", json_of(report.as_ref(), &guards)?)?;
    } else {
        write_report(&mut out, global, report.as_ref())?;
        write_guards(&mut out, &guards.iter().filter(|guard| guard.is_installed()).collect::<Vec<_>>())?;
    }
    Ok(if report.is_some() { Exit::Done } else { Exit::NotRunning })
}

fn json_of(report: Option<&StatusReport>, guards: &[Guard]) -> anyhow::Result<Json> {
    let agents: Vec<Json> = guards
        .iter()
        .map(|guard| {
            json!({
                "agent": guard.agent.word(),
                "registered_for_user": guard.for_user,
                "registered_for_machine": guard.for_machine,
                "registered_by_plugin": guard.by_plugin(),
                "repository_can_switch_off": guard.can_be_switched_off(),
                "guarded": guard.is_guarded(),
                "not_run": guard.gap().map(Fault::what),
                "faults": guard.faults.iter().map(Fault::what).collect::<Vec<_>>(),
                "newer_than_tested": guard.untested.map(|version| version.to_string()),
            })
        })
        .collect();
    let mut status = json!({ "running": report.is_some() });
    if let (Json::Object(status), Some(report)) = (&mut status, report)
        && let Json::Object(report) = serde_json::to_value(report)?
    {
        status.extend(report);
    }
    if let Json::Object(status) = &mut status {
        status.insert("agents".to_owned(), Json::Array(agents));
    }
    Ok(status)
}

fn write_report(out: &mut impl Write, global: &Global, report: Option<&StatusReport>) -> anyhow::Result<()> {
    let layout = global.layout()?;
    let home = layout.home().dir().display().to_string();
    let Some(report) = report else {
        let why = match layout.home().stopped_marker().exists() {
            true => "castellan is stopped, so every call is blocked. Run: castellan start",
            false => "not running; the next call of a guarded agent starts it, or `castellan start`",
        };
        let rows = [vec![Cell::from("daemon"), Cell::new(why, WARN)], row("home", &home)];
        return Ok(output::write_table(out, &rows)?);
    };
    let mode_style = if report.mode == "enforce" { GOOD } else { WARN };
    let verdicts = &report.verdicts;
    let (deny, ask, allow, defer) = (verdicts.deny, verdicts.ask, verdicts.allow, verdicts.defer);
    let up = humantime::format_duration(Duration::from_secs(report.uptime_s));
    let policy =
        if global.verbose { report.policy.as_str() } else { report.policy.get(..12).unwrap_or_default() };
    let mut rows = vec![
        row("daemon", &format!("running for {up}, process {}, version {}", report.pid, report.version)),
        vec!["mode".into(), Cell::new(&report.mode, mode_style)],
        row("policy", &format!("{}, {policy} ({})", counted(report.rules, "rule"), report.policy_origin)),
        row("calls", &format!("{deny} denied, {ask} asked, {allow} allowed, {defer} left to the agent")),
        undo_row(report),
        row("log", &format!("{}, {}", report.log, counted(report.log_last_seq, "record"))),
        row("home", &home),
    ];
    if let Some(service) = Service::installed(layout.home())? {
        rows.push(row("service", &format!("{}, {}", service.manager.title(), service.name())));
    }
    rows.extend(noticed(report));
    Ok(output::write_table(out, &rows)?)
}

/// Returns a row for each state that needs attention.
fn noticed(report: &StatusReport) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    let mut add = |is_so: bool, name: &str, text: String| {
        if is_so {
            rows.push(warning(name, &text));
        }
    };
    for HaltStatus { of, .. } in &report.halts {
        add(
            true,
            "halt",
            format!("every call of {} is denied until `castellan resume`", output::printable(of)),
        );
    }
    if let Some(PauseStatus { left_s, .. }) = report.pause {
        let left = humantime::format_duration(Duration::from_secs(left_s));
        let text = format!("no call is judged for {left} more; `castellan resume` ends the pause");
        add(true, "pause", text);
    }
    for RunStatus { pid, profile, agents, .. } in &report.runs {
        let agents = counted(*agents as u64, "agent");
        add(true, "run", format!("process {pid}, profile {profile}, {agents}"));
    }
    let failures = counted(report.failures, "failure");
    add(report.failures > 0, "failures", format!("{failures}; the last: {}", report.last_failure));
    let events = counted(report.ungoverned, "event");
    add(report.ungoverned > 0, "ungoverned", format!("{events}; the last: {}", report.last_ungoverned));
    let (calls, last) = (counted(report.unknown_tools, "call"), &report.last_unknown_tool);
    let unknown = format!("{calls} of tools that castellan does not know; the last: `{last}`");
    add(report.unknown_tools > 0, "unknown", unknown);
    for UnguardedAgent { agent, pid, cwd, why } in &report.unguarded {
        let text = format!("{agent}, process {pid} in {cwd}, does not ask castellan: {why}");
        add(true, "unguarded", text);
    }
    let (requests, last) = (counted(report.refused, "request"), &report.last_refused);
    add(report.refused > 0, "refused", format!("{requests} to loosen something; the last: {last}"));
    let calls = counted(report.waiting, "call");
    add(report.waiting > 0, "waiting", format!("{calls} for you: `castellan pending`"));
    add(report.reload == "watch", "reload", WATCHED.to_owned());
    let rules = counted(report.on_trial, "rule");
    let on_trial = format!("{rules} new since an upgrade, for two weeks: `castellan packs --enforce-new`");
    add(report.on_trial > 0, "observed", on_trial);
    let edited = waiting(report);
    add(edited.is_some(), "apply", edited.unwrap_or_default());
    let limit =
        "the denied calls do not fit for as long as they are kept: raise `log.notable_mib` in config.toml";
    add(report.log_limit_reached, "log", limit.to_owned());
    let OutsideStatus { to: _, problem, waiting, lost } = &report.outside;
    let (waiting, lost) = (counted(*waiting as u64, "line"), counted(*lost, "line"));
    let problem = if problem.is_empty() { "lines were dropped" } else { problem.as_str() };
    let copy = format!("the copy of the record in the system's log: {problem}; {waiting} wait, {lost} lost");
    add(!report.outside.problem.is_empty() || report.outside.lost > 0, "outside", copy);
    rows.extend(report.problems.iter().map(|problem| warning("problem", problem)));
    rows
}

/// Returns the row about checkpoints.
fn undo_row(report: &StatusReport) -> Vec<Cell> {
    let undo = &report.undo;
    let mib = |bytes: u64| bytes.div_ceil(1024 * 1024);
    let (used, ceiling) = (mib(undo.bytes), mib(undo.ceiling));
    let kept = format!("{}, {used} of {ceiling} MiB", counted(undo.checkpoints, "checkpoint"));
    let text = if undo.is_on { kept } else { format!("off; {kept}") };
    match undo.failures {
        0 => row("undo", &text),
        failures => {
            let failed = counted(failures, "checkpoint");
            let last = output::printable(&undo.last_failure);
            warning("undo", &format!("{text}; {failed} could not be made, the last: {last}"))
        }
    }
}

/// Lists the edited files that are pending for `castellan apply`; `None` if there are none.
pub(crate) fn waiting(report: &StatusReport) -> Option<String> {
    let files = report.pending.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let is = !report.pending.is_empty();
    is.then(|| format!("edited files are not in force until `castellan apply`: {files}"))
}

/// Lists the agents that are installed or registered.
fn write_guards(out: &mut impl Write, guards: &[&Guard]) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    if guards.is_empty() {
        rows.push(row("agents", "none is installed: `castellan agents` lists the supported ones"));
    }
    for guard in guards {
        let (text, style) = match (guard.gap(), guard.faults.first()) {
            (Some(gap), _) => (format!("not guarded: {}", output::printable(&gap.what())), BAD),
            (None, _) if !guard.is_guarded() => ("not guarded".to_owned(), FAINT),
            (None, Some(fault)) => (format!("guarded, but {}", output::printable(&fault.what())), WARN),
            (None, None) if guard.can_be_switched_off() => {
                let closes = match machine_family(guard.agent) {
                    Some(_) => "; `castellan install --managed` closes that",
                    None => "",
                };
                (format!("guarded, but a repository can switch this off{closes}"), WARN)
            }
            (None, None) => ("guarded, for everybody on this machine".to_owned(), GOOD),
        };
        rows.push(vec![Cell::from(guard.agent.title()), Cell::new(text, style)]);
        rows.extend(guard.newer().map(|newer| warning("", &newer)));
    }
    writeln!(out)?;
    Ok(output::write_table(out, &rows)?)
}

fn row(name: &str, value: &str) -> Vec<Cell> {
    vec![name.into(), value.into()]
}

fn warning(name: &str, value: &str) -> Vec<Cell> {
    vec![name.into(), Cell::new(value, WARN)]
}
