//! Options that a program takes from a variable of its environment: `TAR_OPTIONS`. This module must not know options.

use castellan_event::Why;
use castellan_programs::{Arg, Program, Quoting};

use super::Call;
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::walk::Walker;

impl Walker<'_> {
    /// Returns the call with the options of the variables that the text exported. Other variables are the user's own.
    pub(super) fn with_options_of_environment(
        &mut self,
        state: &mut State,
        scope: &Scope,
        mut call: Call,
        program: &Program,
    ) -> Call {
        if program.environment.is_empty() || !scope.remote.is_empty() {
            return call;
        }
        for entry in program.environment {
            // `NAME OPTION`: the whole value is that of the option.
            let (name, option) =
                entry.split_once(' ').map_or((*entry, None), |(name, option)| (name, Some(option)));
            let passes = state.variable(name).is_some_and(|one| one.exported || one.perhaps_exported);
            if !passes {
                continue;
            }
            let words: Vec<Arg> = match self.pick(state, name) {
                Value::Scalar(text) => match (option, text.as_str()) {
                    (Some(option), _) => vec![Arg::known(option), text.to_arg()],
                    (None, Some(known)) => Quoting::SHLEX.words(known).into_iter().map(Arg::known).collect(),
                    (None, None) => vec![split(text.to_arg())],
                },
                // Where the text sets no value, the variable is the user's own.
                Value::Unknown(Why::Variable) => continue,
                Value::Unknown(why) => vec![Arg::unknown(why, format!("${name}"), true)],
                Value::Array(_) | Value::Unset => continue,
            };
            let is_end = |arg: &Arg| arg.as_str() == Some("--");
            let end = call.argv.iter().position(is_end).unwrap_or(call.argv.len());
            call.argv.splice(end..end, words);
        }
        self.bound_arguments(scope, &mut call);
        call
    }
}

/// Returns a value that the program splits at blanks.
fn split(value: Arg) -> Arg {
    Arg::unknown(value.why().unwrap_or(Why::Variable), value.written(), true)
}
