//! Variables that the shell runs by itself: prompts with substitutions, and `PROMPT_COMMAND`. `PS4` applies to every
//! tracing shell, the other prompts to interactive shells. This module must not know who sets them.

use super::Walker;
use crate::found::Origin;
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::text::Text;
use crate::tree::Span;

const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "RPROMPT"];

impl Walker<'_> {
    /// Walks the code that the shell will run from a variable that was just set.
    pub(crate) fn run_by_shell(&mut self, state: &State, scope: &Scope, name: &str, span: Span) {
        let prompts = PROMPTS.contains(&name);
        if !prompts && name != "PROMPT_COMMAND" {
            return;
        }
        let values = state.variable(name).map(|variable| variable.values.clone()).unwrap_or_default();
        for value in values {
            let mut later = self.fork(state);
            match value {
                Value::Scalar(text) if prompts => self.prompt(&mut later, scope, &text, span),
                Value::Scalar(text) => self.run_text(&mut later, scope, &text, Origin::Trap, span),
                Value::Array(elements) if !prompts => {
                    for text in elements.values() {
                        self.run_text(&mut later, scope, text, Origin::Trap, span);
                    }
                }
                Value::Array(_) | Value::Unset | Value::Unknown(_) => {}
            }
        }
    }

    /// Expands a prompt like text in double quotes; its substitutions run.
    pub(crate) fn prompt(&mut self, state: &mut State, scope: &Scope, text: &Text, span: Span) {
        if let Some(known) = text.as_str()
            && known.contains(['`', '$'])
        {
            let code = Text::known(format!(": \"{known}\""));
            self.run_text(state, scope, &code, Origin::Argument, span);
        }
    }
}
