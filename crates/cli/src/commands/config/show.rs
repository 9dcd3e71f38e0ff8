//! `castellan config show`: the effective value of every key; `--origin` adds sources and values without effect.

use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::{Config, Merge, Setting, Sourced, read_project};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, FAINT, PLAIN, WARN, WARNING};

/// Options of `castellan config show`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this key, or the keys of this table
    #[arg(value_name = "KEY")]
    key: Option<String>,

    /// Add the layer, file and line of every value, and the values without effect
    #[arg(long)]
    origin: bool,

    /// Show the configuration for this workspace, as if you trusted its current files
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = match &options.project {
        None => Config::of_home(&layout)?,
        Some(dir) => in_project(global, dir)?,
    };
    let is_meant = |setting: &&Setting| {
        let name = setting.key.name;
        let is_named = |key: &String| {
            name == key || name.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        setting.key.merge != Merge::Own && options.key.as_ref().is_none_or(is_named)
    };
    let settings: Vec<&Setting> = config.settled.settings().iter().filter(is_meant).collect();
    if let Some(key) = options.key.as_ref().filter(|_| settings.is_empty()) {
        anyhow::bail!("there is no key `{key}`: `castellan config show` lists all");
    }
    let mut out = anstream::stdout();
    if options.json {
        let settings: Vec<Json> = settings.iter().map(|setting| json_of(setting)).collect();
        output::write_json(&mut out, &json!({ "settings": settings, "ignored": config.in_vain() }))?;
    } else {
        let values = settings.iter().flat_map(|setting| rows(setting, options.origin));
        let rows: Vec<Vec<Cell>> = std::iter::once(header(options.origin)).chain(values).collect();
        output::write_table(&mut out, &rows)?;
        output::write_messages(&mut out, WARNING, &config.in_vain())?;
        global.note_defaults()?;
    }
    Ok(Exit::Done)
}

/// Returns the configuration with a workspace's own files as the lowest layer.
fn in_project(global: &Global, dir: &Path) -> anyhow::Result<Config> {
    let layout = global.layout()?;
    let dir = std::path::absolute(dir).with_context(|| format!("`{}`", dir.display()))?;
    Ok(Config::with_project(&layout, read_project(&dir)?.as_ref())?)
}

fn header(origin: bool) -> Vec<Cell> {
    let words: &[&str] = if origin { &["key", "value", "from", "file and line"] } else { &["key", "value"] };
    words.iter().map(|word| Cell::new(word, FAINT)).collect()
}

/// Returns a row for each value; an empty list gives one row.
fn rows(setting: &Setting, origin: bool) -> Vec<Vec<Cell>> {
    let name = |first: bool| Cell::from(if first { setting.key.name } else { "" });
    let mut rows = Vec::new();
    for (at, sourced) in setting.counts.iter().enumerate() {
        let mut row = vec![name(at == 0), sourced.value.to_string().into()];
        if origin {
            row.extend(origin_cells(setting, sourced, at == 0));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        rows.push(vec![name(true), Cell::new("[]", FAINT)]);
    }
    let shown = setting.overruled.iter().filter(|sourced| origin && sourced.at.is_some());
    for sourced in shown {
        let place = place(sourced);
        let value = Cell::new(format!("not {}", sourced.value), FAINT);
        rows.push(vec![
            name(false),
            value,
            Cell::new(sourced.layer.as_str(), FAINT),
            Cell::new(place, FAINT),
        ]);
    }
    rows
}

fn origin_cells(setting: &Setting, sourced: &Sourced, first: bool) -> Vec<Cell> {
    let layer = if sourced.at.is_some() { sourced.layer.as_str() } else { "default" };
    let mut cells = vec![Cell::new(layer, if sourced.at.is_some() { PLAIN } else { FAINT })];
    cells.push(Cell::new(place(sourced), FAINT));
    if first && setting.locked.is_some() {
        cells.push(Cell::new("locked", WARN));
    }
    cells
}

fn place(sourced: &Sourced) -> String {
    let by = if sourced.is_preset { " (profile)" } else { "" };
    match &sourced.at {
        Some((file, line)) => format!("{file}:{line}{by}"),
        None => by.trim_start().to_owned(),
    }
}

fn json_of(setting: &Setting) -> Json {
    let of = |sourced: &Sourced| {
        json!({
            "value": sourced.value.to_json(),
            "layer": if sourced.at.is_some() { sourced.layer.as_str() } else { "default" },
            "file": sourced.at.as_ref().map(|(file, _)| file.to_string()),
            "line": sourced.at.as_ref().map(|(_, line)| line),
            "preset": sourced.is_preset,
        })
    };
    json!({
        "key": setting.key.name,
        "values": setting.counts.iter().map(of).collect::<Vec<_>>(),
        "overruled": setting.overruled.iter().filter(|sourced| sourced.at.is_some()).map(of).collect::<Vec<_>>(),
        "locked": setting.locked.is_some(),
    })
}
