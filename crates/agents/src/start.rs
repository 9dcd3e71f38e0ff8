//! An agent's start of a hook. `claude.rs`, `codex.rs` and `gemini.rs`
//! hold each family's way. This module starts nothing.

use crate::agent::AgentId;
use crate::family::{HookCommand, HookStart, claude, codex, gemini};
use crate::spec::RegistrationFamily;

/// Returns how the agent starts the hook that is registered for `event`.
pub fn hook_start(agent: AgentId, hook: &HookCommand, event: &str) -> HookStart {
    match agent.spec().families.registration {
        RegistrationFamily::ExecForm => claude::start(agent, hook, event),
        RegistrationFamily::ShellLine => codex::start(agent, hook, event),
        RegistrationFamily::BashLine => gemini::start(agent, hook, event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_own_way() {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/it's".to_owned() };
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let argv = words(&["/b/castellan-hook", "--agent", "claude", "--event", "E", "--home", "/it's"]);
        assert_eq!(HookCommand::of_argv(&argv).as_ref(), Some(&hook));
        assert_eq!(hook_start(AgentId::CLAUDE, &hook, "E"), HookStart::Direct { argv });
        let line = r"/b/castellan-hook --agent codex --event E --home '/it'\''s'";
        let arguments = words(&["-c", line]);
        assert_eq!(hook_start(AgentId::CODEX, &hook, "E"), HookStart::LoginShell { arguments });
        let line = line.replace("codex", "gemini");
        let argv = words(&["bash", "-c", &line]);
        assert_eq!(hook_start(AgentId::GEMINI, &hook, "E"), HookStart::Direct { argv });
    }
}
