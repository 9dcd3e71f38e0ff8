//! The tree of `castellan explain`: each command with its effects below it, then what the tool itself does.

use std::io::Write;

use castellan_event::{
    Call, CallRow, Command, Decision, Effect, EffectKind, Facts, FileOrigin, Finding, HostClass, Scope,
};
use serde_json::{Map, Value as Json, json};

use crate::limits::EXPLAINED_LINE_CHARS;
use crate::output::{BAD, FAINT, PLAIN, WARN, cut, printable, verdict_style};

/// A call and what is known of it.
#[derive(Debug)]
pub(super) struct Explained<'a> {
    pub(super) call: &'a Call,
    pub(super) facts: &'a Facts,
    pub(super) rows: &'a [CallRow<'a>],
    pub(super) decision: &'a Decision,
}

impl Explained<'_> {
    pub(super) fn write(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let (call, facts) = (self.call, self.facts);
        let subject = call.command.as_deref().unwrap_or(&call.input_text);
        writeln!(out, "{}  {FAINT}{}{FAINT:#}", line(subject), call.tool.name)?;
        self.write_findings(out, "", |row| row.command().is_none() && row.effect().is_none())?;
        let tools: Vec<&Effect> = self.effects_of(None).collect();
        for (at, command) in facts.commands.iter().enumerate() {
            let is_last = at + 1 == facts.commands.len() && tools.is_empty();
            self.write_command(out, at, command, is_last)?;
        }
        self.write_effects(out, "", &tools)?;
        let written: Vec<&Effect> = facts.written.effects.iter().collect();
        if !written.is_empty() {
            writeln!(out, "{FAINT}not now, but when what it writes is run:{FAINT:#}")?;
            self.write_effects(out, "", &written)?;
        }
        if facts.commands.is_empty() && facts.effects.is_empty() {
            writeln!(out, "{FAINT}└─ nothing that any rule on commands or effects could look at{FAINT:#}")?;
        }
        let verdict = self.decision.verdict;
        let style = verdict_style(verdict.as_str());
        Ok(writeln!(out, "\n{style}{verdict}{style:#}  {}", printable(&self.decision.reason))?)
    }

    fn write_command(
        &self,
        out: &mut impl Write,
        at: usize,
        command: &Command,
        is_last: bool,
    ) -> anyhow::Result<()> {
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        writeln!(out, "{branch}{}  {FAINT}{}{FAINT:#}", line(&command.line), line(&about(command)))?;
        self.write_findings(out, below, |row| {
            row.effect().is_none() && row.command().is_some_and(|(of, _)| of == at)
        })?;
        let effects: Vec<&Effect> = self.effects_of(Some(at)).collect();
        self.write_effects(out, below, &effects)
    }

    fn write_effects(&self, out: &mut impl Write, below: &str, effects: &[&Effect]) -> anyhow::Result<()> {
        for (number, effect) in effects.iter().copied().enumerate() {
            let is_last = number + 1 == effects.len();
            let branch = if is_last { "└─ " } else { "├─ " };
            let loses = matches!(effect.kind, EffectKind::Delete | EffectKind::Destroy);
            let style = if effect.is_opaque() {
                WARN
            } else if loses {
                BAD
            } else {
                PLAIN
            };
            writeln!(out, "{below}{branch}{style}{:<11}{style:#} {}", effect.kind, line(&said(effect)))?;
            let further = format!("{below}{}", if is_last { "   " } else { "│  " });
            self.write_findings(out, &further, |row| {
                row.effect().is_some_and(|of| std::ptr::eq(of, effect))
            })?;
        }
        Ok(())
    }

    /// The rules that fired on a row.
    fn write_findings(
        &self,
        out: &mut impl Write,
        below: &str,
        is_row: impl Fn(&CallRow<'_>) -> bool,
    ) -> anyhow::Result<()> {
        for finding in self.findings_on(is_row) {
            let word = finding.verdict.as_str();
            let style = verdict_style(word);
            writeln!(out, "{below}{style}● {word}{style:#} {}", printable(&finding.rule))?;
        }
        Ok(())
    }

    fn findings_on(&self, is_row: impl Fn(&CallRow<'_>) -> bool) -> Vec<&Finding> {
        let rows: Vec<usize> =
            self.rows.iter().enumerate().filter(|(_, row)| is_row(row)).map(|(at, _)| at).collect();
        let findings = self.decision.findings.iter().filter(|finding| !finding.rule.is_empty());
        findings.filter(|finding| finding.rows.iter().any(|row| rows.contains(row))).collect()
    }

    fn effects_of(&self, command: Option<usize>) -> impl Iterator<Item = &Effect> {
        self.facts.effects.iter().filter(move |effect| effect.command == command)
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let effect = |effect: &Effect| {
            let rules = self.findings_on(|row| row.effect().is_some_and(|one| std::ptr::eq(one, effect)));
            effect_json(effect, &rules)
        };
        let effects = |of: Option<usize>| -> Vec<Json> { self.effects_of(of).map(effect).collect() };
        let written: Vec<Json> = self.facts.written.effects.iter().map(effect).collect();
        let commands: Vec<Json> = self
            .facts
            .commands
            .iter()
            .enumerate()
            .map(|(at, command)| {
                let rules = self.findings_on(|row| {
                    row.effect().is_none() && row.command().is_some_and(|(of, _)| of == at)
                });
                command_json(command, &effects(Some(at)), &rules)
            })
            .collect();
        let rules = self.findings_on(|row| row.command().is_none() && row.effect().is_none());
        let answer = json!({
            "version": 1,
            "agent": self.call.agent.name,
            "tool": self.call.tool.name,
            "cwd": self.call.agent.cwd,
            "rules": names(&rules),
            "commands": commands,
            "effects": effects(None),
            "written": written,
            "verdict": self.decision.verdict.as_str(),
            "reason": self.decision.reason,
        });
        Ok(writeln!(out, "{answer:#}")?)
    }
}

/// One line of what came from outside, cut.
fn line(text: &str) -> String {
    cut(&printable(text), EXPLAINED_LINE_CHARS)
}

/// Where a command was found and how it runs.
fn about(command: &Command) -> String {
    let mut parts = Vec::new();
    if let Some((start, end)) = command.span {
        parts.push(format!("{start}..{end}"));
    }
    if command.origin != "text" {
        parts.push(command.origin.clone());
    }
    if !command.wrappers.is_empty() {
        parts.push(format!("in {}", command.wrappers.join(" ")));
    }
    if let Some(remote) = &command.remote {
        parts.push(format!("on {remote}"));
    }
    if let Some(from) = &command.pipe_from {
        parts.push(format!("reads from {from}"));
    }
    parts.join(", ")
}

/// An effect without its kind.
fn said(effect: &Effect) -> String {
    let mut parts: Vec<String> = Vec::new();
    let path = effect.path.as_ref().or(effect.path_raw.as_ref());
    parts.extend(path.cloned());
    if effect.file_origin == Some(FileOrigin::Downloaded) {
        parts.push("(downloaded)".to_owned());
    }
    parts.extend(effect.url.clone().or(effect.host.clone()));
    if let Some(class) = effect.host_class.filter(|class| *class != HostClass::Public) {
        parts.push(format!("({class} host)"));
    }
    parts.extend(effect.system.clone());
    parts.extend(effect.verb.clone());
    parts.extend(effect.target.clone());
    if effect.recursive == Some(true) {
        parts.push("recursive".to_owned());
    }
    if effect.force == Some(true) {
        parts.push("force".to_owned());
    }
    if let Some(scope) = effect.scope {
        let place = effect.place.filter(|place| *place != scope).map(|place| format!(", {place}"));
        parts.push(format!("({scope}{})", place.unwrap_or_default()));
    }
    if let (Some(role), Some(why)) = (effect.role, effect.why) {
        parts.push(format!("({role}: {})", why.meaning()));
    }
    parts.join("  ")
}

fn names(rules: &[&Finding]) -> Vec<Json> {
    rules.iter().map(|finding| json!({"rule": finding.rule, "verdict": finding.verdict.as_str()})).collect()
}

fn command_json(command: &Command, effects: &[Json], rules: &[&Finding]) -> Json {
    json!({
        "name": command.name,
        "path": command.path,
        "args": command.args,
        "flags": command.flags,
        "operands": command.operands,
        "subcommand": command.subcommand,
        "line": command.line,
        "span": command.span.map(|(start, end)| [start, end]),
        "wrappers": command.wrappers,
        "origin": command.origin,
        "pipe_from": command.pipe_from,
        "env": command.env,
        "remote": command.remote,
        "effects": effects,
        "rules": names(rules),
    })
}

/// Only what there is.
fn effect_json(effect: &Effect, rules: &[&Finding]) -> Json {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Option<Json>| {
        fields.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("kind", Some(effect.kind.as_str().into()));
    for (key, text) in [
        ("path", &effect.path),
        ("path_raw", &effect.path_raw),
        ("host", &effect.host),
        ("url", &effect.url),
        ("system", &effect.system),
        ("verb", &effect.verb),
        ("target", &effect.target),
        ("script_path", &effect.script_path),
        ("script_sha256", &effect.script_sha256),
    ] {
        put(key, text.clone().map(Json::String));
    }
    put("file_origin", effect.file_origin.map(|origin| origin.as_str().into()));
    put("host_class", effect.host_class.map(|class| class.as_str().into()));
    put("scope", effect.scope.map(|scope: Scope| scope.as_str().into()));
    put("place", effect.place.map(|place| place.as_str().into()));
    put("recursive", effect.recursive.map(Json::Bool));
    put("force", effect.force.map(Json::Bool));
    put("role", effect.role.map(|role| role.as_str().into()));
    put("why", effect.why.map(|why| why.as_str().into()));
    if !rules.is_empty() {
        put("rules", Some(names(rules).into()));
    }
    Json::Object(fields)
}
