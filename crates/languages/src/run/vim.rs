//! Neovim functions and options with texts in Vim's own language: commands, expressions, programs. Must not know that
//! language: such a text gives a `Hole`.

use castellan_event::{EffectKind, Role, Why};

use super::Machine;
use super::bound::Bound;
use crate::tree::Node;
use crate::value::Value;

/// Options with a command line that Neovim runs in a shell.
const PROGRAMS: &[&str] = &[
    "shell",
    "sh",
    "makeprg",
    "mp",
    "grepprg",
    "gp",
    "equalprg",
    "ep",
    "formatprg",
    "fp",
    "keywordprg",
    "kp",
];

/// Options that name a directory or file that Neovim writes.
const WRITTEN: &[&str] = &[
    "backupdir",
    "bdir",
    "directory",
    "dir",
    "shadafile",
    "sdf",
    "spellfile",
    "spf",
    "undodir",
    "udir",
    "verbosefile",
    "vfile",
    "viewdir",
    "vdir",
];

/// Options with directories from which Neovim loads code.
const CODE: &[&str] = &["runtimepath", "rtp", "packpath", "pp"];

impl Machine<'_> {
    /// `vim.opt.name = value`
    pub(super) fn vim_option(&mut self, node: &Node, key: &Value, value: &Value) {
        match key.as_str() {
            Some(name) if PROGRAMS.contains(&name) => self.shell(node, value, &Bound::default()),
            Some(name) if WRITTEN.contains(&name) => self.path(node, EffectKind::Write, value, false),
            Some(name) if CODE.contains(&name) => self.variable(node, &Value::text("LUA_PATH"), value),
            // Neovim runs a file of its start directory.
            Some("exrc" | "ex") => {
                self.lost(node, Why::File);
            }
            Some(_) => {}
            None => self.hole(node.at, Role::Target, Why::Dynamic, "an option"),
        }
    }

    /// `vim.g.python3_host_prog = path`: a program that Neovim starts for code of its language.
    pub(super) fn vim_global(&mut self, node: &Node, key: &Value, value: &Value) {
        if key.as_str().is_some_and(|name| name.ends_with("_host_prog")) {
            self.path(node, EffectKind::Execute, value, false);
        }
    }

    /// Reports a `Hole` for text as code, or as `command` in a table; calls functions.
    pub(super) fn vim_code(&mut self, node: &Node, bound: &Bound) -> Value {
        let value = bound.value_of("code");
        let code = match &value {
            Value::List(_) => self.index(node, &value, &Value::text("command")),
            other => other.clone(),
        };
        if code.choices().iter().any(|one| matches!(one, Value::Text(_) | Value::Unknown(..))) {
            self.lost(node, Why::Unsupported);
        }
        self.hand(node, &value);
        self.unknown(node, Why::Dynamic)
    }

    /// `vim.fn.expand(text)`: Neovim runs text in backticks.
    pub(super) fn vim_expanded(&mut self, node: &Node, bound: &Bound) -> Value {
        let runs = |one: &Value| one.to_arg().is_some_and(|arg| arg.written().contains('`'));
        if bound.first().choices().iter().any(runs) {
            self.lost(node, Why::Unsupported);
        }
        self.expanded(node, &bound.first())
    }

    /// `vim.fn.substitute(text, pattern, to)`: an expression follows `\=`.
    pub(super) fn vim_substituted(&mut self, node: &Node, bound: &Bound) -> Value {
        let to = bound.value(2);
        if !to.choices().iter().all(|one| one.as_str().is_some_and(|to| !to.contains("\\="))) {
            self.lost(node, Why::Unsupported);
        }
        self.unknown(node, Why::Dynamic)
    }
}
