//! The answer of `castellan check`: verdict, findings with the lines of their rules, and queried machine facts.

use std::io::Write;

use castellan_agents::AgentId;
use castellan_event::{Answers, Call, Exemption, Finding, Layer, Mode, PatchOp, Verdict};
use castellan_policy::Decision;
use castellan_rules::Rule;
use serde_json::{Value as Json, json};

use crate::global::Global;
use crate::output::{self, Cell, FAINT, NOTE, WARN, verdict_style, verdict_word};
use crate::policy::{LoadedPolicy, Source};

/// A judged call and the policy used.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    pub(super) agent: AgentId,
    pub(super) call: &'a Call,
    pub(super) decision: &'a Decision,
    /// Labels of the marks that the call would set on its session.
    pub(super) marks: &'a [String],
    pub(super) answers: &'a Answers,
    pub(super) loaded: &'a LoadedPolicy,
    /// The mode in force.
    pub(super) mode: Mode,
    /// Hash of the running daemon's policy.
    pub(super) daemon_policy: Option<String>,
}

impl Answered<'_> {
    pub(super) fn write(&self, out: &mut impl Write, global: &Global) -> anyhow::Result<()> {
        if let Some(mode) = self.mode_hint() {
            writeln!(out, "{NOTE} {mode}")?;
        }
        let verdict = self.decision.verdict;
        let style = verdict_style(verdict.as_str());
        writeln!(out, "{style}{}{style:#}  {}", verdict_word(verdict.as_str()), meaning(verdict))?;
        if !global.quiet {
            for finding in &self.decision.findings {
                self.write_finding(out, finding)?;
            }
            writeln!(out)?;
            output::write_table(out, &self.facts(global.verbose))?;
        }
        Ok(output::write_messages(out, NOTE, &self.hints())?)
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let findings: Vec<Json> =
            self.decision.findings.iter().map(|finding| self.json_of(finding)).collect();
        let files: Vec<Json> = self
            .files()
            .into_iter()
            .map(|(op, path, real)| json!({ "op": op, "path": path, "real_path": real }))
            .collect();
        let answer = json!({
            "verdict": self.decision.verdict.as_str(),
            "answer": self.decision.answer.as_str(),
            "reason": self.decision.reason,
            "findings": findings,
            "marks": self.marks,
            "agent": self.call.agent.name,
            "tool": self.call.tool.name,
            "cwd": self.call.agent.cwd,
            "real_cwd": self.real_cwd(),
            "files": files,
            "mode": self.mode.as_str(),
            "policy": self.loaded.policy.hash(),
            "notes": self.mode_hint().into_iter().chain(self.hints()).collect::<Vec<_>>(),
        });
        Ok(writeln!(out, "{answer:#}")?)
    }

    fn write_finding(&self, out: &mut impl Write, finding: &Finding) -> anyhow::Result<()> {
        let word = finding.verdict.as_str();
        let name = if finding.rule.is_empty() { finding.code.as_str() } else { &finding.rule };
        let place = self.rule(finding).map(|rule| format!("{}:{}", rule.file, rule.line)).unwrap_or_default();
        writeln!(out)?;
        let mut cells =
            vec![Cell::new(verdict_word(word), verdict_style(word)), name.into(), Cell::new(place, FAINT)];
        if finding.lifted == Some(Exemption::Observe) {
            cells.push(Cell::new("observed: decides nothing", WARN));
        }
        output::write_table(out, &[cells])?;
        Ok(writeln!(out, "      {}", output::printable(&finding.message))?)
    }

    fn json_of(&self, finding: &Finding) -> Json {
        let rule = self.rule(finding);
        json!({
            "verdict": finding.verdict.as_str(),
            "code": finding.code.as_str(),
            "rule": finding.rule,
            "layer": finding.layer.map(Layer::as_str),
            "file": rule.map(|rule| &*rule.file),
            "line": rule.map(|rule| rule.line),
            "lifted": finding.lifted.map(Exemption::as_str),
            "message": finding.message,
        })
    }

    fn rule(&self, finding: &Finding) -> Option<&Rule> {
        let mut rules = self.loaded.policy.rules();
        let found = rules.find(|of| Some(of.layer) == finding.layer && of.rule.name == finding.rule);
        found.map(|of| of.rule)
    }

    fn facts(&self, with_policy: bool) -> Vec<Vec<Cell>> {
        let row = |name: &str, value: &str| vec![Cell::new(name, FAINT), Cell::from(value)];
        let mut rows = vec![row("tool", &format!("{} of {}", self.call.tool.name, self.agent.title()))];
        if let Some(command) = &self.call.command {
            rows.push(row("command", command));
        }
        rows.push(row("directory", &arrow(&self.call.agent.cwd, self.real_cwd())));
        for (op, path, real) in self.files() {
            let name = if op.is_empty() { "file".to_owned() } else { format!("file, {}", op.to_lowercase()) };
            rows.push(row(&name, &arrow(path, real)));
        }
        if !self.marks.is_empty() {
            rows.push(row("marks", &self.marks.join(", ")));
        }
        if with_policy {
            rows.push(row("policy", self.loaded.policy.hash()));
        }
        rows
    }

    /// Returns operation, path as written and path with symlinks resolved.
    fn files(&self) -> Vec<(&str, &str, &str)> {
        let real = |path| self.answers.real_path(&self.call.agent.cwd, path).unwrap_or_default();
        let files = self.call.files.iter();
        files
            .map(|file| (file.patch_op.map_or("", PatchOp::as_str), file.path.as_str(), real(&file.path)))
            .collect()
    }

    fn real_cwd(&self) -> &str {
        self.answers.real_path("/", &self.call.agent.cwd).unwrap_or_default()
    }

    /// Returns the effect of a mode that does not enforce the verdict; it comes before the verdict.
    fn mode_hint(&self) -> Option<String> {
        let reason = match self.mode {
            Mode::Enforce => return None,
            Mode::Monitor => "the mode is monitor: castellan judges and records calls, and blocks none",
            Mode::Passthrough => "the mode is passthrough: castellan records calls, and blocks none",
        };
        Some(match self.decision.verdict {
            Verdict::Deny | Verdict::Ask => format!("the call would run all the same, because {reason}"),
            Verdict::Allow | Verdict::Defer => reason.to_owned(),
        })
    }

    fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        if self.decision.answer != self.decision.verdict {
            let (title, answer) = (self.agent.title(), self.decision.answer);
            hints.push(format!("{title} would run the call where it is told to ask, so it is told {answer}"));
        }
        match &self.loaded.source {
            Source::Files => {}
            Source::Shipped => hints.push("there is no home yet: judged by the shipped rules".to_owned()),
            Source::NotTheFiles(why) => hints.push(format!("the rule files are not in force: {why}")),
        }
        if self.daemon_policy.as_ref().is_some_and(|policy| *policy != self.loaded.home_hash) {
            hints.push(
                "the running daemon has other rules than the files: `castellan apply` puts these in force"
                    .to_owned(),
            );
        }
        hints
    }
}

/// Returns the effect of a verdict on a call.
fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Deny => "the call does not run",
        Verdict::Ask => "a person is asked before the call runs",
        Verdict::Allow => "the call runs without the agent's prompt",
        Verdict::Defer => "by its own permissions",
    }
}

fn arrow(path: &str, real: &str) -> String {
    if path == real || real.is_empty() { path.to_owned() } else { format!("{path} → {real}") }
}
