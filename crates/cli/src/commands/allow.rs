//! `castellan allow`: adds a short rule to the user's allow list in force and in `config.toml`, or removes one. A rule
//! more requires a person.

use castellan_daemon::KeyEdit;

use super::apply::key_edit::{self, Changed};
use crate::exit::Exit;
use crate::global::Global;

/// Options of `castellan allow`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Short rule, such as 'Bash(cargo test:*)', 'Edit(docs/**)' or 'WebFetch(domain:example.org)'
    #[arg(value_name = "RULE")]
    rule: String,

    /// Remove the rule from the list
    #[arg(long)]
    remove: bool,

    /// Skip the question; a person must still be present to add a rule
    #[arg(long, short)]
    yes: bool,
}

const KEY: &str = "allow";

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let Options { rule, remove, yes } = options;
    if *remove {
        return match key_edit::change(global, KEY, KeyEdit::Remove(rule.clone()), *yes)? {
            Changed::Now(_) => {
                key_edit::report(global, &format!("`{rule}` is not allowed any more"), &["allow", rule])
            }
            Changed::Before => {
                global
                    .note(&format!("`{rule}` is not in your list: `castellan config show allow` shows it"))?;
                Ok(Exit::No)
            }
            Changed::No => Ok(Exit::No),
        };
    }
    match key_edit::change(global, KEY, KeyEdit::Add(rule.clone()), *yes)? {
        Changed::Now(_) => {
            let done = format!("`{rule}` is allowed now, in calls that your list covers whole");
            key_edit::report(global, &done, &["allow", "--remove", rule])
        }
        Changed::Before => {
            global.note(&format!("`{rule}` is allowed already"))?;
            Ok(Exit::Done)
        }
        Changed::No => Ok(Exit::No),
    }
}
