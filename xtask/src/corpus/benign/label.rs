//! Labels of commands, by patterns on their words; rules and cases are data in `corpus/labelled/labels.toml`. Must not
//! depend on castellan or parse shell like castellan, because the labels measure castellan's analysis.

use std::collections::HashMap;
use std::sync::LazyLock;

use anyhow::{Context, ensure};
use regex::Regex;
use serde::Deserialize;

use super::Found;
use crate::root;

/// The word for commands that do not belong in the corpus.
pub(super) const OUT: &str = "out";
/// The label, and its reason, of a command that no rule matches.
const ELSE: Label<'_> = Label { tier: "T3", why: "nothing in it that labels.toml knows as risky" };

/// Separators of commands.
const BETWEEN: [char; 4] = [';', '&', '|', '\n'];

/// `labels.toml`, with compiled patterns.
#[derive(Debug)]
pub(super) struct Labels {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    tier: String,
    why: String,
    kinds: Vec<String>,
    patterns: Vec<Regex>,
    unless: Option<Regex>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label<'l> {
    pub(super) tier: &'l str,
    pub(super) why: &'l str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Parts of patterns, by name: `{name}`.
    parts: HashMap<String, String>,
    #[serde(rename = "rule")]
    rules: Vec<RawRule>,
    #[serde(rename = "case")]
    #[cfg_attr(not(test), expect(dead_code, reason = "the cases are for the test"))]
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    tier: String,
    why: String,
    /// The kinds of commands to match; empty for all.
    #[serde(default)]
    kinds: Vec<String>,
    /// At least one must match. A group `var` is a variable's name, and matches only if the text does not set its
    /// value.
    patterns: Vec<String>,
    /// A command that matches this pattern is exempt.
    unless: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "the cases are for the test"))]
struct Case {
    text: String,
    tier: String,
}

impl Labels {
    pub(super) fn read() -> anyhow::Result<Labels> {
        Labels::from_file(&raw()?)
    }

    fn from_file(file: &File) -> anyhow::Result<Labels> {
        let whole = |pattern: &str| {
            let mut whole = pattern.to_owned();
            for (name, part) in &file.parts {
                whole = whole.replace(&format!("{{{name}}}"), part);
            }
            Regex::new(&whole).with_context(|| format!("labels.toml: `{pattern}`"))
        };
        let rules = file.rules.iter().map(|raw| {
            ensure!(["T2", "TU", OUT].contains(&raw.tier.as_str()), "labels.toml: the tier `{}`", raw.tier);
            Ok(Rule {
                tier: raw.tier.clone(),
                why: raw.why.clone(),
                kinds: raw.kinds.clone(),
                patterns: raw.patterns.iter().map(|pattern| whole(pattern)).collect::<Result<_, _>>()?,
                unless: raw.unless.as_deref().map(whole).transpose()?,
            })
        });
        Ok(Labels { rules: rules.collect::<anyhow::Result<_>>()? })
    }

    /// Returns the label of the first rule that matches a text of the command.
    pub(super) fn of(&self, found: &Found) -> Label<'_> {
        let text = format!("{}\n{}", found.text, found.runs);
        self.of_text(&text, found.kind.as_str())
    }

    fn of_text(&self, text: &str, kind: &str) -> Label<'_> {
        let text = text.replace("\\\n", " ");
        let rules = self
            .rules
            .iter()
            .filter(|rule| rule.kinds.is_empty() || rule.kinds.iter().any(|one| one == kind));
        let mut rules = rules.filter(|rule| rule.is_about(&text));
        rules.next().map_or(ELSE, |rule| Label { tier: &rule.tier, why: &rule.why })
    }
}

impl Rule {
    fn is_about(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| {
            pattern.captures_iter(text).any(|found| {
                let from = found.get(0).map_or(0, |whole| whole.start());
                let command = text.get(from..).unwrap_or_default().trim_start_matches(BETWEEN);
                let command = command.split(BETWEEN).next().unwrap_or_default();
                let is_excused = self.unless.as_ref().is_some_and(|unless| unless.is_match(command));
                let is_known = found.name("var").is_some_and(|var| is_given(var.as_str(), text));
                !is_excused && !is_known
            })
        })
    }
}

/// Returns true if a text sets a variable: by an assignment, except of unknown output, or by a `for` loop.
fn is_given(name: &str, text: &str) -> bool {
    const USUAL: &[&str] = &["HOME", "PWD", "USER", "TMPDIR", "INIT_CWD", "CARGO_HOME", "OLDPWD", "SHELL"];
    const KNOWN_OUTPUT: &[&str] =
        &["mktemp", "pwd", "dirname", "basename", "nproc", "date", "cd ", "uname", "echo "];
    if USUAL.contains(&name) || name.starts_with("npm_package_") {
        return true;
    }
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        let starts = before.is_empty() || before.ends_with([' ', '\n', ';', '\t', '(', '"', '&']);
        let Some(value) = after.strip_prefix('=').filter(|_| starts) else {
            return starts && before.trim_end().ends_with("for") && after.trim_start().starts_with("in ");
        };
        let value = value.trim_start_matches('"');
        let output = value.strip_prefix("$(").or_else(|| value.strip_prefix('`'));
        output.is_none_or(|output| KNOWN_OUTPUT.iter().any(|known| output.trim_start().starts_with(known)))
    })
}

/// Returns the program at the start of a command, or an empty text if that is no plain word.
pub(super) fn program(text: &str) -> &str {
    const AROUND: &[&str] = &["sudo", "env", "cross-env", "npx", "time", "exec", "cd", "set", "export"];
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z][a-z0-9_.-]*$").ok());
    let mut skip = false;
    for word in text.split_whitespace() {
        if std::mem::take(&mut skip)
            || word.contains('=')
            || word.starts_with('-')
            || matches!(word, "&&" | ";")
        {
            continue;
        }
        if AROUND.contains(&word) {
            skip = matches!(word, "cd" | "set" | "export");
            continue;
        }
        let word = word.rsplit('/').next().unwrap_or_default();
        let is_plain = WORD.as_ref().is_some_and(|pattern| pattern.is_match(word));
        return if is_plain { word } else { "" };
    }
    ""
}

fn raw() -> anyhow::Result<File> {
    let file = root()?.join("corpus/labelled/labels.toml");
    toml::from_str(&std::fs::read_to_string(file)?).context("corpus/labelled/labels.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_get_their_labels() {
        let file = raw().unwrap();
        let labels = Labels::from_file(&file).unwrap();
        assert!(file.cases.len() >= 2 * file.rules.len(), "a rule needs cases");
        let wrong: Vec<String> = file
            .cases
            .iter()
            .filter_map(|case| {
                let label = labels.of_text(&case.text, "docs");
                (label.tier != case.tier).then(|| format!("{}: {} ({})", case.text, label.tier, label.why))
            })
            .collect();
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn programs_by_the_look() {
        for (text, expected) in [
            ("eslint .", "eslint"),
            ("NODE_ENV=test cross-env A=1 mocha", "mocha"),
            ("cd docs && make html", "make"),
            ("./node_modules/.bin/tsc -p .", "tsc"),
            ("$CC -o a", ""),
        ] {
            assert_eq!(program(text), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_is_given_where_the_text_says_what_it_holds() {
        for (text, expected) in [
            ("X=a; rm $X", true),
            ("for X in a b; do rm $X; done", true),
            ("X=$(mktemp -d); rm -r $X", true),
            ("X=$(cat f); rm -r $X", false),
            ("rm -r $X", false),
            ("AX=1; rm -r $X", false),
        ] {
            assert_eq!(is_given("X", text), expected, "{text}");
        }
    }
}
