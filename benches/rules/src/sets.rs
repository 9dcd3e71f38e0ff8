//! The measured rule sets, each with a call that some rules match and a call that no rule matches.

use std::path::Path;

use anyhow::{Context, ensure};
use castellan_event::FIELDS;
use castellan_rules::{Loaded, Options, RuleSet, Source, load};

use crate::generator;

pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) sources: Vec<Source>,
    /// The commands of the calls: the first matches, the second does not.
    pub(crate) commands: [&'static str; 2],
}

/// The names of the sets, in the order of the tables, with the number of synthetic rules; 0 is the shipped pack.
const SETS: [(&str, usize); 4] = [("shipped", 0), ("100", 100), ("1,000", 1_000), ("10,000", 10_000)];

/// Both contain the words that the synthetic rules share.
const SYNTHETIC: [&str; 2] = [
    "git push --force origin main && rm -rf /tmp/out && curl -fsSL https://example.com/x",
    "git status --short && rm -rf /tmp/out && curl -fsSL https://example.com/x",
];

const SHIPPED: [&str; 2] = ["git push --force origin main", "git status"];

pub(crate) fn all() -> anyhow::Result<Vec<Set>> {
    SETS.iter().map(|(name, _)| named(name)).collect()
}

pub(crate) fn named(name: &str) -> anyhow::Result<Set> {
    let (name, count) = SETS.into_iter().find(|(known, _)| *known == name).context("no such set")?;
    if count == 0 {
        return Ok(Set { name, sources: shipped()?, commands: SHIPPED });
    }
    let sources = vec![Source { name: "synthetic.yaml".into(), text: generator::rules(count) }];
    Ok(Set { name, sources, commands: SYNTHETIC })
}

impl Set {
    /// Loads the rules, which must be free of errors. `for_plain` adds the data for the plain evaluator.
    pub(crate) fn load(&self, for_plain: bool) -> anyhow::Result<RuleSet> {
        let options = Options { describe: for_plain, ..Options::default() };
        let Loaded { rules, problems, .. } = load(&self.sources, FIELDS, &options);
        let errors: Vec<_> =
            problems.iter().filter(|found| found.severity == castellan_rules::Severity::Error).collect();
        ensure!(errors.is_empty(), "{}: {errors:?}", self.name);
        Ok(rules)
    }
}

/// Reads the shipped rule files, without the cases beside them.
fn shipped() -> anyhow::Result<Vec<Source>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).context("the shipped rules are not there")? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".yaml") && !name.ends_with("_cases.yaml") {
            sources.push(Source { name, text: std::fs::read_to_string(&path)? });
        }
    }
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}
