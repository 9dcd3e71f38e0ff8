//! `castellan config set` and `unset`: change one key of the user's configuration in force and in `config.toml`. A
//! change that loosens requires a person.

use castellan_daemon::{Key, KeyEdit, settable_key};

use crate::commands::apply::key_edit::{self, Changed};
use crate::commands::mode;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{ERROR, write_messages};

/// Options of `castellan config set`.
#[derive(Debug, clap::Args)]
pub(crate) struct SetOptions {
    /// Key, such as `ask_wait` or `level.session`; `castellan config show` lists all
    #[arg(value_name = "KEY")]
    key: String,

    /// Value in TOML; a word needs no quotes: 120, false, strict, '["Bash(git push:*)"]'
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,

    /// Skip the question; a person must still be present for a change that loosens
    #[arg(long, short)]
    yes: bool,
}

/// Options of `castellan config unset`.
#[derive(Debug, clap::Args)]
pub(crate) struct UnsetOptions {
    /// Key, such as `ask_wait` or `level.session`
    #[arg(value_name = "KEY")]
    key: String,

    /// Skip the question; a person must still be present for a change that loosens
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn set(global: &Global, options: &SetOptions) -> anyhow::Result<Exit> {
    let SetOptions { key, value, yes } = options;
    let Some(key) = known(key)? else { return Ok(Exit::No) };
    // The live mode may be stricter than that of the configuration.
    if let (mode::KEY, Ok(mode)) = (key.name, value.parse()) {
        return mode::change(global, mode);
    }
    let (now, before) = (format!("is {value} now"), format!("is {value} already"));
    change(global, key, KeyEdit::typed(key, value), *yes, &now, &before)
}

pub(super) fn unset(global: &Global, options: &UnsetOptions) -> anyhow::Result<Exit> {
    let UnsetOptions { key, yes } = options;
    let Some(key) = known(key)? else { return Ok(Exit::No) };
    change(global, key, KeyEdit::Unset, *yes, "has its default now", "is not in your `config.toml`")
}

/// Changes a key, and reports it with the words for a change and for none.
fn change(
    global: &Global,
    key: &Key,
    edit: KeyEdit,
    yes: bool,
    now: &str,
    before: &str,
) -> anyhow::Result<Exit> {
    match key_edit::change(global, key.name, edit, yes)? {
        Changed::Now(reverse) => report(global, key, &format!("`{}` {now}", key.name), &reverse),
        Changed::Before => {
            global.note(&format!("`{}` {before}", key.name))?;
            Ok(Exit::Done)
        }
        Changed::No => Ok(Exit::No),
    }
}

/// Returns the key with a name, or reports the mistake.
fn known(name: &str) -> anyhow::Result<Option<&'static Key>> {
    match settable_key(name) {
        Ok(key) => Ok(Some(key)),
        Err(why) => {
            write_messages(&mut anstream::stdout(), ERROR, &[why])?;
            Ok(None)
        }
    }
}

fn report(global: &Global, key: &Key, done: &str, reverse: &KeyEdit) -> anyhow::Result<Exit> {
    // The log reads its sizes and times at the start.
    let done = match key.name.starts_with("log.") {
        true => format!("{done}, from the next start on: `castellan restart`"),
        false => done.to_owned(),
    };
    let word = reverse.to_string();
    match reverse {
        KeyEdit::Set(_) => key_edit::report(global, &done, &["config", "set", key.name, &word]),
        KeyEdit::Unset | KeyEdit::Add(_) | KeyEdit::Remove(_) => {
            key_edit::report(global, &done, &["config", "unset", key.name])
        }
    }
}
