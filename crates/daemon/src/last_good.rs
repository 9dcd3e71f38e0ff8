//! The last good set: configuration and rule files that were in force together, kept on disk across restarts.

use std::io;
use std::path::PathBuf;

use castellan_event::FIELDS;
use castellan_policy::Policy;
use castellan_rules::{self as rules, Source};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::files::{read_limited, write_private};
use crate::layout::Layout;
use crate::limits::LAST_GOOD_BYTES_MAX;

const VERSION: u32 = 1;

/// The file's format.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    config: String,
    sources: Vec<KeptSource>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptSource {
    name: String,
    text: String,
}

/// Keeps a set that is in force.
pub(crate) fn keep(layout: &Layout, sources: &[Source]) -> io::Result<()> {
    let kept = |source: &Source| KeptSource { name: source.name.clone(), text: source.text.clone() };
    let config = Config::read_text(&layout.config_file()).map_err(io::Error::other)?;
    let set = Kept { version: VERSION, config, sources: sources.iter().map(kept).collect() };
    let text = serde_json::to_vec(&set)?;
    let file = file(layout);
    if std::fs::read(&file).is_ok_and(|present| present == text) {
        return Ok(());
    }
    write_private(&file, &text)
}

/// Returns the kept set, compiled; `None` when there is none or it does not load (any more).
pub(crate) fn load(layout: &Layout) -> Option<(Config, Policy)> {
    let text = read_limited(&file(layout), LAST_GOOD_BYTES_MAX).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok().filter(|kept: &Kept| kept.version == VERSION)?;
    let config = Config::parse(&kept.config).ok()?;
    let sources: Vec<Source> =
        kept.sources.into_iter().map(|source| Source { name: source.name, text: source.text }).collect();
    let loaded = rules::load(&sources, FIELDS, &config.rule_options);
    let sound = !loaded.has_errors();
    sound.then(|| (config.clone(), Policy::new(loaded.rules, &sources, config.settings)))
}

fn file(layout: &Layout) -> PathBuf {
    layout.last_good().join("policy.json")
}
