//! The rule files of a command: the named ones, or those in force (the organisation's and the home's).

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
    /// The layer of the files; `None` for named files.
    layer: Option<Layer>,
    sources: Vec<Source>,
    /// Problems of files that are not UTF-8. Then no file is loaded, because names would be missing.
    unreadable: Vec<Problem>,
}

/// Loaded files, layer by layer.
#[derive(Debug)]
pub(super) struct LoadedLayers {
    /// All files, for rendering problems.
    pub(super) sources: Vec<Source>,
    layers: Vec<(Option<Layer>, Loaded)>,
}

/// Returns the named files in this order; without names, those of the organisation and the home.
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

/// Returns the same files; without names and without a home, the shipped ones.
fn named_or_known(files: &[PathBuf], layout: &Layout, config: &Config) -> anyhow::Result<Vec<Layered>> {
    if files.is_empty() && !layout.rules_shipped().exists() {
        return Ok(with_organisation(config, shipped_rules()));
    }
    named_or_in_force(files, layout, config)
}

/// Returns the named files in this order; without names, those of the home; without a home, the shipped ones.
pub(super) fn named_or_of_home(
    files: &[PathBuf],
    layout: &Layout,
    config: &Config,
) -> anyhow::Result<Vec<Source>> {
    match files {
        [] if layout.rules_shipped().exists() => of_home(layout, config),
        [] => Ok(shipped_rules()),
        files => files
            .iter()
            .map(|file| match read(file)? {
                (source, None) => Ok(source),
                (_, Some(problem)) => Err(anyhow!(problem.one_line())),
            })
            .collect(),
    }
}

/// Loads each layer separately. The options apply to named files and the home's. The organisation's rules load as in
/// the daemon.
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

/// Loads and describes the named or known files, and returns the Falco version of their language. Reports errors and
/// returns `None`.
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
    pub(super) fn problems(&self) -> Vec<Problem> {
        self.layers.iter().flat_map(|(_, loaded)| loaded.problems.iter().cloned()).collect()
    }

    pub(super) fn has_errors(&self) -> bool {
        self.layers.iter().any(|(_, loaded)| loaded.has_errors())
    }

    /// Returns the descriptions; fails if none were requested.
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

/// Adds castellan's own rules as a separate layer, so that the organisation's rules cannot change them.
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

/// Reads a rule file. If it is not UTF-8, it returns the problem and a text only for display.
fn read(file: &Path) -> anyhow::Result<(Source, Option<Box<Problem>>)> {
    let (name, bytes) = (file.display().to_string(), read_bytes(file, RULE_FILE_BYTES_MAX)?);
    let shown = Source { name: name.clone(), text: String::from_utf8_lossy(&bytes).into_owned() };
    Ok(match Source::from_bytes(name, bytes) {
        Ok(source) => (source, None),
        Err(problem) => (shown, Some(problem)),
    })
}
