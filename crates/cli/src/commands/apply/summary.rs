//! The effect of a file change on the rules: added, removed and changed ones, and settings that are easy to overlook in
//! a diff.

use std::collections::BTreeMap;
use std::io::{self, Write};

use castellan_daemon::{Config, Reload};
use castellan_event::Layer;
use castellan_policy::PolicyRule;
use castellan_rules::Rule;
use serde_json::{Value as Json, json};

use crate::commands::apply::read_set::ReadSet;
use crate::limits::RULES_SHOWN_MAX;
use crate::output::{self, BAD, Cell, FAINT, GOOD, WARN, WARNING};

/// Rules that differ, each with its verdict, and settings.
#[derive(Debug, Default)]
pub(super) struct Summary {
    added: Vec<(String, String)>,
    removed: Vec<(String, String)>,
    changed: Vec<(String, String)>,
    unchanged: usize,
    settings: Vec<String>,
}

/// A rule with its output and the verdict of its tags.
#[derive(Debug)]
struct Judging<'a> {
    rule: &'a Rule,
    output: &'a str,
    verdict: &'static str,
}

impl Summary {
    /// Compares the set in force, if any, with the new set.
    pub(super) fn between(before: Option<&ReadSet>, after: &ReadSet) -> Summary {
        let (old, new) = (before.map(judging).unwrap_or_default(), judging(after));
        let mut summary = Summary {
            settings: settings(before.map(|set| &set.config), &after.config),
            ..Summary::default()
        };
        for (name, now) in &new {
            match old.get(name) {
                None => summary.added.push((now.verdict.to_owned(), (*name).to_owned())),
                Some(then) if then.is_same(now) => summary.unchanged += 1,
                Some(then) if then.verdict == now.verdict => {
                    summary.changed.push((now.verdict.to_owned(), (*name).to_owned()))
                }
                Some(then) => {
                    summary.changed.push((format!("{} → {}", then.verdict, now.verdict), (*name).to_owned()))
                }
            }
        }
        let gone = old.iter().filter(|(name, _)| !new.contains_key(*name));
        summary.removed = gone.map(|(name, then)| (then.verdict.to_owned(), (*name).to_owned())).collect();
        summary
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut rows = Vec::new();
        for (word, style, rules) in
            [("added", GOOD, &self.added), ("removed", BAD, &self.removed), ("changed", WARN, &self.changed)]
        {
            let shown = rules.iter().take(RULES_SHOWN_MAX);
            rows.extend(
                shown.map(|(verdict, name)| vec![Cell::new(word, style), verdict.into(), name.into()]),
            );
            if let Some(more) = rules.len().checked_sub(RULES_SHOWN_MAX).filter(|more| *more > 0) {
                rows.push(vec![
                    Cell::new(word, style),
                    "".into(),
                    Cell::new(format!("… and {more} more"), FAINT),
                ]);
            }
        }
        output::write_table(out, &rows)?;
        for setting in &self.settings {
            writeln!(out, "{WARNING} {setting}")?;
        }
        writeln!(
            out,
            "rules: {} added, {} removed, {} changed, {} as before",
            self.added.len(),
            self.removed.len(),
            self.changed.len(),
            self.unchanged
        )
    }

    pub(super) fn json(&self) -> Json {
        let names = |rules: &[(String, String)]| -> Vec<String> {
            rules.iter().map(|(_, name)| name.clone()).collect()
        };
        json!({
            "added": names(&self.added),
            "removed": names(&self.removed),
            "changed": names(&self.changed),
            "unchanged": self.unchanged,
        })
    }
}

impl Judging<'_> {
    /// Reports whether the rules differ only in place and description.
    fn is_same(&self, other: &Judging<'_>) -> bool {
        let (ours, theirs) = (self.rule, other.rule);
        self.verdict == other.verdict
            && (&ours.condition, self.output) == (&theirs.condition, other.output)
            && (ours.priority, &ours.tags, &ours.source) == (theirs.priority, &theirs.tags, &theirs.source)
    }
}

/// Returns the user's rules by name. A disabled rule has the verdict `disabled`.
fn judging(set: &ReadSet) -> BTreeMap<&str, Judging<'_>> {
    let outputs = set.outputs();
    let rules = set.compiled.policy.rules().filter(|of| of.layer == Layer::User);
    let verdict = |of: PolicyRule<'_>| if of.rule.enabled { of.verdict.as_str() } else { "disabled" };
    let judging = rules.map(|of| {
        let name = of.rule.name.as_str();
        let output = outputs.get(name).copied().unwrap_or_default();
        (name, Judging { rule: of.rule, output, verdict: verdict(of) })
    });
    judging.collect()
}

/// Describes changed settings with more effect than any rule.
fn settings(before: Option<&Config>, after: &Config) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(before) = before.filter(|before| before.mode != after.mode) {
        said.push(format!("the mode changes from {} to {}", before.mode, after.mode));
    }
    let watched = before.is_some_and(|before| before.reload == Reload::Watch);
    if after.reload == Reload::Watch && !watched {
        said.push("rule files will be watched: edits are in force at once, whoever makes them".to_owned());
    }
    said
}
