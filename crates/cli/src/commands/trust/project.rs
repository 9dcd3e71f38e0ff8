//! The content of a workspace's own files, for a person who is about to trust it: every key and rule, and which of them
//! loosen. This module must not know the decision.

use std::io::Write;

use anyhow::{Context, bail};
use castellan_daemon::{FileSet, Layers, Layout, Merge, Setting, read_applied};
use castellan_event::Layer;
use castellan_policy::{PolicyRule, RuleVerdict};

use crate::output::{self, Cell, FAINT, PLAIN, WARN, printable, verdict_style};

/// Writes the files' settings and rules as the layer below the files in force. Fails if they are invalid there.
pub(super) fn write(out: &mut impl Write, layout: &Layout, project: &FileSet) -> anyhow::Result<()> {
    let layers = Layers { project: Some(project.clone()), ..read_applied(layout)? };
    let (config, compiled) = layers.compile(layout).context("its own files")?;
    if let Some(why) = compiled.error() {
        bail!("its own files: {why}");
    }
    let settings = config.settled.settings().iter().filter(|setting| setting.key.merge != Merge::Own);
    let mut rows: Vec<Vec<Cell>> = settings.flat_map(rows_of).collect();
    let rules = compiled.policy.rules().filter(|rule| rule.layer == Layer::Project);
    rows.extend(rules.map(|rule| row_of(&rule)));
    if rows.is_empty() {
        rows.push(vec![Cell::new("nothing", FAINT)]);
    }
    Ok(output::write_table(out, &rows)?)
}

const LOOSENS: &str = "loosens";

/// Returns a row for each value that the project sets, with or without effect.
fn rows_of(setting: &Setting) -> Vec<Vec<Cell>> {
    let counting = setting.counts.iter().map(|sourced| (sourced, true));
    let all = counting.chain(setting.overruled.iter().map(|sourced| (sourced, false)));
    let own = all.filter(|(sourced, _)| sourced.layer == Layer::Project && sourced.at.is_some());
    let row = |(sourced, counts): (&castellan_daemon::Sourced, bool)| {
        let effect = match (counts, setting.key.merge) {
            (true, Merge::Lifting) => Cell::new(LOOSENS, WARN),
            (true, _) => Cell::from(""),
            (false, _) => Cell::new("does not count", FAINT),
        };
        vec![setting.key.name.into(), printable(&sourced.value.to_string()).into(), effect]
    };
    own.map(row).collect()
}

fn row_of(of: &PolicyRule<'_>) -> Vec<Cell> {
    let verdict = of.verdict.as_str();
    let effect = match (of.rule.enabled, of.verdict) {
        (false, _) => Cell::new("does not count", FAINT),
        // The person must see the condition of an allow rule.
        (true, RuleVerdict::Allow) => {
            Cell::new(format!("{LOOSENS}: {}", printable(&of.rule.condition)), WARN)
        }
        (true, _) => Cell::new("", PLAIN),
    };
    let name = printable(&of.rule.name);
    vec![Cell::new(verdict, verdict_style(verdict)), format!("rule {name}").into(), effect]
}
