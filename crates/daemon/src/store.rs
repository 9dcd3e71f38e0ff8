//! Rule files on disk → policy. A set that does not load whole is not used: the last good one is, kept on disk across
//! restarts; without one, everything but reading is denied.

use std::io;
use std::path::{Path, PathBuf};

use castellan_event::FIELDS;
use castellan_policy::Policy;
use castellan_rules::{self as rules, Problem, Severity, Source};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::layout::Layout;
use crate::limits::{RULE_FILE_BYTES_MAX, RULE_FILES_MAX};
use crate::shipped::write_private;

/// A policy and where it comes from.
#[derive(Debug)]
pub struct Loaded {
    /// What calls are judged by.
    pub policy: Policy,
    /// Which files it was made of.
    pub origin: PolicyOrigin,
    /// What was found in the files as they are now, errors and warnings.
    pub problems: Vec<Problem>,
    /// The files as they are now, for rendering problems.
    pub sources: Vec<Source>,
}

/// Which files a policy was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyOrigin {
    /// The files as they are now.
    Current,
    /// The last set that loaded; why the current one did not.
    LastGood(String),
    /// None: why.
    Missing(String),
}

/// The last good set on disk.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    version: u32,
    sources: Vec<BundledSource>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BundledSource {
    name: String,
    text: String,
}

/// Loads the policy of a home. Does not fail, because no policy is a policy too: the strictest.
pub fn load(layout: &Layout, config: &Config) -> Loaded {
    let sources = match read_sources(layout) {
        Ok(sources) => sources,
        Err((path, error)) => {
            let why = format!("`{}`: {error}", path.display());
            let (policy, origin) = fallback(layout, config, why);
            return Loaded { policy, origin, problems: Vec::new(), sources: Vec::new() };
        }
    };
    let loaded = rules::load(&sources, FIELDS, &config.rule_options);
    let first_error = loaded.problems.iter().find(|problem| problem.severity == Severity::Error);
    let (policy, origin) = match first_error.map(Problem::one_line) {
        Some(why) => fallback(layout, config, why),
        None => (Policy::new(loaded.rules, &sources, config.settings.clone()), PolicyOrigin::Current),
    };
    Loaded { policy, origin, problems: loaded.problems, sources }
}

/// Keeps a set that has loaded whole, and is in force, as the last good one.
pub(crate) fn keep_if_good(layout: &Layout, loaded: &Loaded) {
    if loaded.origin == PolicyOrigin::Current {
        // That it cannot be kept shows when it is needed: then there is none.
        let _ = keep(layout, &loaded.sources);
    }
}

/// The last good set, else nothing.
fn fallback(layout: &Layout, config: &Config, why: String) -> (Policy, PolicyOrigin) {
    let kept = read_kept(layout).and_then(|sources| {
        let loaded = rules::load(&sources, FIELDS, &config.rule_options);
        let sound = !loaded.has_errors();
        sound.then(|| Policy::new(loaded.rules, &sources, config.settings.clone()))
    });
    match kept {
        Some(policy) => (policy, PolicyOrigin::LastGood(why)),
        None => (Policy::missing(why.clone()), PolicyOrigin::Missing(why)),
    }
}

/// Reads every rule file: the shipped ones, then the user's, each folder by name.
fn read_sources(layout: &Layout) -> Result<Vec<Source>, (PathBuf, io::Error)> {
    let mut sources = Vec::new();
    for dir in [layout.rules_shipped(), layout.rules_user()] {
        let mut files = rule_files(&dir).map_err(|error| (dir, error))?;
        files.sort();
        for file in files {
            let text = read_limited(&file).map_err(|error| (file.clone(), error))?;
            sources.push(Source { name: file.display().to_string(), text });
        }
    }
    Ok(sources)
}

fn rule_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            files.push(path);
        }
    }
    if files.len() > RULE_FILES_MAX {
        return Err(io::Error::other(format!("more than {RULE_FILES_MAX} rule files")));
    }
    Ok(files)
}

fn read_limited(file: &Path) -> io::Result<String> {
    if std::fs::metadata(file)?.len() > RULE_FILE_BYTES_MAX {
        return Err(io::Error::other(format!("a rule file may have {RULE_FILE_BYTES_MAX} bytes")));
    }
    std::fs::read_to_string(file)
}

fn keep(layout: &Layout, sources: &[Source]) -> io::Result<()> {
    let bundled = |source: &Source| BundledSource { name: source.name.clone(), text: source.text.clone() };
    let bundle = Bundle { version: 1, sources: sources.iter().map(bundled).collect() };
    let text = serde_json::to_vec(&bundle)?;
    let file = bundle_file(layout);
    if std::fs::read(&file).is_ok_and(|kept| kept == text) {
        return Ok(());
    }
    write_private(&file, &text)
}

fn read_kept(layout: &Layout) -> Option<Vec<Source>> {
    let text = std::fs::read(bundle_file(layout)).ok()?;
    let bundle: Bundle = serde_json::from_slice(&text).ok().filter(|bundle: &Bundle| bundle.version == 1)?;
    Some(bundle.sources.into_iter().map(|source| Source { name: source.name, text: source.text }).collect())
}

fn bundle_file(layout: &Layout) -> PathBuf {
    layout.last_good().join("rules.json")
}
