//! The judged calls, from the decoded call to the hits. Rows are made and messages rendered for each call.

use anyhow::{Context, ensure};
use castellan_event::{Agent, Answer, Answers, Call, Facts, Query, Session, Tool, ToolKind, rows};
use castellan_rules::{Hit, Plain, RuleSet};

/// A shell call with the answers to its queries.
pub(crate) struct ShellCall {
    call: Call,
    facts: Facts,
    session: Session,
    answers: Answers,
}

#[derive(Clone, Copy)]
pub(crate) enum Evaluator<'s> {
    Engine(&'s RuleSet),
    Plain(&'s Plain<'s>),
}

impl ShellCall {
    pub(crate) fn new(command: &str) -> anyhow::Result<Self> {
        let cwd = "/home/dev/project".to_owned();
        let input = serde_json::json!({ "command": command, "description": "a step of the work" });
        let tool = Tool {
            name: "Bash".into(),
            name_raw: "Bash".into(),
            use_id: "toolu_bench".into(),
            kind: ToolKind::Shell,
            mcp: None,
        };
        let agent = Agent {
            name: "claude_code".into(),
            pid: 4242,
            event: "PreToolUse".into(),
            session_id: "0b7e4f1a-bench".into(),
            permission_mode: "default".into(),
            cwd: cwd.clone(),
            ..Agent::default()
        };
        let call = Call {
            correlation_id: 1,
            agent,
            tool,
            input_text: input.to_string(),
            input,
            command: Some(command.to_owned()),
            files: Vec::new(),
            in_background: false,
            problems: Vec::new(),
        };
        let mut answers = Answers::default();
        let query = Query::RealPath { base: "/".into(), path: cwd.clone() };
        ensure!(answers.insert(query, Answer::RealPath(cwd)), "too many answers");
        Ok(Self { call, facts: Facts::default(), session: Session::default(), answers })
    }

    /// Makes the rows and evaluates the rules on each.
    pub(crate) fn judge(&self, evaluator: Evaluator<'_>) -> anyhow::Result<Vec<Hit>> {
        let rows =
            rows(&self.call, &self.facts, &self.session, &self.answers).ok().context("a query is open")?;
        let hits = rows.iter().map(|row| match evaluator {
            Evaluator::Engine(set) => set.evaluate(row),
            Evaluator::Plain(plain) => plain.evaluate(row),
        });
        Ok(hits.flatten().collect())
    }
}
