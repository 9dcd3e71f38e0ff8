//! Rule files to a rule set, in Falco's order: the files one after the other, each compiled together with all before it, so
//! that a file cannot lean on a later one. Nothing stops at the first problem.

use castellan_event::FieldDef;

use crate::build;
use crate::catalogue::Catalogue;
use crate::definitions::{Definitions, Scope};
use crate::item;
use crate::problem::{Problem, Report, Severity};
use crate::rule::RuleSet;
use crate::source;

/// One rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What problems call it, usually its path.
    pub name: String,
    /// Its YAML.
    pub text: String,
}

/// Which matching rules of a row are reported (Falco's `rule_matching`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// All of them.
    #[default]
    All,
    /// The first in the order of the files.
    First,
}

/// How rule files are read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The event source whose rules are evaluated.
    pub source: String,
    /// The version of Falco's plugin for that source that `required_plugin_versions` is held against.
    pub plugin_version: String,
    /// Which matches are reported.
    pub matching: Matching,
    /// Loads a `regex` that RE2's POSIX mode refuses with a warning, and never matches it, as Falco 0.43 does silently.
    pub regex_compat_falco: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            source: "coding_agent".to_owned(),
            plugin_version: "0.5.0".to_owned(),
            matching: Matching::All,
            regex_compat_falco: false,
        }
    }
}

/// The result of loading: with errors among the problems, the rules are those that could be compiled, for showing only.
#[derive(Debug)]
pub struct Loaded {
    /// The rules.
    pub rules: RuleSet,
    /// Everything that is wrong or doubtful, in the order of files and lines.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// Whether the rules must not be used.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Loads rule files in order. Never fails as a whole and never panics: see [`Loaded::problems`].
pub fn load(sources: &[Source], fields: &'static [FieldDef], options: &Options) -> Loaded {
    let mut report = Report::new(sources);
    let scope = Scope { options, fields: Catalogue::new(fields), syscall: Catalogue::syscall() };
    let mut definitions = Definitions::default();
    let mut rules = RuleSet::default();
    let mut readable = true;
    for (file, source) in sources.iter().enumerate() {
        let (documents, faults) = source::parse(file, &source.text);
        readable &= faults.is_empty();
        for fault in faults {
            report.error("", fault);
        }
        for document in &documents {
            for item in item::read(document, &mut report) {
                definitions.apply(item, &scope, &mut report);
            }
        }
        // Behind a file that cannot be read to its end, names would be missing that it defines.
        if readable {
            rules = build::build(&definitions, &scope, file + 1 == sources.len(), &mut report);
        }
    }
    Loaded { rules, problems: report.finish() }
}
