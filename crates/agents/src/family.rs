//! The families of agents: how a reply is written, and how a hook is registered and started. Each file has the families
//! of the agent that it is named after. Must not know how a payload is read or how a settings text is edited.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod gemini;

use crate::agent::AgentId;

/// How the hook is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// Absolute path of `castellan-hook`.
    pub program: String,
    /// The value of its `--home`: an absolute path, or another form that `castellan_wire::HomeArgument` reads.
    pub home: String,
}

impl HookCommand {
    /// Returns the command line for an event. The line does not depend on the version, since Codex trusts the exact
    /// text.
    pub fn argv(&self, agent: AgentId, event: &str) -> Vec<String> {
        let words = [&self.program, "--agent", agent.word(), "--event", event, "--home", &self.home];
        words.map(str::to_owned).to_vec()
    }

    /// Returns the hook of a command line; the inverse of [`HookCommand::argv`].
    pub fn of_argv(argv: &[String]) -> Option<HookCommand> {
        let program = argv.first()?.clone();
        let home = argv.iter().skip_while(|word| *word != "--home").nth(1)?.clone();
        Some(HookCommand { program, home })
    }
}

/// How an agent starts a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStart {
    /// The agent starts the program itself.
    Direct {
        /// Program and arguments.
        argv: Vec<String>,
    },
    /// The agent starts the user's login shell, which reads its startup files.
    LoginShell {
        /// Arguments of the shell.
        arguments: Vec<String>,
    },
}
