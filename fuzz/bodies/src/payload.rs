//! Agents' payloads.

use castellan_agents::{AgentId, Incoming, Origin, call_key_input, decode};

use crate::shell::{find, hold};
use crate::world::Same;

/// Reads bytes as what each agent sends at each event, and finds what the call would do: no panic, and what is not
/// understood says what it stands for and why.
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
