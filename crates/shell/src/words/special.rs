//! Parameters that the shell sets by itself: `$@`, `$?`, `$RANDOM`. This module must not know other variables.

use castellan_event::Why;

use super::got::{At, Got};
use crate::limits::ENTRIES_PER_WORK;
use crate::state::{Key, State};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;

/// Variables that the shell sets by itself.
const CHANGING: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "LINENO",
    "BASHPID",
    "BASH_COMMAND",
    "BASH_ARGV",
    "BASH_ARGC",
    "BASH_ARGV0",
    "BASH",
    "BASHOPTS",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "DIRSTACK",
    "EUID",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OPTERR",
    "OSTYPE",
    "PS4",
    "SHELLOPTS",
    "SHLVL",
    "TERM",
    "UID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "PIPESTATUS",
    "PPID",
    "_",
];

/// Variables that zsh sets by itself (zshparam, zshmodules).
const ZSH_PARAMETERS: &[&str] = &[
    "CPUTYPE",
    "EGID",
    "ERRNO",
    "LOGNAME",
    "MATCH",
    "MBEGIN",
    "MEND",
    "OLDPWD",
    "TTY",
    "USERNAME",
    "VENDOR",
    "ZSH_ARGZERO",
    "ZSH_EVAL_CONTEXT",
    "ZSH_NAME",
    "ZSH_PATCHLEVEL",
    "ZSH_SUBSHELL",
    "ZSH_VERSION",
    "builtins",
    "dirstack",
    "errnos",
    "fpath",
    "funcfiletrace",
    "funcsourcetrace",
    "funcstack",
    "functrace",
    "history",
    "historywords",
    "jobdirs",
    "jobstates",
    "jobtexts",
    "keymaps",
    "match",
    "mbegin",
    "mend",
    "modules",
    "nameddirs",
    "options",
    "parameters",
    "path",
    "patchars",
    "pipestatus",
    "reswords",
    "signals",
    "status",
    "sysparams",
    "termcap",
    "terminfo",
    "userdirs",
    "usergroups",
    "widgets",
];

impl Walker<'_> {
    /// Returns the value of a parameter that the shell sets. Returns nothing for any other.
    pub(super) fn special(&mut self, state: &State, name: &str, index: &At) -> Option<Got> {
        let is_zsh = state.options.shell == Shell::Zsh;
        let is_untouched = |names: &[&str]| names.contains(&name) && state.variable(name).is_none();
        let unknown = |why, several| Some(Got::Unknown { why, several });
        match name {
            "@" | "*" => match &state.positionals {
                Some(values) => {
                    self.work.spend(values.len() as u64 / ENTRIES_PER_WORK);
                    Some(Got::Many { values: values.to_vec(), joined: name == "*" })
                }
                None => unknown(Why::Parameter, name == "@"),
            },
            "#" => self.count(state),
            "ARGC" if is_zsh => self.count(state),
            "0" => Some(Got::One((*state.name).clone())),
            // The walk only guesses exit statuses for `&&` and `||`; a value must be certain.
            // Digits, which lead to no other directory.
            "$" => Some(Got::One(Text::unknown(Why::Glob, "[0-9]*"))),
            "?" | "!" | "-" => unknown(Why::Parameter, false),
            digits if digits.starts_with(|one: char| one.is_ascii_digit()) => {
                match (&state.positionals, digits.parse::<usize>()) {
                    (Some(values), Ok(number)) => {
                        let value = values.get(number.wrapping_sub(1));
                        Some(value.map_or(Got::Unset, |text| Got::One(text.clone())))
                    }
                    _ => unknown(Why::Parameter, false),
                }
            }
            "commands" if is_zsh && state.variable(name).is_none() => Some(program_path(index)),
            _ if is_zsh && state.is_table(name) => unknown(Why::Dynamic, true),
            _ if is_zsh && is_untouched(ZSH_PARAMETERS) => unknown(Why::Dynamic, true),
            _ if is_untouched(CHANGING) => unknown(Why::Dynamic, *index == At::Each),
            _ => None,
        }
    }

    fn count(&self, state: &State) -> Option<Got> {
        Some(match &state.positionals {
            Some(values) => Got::One(Text::known(values.len().to_string())),
            None => Got::Unknown { why: Why::Parameter, several: false },
        })
    }
}

/// zsh: `$commands[name]` is the path of the program.
fn program_path(index: &At) -> Got {
    let At::Key(Key::Name(name)) = index else { return Got::Unknown { why: Why::Dynamic, several: true } };
    let mut path = Text::unknown(Why::Unresolved, format!("$commands[{name}]"));
    path.push_str(&format!("/{name}"));
    Got::One(path)
}
