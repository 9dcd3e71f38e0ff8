//! castellan's prediction for a text, as far as visible from outside: commands, and effects on paths and hosts.

use castellan_event::{Effect, EffectKind, Facts};
use serde::{Deserialize, Serialize};

/// The facts of a text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Predicted {
    pub(crate) commands: Vec<Command>,
    pub(crate) effects: Vec<Said>,
}

/// A predicted command.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Command {
    pub(crate) name: Option<String>,
    /// The program's file; `None` for a builtin of the shell.
    pub(crate) path: Option<String>,
    pub(crate) line: String,
    pub(crate) subcommand: Option<String>,
    pub(crate) wrappers: Vec<String>,
}

/// An effect. Kind, role and reason are the words of rules.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) command: Option<usize>,
    pub(crate) kind: String,
    pub(crate) path: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) system: Option<String>,
    pub(crate) verb: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) recursive: bool,
    pub(crate) role: Option<String>,
    pub(crate) why: Option<String>,
}

impl Predicted {
    pub(crate) fn of(facts: &Facts) -> Predicted {
        let commands = facts.commands.iter().map(|command| Command {
            name: command.name.clone(),
            path: command.path.clone(),
            line: command.line.clone(),
            subcommand: command.subcommand.clone(),
            wrappers: command.wrappers.clone(),
        });
        Predicted { commands: commands.collect(), effects: facts.effects.iter().map(said).collect() }
    }

    /// Returns the Opaque parts that cause an ask: an unknown program, code, or target of a dangerous command.
    pub(crate) fn opaque(&self) -> impl Iterator<Item = &Said> {
        self.effects.iter().filter(|said| said.is_opaque() && said.role.as_deref() != Some("operand"))
    }

    /// Returns the command of an effect.
    pub(crate) fn command_of(&self, said: &Said) -> Option<&Command> {
        said.command.and_then(|at| self.commands.get(at))
    }
}

impl Said {
    pub(crate) fn is_opaque(&self) -> bool {
        self.kind == EffectKind::Opaque.as_str()
    }

    /// Returns true for an effect that runs an unanalysed file, whose own effects are not predicted.
    pub(crate) fn is_execute(&self) -> bool {
        self.kind == EffectKind::Execute.as_str()
    }
}

fn said(effect: &Effect) -> Said {
    Said {
        command: effect.command,
        kind: effect.kind().to_string(),
        path: effect.path().map(str::to_owned),
        host: effect.host().map(str::to_owned),
        system: effect.system().map(str::to_owned),
        verb: effect.verb().map(str::to_owned),
        target: effect.target().map(str::to_owned),
        recursive: effect.is_recursive(),
        role: effect.role().map(|role| role.to_string()),
        why: effect.why().map(|why| why.to_string()),
    }
}
