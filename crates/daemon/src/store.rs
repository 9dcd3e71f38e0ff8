//! Configuration and rule files on disk → policy. A set that does not load whole is not used: the last good one is;
//! without one, everything but reading is denied.

use std::io;
use std::path::{Path, PathBuf};

use castellan_event::{FIELDS, Mode};
use castellan_policy::Policy;
use castellan_rules::{self as rules, Problem, Severity, Source};

use crate::config::Config;
use crate::files::read_limited;
use crate::last_good;
use crate::layout::Layout;
use crate::limits::{RULE_FILE_BYTES_MAX, RULE_FILES_MAX};

/// A policy and where it comes from.
#[derive(Debug)]
pub struct Loaded {
    /// What calls are judged by.
    pub policy: Policy,
    /// Which files it was made of.
    pub origin: PolicyOrigin,
    /// What was found in the rule files as they are now, errors and warnings.
    pub problems: Vec<Problem>,
    /// The rule files as they are now, for rendering problems.
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

/// Loads the policy of a home. Does not fail, because no policy is a policy too: the strictest.
pub fn load(layout: &Layout, config: &Config) -> Loaded {
    let sources = match read_sources(layout) {
        Ok(sources) => sources,
        Err((path, error)) => return fallback(layout, format!("`{}`: {error}", path.display())).1,
    };
    let loaded = rules::load(&sources, FIELDS, &config.rule_options);
    let first_error = loaded.problems.iter().find(|problem| problem.severity == Severity::Error);
    match first_error.map(Problem::one_line) {
        Some(why) => Loaded { problems: loaded.problems, sources, ..fallback(layout, why).1 },
        None => Loaded {
            policy: Policy::new(loaded.rules, &sources, config.settings.clone()),
            origin: PolicyOrigin::Current,
            problems: loaded.problems,
            sources,
        },
    }
}

/// Loads the configuration and policy of a home for the daemon, and keeps a good set. Of a configuration that cannot be
/// read, nothing is in force: its tags say what denies.
pub(crate) fn load_home(layout: &Layout) -> (Config, Loaded) {
    let config = match Config::read(&layout.config_file()) {
        Ok(config) => config,
        Err(error) => return fallback(layout, error.to_string()),
    };
    let loaded = load(layout, &config);
    if loaded.origin == PolicyOrigin::Current {
        // That it cannot be kept shows when it is needed: then there is none.
        let _ = last_good::keep(layout, &loaded.sources);
    }
    (config, loaded)
}

/// The last good set, else nothing. Enforced: which mode the unreadable configuration means, nobody knows.
fn fallback(layout: &Layout, why: String) -> (Config, Loaded) {
    let (config, policy, origin) = match last_good::load(layout) {
        Some((config, policy)) => (config, policy, PolicyOrigin::LastGood(why)),
        None => (Config::default(), Policy::missing(why.clone()), PolicyOrigin::Missing(why)),
    };
    let loaded = Loaded { policy, origin, problems: Vec::new(), sources: Vec::new() };
    (Config { mode: Mode::Enforce, ..config }, loaded)
}

/// Reads every rule file: the shipped ones, then the user's, each folder by name.
fn read_sources(layout: &Layout) -> Result<Vec<Source>, (PathBuf, io::Error)> {
    let mut sources = Vec::new();
    for dir in [layout.rules_shipped(), layout.rules_user()] {
        let mut files = rule_files(&dir).map_err(|error| (dir, error))?;
        files.sort();
        for file in files {
            let text = read_limited(&file, RULE_FILE_BYTES_MAX).map_err(|error| (file.clone(), error))?;
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
