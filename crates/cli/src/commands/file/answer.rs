//! The answer of `castellan file check`, for people and as JSON.

use std::io::Write;

use castellan_event::{Effect, Escape, FileKind, Finding, Scope, Verdict};
use castellan_policy::BoundarySettings;
use serde_json::{Value as Json, json};

use super::walked::{Crossing, Walked};
use crate::global::Global;
use crate::output::{self, Cell, FAINT, NOTE, PLAIN, WARN, verdict_style, verdict_word};

/// A checked path.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    pub(super) path: &'a str,
    pub(super) tool: &'static str,
    /// The workspace, or the reason why there is none.
    pub(super) workspace: Result<&'a str, &'a str>,
    pub(super) components: &'a [Walked],
    pub(super) effects: &'a [Effect],
    pub(super) boundary: BoundarySettings,
    /// The answer of the stage.
    pub(super) verdict: Verdict,
    /// The findings of the stage.
    pub(super) findings: &'a [&'a Finding],
    /// The verdict of all stages and rules.
    pub(super) whole: Verdict,
}

impl Answered<'_> {
    pub(super) fn write(&self, out: &mut impl Write, global: &Global) -> anyhow::Result<()> {
        let word = self.verdict.as_str();
        let style = verdict_style(word);
        writeln!(out, "{style}{}{style:#}  {}", verdict_word(word), self.meaning())?;
        if global.quiet {
            return Ok(());
        }
        for finding in self.findings {
            writeln!(out, "      {}", output::printable(&finding.message))?;
        }
        writeln!(out)?;
        output::write_table(out, &self.components.iter().map(row_of).collect::<Vec<_>>())?;
        writeln!(out)?;
        let facts: Vec<Vec<Cell>> = self
            .facts()
            .into_iter()
            .map(|(name, value)| vec![Cell::new(name, FAINT), value.into()])
            .collect();
        output::write_table(out, &facts)?;
        if self.whole != self.verdict {
            let whole = verdict_word(self.whole.as_str());
            let note = format!(
                "the whole call gets: {whole}; `castellan check --tool {} --file` shows the reasons",
                self.tool
            );
            output::write_messages(out, NOTE, &[note])?;
        }
        Ok(())
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let components: Vec<Json> = self
            .components
            .iter()
            .map(|one| {
                json!({
                    "path": one.path,
                    "kind": one.kind.map(word_of),
                    "target": one.target,
                    "real_path": one.real,
                    "crosses": one.crosses.iter().map(|crossing| crossing.as_str()).collect::<Vec<_>>(),
                })
            })
            .collect();
        let findings: Vec<Json> = self
            .findings
            .iter()
            .map(|one| json!({ "verdict": one.verdict.as_str(), "message": one.message }))
            .collect();
        let effect = self.effect();
        let measured = effect.and_then(Effect::measured);
        let answer = json!({
            "version": 1,
            "verdict": self.verdict.as_str(),
            "findings": findings,
            "call_verdict": self.whole.as_str(),
            "path": self.path,
            "tool": self.tool,
            "workspace": self.workspace.ok(),
            "real_path": effect.and_then(Effect::path),
            "components": components,
            "scope": effect.and_then(Effect::scope).map(Scope::as_str),
            "place": effect.and_then(Effect::place).map(Scope::as_str),
            "escape": effect.and_then(Effect::escape).map(Escape::as_str),
            "links": measured.and_then(|file| file.links),
            "other_name": measured.and_then(|file| file.other_name.as_deref()),
            "size": measured.and_then(|file| file.size),
            "binary": measured.and_then(|file| file.is_binary),
            "mode": self.boundary.mode.as_str(),
        });
        Ok(writeln!(out, "{answer:#}")?)
    }

    /// The tool's effect with the most facts: a change of a file reads it first.
    fn effect(&self) -> Option<&Effect> {
        let located = self.effects.iter().filter(|effect| effect.located().is_some());
        located.max_by_key(|effect| {
            effect.measured().map(|file| (file.size.is_some(), file.is_binary.is_some()))
        })
    }

    fn meaning(&self) -> &'static str {
        match self.verdict {
            Verdict::Deny => "the path crosses the boundary: the call does not run",
            Verdict::Ask => "a person is asked about the boundary",
            Verdict::Allow | Verdict::Defer => "the boundary has no objection",
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Some(effect) = self.effect() else { return vec![("real path", "cannot be resolved".to_owned())] };
        let measured = effect.measured().cloned().unwrap_or_default();
        let unknown = || "unknown".to_owned();
        let scope = effect.scope().map_or_else(unknown, |scope| scope.as_str().to_owned());
        let place = effect.place().map_or_else(unknown, |place| place.as_str().to_owned());
        let mut facts = vec![
            ("workspace", self.workspace.map_or_else(|why| format!("none: {why}"), str::to_owned)),
            ("real path", effect.path().map_or_else(|| "cannot be resolved".to_owned(), str::to_owned)),
            ("place", if scope == place { place } else { format!("{place} ({scope})") }),
        ];
        if let Some(escape) = effect.escape() {
            facts.push(("escape", escape.meaning().to_owned()));
        }
        if let Some(size) = measured.size {
            facts.push(("size", format!("{size} bytes")));
        }
        if let Some(is_binary) = measured.is_binary {
            facts.push(("content", if is_binary { "binary" } else { "text" }.to_owned()));
        }
        if let Some(links) = measured.links {
            facts.push(("names", links.to_string()));
        }
        facts.extend(measured.other_name.map(|name| ("other name", name)));
        facts
    }
}

/// Path, kind or target, crossings and real path, if that differs.
fn row_of(one: &Walked) -> Vec<Cell> {
    let kind = match (&one.target, one.kind) {
        (Some(target), _) => format!("symlink to {target}"),
        (None, Some(kind)) => word_of(kind).to_owned(),
        (None, None) => "cannot be resolved".to_owned(),
    };
    let words: Vec<&str> = one.crosses.iter().map(|crossing| crossing.meaning()).collect();
    let style = if one.crosses.contains(&Crossing::Leaves) { WARN } else { PLAIN };
    let real = one.real.as_deref().filter(|real| *real != one.path).unwrap_or_default();
    vec![one.path.as_str().into(), Cell::new(kind, FAINT), real.into(), Cell::new(words.join(", "), style)]
}

fn word_of(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Missing => "missing",
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Device => "device",
        FileKind::Fifo => "fifo",
        FileKind::Socket => "socket",
        FileKind::Unreadable => "unreadable",
    }
}
