//! `castellan doctor`: checks the whole installation, with a remedy for each problem, and makes a live call through the
//! hook of each guarded agent.

mod agents;
mod canary;
mod service;

use std::io::Write;

use anyhow::bail;
use castellan_agents::{AgentId, HookCommand};
use clap::builder::styling::Style;
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, BAD, Cell, FAINT, GOOD, WARN};

/// Options of `castellan doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The state of a checked thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Good,
    Doubtful,
    Bad,
}

impl Outcome {
    /// Returns the word, mark and colour.
    fn shown(self) -> (&'static str, &'static str, Style) {
        match self {
            Outcome::Good => ("good", "✓", GOOD),
            Outcome::Doubtful => ("doubtful", "!", WARN),
            Outcome::Bad => ("bad", "✗", BAD),
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Check {
    outcome: Outcome,
    subject: String,
    what: String,
    /// The remedy; empty if none is needed.
    remedy: String,
}

impl Check {
    fn good(subject: &str, what: impl Into<String>) -> Check {
        let (subject, what) = (subject.to_owned(), what.into());
        Check { outcome: Outcome::Good, subject, what, remedy: String::new() }
    }

    fn doubtful(subject: &str, what: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { outcome: Outcome::Doubtful, remedy: remedy.into(), ..Check::good(subject, what) }
    }

    fn bad(subject: &str, what: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { outcome: Outcome::Bad, ..Check::doubtful(subject, what, remedy) }
    }
}

/// Returns the checks as JSON.
pub(crate) fn report(global: &Global) -> anyhow::Result<Json> {
    Ok(checks(global)?.iter().map(json_of).collect())
}

/// Fails unless the hook judges a call of the agent.
pub(crate) fn answers(agent: AgentId, hook: &HookCommand) -> anyhow::Result<()> {
    let check = canary::send(agent, hook);
    match check.outcome {
        Outcome::Good => Ok(()),
        Outcome::Doubtful | Outcome::Bad => bail!("{}: {}; {}", check.subject, check.what, check.remedy),
    }
}

fn checks(global: &Global) -> anyhow::Result<Vec<Check>> {
    let layout = global.layout()?;
    let mut checks = service::checks(&layout)?;
    let mut of_agents = Vec::new();
    for agent in AgentId::ALL {
        of_agents.extend(agents::checks(agent, &layout)?);
    }
    if of_agents.is_empty() {
        let what = "none was found on this machine, and none is guarded";
        let words = AgentId::ALL.map(AgentId::word).join(", ");
        of_agents.push(Check::doubtful("agents", what, format!("castellan install, with one of {words}")));
    }
    if global.verbose {
        of_agents.extend(agents::not_installed(&layout)?);
    }
    checks.extend(of_agents);
    Ok(checks)
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let checks = checks(global)?;
    let worst = checks.iter().map(|check| check.outcome).max().unwrap_or(Outcome::Good);
    let mut out = anstream::stdout();
    if options.json {
        let shown: Vec<Json> = checks.iter().map(json_of).collect();
        writeln!(out, "{:#}", json!({ "ok": worst < Outcome::Bad, "checks": shown }))?;
    } else {
        write(&mut out, global, &checks)?;
    }
    Ok(if worst == Outcome::Bad { Exit::No } else { Exit::Done })
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

fn json_of(check: &Check) -> Json {
    let (word, ..) = check.outcome.shown();
    json!({ "outcome": word, "subject": check.subject, "what": check.what, "remedy": check.remedy })
}
