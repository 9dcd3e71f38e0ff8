//! A set of files as `castellan apply` reads it: compiled like in the daemon. The user's rules are loaded a second time
//! with lints and descriptions.

use std::collections::BTreeMap;

use castellan_daemon::{Compiled, Config, ConfigError, Layers, Layout};
use castellan_event::FIELDS;
use castellan_rules::{self as rules, Loaded, Problem};

/// A set whose configuration is valid; its rules may have errors.
#[derive(Debug)]
pub(super) struct ReadSet {
    pub(super) config: Config,
    pub(super) compiled: Compiled,
    reported: Loaded,
}

impl ReadSet {
    pub(super) fn of(layers: &Layers, layout: &Layout) -> Result<ReadSet, ConfigError> {
        let (config, compiled) = layers.compile(layout)?;
        let options = rules::Options { lints: true, describe: true, ..config.rule_options.clone() };
        let reported = rules::load(&layers.user.rules, FIELDS, &options);
        Ok(ReadSet { config, compiled, reported })
    }

    /// Returns the problems that the daemon will find, then the lints.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let found = &self.compiled.problems;
        let lints = self.reported.problems.iter().filter(|problem| !found.contains(problem));
        found.iter().chain(lints).cloned().collect()
    }

    /// Returns the outputs of the user's rules as written, by rule name.
    pub(super) fn outputs(&self) -> BTreeMap<&str, &str> {
        let described = self.reported.description.iter().flat_map(|description| &description.rules);
        let pairs = self.reported.rules.rules().iter().zip(described);
        pairs.map(|(rule, described)| (rule.name.as_str(), described.output.as_str())).collect()
    }
}
