//! Variables that the shell runs by itself: prompts with substitutions, and `PROMPT_COMMAND`. `PS4` applies to every
//! tracing shell, the other prompts to interactive shells. This module must not know who sets them.

use super::Walker;
use castellan_event::{Role, Why};

use crate::found::Origin;
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Node, Span, Statement};

const PROMPTS: &[&str] = &[
    "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPROMPT2",
    "RPS1", "RPS2", "MAILPATH",
];

impl Walker<'_> {
    /// Walks the code that the shell will run from a variable that was just set.
    pub(crate) fn run_by_shell(&mut self, state: &State, scope: &Scope, name: &str, span: Span) {
        if state.options.shell == Shell::Zsh && matches!(name, "histchars" | "HISTCHARS") {
            // The third character is that of comments.
            self.gap(scope, Role::Code, Why::Unsupported, name, span);
        }
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
        self.expanded(state, scope, text, span);
    }

    /// Expands a value like text in double quotes. Returns nothing if it has no expansion, or if it ends the quotes.
    pub(crate) fn expanded(
        &mut self,
        state: &mut State,
        scope: &Scope,
        text: &Text,
        span: Span,
    ) -> Option<Text> {
        let known = text.as_str().filter(|known| known.contains(['`', '$']))?;
        let code = Text::known(format!(": \"{known}\""));
        let mut made = None;
        let is_one = !known.contains('"');
        self.run_script(state, scope, &code, (Origin::Argument, span), |walker, state, scope, script| {
            match script.statements.as_slice() {
                [Statement { node: Node::Simple { words, .. }, .. }] if is_one => {
                    made = words.get(1).map(|word| walker.text(state, scope, word));
                }
                _ => walker.script(state, scope, script),
            }
        });
        made
    }
}
