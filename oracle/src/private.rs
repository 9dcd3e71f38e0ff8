//! Internal effects of modelled programs: programs that they run, temporary and lock files. The table `private.toml`
//! names them; they are listed and counted separately. It must not hide the requested effects of a command.

use serde::Deserialize;

use crate::observed::{Event, Kind};
use crate::pattern::matches;
use crate::predicted::{Command, Predicted, Said};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Private {
    own: Vec<Own>,
}

/// A program's internal effects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    /// The program's base name; it must have led to the event.
    program: String,
    /// Base names of programs that it runs.
    #[serde(default)]
    runs: Vec<String>,
    /// Patterns of paths that it writes and deletes.
    #[serde(default)]
    files: Vec<String>,
    /// Patterns of paths that it reads.
    #[serde(default)]
    reads: Vec<String>,
    /// Patterns of addresses that it connects to.
    #[serde(default)]
    connects: Vec<String>,
    /// Applies only if a non-query effect on this system was predicted, with one of `verbs`; empty for any verb.
    system: Option<String>,
    #[serde(default)]
    verbs: Vec<String>,
    /// Applies only to a command with one of these subcommands; empty for any.
    #[serde(default)]
    subcommands: Vec<String>,
    /// The reason.
    why: String,
}

impl Private {
    /// Returns an error if the table is invalid, or an entry has no reason.
    pub(crate) fn read() -> anyhow::Result<Private> {
        let private: Private = toml::from_str(include_str!("../private.toml"))?;
        anyhow::ensure!(
            private.own.iter().all(|own| !own.why.is_empty()),
            "an entry of private.toml says no reason"
        );
        Ok(private)
    }

    /// Returns the program whose internal effect an event is.
    pub(crate) fn of(&self, event: &Event, predicted: &Predicted) -> Option<&str> {
        let own = self.own.iter().find(|own| own.is_of(event) && own.is_said(predicted));
        own.map(|own| own.program.as_str())
    }
}

impl Own {
    fn is_of(&self, event: &Event) -> bool {
        let one_of = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, &event.what));
        let is_such = match event.kind {
            Kind::Exec => {
                let name = event.what.rsplit('/').next().unwrap_or_default();
                self.runs.iter().any(|run| matches(run, name))
            }
            Kind::Write | Kind::Delete => one_of(&self.files),
            Kind::Read | Kind::Look => one_of(&self.files) || one_of(&self.reads),
            Kind::Connect => one_of(&self.connects),
        };
        is_such && event.programs.iter().any(|program| matches(&self.program, program))
    }

    fn is_said(&self, predicted: &Predicted) -> bool {
        let is_sub =
            |command: &Command| command.subcommand.as_ref().is_some_and(|sub| self.subcommands.contains(sub));
        if !self.subcommands.is_empty() && !predicted.commands.iter().any(is_sub) {
            return false;
        }
        let Some(system) = &self.system else { return true };
        let says = |said: &Said| {
            let verb = said.verb.as_deref().unwrap_or_default();
            said.kind != "query"
                && said.system.as_deref() == Some(system)
                && (self.verbs.is_empty() || self.verbs.iter().any(|one| one == verb))
        };
        predicted.effects.iter().any(says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read() {
        assert!(Private::read().is_ok_and(|private| !private.own.is_empty()));
    }
}
