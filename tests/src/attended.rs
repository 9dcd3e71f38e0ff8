//! Claude Code with a person at its terminal, who answers its own prompts. Its state file answers the questions of a
//! first start: theme, key, trust of the folder.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use crate::home::Home;
use crate::model::Model;
use crate::run;
use crate::terminal::{self, Session};

/// The last word of the prompt for a call. The prompt's last line is `Esc to cancel · Tab to amend`.
const PROMPT: &str = "amend";

/// The approved key in the state file: Claude stores the last 20 characters.
const KEY: &str = "sk-ant-scripted";

/// Claude Code at a terminal.
#[derive(Debug)]
pub struct Attended {
    session: Session,
}

impl Attended {
    /// Starts Claude with the prompt `go`, in a permission mode.
    pub fn start(home: &Home, executable: &Path, model: &Model, permission_mode: &str) -> Result<Attended> {
        seed(home)?;
        // The terminal is both input and output.
        let at_terminal = ["-c", r#"stty rows 40 cols 120 </dev/tty; exec "$@" >/dev/tty 2>&1"#, "sh"];
        let executable = executable.to_str().context("a path that is not UTF-8")?;
        let claude = [executable, "--permission-mode", permission_mode, "go"];
        let mut environment = run::claude_environment(model);
        environment.push(("TERM", "xterm-256color".to_owned()));
        let arguments = [&at_terminal[..], &claude[..]].concat();
        let session = terminal::start_in(home, Path::new("sh"), &arguments, &environment)?;
        Ok(Attended { session })
    }

    /// Waits for Claude's own prompt about a call, and answers yes.
    pub fn agree(&mut self) -> Result<()> {
        self.session.answer(PROMPT, "\r")
    }

    /// Waits for Claude's own prompt about a call, and answers no.
    pub fn decline(&mut self) -> Result<()> {
        self.session.answer(PROMPT, "\x1b")
    }
}

/// Answers the questions of a first start.
pub(crate) fn seed(home: &Home) -> Result<()> {
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": [KEY], "rejected": [] },
        "projects": { home.workspace().display().to_string(): { "hasTrustDialogAccepted": true } },
    });
    home.write(&home.user().join(".claude.json"), &state.to_string())
}
