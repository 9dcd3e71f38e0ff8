//! Payloads of one agent that reach the hook of another. castellan denies each in its sender's format.

use castellan_agents::{AgentId, Origin, decode, encode_refusal};
use serde_json::Value as Json;

/// A sender, its payload, and the deny that it reads. HOOK is the agent whose hook it started.
const CASES: &str = include_str!("strangers.jsonl");

#[derive(serde::Deserialize)]
struct Case {
    sender: String,
    payload: Json,
    exit: u8,
    stdout: String,
}

#[test]
fn a_payload_of_another_agent_is_denied_as_its_sender_understands() {
    for line in CASES.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let event = case.payload.get("hook_event_name").and_then(Json::as_str).unwrap_or("PreToolUse");
        for agent in AgentId::ALL {
            let decoded = decode(agent, event, case.payload.to_string().as_bytes(), &Origin::default());
            if case.sender == agent.title() {
                decoded.unwrap();
                continue;
            }
            let reply = encode_refusal(agent, event, &decoded.unwrap_err());
            let stdout = String::from_utf8(reply.stdout).unwrap();
            assert_eq!(
                (reply.exit, stdout),
                (case.exit, case.stdout.replace("HOOK", agent.title())),
                "{line}"
            );
            let why = format!("{} has started the hook of {}", case.sender, agent.title());
            let reported = [&reply.stderr, case.stdout.as_bytes()].concat();
            let reported = String::from_utf8(reported).unwrap().replace("HOOK", agent.title());
            assert!(reported.contains(&why), "{line}: {reported}");
        }
    }
}
