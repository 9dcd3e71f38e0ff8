//! `castellan rules list`: the loaded rules with their verdicts, including those of the workspace.

use std::io::Write;
use std::path::{Path, PathBuf};

use castellan_daemon::Config;
use castellan_policy::{PolicyRule, RuleState, WorkspaceTrust};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, ERROR, FAINT, NOTE, verdict_style};
use crate::policy::{self, Source};

/// Options of `castellan rules list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Directory that selects the workspace; default: the current directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let directory = options.cwd.as_deref().unwrap_or(Path::new("."));
    let loaded = policy::load(&layout, &config, directory)?;
    let mut out = anstream::stdout();
    if options.json {
        let rules: Vec<Json> = loaded.policy.rules().map(json_of).collect();
        writeln!(out, "{:#}", Json::Array(rules))?;
    } else {
        let rows: Vec<Vec<Cell>> = loaded.policy.rules().map(row).collect();
        output::write_table(&mut out, &rows)?;
    }
    let mut err = anstream::stderr();
    if loaded.workspace_trust == WorkspaceTrust::Denied {
        writeln!(
            err,
            "{NOTE} this workspace is denied: castellan denies every call in it, whatever these rules say"
        )?;
    }
    match loaded.source {
        Source::Files => Ok(Exit::Done),
        Source::Shipped => {
            writeln!(err, "{NOTE} there is no home yet: these are the shipped rules")?;
            Ok(Exit::Done)
        }
        Source::NotTheFiles(why) => {
            writeln!(err, "{ERROR} the rule files are not in force: {}", output::printable(&why))?;
            Ok(Exit::No)
        }
    }
}

fn row(PolicyRule { rule, verdict, state, .. }: PolicyRule<'_>) -> Vec<Cell> {
    let word = verdict.as_str();
    let name = match (rule.enabled, state) {
        (false, _) => format!("{} (disabled)", rule.name),
        (true, RuleState::Off) => format!("{} (off)", rule.name),
        (true, RuleState::Observe) => format!("{} (observed)", rule.name),
        (true, RuleState::Enforce) => rule.name.clone(),
    };
    let place = format!("{}:{}", rule.file, rule.line);
    let priority = Cell::new(rule.priority.as_str(), FAINT);
    vec![Cell::new(word, verdict_style(word)), name.into(), priority, Cell::new(place, FAINT)]
}

fn json_of(PolicyRule { layer, rule, verdict, marks, is_firm: _, state }: PolicyRule<'_>) -> Json {
    json!({
        "name": rule.name,
        "verdict": verdict.as_str(),
        "layer": layer.as_str(),
        "marks": marks,
        "priority": rule.priority.as_str(),
        "enabled": rule.enabled,
        "state": state.as_str(),
        "tags": &*rule.tags,
        "description": rule.desc,
        "file": &*rule.file,
        "line": rule.line,
    })
}
