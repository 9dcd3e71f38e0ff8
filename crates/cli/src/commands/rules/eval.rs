//! `castellan rules eval`: rules tried on events from a file, with any table of fields, as real Falco would. Knows nothing of
//! verdicts: what a call would be answered is told by `castellan check`.

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
use crate::values;

const FORMATS: &[(&str, Format)] =
    &[("text", Format::Text), ("json", Format::Json), ("falco-json", Format::FalcoJson)];

/// How alerts are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    FalcoJson,
}

/// Options of `castellan rules eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Rule file; several load in this order; without any, those of the home (the built-in ones are not among them)
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// Events, one JSON object a line, field name to value; `-` is standard input
    #[arg(long, value_name = "FILE")]
    events: PathBuf,

    /// Which matching rules are reported of an event: all, as castellan does, or the first, as Falco does by default
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = values::one_of(Matching::WORDS))]
    matching: Matching,

    /// Leave out rules that are less severe
    #[arg(long, value_parser = values::priority)]
    priority: Option<Priority>,

    /// Switch rules off: a name in which `*` stands for anything, or `tag=TAG`
    #[arg(long, value_name = "RULES")]
    disable: Vec<String>,

    /// Switch rules on, after what is switched off
    #[arg(long, value_name = "RULES")]
    enable: Vec<String>,

    /// Time of the events, as `2026-01-31T12:00:00Z` or how long ago, as `1h30m`; without it now
    #[arg(long, value_parser = values::time)]
    time: Option<SystemTime>,

    /// How alerts are printed
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
    tell(global, &sources, &loaded)?;
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

/// What the command line switches, behind what the configuration does.
fn switches(options: &Options) -> Vec<Selection> {
    let of = |word: &String| match word.strip_prefix("tag=") {
        Some(tag) => Selected::Tag(tag.to_owned()),
        None => Selected::Rule(word.clone()),
    };
    let off = options.disable.iter().map(|word| Selection { enable: false, of: of(word) });
    let on = options.enable.iter().map(|word| Selection { enable: true, of: of(word) });
    off.chain(on).collect()
}

/// Problems go to standard error: the output is for alerts.
fn tell(global: &Global, sources: &[Source], loaded: &Loaded) -> anyhow::Result<()> {
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
