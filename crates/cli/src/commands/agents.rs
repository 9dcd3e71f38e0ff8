//! `castellan agents`: every supported agent, its presence on this machine, and its support for castellan's answers.

use castellan_agents::{AgentId, Features, Version, features, tested_versions};
use serde_json::{Value as Json, json};

use crate::agent_files::AgentFiles;
use crate::exit::Exit;
use crate::global::Global;
use crate::guard::Guard;
use crate::output::{self, Cell, FAINT, GOOD, PLAIN, WARN};

/// Options of `castellan agents`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The state of one agent on this machine.
struct Here {
    agent: AgentId,
    is_present: bool,
    version: Option<Version>,
    is_guarded: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let look = |agent| {
        let files = AgentFiles::of_environment(agent)?;
        let is_guarded = Guard::of(agent, &layout)?.is_guarded();
        Ok(Here { agent, is_present: files.is_present(), version: files.version(), is_guarded })
    };
    let all: Vec<Here> = AgentId::ALL.into_iter().map(look).collect::<anyhow::Result<_>>()?;
    let mut out = anstream::stdout();
    if options.json {
        output::write_json(&mut out, &Json::Array(all.iter().map(json_of).collect()))?;
    } else {
        let rows = std::iter::once(HEAD.map(|title| Cell::new(title, FAINT)).to_vec());
        output::write_table(&mut out, &rows.chain(all.iter().map(row)).collect::<Vec<_>>())?;
    }
    Ok(Exit::Done)
}

const HEAD: [&str; 10] =
    ["WORD", "AGENT", "TESTED", "HERE", "GUARDED", "ASK", "ALLOW", "REWRITE", "FAILS CLOSED", "MACHINE-WIDE"];

fn row(here: &Here) -> Vec<Cell> {
    let Features { asks, allows, rewrites, fails_closed, machine_wide } = features(here.agent);
    let present = match (here.is_present, here.version) {
        (_, Some(version)) => Cell::new(version.to_string(), if is_tested(here) { PLAIN } else { WARN }),
        (true, None) => Cell::from("yes"),
        (false, None) => Cell::new("no", FAINT),
    };
    let guarded = match (here.is_guarded, here.is_present) {
        (true, _) => Cell::new("yes", GOOD),
        (false, true) => Cell::new("no", WARN),
        (false, false) => Cell::new("no", FAINT),
    };
    let mut row =
        vec![here.agent.word().into(), here.agent.title().into(), tested(here).into(), present, guarded];
    let supports = [asks, allows, rewrites, fails_closed, machine_wide];
    row.extend(supports.map(|is| if is { Cell::from("yes") } else { Cell::new("no", FAINT) }));
    row
}

/// Returns the range of versions measured.
fn tested(here: &Here) -> String {
    let (first, last) = tested_versions(here.agent);
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn is_tested(here: &Here) -> bool {
    let (first, last) = tested_versions(here.agent);
    here.version.is_some_and(|version| first <= version && version <= last)
}

fn json_of(here: &Here) -> Json {
    let Features { asks, allows, rewrites, fails_closed, machine_wide } = features(here.agent);
    let (first, last) = tested_versions(here.agent);
    json!({
        "agent": here.agent.word(),
        "title": here.agent.title(),
        "tested_from": first.to_string(),
        "tested_to": last.to_string(),
        "present": here.is_present,
        "version": here.version.map(|version| version.to_string()),
        "guarded": here.is_guarded,
        "asks": asks,
        "allows": allows,
        "rewrites": rewrites,
        "fails_closed": fails_closed,
        "machine_wide": machine_wide,
    })
}
