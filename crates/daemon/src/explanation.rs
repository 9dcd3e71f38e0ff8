//! [`Explanation`]: a call's commands, effects and matched rules in words for a person. It must not know the display.

use castellan_event::{Call, CallRow, Command, Effect, Facts, Finding, Verdict};
use castellan_policy::Decision;
use serde::{Deserialize, Serialize};

use crate::limits::{EXPLAINED_BYTES_MAX, EXPLAINED_PARTS_MAX};

/// The effects of a call. Lists are in the order of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// Rules that matched the call as a whole.
    pub rules: Vec<FiredRule>,
    /// Its commands.
    pub commands: Vec<ExplainedCommand>,
    /// Effects of the tool itself.
    pub effects: Vec<ExplainedEffect>,
    /// Effects of running a file that the call writes.
    pub written: Vec<ExplainedEffect>,
    /// Number of omitted commands and effects, because they are too many to read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiredRule {
    /// Its name.
    pub rule: String,
    /// Its verdict.
    pub verdict: String,
}

/// A command, with the fields of [`Command`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is the one of this name of `Command`, or what stands below it")]
pub struct ExplainedCommand {
    pub name: Option<String>,
    pub path: Option<String>,
    pub args: Vec<String>,
    pub flags: Vec<String>,
    pub operands: Vec<String>,
    pub subcommand: Option<String>,
    pub line: String,
    pub span: Option<(u32, u32)>,
    pub wrappers: Vec<String>,
    pub origin: String,
    pub pipe_from: Option<String>,
    pub env: Vec<String>,
    pub remote: Option<String>,
    pub effects: Vec<ExplainedEffect>,
    pub rules: Vec<FiredRule>,
}

/// An effect, with the fields of [`Effect`] as words; absent fields are omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each field is the one of this name of `Effect`, or what stands below it")]
pub struct ExplainedEffect {
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<FiredRule>,
}

impl Explanation {
    /// Explains a call. `rows` are the rows that the decision used.
    pub fn of(facts: &Facts, rows: &[CallRow<'_>], decision: &Decision) -> Explanation {
        Explaining { facts, rows, decision }.whole()
    }

    /// Explains a call within the limits for a pending call.
    pub(crate) fn brief(
        call: &Call,
        facts: &Facts,
        answers: &castellan_event::Answers,
        session: &castellan_event::Session,
        decision: &Decision,
    ) -> Explanation {
        let rows = castellan_event::rows(call, facts, session, answers).unwrap_or_default();
        let mut explanation = Explanation::of(facts, &rows, decision);
        explanation.cut(EXPLAINED_PARTS_MAX);
        if explanation.bytes() > EXPLAINED_BYTES_MAX {
            explanation.cut(0);
        }
        explanation
    }

    /// Returns its length as JSON.
    pub(crate) fn bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(usize::MAX, |json| json.len())
    }

    fn cut(&mut self, parts_max: usize) {
        let mut room = parts_max;
        let mut left_out = 0_usize;
        let mut keep = |effects: &mut Vec<ExplainedEffect>| {
            left_out = left_out.saturating_add(effects.len().saturating_sub(room));
            effects.truncate(room);
            room = room.saturating_sub(effects.len());
        };
        for command in &mut self.commands {
            keep(&mut command.effects);
        }
        keep(&mut self.effects);
        keep(&mut self.written);
        left_out = left_out.saturating_add(self.commands.len().saturating_sub(parts_max));
        self.commands.truncate(parts_max);
        self.left_out = left_out;
    }
}

/// A call with its facts and its decision.
struct Explaining<'a> {
    facts: &'a Facts,
    rows: &'a [CallRow<'a>],
    decision: &'a Decision,
}

impl Explaining<'_> {
    fn whole(&self) -> Explanation {
        let commands = self.facts.commands.iter().enumerate();
        Explanation {
            rules: self.fired(|row| row.command().is_none() && row.effect().is_none()),
            commands: commands.map(|(at, command)| self.command(at, command)).collect(),
            effects: self.effects_of(None),
            written: self.facts.written.effects.iter().map(|effect| self.effect(effect)).collect(),
            left_out: 0,
        }
    }

    fn command(&self, at: usize, command: &Command) -> ExplainedCommand {
        let Command { name, path, args, flags, operands, subcommand, line, span, .. } = command.clone();
        let Command { wrappers, origin, pipe_from, env, remote, .. } = command.clone();
        let is_its =
            |row: &CallRow<'_>| row.effect().is_none() && row.command().is_some_and(|(of, _)| of == at);
        ExplainedCommand {
            name,
            path,
            args,
            flags,
            operands,
            subcommand,
            line,
            span,
            wrappers,
            origin,
            pipe_from,
            env,
            remote,
            effects: self.effects_of(Some(at)),
            rules: self.fired(is_its),
        }
    }

    fn effects_of(&self, command: Option<usize>) -> Vec<ExplainedEffect> {
        let effects = self.facts.effects.iter().filter(|effect| effect.command == command);
        effects.map(|effect| self.effect(effect)).collect()
    }

    fn effect(&self, effect: &Effect) -> ExplainedEffect {
        let word = |word: &str| Some(word.to_owned());
        let sha256 = effect.script.as_ref().and_then(|script| script.sha256.clone());
        ExplainedEffect {
            kind: effect.kind().as_str().to_owned(),
            path: effect.path().and_then(word),
            path_raw: effect.path_raw().and_then(word),
            host: effect.host().and_then(word),
            url: effect.url().and_then(word),
            system: effect.system().and_then(word),
            verb: effect.verb().and_then(word),
            target: effect.target().and_then(word),
            script_path: effect.script_path().and_then(word),
            script_sha256: sha256,
            file_origin: effect.file_origin().and_then(|origin| word(origin.as_str())),
            host_class: effect.host_class().and_then(|class| word(class.as_str())),
            scope: effect.scope().and_then(|scope| word(scope.as_str())),
            place: effect.place().and_then(|place| word(place.as_str())),
            guard: effect.guard().and_then(|guard| word(guard.as_str())),
            recursive: effect.op.recursive,
            force: effect.op.force,
            role: effect.role().and_then(|role| word(role.as_str())),
            why: effect.why().and_then(|why| word(why.as_str())),
            rules: self.fired(|row| row.effect().is_some_and(|of| std::ptr::eq(of, effect))),
        }
    }

    /// Returns the rules that matched a row.
    fn fired(&self, is_row: impl Fn(&CallRow<'_>) -> bool) -> Vec<FiredRule> {
        let findings: Vec<&Finding> =
            self.decision.findings.iter().filter(|finding| !finding.rule.is_empty()).collect();
        if findings.is_empty() {
            return Vec::new();
        }
        let rows: Vec<usize> =
            self.rows.iter().enumerate().filter(|(_, row)| is_row(row)).map(|(at, _)| at).collect();
        let on = findings.into_iter().filter(|one| one.rows.iter().any(|row| rows.contains(row)));
        on.map(|one| FiredRule { rule: one.rule.clone(), verdict: Verdict::as_str(one.verdict).to_owned() })
            .collect()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_to_read_is_counted() {
        let effects = |count| vec![ExplainedEffect::default(); count];
        let command = |count| ExplainedCommand { effects: effects(count), ..ExplainedCommand::default() };
        let mut explanation = Explanation {
            commands: vec![command(2), command(2), command(0), command(0)],
            effects: effects(1),
            ..Explanation::default()
        };
        explanation.cut(3);
        let left: Vec<usize> = explanation.commands.iter().map(|command| command.effects.len()).collect();
        assert_eq!((left, explanation.effects.len(), explanation.left_out), (vec![2, 1, 0], 0, 3));
    }
}
