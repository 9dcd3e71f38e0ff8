//! Changes keys of the user's configuration in force: shows the difference, asks, and reports how to undo it. The
//! daemon decides whether a person is needed. This module must not know the meaning of a key.

use anyhow::Context;
use castellan_daemon::{
    Config, ConfigError, ControlClient, ControlError, FileSet, KeyEdit, Layers, Layout, read_config,
};
use castellan_event::Layer;

use super::{changes, check_version, in_force};
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{ERROR, NOTE, write_messages};
use crate::{ask, presence};

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Changed {
    /// It is in force. The edit reverses it.
    Now(KeyEdit),
    /// The configuration was like this before.
    Before,
    /// The value is wrong, or the person said no. The person knows why.
    No,
}

/// Changes a key, unless the value is wrong or the person says no.
pub(crate) fn change(global: &Global, key: &str, edit: KeyEdit, yes: bool) -> anyhow::Result<Changed> {
    change_all(global, &[(key, edit)], yes, |_| Ok(()))
}

/// Changes keys together, unless a value is wrong, `test` finds problems with the changed files, or the person says no.
/// The reverse is that of the first key.
pub(crate) fn change_all(
    global: &Global,
    edits: &[(&str, KeyEdit)],
    yes: bool,
    test: impl FnOnce(&Layers) -> Result<(), Vec<String>>,
) -> anyhow::Result<Changed> {
    let (first, edit) = edits.first().context("no key to change")?;
    let layout = global.layout()?;
    let client = global.client()?;
    let status = client.status()?;
    check_version(&status)?;
    let before = in_force(&layout, &status).context("nothing is in force: run `castellan apply`")?;
    let mut config = before.user.config.clone();
    let mut in_file = false;
    for (key, edit) in edits {
        config = edit.applied_to(&config, key)?;
        in_file |= is_to_do_in_file(&layout, key, edit)?;
    }
    if config == before.user.config && !in_file {
        return Ok(Changed::Before);
    }
    let reverse = edit.reverse(&before.user.config, first)?;
    let user = FileSet { config, rules: before.user.rules.clone() };
    let after = Layers { user, ..before.clone() };
    let mut out = anstream::stdout();
    let config = match checked(&after, &layout) {
        Ok(config) => config,
        Err(mistakes) => {
            write_messages(&mut out, ERROR, &mistakes)?;
            return Ok(Changed::No);
        }
    };
    if let Err(problems) = test(&after) {
        write_messages(&mut out, ERROR, &problems)?;
        return Ok(Changed::No);
    }
    let changes = changes::between(Some(&before.user), &after.user);
    changes.iter().try_for_each(|change| change.write(&mut out))?;
    if config.needs_person(&before.config(&layout)?) {
        // No set has an empty hash.
        presence::require_before(|| send(&client, edits, ""))?;
    }
    if !yes && !changes.is_empty() && !ask::is_agreed("apply?")? {
        global.note("nothing was changed")?;
        return Ok(Changed::No);
    }
    send(&client, edits, &status.applied)?;
    Ok(Changed::Now(reverse))
}

fn send(client: &ControlClient, edits: &[(&str, KeyEdit)], shown: &str) -> Result<(), ControlError> {
    match edits {
        [(key, edit)] => client.edit(key, edit.clone(), shown),
        edits => {
            client.edits(edits.iter().map(|(key, edit)| ((*key).to_owned(), edit.clone())).collect(), shown)
        }
    }
}

/// Reports a change that is in force, with the command that undoes it.
pub(crate) fn report(global: &Global, done: &str, undo: &[&str]) -> anyhow::Result<Exit> {
    global.note(&format!("{done}\nundo: {}", global.command(undo)))?;
    if global.client()?.status()?.pending.iter().any(|file| file == "config.toml") {
        global.message(NOTE, "`config.toml` has other edits that wait for `castellan apply`")?;
    }
    Ok(Exit::Done)
}

/// Reports whether the file on disk, which may hold edits that wait, needs the change, too.
fn is_to_do_in_file(layout: &Layout, key: &str, edit: &KeyEdit) -> anyhow::Result<bool> {
    let file = layout.config_file();
    if !file.exists() {
        return Ok(false);
    }
    let shown = || format!("`{}`", file.display());
    let text = read_config(&file).with_context(shown)?;
    let changed = edit.applied_to(&text, key).with_context(shown)?;
    Ok(changed != text)
}

/// Returns the changed configuration, or its mistakes, without the place in a text that the person has not written.
fn checked(after: &Layers, layout: &Layout) -> Result<Config, Vec<String>> {
    let mistakes = Config::mistakes(&after.user.config, Layer::User);
    if !mistakes.is_empty() {
        return Err(mistakes.into_iter().map(|mistake| mistake.message).collect());
    }
    match after.compile(layout) {
        Ok((config, compiled)) => compiled.error().map_or(Ok(config), |why| Err(vec![why])),
        Err(ConfigError::Malformed(_, why)) => Err(vec![why.trim().to_owned()]),
        Err(error @ ConfigError::Io(..)) => Err(vec![error.to_string()]),
    }
}
