//! Rule files to a rule set, in Falco's order. Each file is compiled together with all files before it, so that a file
//! cannot use names of a later file. No problem stops the load. If a file only adds definitions, the build so far
//! grows. If it changes definitions, or follows an error, everything is compiled again.

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
use crate::rule_set::RuleSet;
use crate::source;
use crate::source_text::Source;

impl Source {
    /// Returns a rule file, or the problem if it is not UTF-8. Replacing a byte by U+FFFD would change the rule.
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
            message: "a byte that is not UTF-8".to_owned(),
            line: before.matches('\n').count() + 1,
            column: last_line.chars().count() + 1,
            file: name,
            // The span also fits the text that shows U+FFFD for the byte.
            span: Some(at..at + 1),
            item: String::new(),
            help: Some("save the file as UTF-8".to_owned()),
        }))
    }
}

/// The result of loading. If the problems contain errors, the rules are those that compiled, for display only.
#[derive(Debug)]
pub struct Loaded {
    /// The rules.
    pub rules: RuleSet,
    /// All errors and warnings, in the order of files and lines; in each file, the error that Falco reports is first.
    pub problems: Vec<Problem>,
    /// The description as in `falco -L`, if requested and if every file could be read to its end.
    pub description: Option<Description>,
}

impl Loaded {
    /// Reports whether the rules must not be used.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// Loads rule files in order. Never fails as a whole and never panics: see [`Loaded::problems`].
pub fn load(sources: &[Source], fields: &[FieldDef<'_>], options: &Options) -> Loaded {
    let (loaded, is_exact) = load_files(sources, fields, options, true);
    if is_exact { loaded } else { load_files(sources, fields, options, false).0 }
}

/// Loads rule files, and returns whether every problem has all its places. A problem of a macro that a later file
/// restates occurs at the later place too. Only compiling everything again finds that place.
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
    // The build of the files so far, while each file only adds to it.
    let (mut grown, mut grows): (Option<Build<'_>>, bool) = (None, may_grow);
    for (file, source) in sources.iter().enumerate() {
        let (documents, faults) = source::parse(file, &source.text);
        readable &= faults.is_empty();
        for fault in faults {
            report.error("", fault);
        }
        let before = definitions.now();
        for document in &documents {
            for node in item::nodes(document, &mut report) {
                if let Some(item) = item::read(node, &options.tags, &mut report) {
                    definitions.apply(item, &scope, &mut report);
                }
            }
        }
        // After a file that cannot be read to its end, its definitions would be missing.
        if !readable {
            continue;
        }
        let last = file + 1 == sources.len();
        grows &=
            !report.has_errors() && grown.as_ref().is_none_or(|build| build.can_grow(&definitions, before));
        let (mut build, since) = match grown.take().filter(|_| grows) {
            Some(build) => (build, before),
            // Before the last file, only the rules that the file defined or changed are built.
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

    /// Checks that growing a build gives the same result as compiling everything again.
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
        // For files with errors, the rules for display may differ.
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
            // A word of an earlier file becomes a list.
            "- list: extra\n  items: [y]\n",
            "- list: bash\n  items: [y]\n",
            // Changes.
            "- list: shells\n  items: [fish]\n  override: {items: append}\n",
            "- list: shells\n  items: [fish]\n",
            "- macro: is_shell\n  condition: or tool.name = y\n  override: {condition: append}\n",
            "- macro: is_shell\n  condition: tool.name = y\n",
            "- rule: one\n  condition: and tool.name = y\n  override: {condition: append}\n",
            "- rule: one\n  enabled: false\n  override: {enabled: replace}\n",
            "- rule: one\n  condition: tool.name = y\n  override: {condition: replace}\n",
            // Restated definitions.
            "- macro: is_shell\n  condition: tool.name in (shells)\n",
            "- macro: both\n  condition: is_shell or tool.name = extra\n- list: unused\n  items: []\n",
            // Invalid files.
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
