//! [`Reporter`]: the records that `castellan run` adds to the log, by the daemon. The daemon accepts them only from the
//! process that registered the run.

use castellan_agents::{AgentId, StreamCall};
use castellan_daemon::{ControlClient, ControlError, RunNote};

use crate::limits::ATTEMPT_INPUT_CHARS;

/// Adds records about one run.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) client: ControlClient,
    pub(crate) agent: AgentId,
}

impl Reporter {
    /// Records that the model requested a call.
    pub(crate) fn attempt(&self, session: &str, call: &StreamCall) -> Result<(), ControlError> {
        let input: String = call.input.to_string().chars().take(ATTEMPT_INPUT_CHARS).collect();
        let text = format!("{} session {session} call {}: {} {input}", self.agent.word(), call.id, call.tool);
        self.client.note_run(RunNote::ToolAttempt, &text)
    }

    /// Records why the run ends the agent.
    pub(crate) fn ended(&self, kind: RunNote, text: &str) -> Result<(), ControlError> {
        self.client.note_run(kind, &format!("{} {text}", self.agent.word()))
    }
}
