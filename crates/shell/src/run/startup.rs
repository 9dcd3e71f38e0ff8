//! Files and code that a shell runs when it starts: `BASH_ENV`, `ENV`, `.bashrc`, `.zshenv`. This module must not
//! know the arguments of shells.

use castellan_programs::Arg;

use super::Call;
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::syntax::Shell;
use crate::walk::Walker;

/// How a shell is started.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    /// The shells that the program may be.
    pub(super) shells: &'static [Shell],
    pub(super) interactive: bool,
    /// `--posix`
    pub(super) is_posix: bool,
    /// It reads no files of the user.
    pub(super) skips_files: bool,
}

impl Walker<'_> {
    /// Runs what the shell runs before its code.
    pub(super) fn startup(&mut self, state: &mut State, scope: &Scope, call: &Call, base: &str, how: How) {
        self.startup_variable(state, scope, call, base, how);
        if how.shells == [Shell::Zsh] && !how.skips_files {
            self.written_file(state, scope, call, how, &[("ZDOTDIR", ".zshenv"), ("HOME", ".zshenv")]);
            if how.interactive {
                self.written_file(state, scope, call, how, &[("ZDOTDIR", ".zshrc"), ("HOME", ".zshrc")]);
            }
        }
        if base == "bash" && how.interactive && !how.skips_files && !how.is_posix {
            self.written_file(state, scope, call, how, &[("HOME", ".bashrc")]);
        }
    }

    /// Runs the startup files of a script that is started like a program.
    pub(super) fn startup_of_script(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        shells: &'static [Shell],
    ) {
        let base = match shells {
            [Shell::Bash] => "bash",
            [Shell::Zsh] => "zsh",
            _ => return,
        };
        let how = How { shells, interactive: false, is_posix: false, skips_files: false };
        self.startup(state, scope, call, base, how);
    }

    /// Runs files of a directory that a variable names. The walk knows one only if the text wrote it.
    fn written_file(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        how: How,
        files: &[(&str, &str)],
    ) {
        for (name, file) in files {
            let Value::Scalar(directory) = self.pick(state, name) else { continue };
            let path = directory.as_str().map(|directory| format!("{directory}/{file}"));
            if let Some(path) = path.filter(|path| state.has_written(path)) {
                self.script_operand(state, scope, call, how.shells, &Arg::known(path), &[]);
            }
        }
    }

    /// Runs the startup file named by a variable that the text set. The shell expands its value.
    fn startup_variable(&mut self, state: &mut State, scope: &Scope, call: &Call, base: &str, how: How) {
        let name = if how.interactive { "ENV" } else { "BASH_ENV" };
        let reads_files = match how.interactive {
            true => base != "zsh" && (base != "bash" || how.is_posix),
            false => base == "bash",
        };
        let Some(variable) = state.variable(name).filter(|variable| variable.exported) else { return };
        for value in variable.values.clone() {
            let Value::Scalar(text) = value else { continue };
            let Some(path) = text.as_str().filter(|path| !path.is_empty()) else { continue };
            let is_new = !self.startup_files.iter().any(|one| one == path);
            if !is_new || !reads_files && state.opened(path).is_none() {
                continue;
            }
            let mut inner = self.fork(state);
            let path = self.expanded(&mut inner, scope, &text, call.span).unwrap_or(text);
            if path.as_str() != Some("") {
                self.script_operand(state, scope, call, how.shells, &path.to_arg(), &[]);
            }
        }
    }
}
