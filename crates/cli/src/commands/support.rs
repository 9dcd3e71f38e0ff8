//! `castellan support`: a bundle for a bug report. It has the configuration, the status, the checks of `doctor`, versions,
//! and the last records without their contents. The person sees all of it before it is written.

use std::io::Write;
use std::path::{Path, PathBuf};

use castellan_audit::{CallRecord, Entry, Filter, Record, Text, read};
use castellan_daemon::Config;
use castellan_files::write_private;
use serde_json::{Map, Value as Json, json};

use crate::ask;
use crate::commands::{doctor, status};
use crate::directories::Directories;
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::SUPPORT_RECORDS;
use crate::output::{self, NOTE};

/// Options of `castellan support`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// File to write
    #[arg(long, short, value_name = "FILE", default_value = "castellan-support.json")]
    output: PathBuf,

    /// Write without asking; the bundle is still shown
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let home = Directories::of_environment().map(|own| own.home.display().to_string());
    let bundle = without_private(bundle(global), &home.unwrap_or_default());
    let text = format!("{}\n", output::json_text(&bundle));
    let file = &options.output;
    let is_shown = ask::show(&text)?;
    if !is_shown || !options.yes && !is_wanted(file)? {
        global.message(NOTE, "nothing was written")?;
        return Ok(Exit::No);
    }
    write_private(file, text.as_bytes()).map_err(|error| {
        let why = castellan_files::explained(&error);
        anyhow::anyhow!("`{}` cannot be written: {why}", file.display())
    })?;
    writeln!(anstream::stderr(), "{NOTE} written: {}", output::printable(&file.display().to_string()))?;
    Ok(Exit::Done)
}

/// Asks at the terminal. Without one nobody has agreed.
fn is_wanted(file: &Path) -> anyhow::Result<bool> {
    let question = format!("Write this to {}? [y/N] ", output::printable(&file.display().to_string()));
    let answer = ask::text(&question)?.unwrap_or_default();
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Gathers the parts. A part that fails has its error: a bundle is most useful when castellan is broken.
fn bundle(global: &Global) -> Json {
    let part =
        |made: anyhow::Result<Json>| made.unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
    json!({
        "versions": versions(),
        "status": part(status::report(global)),
        "doctor": part(doctor::report(global)),
        "config": part(config(global)),
        "records": part(records(global)),
    })
}

fn versions() -> Json {
    let system = rustix::system::uname();
    json!({
        "castellan": env!("CARGO_PKG_VERSION"),
        "system": system.sysname().to_string_lossy(),
        "release": system.release().to_string_lossy(),
        "machine": system.machine().to_string_lossy(),
    })
}

/// Returns the values of the configuration that are not the default, by key.
fn config(global: &Global) -> anyhow::Result<Json> {
    let config = Config::of_home(&global.layout()?)?;
    let mut keys = Map::new();
    for setting in config.settled.settings() {
        let values: Vec<String> = setting.counts.iter().map(|one| one.value.to_string()).collect();
        if values.len() != 1 || values.first().is_none_or(|value| value != setting.key.default) {
            keys.insert(setting.key.name.to_owned(), json!(values));
        }
    }
    Ok(Json::Object(keys))
}

fn records(global: &Global) -> anyhow::Result<Json> {
    let filter = Filter { limit: Some(SUPPORT_RECORDS), ..Filter::default() };
    let reading = read(&global.layout()?.log(), &filter)?;
    let unreadable: Vec<Json> =
        reading.unreadable.iter().map(|one| json!({ "file": one.file, "line": one.line })).collect();
    let records: Vec<Json> = reading.entries.iter().map(record).collect();
    Ok(json!({ "unreadable": unreadable, "last": records }))
}

/// Returns the words of a record that castellan has chosen itself, without input, paths, messages and ids of an agent.
fn record(entry: &Entry) -> Json {
    let mut shown = json!({
        "seq": entry.seq,
        "time": humantime::format_rfc3339_millis(entry.time).to_string(),
        "type": entry.record.kind(),
    });
    let more = match &entry.record {
        Record::Call(record) => call(record),
        Record::Session(record) => json!({ "event": *record.event, "agent": *record.agent }),
        Record::Control(record) => json!({ "action": *record.action, "accepted": record.accepted }),
        Record::Failure(record) => {
            json!({ "code": *record.code, "event": *record.event, "agent": *record.agent, "answer": *record.answer })
        }
        Record::Ungoverned(record) => {
            json!({ "why": *record.why, "seen": *record.seen, "agent": *record.agent, "tool": *record.tool })
        }
        Record::Gap(record) => json!({ "event": *record.event, "count": record.count }),
        Record::Retention(record) => json!({ "file": *record.file }),
        Record::Recovery(record) => json!({ "file": *record.file, "lost": record.lost }),
    };
    if let (Json::Object(shown), Json::Object(more)) = (&mut shown, more) {
        shown.extend(more);
    }
    shown
}

fn call(call: &CallRecord) -> Json {
    let findings: Vec<Json> = call
        .findings
        .iter()
        .map(
            |one| json!({ "verdict": one.verdict, "code": one.code, "rule": one.rule, "lifted": one.lifted }),
        )
        .collect();
    json!({
        "event": *call.event,
        "agent": *call.agent,
        "tool": *call.tool,
        "permission_mode": *call.permission_mode,
        "verdict": *call.verdict,
        "answer": *call.answer,
        "enforced": call.enforced,
        "mode": *call.mode,
        "findings": findings,
        "duration_us": call.duration_us,
    })
}

/// Redacts every text as the log does, and replaces the home directory by `~`.
fn without_private(value: Json, home: &str) -> Json {
    match value {
        Json::String(text) => {
            let text = if home.len() > 1 { text.replace(home, "~") } else { text };
            serde_json::to_value(Text::from(text)).unwrap_or(Json::Null)
        }
        Json::Array(items) => items.into_iter().map(|item| without_private(item, home)).collect(),
        Json::Object(entries) => {
            entries.into_iter().map(|(key, value)| (key, without_private(value, home))).collect()
        }
        other @ (Json::Null | Json::Bool(_) | Json::Number(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_addresses_and_the_home_are_left_out_at_every_depth() {
        let value = json!({
            "a": ["/home/me/x", { "b": "mail me@example.org" }],
            "c": "export API_TOKEN=abcdefgh12345678",
            "d": 7,
        });
        let expected = json!({
            "a": ["~/x", { "b": "mail [redacted e-mail address]" }],
            "c": "export API_TOKEN=[redacted token]",
            "d": 7,
        });
        assert_eq!(without_private(value, "/home/me"), expected);
    }
}
