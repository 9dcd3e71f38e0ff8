//! Which rule files are looked at: those named, or what is in force: the organisation's and those of the home.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use castellan_daemon::{Config, Layout, PolicyOrigin, load_policy, organisation_rules, shipped_rules};
use castellan_event::{FIELDS, Layer};
use castellan_falco::description::Described;
use castellan_policy::Tags;
use castellan_rules::{self as rules, Engine, Loaded, Problem, Source};

use crate::commands::rules::language::{Language, Reading};
use crate::commands::rules::write_problems;
use crate::limits::RULE_FILE_BYTES_MAX;
use crate::text_file::read_bytes;

/// Files that load together.
#[derive(Debug)]
pub(super) struct Layered {
    /// The layer that they are; none of files that are named.
    layer: Option<Layer>,
    sources: Vec<Source>,
    /// What is wrong with files that are no text: then none is loaded, because names would be missing.
    unreadable: Vec<Problem>,
}

/// Loaded files, layer by layer.
#[derive(Debug)]
pub(super) struct LoadedLayers {
    /// All files, for rendering problems.
    pub(super) sources: Vec<Source>,
    layers: Vec<(Option<Layer>, Loaded)>,
}

/// The files named, in this order; without any, the organisation's and those of the home.
pub(super) fn named_or_in_force(
    files: &[PathBuf],
    layout: &Layout,
    config: &Config,
) -> anyhow::Result<Vec<Layered>> {
    if files.is_empty() {
        return Ok(with_organisation(config, of_home(layout, config)?));
    }
    let mut layered = Layered { layer: None, sources: Vec::new(), unreadable: Vec::new() };
    for file in files {
        let (source, problem) = read(file)?;
        layered.sources.push(source);
        layered.unreadable.extend(problem.map(|problem| *problem));
    }
    Ok(vec![layered])
}

/// The same; without a home too, the files that it would get.
fn named_or_known(files: &[PathBuf], layout: &Layout, config: &Config) -> anyhow::Result<Vec<Layered>> {
    if files.is_empty() && !layout.rules_shipped().exists() {
        return Ok(with_organisation(config, shipped()));
    }
    named_or_in_force(files, layout, config)
}

/// The files named, in this order; without any, those of the home; without one, those that it would get.
pub(super) fn named_or_of_home(
    files: &[PathBuf],
    layout: &Layout,
    config: &Config,
) -> anyhow::Result<Vec<Source>> {
    match files {
        [] if layout.rules_shipped().exists() => of_home(layout, config),
        [] => Ok(shipped()),
        files => files
            .iter()
            .map(|file| match read(file)? {
                (source, None) => Ok(source),
                (_, Some(problem)) => Err(anyhow!(problem.one_line())),
            })
            .collect(),
    }
}

/// Loads each layer by itself. What is asked for is meant for the named files or the home's: the organisation's rules load
/// as they do in the daemon.
pub(super) fn load(layers: Vec<Layered>, reading: &Reading) -> LoadedLayers {
    let own = rules::Options {
        lints: reading.options.lints,
        describe: reading.options.describe,
        ..Tags::default().options()
    };
    let mut all = LoadedLayers { sources: Vec::new(), layers: Vec::new() };
    for Layered { layer, sources, unreadable } in layers {
        let readable = if unreadable.is_empty() { sources.as_slice() } else { &[] };
        let mut loaded = match layer {
            Some(Layer::Organisation | Layer::Project) => rules::load(readable, FIELDS, &own),
            Some(Layer::User) | None => rules::load(readable, &reading.table.fields(), &reading.options),
        };
        loaded.problems.extend(unreadable);
        all.layers.push((layer, loaded));
        all.sources.extend(sources);
    }
    all
}

/// Loads and describes the files named, or those that are known, and tells in which Falco's language; `None` after errors,
/// which have been written.
pub(super) fn describe(
    files: &[PathBuf],
    language: &Language,
    layout: &Layout,
    config: &Config,
) -> anyhow::Result<Option<(LoadedLayers, Engine)>> {
    let mut reading = language.read(config)?;
    reading.options.describe = true;
    let loaded = load(named_or_known(files, layout, config)?, &reading);
    if loaded.has_errors() {
        write_problems(&mut anstream::stderr(), &loaded.sources, &loaded.problems())?;
        return Ok(None);
    }
    Ok(Some((loaded, reading.options.engine)))
}

impl LoadedLayers {
    /// What is wrong in all files.
    pub(super) fn problems(&self) -> Vec<Problem> {
        self.layers.iter().flat_map(|(_, loaded)| loaded.problems.iter().cloned()).collect()
    }

    /// Whether some must not be used.
    pub(super) fn has_errors(&self) -> bool {
        self.layers.iter().any(|(_, loaded)| loaded.has_errors())
    }

    /// The descriptions, which must have been asked for.
    pub(super) fn described(&self) -> anyhow::Result<Vec<Described<'_>>> {
        self.layers
            .iter()
            .map(|(layer, loaded)| {
                let description = loaded.description.as_ref();
                let description =
                    description.context("the rules were not described, which is a bug of castellan")?;
                Ok(Described { layer: *layer, rules: &loaded.rules, description })
            })
            .collect()
    }
}

/// castellan's own rules load by themselves, which the organisation's cannot change either.
fn with_organisation(config: &Config, sources: Vec<Source>) -> Vec<Layered> {
    let layer = |layer, sources| Layered { layer: Some(layer), sources, unreadable: Vec::new() };
    let above = Some(layer(Layer::Organisation, config.organisation_rules.clone()));
    let above = above.filter(|above| !above.sources.is_empty());
    let own = layer(Layer::Organisation, organisation_rules());
    std::iter::once(own).chain(above).chain([layer(Layer::User, sources)]).collect()
}

fn of_home(layout: &Layout, config: &Config) -> anyhow::Result<Vec<Source>> {
    let shipped = layout.rules_shipped();
    shipped.metadata().context("there are no rule files yet: run `castellan install`, or name files")?;
    let loaded = load_policy(layout, config);
    match loaded.origin {
        PolicyOrigin::LastGood(why) | PolicyOrigin::Missing(why) if loaded.sources.is_empty() => bail!(why),
        PolicyOrigin::Current | PolicyOrigin::LastGood(_) | PolicyOrigin::Missing(_) => Ok(loaded.sources),
    }
}

fn shipped() -> Vec<Source> {
    let source = |(name, text): &(&str, &str)| Source { name: (*name).to_owned(), text: (*text).to_owned() };
    shipped_rules().iter().map(source).collect()
}

/// Reads a rule file; with what is wrong when it is no text, for showing only.
fn read(file: &Path) -> anyhow::Result<(Source, Option<Box<Problem>>)> {
    let (name, bytes) = (file.display().to_string(), read_bytes(file, RULE_FILE_BYTES_MAX)?);
    let shown = Source { name: name.clone(), text: String::from_utf8_lossy(&bytes).into_owned() };
    Ok(match Source::from_bytes(name, bytes) {
        Ok(source) => (source, None),
        Err(problem) => (shown, Some(problem)),
    })
}
