//! A row as a call. The decoder reads its input like an agent's payload, and facts and policy process it like every
//! call, on the machine of the corpus.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use castellan_agents::{AgentId, Incoming, Origin, decode};
use castellan_corpus::{Machine, WORKSPACE};
use castellan_event::{Call, Recorder, Session, Verdict};
use castellan_policy::{Decision, Grant, State, drive};
use serde_json::{Value as Json, json};

use super::profile::Profiles;
use crate::forerunners::{facts_of, row::Row};

/// A call as an agent would ask about it.
pub(crate) struct Asked<'r> {
    row: &'r Row,
    call: Call,
    what: String,
}

/// The originals' names of tools, and Claude Code's.
const TOOLS: &[(&str, &str)] = &[
    ("bash", "Bash"),
    ("read_file", "Read"),
    ("write_file", "Write"),
    ("Write|Edit", "Write"),
    ("edit_file", "Edit"),
    ("glob_search", "Glob"),
    ("grep_search", "Grep"),
];

impl<'r> Asked<'r> {
    pub(crate) fn of(row: &'r Row, complete: &BTreeMap<String, String>) -> anyhow::Result<Asked<'r>> {
        let tool =
            TOOLS.iter().find(|(theirs, _)| *theirs == row.tool).map_or(row.tool.as_str(), |(_, ours)| ours);
        let input = match tool {
            "Bash" => json!({ "command": command(row, complete) }),
            _ => input(tool, &row.input),
        };
        let overriding = row.config.get("override").map(|verdict| {
            json!({ "override_decision": verdict, "override_reason": row.config.get("override_reason").unwrap_or(&json!("")) })
        });
        let payload = json!({
            "session_id": "s",
            "cwd": WORKSPACE,
            "hook_event_name": "PreToolUse",
            "permission_context": overriding,
            "tool_name": tool,
            "tool_use_id": "toolu_1",
            "tool_input": input,
        });
        let origin = Origin { correlation_id: 1, agent_pid: 4242, hook_cwd: WORKSPACE.to_owned() };
        match decode(AgentId::CLAUDE, "PreToolUse", payload.to_string().as_bytes(), &origin) {
            Ok(Incoming::Question(call)) => Ok(Asked { row, call, what: format!("{tool} {input}") }),
            Ok(_) => bail!("it is no question"),
            Err(malformed) => Err(anyhow!(malformed.to_string())),
        }
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// Returns the decision, after an answer by the row's person.
    pub(crate) fn decide(&self, profiles: &Profiles) -> anyhow::Result<Decision> {
        let policy = profiles.policy(self.row)?;
        let facts = facts_of(&self.call);
        let session = Session::default();
        let plain = State::plain(&session);
        let judged = |state: &State<'_>| {
            drive(&self.call, &facts, &policy, state, &mut Recorder::new(&Machine::default())).0
        };
        let decision = judged(&plain);
        if decision.verdict != Verdict::Ask {
            return Ok(decision);
        }
        let approves =
            matches!(self.row.config.get("prompter").and_then(Json::as_str), Some("approve" | "allow"));
        Ok(match Grant::of(&decision, &facts).filter(|_| approves) {
            Some(grant) => judged(&State { grant: Some(&grant), ..plain }),
            // claw-code denies if nobody answers.
            None if self.row.system.starts_with("claw-") && !is_warning(self.row) => {
                judged(&State { is_refused: true, ..plain })
            }
            None => decision,
        })
    }
}

/// Returns true for a row on which the original only warns.
fn is_warning(row: &Row) -> bool {
    row.system == "claw-bash-validation"
}

/// Returns the shell text, on the machine of the corpus.
fn command(row: &Row, complete: &BTreeMap<String, String>) -> String {
    let given = here(&row.command(&BTreeMap::new()));
    complete.get(&given).cloned().unwrap_or(given)
}

/// Replaces the rows' workspaces by the corpus's.
fn here(text: &str) -> String {
    text.replace("<ws>", WORKSPACE).replace("/workspace/project", WORKSPACE).replace("/workspace", WORKSPACE)
}

/// Returns an input with Claude Code's keys. A value missing in the row becomes something harmless in the workspace.
fn input(tool: &str, given: &Json) -> Json {
    let text = |key: &str| given.get(key).and_then(Json::as_str).map(here);
    let path = text("file_path").or_else(|| text("path"));
    match tool {
        "Read" => json!({ "file_path": path.unwrap_or_else(|| "src/x".to_owned()) }),
        "Write" => json!({ "file_path": path.unwrap_or_else(|| "src/x".to_owned()), "content": "x" }),
        "Edit" => {
            json!({ "file_path": path.unwrap_or_else(|| "src/x".to_owned()), "old_string": "a", "new_string": "b" })
        }
        "Glob" | "Grep" => json!({ "pattern": text("pattern").unwrap_or_else(|| "*.rs".to_owned()) }),
        "WebFetch" => {
            json!({ "url": text("url").unwrap_or_else(|| "https://example.com".to_owned()), "prompt": "x" })
        }
        "WebSearch" => json!({ "query": text("query").unwrap_or_else(|| "x".to_owned()) }),
        "NotebookEdit" => json!({ "notebook_path": "x.ipynb", "new_source": "x" }),
        "PowerShell" => json!({ "command": text("command").unwrap_or_else(|| {
            path.map_or_else(|| "Stop-Service x".to_owned(), |path| format!("Get-Content -Path {path}"))
        }) }),
        _ if given.is_object() => given.clone(),
        _ => json!({}),
    }
}
