//! The list of known differences: the cases that differ on purpose, and the reasons.

use anyhow::{Context, ensure};
use serde::Deserialize;

/// More differences would make this another language.
const DIFFERENCES_MAX: usize = 15;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    difference: Vec<KnownDifference>,
}

/// Cases that differ for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownDifference {
    pub(crate) cases: Vec<String>,
    pub(crate) reason: String,
    /// The switch with which these cases, and others with the same reason, agree.
    pub(crate) agrees_with: Option<Switch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Switch {
    /// Invalid patterns load and never match.
    #[serde(rename = "regex-compat falco")]
    RegexCompatFalco,
}

impl Known {
    pub(crate) fn read() -> anyhow::Result<Known> {
        let known = include_str!("../known_differences.toml");
        let known: Known = toml::from_str(known).context("conformance/known_differences.toml")?;
        let count = known.ids().count();
        ensure!(count <= DIFFERENCES_MAX, "{count} known differences; at most {DIFFERENCES_MAX} are allowed");
        Ok(known)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.difference.iter().flat_map(|difference| difference.cases.iter().map(String::as_str))
    }

    /// Returns the difference that lists a case.
    pub(crate) fn of(&self, id: &str) -> Option<&KnownDifference> {
        self.difference.iter().find(|difference| difference.cases.iter().any(|case| case == id))
    }

    /// Returns the difference with cases that agree under the switch.
    pub(crate) fn by_switch(&self) -> Option<&KnownDifference> {
        self.difference.iter().find(|difference| difference.agrees_with == Some(Switch::RegexCompatFalco))
    }

    pub(crate) fn reasons(&self) -> impl Iterator<Item = &KnownDifference> {
        self.difference.iter()
    }
}
