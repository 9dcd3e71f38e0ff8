//! `castellan doctor`: checks the whole installation, with a remedy for each problem, and makes a live call through the
//! hook of each guarded agent. Whether castellan protects is judged by [`Protection`], as in `castellan status`.

mod agents;
mod canary;
mod service;

use std::io::Write;

use anyhow::bail;
use castellan_agents::{AgentId, HookCommand};
use serde_json::{Value as Json, json};

use crate::check::{Check, Outcome};
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::STATUS_TIME;
use crate::output::{self, BAD, Cell, FAINT, GOOD, WARN};
use crate::protection::{Answer, Protection};

/// Options of `castellan doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Returns the checks as JSON.
pub(crate) fn report(global: &Global) -> anyhow::Result<Json> {
    Ok(checks(global)?.1.iter().map(Check::json).collect())
}

/// Fails unless the hook judges a call of the agent.
pub(crate) fn answers(agent: AgentId, hook: &HookCommand) -> anyhow::Result<()> {
    let check = canary::send(agent, hook);
    match check.outcome {
        Outcome::Good => Ok(()),
        Outcome::Doubtful | Outcome::Bad => bail!("{}: {}; {}", check.subject, check.what, check.remedy),
    }
}

/// Returns the judgement that `castellan status` has too, and all checks.
fn checks(global: &Global) -> anyhow::Result<(Answer, Vec<Check>)> {
    let protection = Protection::of(global, &AgentId::ALL, STATUS_TIME)?;
    let mut checks = service::checks(&protection, &global.layout()?)?;
    checks.extend(protection.of_agents.iter().cloned());
    let trusted = protection.status.as_ref().map(|status| status.trusted_hooks.as_slice());
    for guard in &protection.guards {
        checks.extend(agents::checks(guard, &protection.layout, trusted.unwrap_or_default()));
    }
    if global.verbose {
        checks.extend(agents::not_installed(&protection.guards));
    }
    Ok((protection.answer(), checks))
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let (answer, checks) = checks(global)?;
    let is_bad = checks.iter().any(|check| check.outcome == Outcome::Bad);
    // These checks also look at more than the judgement does: they make a call, and read the log.
    let exit = if answer == Answer::Protected && is_bad { Exit::No } else { answer.exit() };
    let mut out = anstream::stdout();
    if options.json {
        let shown: Vec<Json> = checks.iter().map(Check::json).collect();
        let (ok, answer) = (exit == Exit::Done, answer.word());
        output::write_json(&mut out, &json!({ "ok": ok, "answer": answer, "checks": shown }))?;
    } else {
        write(&mut out, global, &checks)?;
    }
    Ok(exit)
}

fn write(out: &mut impl Write, global: &Global, checks: &[Check]) -> anyhow::Result<()> {
    let shown = checks.iter().filter(|check| !global.quiet || check.outcome > Outcome::Good);
    let mut rows = Vec::new();
    for check in shown {
        let (_, mark, style) = check.outcome.shown();
        rows.push(vec![Cell::new(mark, style), Cell::from(&check.subject), Cell::from(&check.what)]);
        if !check.remedy.is_empty() {
            rows.push(vec!["".into(), "".into(), Cell::new(format!("→ {}", check.remedy), FAINT)]);
        }
    }
    output::write_table(out, &rows)?;
    let count = |outcome| checks.iter().filter(|check| check.outcome == outcome).count();
    let (bad, doubtful) = (count(Outcome::Bad), count(Outcome::Doubtful));
    let (style, summary) = match (bad, doubtful) {
        (0, 0) => (GOOD, "everything works".to_owned()),
        (0, doubtful) => (WARN, format!("works; {doubtful} to look at")),
        (bad, doubtful) => (BAD, format!("{bad} broken, {doubtful} to look at")),
    };
    Ok(writeln!(out, "\n{style}{summary}{style:#}")?)
}
