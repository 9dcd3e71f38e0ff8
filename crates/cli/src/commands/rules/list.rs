//! `castellan rules list`: the rules as they are loaded now, with what each answers.

use std::io::Write;

use castellan_daemon::Config;
use castellan_policy::Tags;
use castellan_rules::Rule;
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, FAINT, verdict_style};
use crate::policy::{self, Source};

/// Options of `castellan rules list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::read(&layout.config_file())?;
    let loaded = policy::load(&layout, &config)?;
    let rules = loaded.policy.rules().rules();
    let tags = &config.settings.tags;
    let mut out = anstream::stdout();
    if options.json {
        let rules: Vec<Json> = rules.iter().map(|rule| json_of(rule, tags)).collect();
        writeln!(out, "{:#}", Json::Array(rules))?;
    } else {
        let rows: Vec<Vec<Cell>> = rules.iter().map(|rule| row(rule, tags)).collect();
        output::write_table(&mut out, &rows)?;
    }
    let mut err = anstream::stderr();
    match loaded.source {
        Source::Files => Ok(Exit::Done),
        Source::Shipped => {
            writeln!(err, "{FAINT}no home yet: these are the rules that castellan ships{FAINT:#}")?;
            Ok(Exit::Done)
        }
        Source::NotTheFiles(why) => {
            writeln!(err, "the rule files are not in force: {}", output::printable(&why))?;
            Ok(Exit::No)
        }
    }
}

fn row(rule: &Rule, tags: &Tags) -> Vec<Cell> {
    let word = tags.verdict_of(rule).as_str();
    let name = if rule.enabled { rule.name.clone() } else { format!("{} (disabled)", rule.name) };
    let place = format!("{}:{}", rule.file, rule.line);
    let priority = Cell::new(rule.priority.as_str(), FAINT);
    vec![Cell::new(word, verdict_style(word)), name.into(), priority, Cell::new(place, FAINT)]
}

fn json_of(rule: &Rule, tags: &Tags) -> Json {
    json!({
        "name": rule.name,
        "verdict": tags.verdict_of(rule).as_str(),
        "priority": rule.priority.as_str(),
        "enabled": rule.enabled,
        "tags": rule.tags,
        "description": rule.desc,
        "file": rule.file,
        "line": rule.line,
    })
}
