//! Rule files to a rule set, in Falco's order: the files one after the other, each compiled together with all before it, so
//! that a file cannot lean on a later one. Nothing stops at the first problem.

use castellan_event::FieldDef;

use crate::build;
use crate::catalogue::Catalogue;
use crate::compile::Patterns;
use crate::definitions::{Definitions, Scope};
use crate::describe::Description;
use crate::item;
use crate::options::Options;
use crate::parse::Conditions;
use crate::problem::{Problem, Report, Severity};
use crate::rule::RuleSet;
use crate::source;

/// One rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What problems call it, usually its path.
    pub name: String,
    /// Its YAML. Bytes that are no UTF-8 are refused before: see [`Source::from_bytes`].
    pub text: String,
}

impl Source {
    /// A rule file as it was read, or what is wrong when it is not UTF-8: a byte replaced by U+FFFD would be another rule.
    pub fn from_bytes(name: String, bytes: Vec<u8>) -> Result<Self, Box<Problem>> {
        let error = match String::from_utf8(bytes) {
            Ok(text) => return Ok(Self { name, text }),
            Err(error) => error,
        };
        let at = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..at).unwrap_or_default());
        let last_line = before.rsplit('\n').next().unwrap_or_default();
        Err(Box::new(Problem {
            severity: Severity::Error,
            code: "LOAD_ERR_FILE_READ",
            message: "a byte that is no UTF-8".to_owned(),
            line: before.matches('\n').count() + 1,
            column: last_line.chars().count() + 1,
            file: name,
            // In the text, too, that shows U+FFFD in its place.
            span: Some(at..at + 1),
            item: String::new(),
            help: Some("save the file as UTF-8".to_owned()),
        }))
    }
}

/// The result of loading: with errors among the problems, the rules are those that could be compiled, for showing only.
#[derive(Debug)]
pub struct Loaded {
    /// The rules.
    pub rules: RuleSet,
    /// Everything that is wrong or doubtful, in the order of files and lines.
    pub problems: Vec<Problem>,
    /// What `falco -L` tells, when it was asked for and every file could be read to its end.
    pub description: Option<Description>,
}

impl Loaded {
    /// Whether the rules must not be used.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Loads rule files in order. Never fails as a whole and never panics: see [`Loaded::problems`].
pub fn load(sources: &[Source], fields: &[FieldDef<'_>], options: &Options) -> Loaded {
    let mut report = Report::new(sources);
    let (fields, syscall) = (Catalogue::new(fields), Catalogue::syscall());
    let (conditions, patterns) = (Conditions::default(), Patterns::default());
    let scope = Scope { options, fields, syscall, conditions, patterns };
    let mut definitions = Definitions::default();
    let mut rules = RuleSet::default();
    let mut description = None;
    let mut readable = true;
    for (file, source) in sources.iter().enumerate() {
        let (documents, faults) = source::parse(file, &source.text);
        readable &= faults.is_empty();
        for fault in faults {
            report.error("", fault);
        }
        let before = definitions.now();
        for document in &documents {
            for item in item::read(document, &mut report) {
                definitions.apply(item, &scope, &mut report);
            }
        }
        // Behind a file that cannot be read to its end, names would be missing that it defines.
        if readable {
            let since = (file + 1 < sources.len()).then_some(before);
            (rules, description) = build::build(&definitions, &scope, since, &mut report);
        }
    }
    Loaded { rules: rules.indexed(), problems: report.finish(), description }
}
