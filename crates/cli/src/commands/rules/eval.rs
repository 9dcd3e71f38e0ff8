//! `castellan rules eval`: matches rules against events from a file, with any field table, as Falco does. This command
//! knows no verdicts; `castellan check` reports those.

mod events;

use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use castellan_daemon::Config;
use castellan_falco::{EventSource, Match, Stamp, alert};
use castellan_rules::{self as rules, Loaded, Matching, Priority, Selected, Selection, Source};
use serde_json::json;

use self::events::Line;
use crate::commands::rules::language::{Language, Reading};
use crate::commands::rules::{sources, write_problems};
use crate::exit::Exit;
use crate::global::Global;
use crate::output;
use crate::{times, values};

const FORMATS: &[(&str, Format)] =
    &[("text", Format::Text), ("json", Format::Json), ("falco-json", Format::FalcoJson)];

/// Output format of alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    FalcoJson,
}

/// Options of `castellan rules eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Rule file; may be repeated, in load order; default: those of the home, without the built-in ones
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// Events, one JSON object of field names and values per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    events: PathBuf,

    /// Matching rules to report for an event: all, like castellan, or the first, like Falco by default
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = values::one_of(Matching::WORDS))]
    matching: Matching,

    /// Ignore rules with a lower priority
    #[arg(long, value_parser = values::priority)]
    priority: Option<Priority>,

    /// Disable rules: a name, in which `*` matches anything, or `tag=TAG`
    #[arg(long, value_name = "RULES")]
    disable: Vec<String>,

    /// Enable rules, after --disable
    #[arg(long, value_name = "RULES")]
    enable: Vec<String>,

    /// Time of the events: `2h` ago, `today`, `2026-11-20`, `2026-11-20 14:00` or `2026-11-20T13:00:00Z`; default: now
    #[arg(long, value_parser = times::parse)]
    time: Option<SystemTime>,

    /// Output format of alerts
    #[arg(long, default_value = "text", value_parser = values::one_of(FORMATS))]
    format: Format,

    #[command(flatten)]
    language: Language,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let Reading { table, options: reading } = options.language.read(&config)?;
    let sources = sources::named_or_of_home(&options.rules, &layout, &config)?;
    let reading = rules::Options {
        matching: options.matching,
        priority: options.priority.unwrap_or(reading.priority),
        selection: [reading.selection.clone(), switches(options)].concat(),
        ..reading
    };
    let loaded = rules::load(&sources, &table.fields(), &reading);
    report_problems(global, &sources, &loaded)?;
    if loaded.has_errors() {
        return Ok(Exit::No);
    }
    let stamp = stamp(options.time.unwrap_or_else(|| SystemTime::now().max(UNIX_EPOCH)))?;
    let source = EventSource { table: &table, name: &reading.source, stamp: &stamp };
    let mut out = anstream::stdout();
    for event in events::open(&options.events)? {
        let Line { event, line: at, text } = event?;
        let place = || format!("`{}` line {at}", options.events.display());
        let event = source.read(event, &text).with_context(place)?;
        for found in event.matches(&loaded.rules, options.matching) {
            writeln!(out, "{}", line(&found, &stamp, options.format))?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the selections of the command line, which follow those of the configuration.
fn switches(options: &Options) -> Vec<Selection> {
    let of = |word: &String| match word.strip_prefix("tag=") {
        Some(tag) => Selected::Tag(tag.to_owned()),
        None => Selected::Rule(word.clone()),
    };
    let off = options.disable.iter().map(|word| Selection { enable: false, of: of(word) });
    let on = options.enable.iter().map(|word| Selection { enable: true, of: of(word) });
    off.chain(on).collect()
}

/// Writes problems to standard error: standard output is only for alerts.
fn report_problems(global: &Global, sources: &[Source], loaded: &Loaded) -> anyhow::Result<()> {
    if loaded.has_errors() || !global.quiet {
        write_problems(&mut anstream::stderr(), sources, &loaded.problems)?;
    }
    Ok(())
}

fn stamp(time: SystemTime) -> anyhow::Result<Stamp> {
    let since = time.duration_since(UNIX_EPOCH).context("the time is before 1970")?;
    let unix_ns = u64::try_from(since.as_nanos()).context("the time is after 2554")?;
    let hostname = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Ok(Stamp { unix_ns, rfc3339: humantime::format_rfc3339_nanos(time).to_string(), hostname })
}

fn line(found: &Match<'_>, stamp: &Stamp, format: Format) -> String {
    match format {
        Format::Text => output::printable(&alert::text(found, stamp)),
        Format::FalcoJson => alert::json(found, stamp).to_string(),
        Format::Json => json!({
            "event": found.event,
            "row": found.level.as_str(),
            "rule": found.rule.name,
            "priority": found.rule.priority.as_str(),
            "tags": &*found.rule.tags,
            "message": found.message,
            "output_fields": found.output_fields,
        })
        .to_string(),
    }
}
