//! Rule files to a rule set, in Falco's order: the files one after the other, each compiled together with all before it, so
//! that a file cannot lean on a later one. Nothing stops at the first problem. A file that only adds to those before is added to
//! what they were compiled to; one that alters them, or comes after an error, has everything compiled again.

use castellan_event::FieldDef;

use crate::build::Build;
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
    let (loaded, is_exact) = load_files(sources, fields, options, true);
    if is_exact { loaded } else { load_files(sources, fields, options, false).0 }
}

/// Loads rule files, and says whether every problem is told where it stands. Where one is told of a macro that a later file has
/// defined again as the same, it stands there too: only compiling everything again tells so.
fn load_files(
    sources: &[Source],
    fields: &[FieldDef<'_>],
    options: &Options,
    may_grow: bool,
) -> (Loaded, bool) {
    let mut report = Report::new(sources);
    let (fields, syscall) = (Catalogue::new(fields), Catalogue::syscall());
    let (conditions, patterns) = (Conditions::default(), Patterns::default());
    let scope = Scope { options, fields, syscall, conditions, patterns };
    let mut definitions = Definitions::default();
    let mut rules = RuleSet::default();
    let mut description = None;
    let mut readable = true;
    // What the files before were compiled to, while each only adds to it.
    let (mut grown, mut grows): (Option<Build<'_>>, bool) = (None, may_grow);
    for (file, source) in sources.iter().enumerate() {
        let (documents, faults) = source::parse(file, &source.text);
        readable &= faults.is_empty();
        for fault in faults {
            report.error("", fault);
        }
        let before = definitions.now();
        for document in &documents {
            for item in item::read(document, &options.tags, &mut report) {
                definitions.apply(item, &scope, &mut report);
            }
        }
        // Behind a file that cannot be read to its end, names would be missing that it defines.
        if !readable {
            continue;
        }
        let last = file + 1 == sources.len();
        grows &=
            !report.has_errors() && grown.as_ref().is_none_or(|build| build.can_grow(&definitions, before));
        let (mut build, since) = match grown.take().filter(|_| grows) {
            Some(build) => (build, before),
            // Before the last file, of all rules only those are looked at that the file has defined or altered.
            None => (Build::new(&scope, &mut report), if last { 0 } else { before }),
        };
        build.grow(&definitions, since, &mut report);
        if last {
            (rules, description) = build.finish(&definitions, &mut report);
        } else if grows {
            grown = Some(build);
        } else {
            rules = build.unfinished(&definitions);
        }
    }
    if let Some(build) = grown {
        rules = build.unfinished(&definitions);
    }
    let is_exact = !may_grow || !report.may_tell_of(&definitions.restated);
    (Loaded { rules: rules.indexed(), problems: report.finish(), description }, is_exact)
}

#[cfg(test)]
mod tests {
    use castellan_event::FIELDS;

    use super::{Source, load, load_files};
    use crate::options::Options;

    fn sources(texts: &[&str]) -> Vec<Source> {
        let source =
            |(at, text): (usize, &&str)| Source { name: format!("{at}.yaml"), text: (*text).to_owned() };
        texts.iter().enumerate().map(source).collect()
    }

    /// What files load as must not depend on whether what only adds is added.
    fn check(sources: &[Source], options: &Options) {
        let (added, again) = (load(sources, FIELDS, options), load_files(sources, FIELDS, options, false).0);
        let texts =
            |loaded: &super::Loaded| loaded.problems.iter().map(super::Problem::one_line).collect::<Vec<_>>();
        assert_eq!(texts(&added), texts(&again), "{sources:?}");
        assert_eq!(added.description, again.description, "{sources:?}");
        // Sets print in any order.
        let program = |loaded: &super::Loaded| {
            let shown = format!("{:?}", loaded.rules.program);
            let mut words: Vec<String> = shown.split([',', '{', '}', ' ']).map(str::to_owned).collect();
            words.sort();
            words
        };
        let shown = |loaded: &super::Loaded| {
            let super::RuleSet { rules, compiled, lists, macros, .. } = &loaded.rules;
            format!("{rules:?}\n{compiled:?}\n{lists:?}\n{macros:?}")
        };
        // Of files that do not load, what can be shown may differ.
        if !added.has_errors() {
            assert_eq!(shown(&added), shown(&again), "{sources:?}");
            assert_eq!(program(&added), program(&again), "{sources:?}");
        }
    }

    fn rule(name: &str, condition: &str) -> String {
        format!(
            "- rule: {name}\n  desc: d\n  condition: {condition}\n  output: \"%tool.name\"\n  priority: WARNING\n  \
             source: coding_agent\n"
        )
    }

    #[test]
    fn what_only_adds_loads_as_if_everything_was_compiled_again() {
        let base = format!(
            "- list: shells\n  items: [sh, bash]\n- macro: is_shell\n  condition: tool.name in (shells)\n- macro: both\n  \
             condition: is_shell or tool.name = extra\n{}",
            rule("one", "both and tool.input contains extra")
        );
        let next = |more: &str| format!("{more}{}", rule("two", "both and tool.input contains x"));
        for more in [
            "",
            "- list: more\n  items: [zsh, shells]\n- macro: is_more\n  condition: tool.name in (more)\n",
            // A word of an earlier file is a list now.
            "- list: extra\n  items: [y]\n",
            "- list: bash\n  items: [y]\n",
            // Alterations.
            "- list: shells\n  items: [fish]\n  override: {items: append}\n",
            "- list: shells\n  items: [fish]\n",
            "- macro: is_shell\n  condition: or tool.name = y\n  override: {condition: append}\n",
            "- macro: is_shell\n  condition: tool.name = y\n",
            "- rule: one\n  condition: and tool.name = y\n  override: {condition: append}\n",
            "- rule: one\n  enabled: false\n  override: {enabled: replace}\n",
            "- rule: one\n  condition: tool.name = y\n  override: {condition: replace}\n",
            // Said again as it was.
            "- macro: is_shell\n  condition: tool.name in (shells)\n",
            "- macro: both\n  condition: is_shell or tool.name = extra\n- list: unused\n  items: []\n",
            // What does not load.
            "- macro: bad\n  condition: nothing.here = 1\n",
            "- macro: worse\n  condition: (\n",
            "- macro: later\n  condition: last\n",
            "- rule: one\n",
            "- macro: [\n",
        ] {
            for last in ["", "- macro: last\n  condition: bad or worse\n", "- list: x\n  items: [z]\n"] {
                let last = format!("{last}{}", rule("three", "both"));
                for lints in [false, true] {
                    let options = Options { lints, describe: lints, ..Options::default() };
                    check(&sources(&[&base, &next(more), &last]), &options);
                }
            }
        }
    }

    #[test]
    fn a_problem_of_a_macro_that_is_said_again_is_told_at_both_places() {
        let doubtful = "- macro: doubtful\n  condition: tool.name = tool.input\n";
        let files =
            [doubtful.to_owned(), format!("{doubtful}{}", rule("one", "doubtful")), rule("two", "doubtful")];
        let files = sources(&files.each_ref().map(String::as_str));
        let problems = load(&files, FIELDS, &Options::default()).problems;
        let warned = problems.iter().filter(|problem| problem.message.contains("is a constant here"));
        assert_eq!(warned.map(|problem| problem.file.as_str()).collect::<Vec<_>>(), ["1.yaml", "1.yaml"]);
        check(&files, &Options::default());
        let files = [
            format!("{doubtful}{}", rule("one", "doubtful")),
            format!("{doubtful}{}", rule("two", "doubtful")),
        ];
        let files = sources(&files.each_ref().map(String::as_str));
        let problems = load(&files, FIELDS, &Options::default()).problems;
        let warned = problems.iter().filter(|problem| problem.message.contains("is a constant here"));
        assert_eq!(
            warned.map(|problem| problem.file.as_str()).collect::<Vec<_>>(),
            ["0.yaml", "1.yaml", "1.yaml"]
        );
        check(&files, &Options::default());
    }

    #[test]
    fn the_shipped_files_load_as_if_everything_was_compiled_again() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| !path.to_string_lossy().ends_with("_cases.yaml"));
        files.sort();
        let read = |path: &std::path::PathBuf| Source {
            name: path.display().to_string(),
            text: std::fs::read_to_string(path).unwrap(),
        };
        check(&files.iter().map(read).collect::<Vec<_>>(), &Options::default());
    }
}
