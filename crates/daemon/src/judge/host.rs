//! The agent's own judge of intent: where there is one, and the risks that castellan names to it. It must not know
//! castellan's reviewer.

use std::io::ErrorKind;

use crate::sight::read_text;
use castellan_agents::{self as agents, Done};
use castellan_event::{Mode, Verdict};
use castellan_wire::Reply;

use super::{Asked, Judge, Whose, reply};
use crate::live::agent_directory;
use crate::process::arguments_of;

impl Asked<'_> {
    /// Reports whether the agent's own model judges intent in this mode, by its command line or by its user's
    /// configuration. True if these cannot be read. A change inside the agent's session is not seen.
    pub(super) fn host_judges(&self, permission_mode: &str) -> bool {
        let arguments = arguments_of(self.agent_pid());
        agents::judges_intent(self.agent, permission_mode, arguments.as_deref()) || self.is_judge_configured()
    }

    fn is_judge_configured(&self) -> bool {
        let Some(file) = agents::judge_setting_file(self.agent) else { return false };
        let Some(folder) = agent_directory(self.agent, self.agent_pid()) else { return true };
        match read_text(&folder.join(file), agents::SETTINGS_BYTES_MAX as u64) {
            Ok(text) => agents::config_judges_intent(self.agent, &text),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

impl Judge {
    /// Returns the reply to the report of a call that has run: its risks, where the agent's own judge reads them. It judges
    /// later calls with them.
    pub(super) fn risks_for_host(&self, asked: &Asked<'_>, whose: &Whose, done: &Done) -> Reply {
        let (call, event) = (&done.call, &asked.request.event);
        let is_judged = asked.terms().mode == Mode::Enforce
            && agents::judges_intent::<&[u8]>(asked.agent, &call.agent.permission_mode, Some(&[]));
        if !is_judged {
            return Reply::default();
        }
        let memory = self.memory();
        let decided = memory.decided.of(whose.session.id, &call.tool.use_id);
        let ran = decided.filter(|decided| decided.answer != Verdict::Deny);
        let text = ran.and_then(|decided| decided.risks.text(&memory.session(&whose.session.root)));
        drop(memory);
        reply(agents::encode_judge_context(asked.agent, event, &text.unwrap_or_default()))
    }
}
