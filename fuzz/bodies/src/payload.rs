//! Agents' payloads.

use castellan_agents::{AgentId, Incoming, Origin, call_key_input, decode};

use crate::shell::{find, hold};
use crate::world::Same;

/// Reads bytes as a payload of each agent at each event, and derives the effects. There must be no panic, and Opaque
/// parts must have a role and a reason.
pub fn payload(bytes: &[u8]) {
    let origin = Origin { correlation_id: 1, agent_pid: 1, hook_cwd: "/".to_owned() };
    for agent in AgentId::ALL {
        for event in
            ["PreToolUse", "BeforeTool", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "SessionEnd"]
        {
            if let Ok(Incoming::Question(call) | Incoming::Permission(call)) =
                decode(agent, event, bytes, &origin)
            {
                let _ = call_key_input(&call);
                hold(&call, &find(&call, &Same { contents: None }));
            }
        }
    }
}
