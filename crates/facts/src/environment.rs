//! Environment variables that change what programs do: which code they load, which files they read, whom they trust.

use castellan_event::{Effect, EffectKind};
use castellan_programs::Arg;

use crate::sink::Sink;

/// Names, a `*` at the end stands for any rest. What the variable changes is the verb of the effect.
const VARIABLES: &[(&str, &str)] = &[
    ("BASHOPTS", "shell"),
    ("BASH_ENV", "shell"),
    ("BASH_FUNC_*", "shell"),
    ("CDPATH", "shell"),
    ("DYLD_*", "library"),
    ("ENV", "shell"),
    ("GIT_*", "git"),
    ("IFS", "shell"),
    ("LD_*", "library"),
    ("NODE_OPTIONS", "code"),
    ("PATH", "programs"),
    ("PERL5LIB", "code"),
    ("PERL5OPT", "code"),
    ("PROMPT_COMMAND", "shell"),
    ("PYTHONPATH", "code"),
    ("PYTHONSTARTUP", "code"),
    ("RUBYLIB", "code"),
    ("RUBYOPT", "code"),
    ("SHELLOPTS", "shell"),
    ("ZDOTDIR", "shell"),
];

/// Adds the effect of giving a variable to programs, if it changes what they do.
pub(crate) fn effect(name: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some((_, verb)) = VARIABLES.iter().find(|(pattern, _)| fits(pattern, name)) else { return };
    sink.add(Effect {
        kind: EffectKind::Environment,
        verb: Some((*verb).to_owned()),
        target: Some(format!("{name}={}", value.written())),
        ..Effect::default()
    });
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}
