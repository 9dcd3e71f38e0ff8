//! [`Question`]: a hand-made question in the agent's format, to judge a call or test a hook. This module must not know
//! who answers.

use castellan_event::ToolKind;
use serde_json::{Value as Json, json};

use crate::agent::{AgentId, question_event};
use crate::tools;

/// A question about a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// The session of the call.
    pub session_id: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// The tool, by the agent's own name.
    pub tool: &'a str,
    /// Its input.
    pub input: Json,
    /// The call's id.
    pub use_id: &'a str,
}

impl Question<'_> {
    /// Returns the payload of [`question_event`].
    pub fn payload(&self, agent: AgentId) -> String {
        json!({
            "session_id": self.session_id,
            "transcript_path": null,
            "cwd": self.cwd,
            "permission_mode": "default",
            "hook_event_name": question_event(agent),
            "tool_name": self.tool,
            "tool_input": self.input,
            "tool_use_id": self.use_id,
        })
        .to_string()
    }
}

/// Returns the agent's shell tool and its input for a command.
pub fn shell_call(agent: AgentId, command: &str) -> (&'static str, Json) {
    let shells = tools::specs(agent).iter().filter(|spec| spec.kind == ToolKind::Shell);
    let mut keys = shells.filter_map(|spec| Some((spec.raw, spec.command.name()?)));
    let (tool, key) = keys.next().unwrap_or(("Bash", "command"));
    (tool, json!({ key: command }))
}

/// Returns an input with which a tool opens a file. The written text is invented.
pub fn file_input(agent: AgentId, tool: &str, file: &str) -> Json {
    let spec = tools::spec(agent, tool);
    match spec.filter(|spec| spec.kind == ToolKind::Patch).and_then(|spec| spec.command.name()) {
        Some(key) => json!({ key: format!("*** Begin Patch\n*** Add File: {file}\n+text\n*** End Patch") }),
        None => {
            let key = spec.and_then(|spec| spec.path.name()).unwrap_or("file_path");
            json!({ key: file })
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::Call;

    use super::*;
    use crate::payload::{Incoming, Origin, decode};

    fn read(agent: AgentId, tool: &str, input: Json) -> Call {
        let question = Question { session_id: "s", cwd: "/c", tool, input: input.clone(), use_id: "u" };
        let payload = question.payload(agent);
        let incoming = decode(agent, question_event(agent), payload.as_bytes(), &Origin::default());
        let Ok(Incoming::Question(call)) = incoming else { panic!("{incoming:?}") };
        let read = (&*call.agent.session_id, &*call.agent.cwd, &*call.tool.name_raw, &*call.tool.use_id);
        assert_eq!(read, ("s", "/c", tool, "u"));
        assert_eq!((&call.input, call.problems.len()), (&input, 0), "{call:?}");
        call
    }

    #[test]
    fn a_command_is_read_as_one() {
        for agent in AgentId::ALL {
            let (tool, input) = shell_call(agent, "a b");
            assert_eq!(read(agent, tool, input).command.as_deref(), Some("a b"));
        }
    }

    #[test]
    fn every_tool_that_opens_a_file_is_given_it() {
        for agent in AgentId::ALL {
            let opens =
                |spec: &&crate::spec::ToolSpec| spec.path.name().is_some() || spec.kind == ToolKind::Patch;
            for spec in tools::specs(agent).iter().filter(opens) {
                let call = read(agent, spec.raw, file_input(agent, spec.raw, "/c/f"));
                let files: Vec<_> = call.files.iter().map(|file| file.path.as_str()).collect();
                assert_eq!(files, ["/c/f"], "{}", spec.raw);
            }
        }
        assert_eq!(file_input(AgentId::CLAUDE, "NoSuchTool", "f"), json!({ "file_path": "f" }));
    }
}
