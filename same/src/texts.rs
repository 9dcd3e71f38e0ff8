//! [`lines`]: bytes that do not depend on a call: registered settings and the answers to failures, for each agent.

use castellan_agents::{self as agents, AgentId, HookCommand};
use serde_json::{Value as Json, json};

/// Settings files into which castellan registers.
const SETTINGS: &[&str] =
    &["", "{}\n", "{\n  // own\n  \"model\": \"x\",\n  \"hooks\": {\"PreToolUse\": []}\n}\n"];

/// Returns each text as a line with an id.
pub(crate) fn lines() -> Vec<Json> {
    let hook =
        HookCommand { program: "/opt/castellan-hook".to_owned(), home: "/home/dev/castellan".to_owned() };
    let mut lines = Vec::new();
    for agent in AgentId::ALL {
        let word = agent.word();
        for (at, before) in SETTINGS.iter().enumerate() {
            let after = agents::register(agent, before, &hook).map_err(|problem| problem.to_string());
            lines.push(json!({ "id": format!("registered/{word}/{at}"), "text": format!("{after:?}") }));
        }
        lines.push(json!({
            "id": format!("managed/{word}"),
            "text": agents::managed_settings_text(agent, &hook),
        }));
        for event in agents::hook_events(agent) {
            let reply = agents::encode_failure(agent, event.name, "it failed");
            let texts =
                [reply.stdout, reply.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            lines.push(json!({
                "id": format!("failed/{word}/{}", event.name),
                "text": [json!(reply.exit), json!(texts)],
            }));
        }
    }
    lines
}
