//! [`Makefile`]: the rules and variables of a makefile, by the GNU make 4.3 manual. Both branches of a condition are read. It
//! must not know how a target is made.

use std::collections::BTreeMap;

use castellan_event::Why;
use castellan_programs::Arg;

use super::UNKNOWN;
use super::expand::expand;
use crate::limits::{MAKE_STEPS_MAX, MAKEFILE_HOLES_MAX};

/// A makefile, as far as it is understood.
#[derive(Debug)]
pub(super) struct Makefile {
    pub(super) rules: Vec<Rule>,
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) includes: Vec<String>,
    /// Code that make runs itself: `$(shell ...)`, `!=`.
    pub(super) code: Vec<String>,
    pub(super) holes: Vec<(Why, String)>,
    /// Steps of expansion that are left.
    steps: usize,
}

/// Variables that make does not take from its environment.
const NOT_INHERITED: &[&str] = &["SHELL", "MAKE", "MAKEFILE_LIST"];

/// Variables that change how recipes are written or run.
const WAYS: &[&str] = &[".RECIPEPREFIX", ".SHELLFLAGS"];

/// A variable's value, not expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) value: String,
    /// It may have other values: it is set in a condition, or by code.
    pub(super) is_unsure: bool,
}

impl Variable {
    fn add(&mut self, value: &str) {
        self.value.push(' ');
        self.value.push_str(value);
    }
}

/// A rule: how targets are made.
#[derive(Debug, Clone, Default)]
pub(super) struct Rule {
    pub(super) targets: Vec<String>,
    pub(super) prerequisites: Vec<String>,
    /// Its recipe, line by line, not expanded, with what says how each line is run.
    pub(super) recipe: Vec<String>,
}

impl Makefile {
    /// `env`: what make is started with, whose variables are its own until it sets them.
    pub(super) fn read(text: &str, env: &[(String, Arg)]) -> Makefile {
        let mut makefile = Makefile::started(env);
        let mut in_rule = false;
        let mut conditions = 0usize;
        let mut lines = joined(text).into_iter();
        while let Some(line) = lines.next() {
            if let Some(recipe) = line.strip_prefix('\t').filter(|_| in_rule) {
                makefile.add_recipe(recipe);
                continue;
            }
            let line = without_comment(&line);
            let trimmed = line.trim();
            let (word, rest) = trimmed.split_once([' ', '\t']).unwrap_or((trimmed, ""));
            match word {
                "" => continue,
                "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                    // What code it holds runs.
                    makefile.expanded(rest, &BTreeMap::new());
                    conditions += 1;
                }
                "else" => {
                    makefile.expanded(rest, &BTreeMap::new());
                }
                "endif" => conditions = conditions.saturating_sub(1),
                "define" => {
                    let body: Vec<String> =
                        lines.by_ref().take_while(|line| line.trim() != "endef").collect();
                    let name = rest.trim_end_matches(['=', ':', '?', '+', ' ']).trim().to_owned();
                    makefile.variables.insert(name, Variable { value: body.join("\n"), is_unsure: true });
                }
                "include" | "-include" | "sinclude" => {
                    let files = makefile.expanded(rest, &BTreeMap::new());
                    makefile.include(&files);
                }
                "export" | "unexport" | "override" | "private" if rest.is_empty() => {}
                "export" | "override" | "private" if assignment(rest).is_some() => {
                    makefile.assign(rest, conditions > 0);
                }
                "unexport" | "undefine" | "vpath" | "export" => {}
                "load" | "-load" => makefile.holes.push((Why::Language, trimmed.to_owned())),
                _ if assignment(trimmed).is_some() => makefile.assign(trimmed, conditions > 0),
                _ => in_rule = makefile.add_rule(trimmed),
            }
        }
        makefile
    }

    fn started(env: &[(String, Arg)]) -> Makefile {
        let own = env.iter().filter(|(name, _)| !NOT_INHERITED.contains(&name.as_str()));
        let variable = |value: &Arg| Variable {
            value: value.as_str().unwrap_or_default().to_owned(),
            is_unsure: value.as_str().is_none(),
        };
        Makefile {
            rules: Vec::new(),
            variables: own.map(|(name, value)| (name.clone(), variable(value))).collect(),
            includes: Vec::new(),
            code: Vec::new(),
            holes: Vec::new(),
            steps: MAKE_STEPS_MAX,
        }
    }

    fn include(&mut self, files: &str) {
        for file in files.split_whitespace() {
            if file.contains(UNKNOWN) || file.contains(['*', '?', '[', '~']) {
                self.holes.push((Why::Dynamic, file.to_owned()));
            } else {
                self.includes.push(file.to_owned());
            }
        }
    }

    fn assign(&mut self, line: &str, is_unsure: bool) {
        let Some((name, operator, value)) = assignment(line) else { return };
        if WAYS.contains(&name) {
            self.holes.push((Why::Language, line.to_owned()));
        }
        let value = match operator {
            "!=" => {
                let code = self.expanded(value, &BTreeMap::new());
                self.code.push(code);
                String::new()
            }
            // Expanded here and now; what is left of it stands for itself.
            ":=" | "::=" => self.expanded(value, &BTreeMap::new()).replace('$', "$$"),
            _ => value.to_owned(),
        };
        let is_new = !self.variables.contains_key(name);
        let variable = self.variables.entry(name.to_owned()).or_default();
        variable.is_unsure |= is_unsure || operator == "!=";
        match operator {
            "?=" if !is_new => {}
            // All values that it may have count for the code in them.
            "+=" => variable.add(&value),
            _ if variable.is_unsure => variable.add(&value),
            _ => variable.value = value,
        }
    }

    fn add_recipe(&mut self, line: &str) {
        if let Some(rule) = self.rules.last_mut() {
            rule.recipe.push(line.trim_start().to_owned());
        }
    }

    /// `targets: prerequisites ; recipe`; whether it is a rule.
    fn add_rule(&mut self, line: &str) -> bool {
        let line = self.expanded_head(line);
        let Some((targets, rest)) = line.split_once(':') else {
            // `$(eval ...)` and calls of functions may make rules.
            if line.contains('$') {
                self.holes.push((Why::Language, line));
            }
            return false;
        };
        let rest = rest.trim_start_matches([':', '=']);
        let (prerequisites, recipe) = rest.split_once(';').map_or((rest, None), |(a, b)| (a, Some(b)));
        if let Some((name, operator, value)) = assignment(prerequisites.trim()) {
            // A variable of these targets: it may have this value.
            let line = format!("{name}{operator}{value}");
            self.assign(&line, true);
            return true;
        }
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        // Of a static pattern the targets are those before it.
        let prerequisites = prerequisites.rsplit_once(':').map_or(prerequisites, |(_, rest)| rest);
        let mut rule = Rule {
            targets: words(targets),
            prerequisites: words(&prerequisites.replace('|', " ")),
            recipe: Vec::new(),
        };
        rule.recipe.extend(recipe.map(|recipe| recipe.trim_start().to_owned()));
        self.rules.push(rule);
        true
    }

    /// The part of a rule before its recipe, variables expanded.
    fn expanded_head(&mut self, line: &str) -> String {
        let at = recipe_begins(line);
        match at.and_then(|at| Some((line.get(..at)?, line.get(at + 1..)?))) {
            Some((head, recipe)) => format!("{};{recipe}", self.expanded(head, &BTreeMap::new())),
            None => self.expanded(line, &BTreeMap::new()),
        }
    }

    /// A text with its variables' values; `own`: those that hold here only.
    pub(super) fn expanded(&mut self, text: &str, own: &BTreeMap<String, String>) -> String {
        let variables = &self.variables;
        let value = |name: &str| {
            let own = own.get(name).map(|value| Variable { value: value.clone(), is_unsure: false });
            own.or_else(|| variables.get(name).cloned())
        };
        let expansion = expand(text, &value, self.steps);
        self.steps = expansion.steps;
        for one in expansion.code {
            if !self.code.contains(&one) {
                self.code.push(one);
            }
        }
        for hole in expansion.holes {
            if self.holes.len() < MAKEFILE_HOLES_MAX && !self.holes.contains(&hole) {
                self.holes.push(hole);
            }
        }
        expansion.text
    }
}

/// Where the recipe begins on a rule's own line: at a semicolon that is no part of a reference.
fn recipe_begins(line: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, one) in line.char_indices() {
        match one {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Lines, those joined that end with a backslash. In a recipe the backslash stays, for the shell.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        match lines.last_mut().filter(|_| open) {
            Some(before) if before.starts_with('\t') => {
                before.push_str("\\\n");
                before.push_str(line.strip_prefix('\t').unwrap_or(line));
            }
            Some(before) => {
                before.push(' ');
                before.push_str(line.trim_start());
            }
            None => lines.push(line.to_owned()),
        }
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        open = backslashes % 2 == 1;
        if let Some(last) = lines.last_mut().filter(|_| open) {
            last.pop();
        }
    }
    lines
}

fn without_comment(line: &str) -> String {
    let mut end = line.len();
    for (at, _) in line.match_indices('#') {
        if !line.get(..at).is_some_and(|before| before.ends_with('\\')) {
            end = at;
            break;
        }
    }
    line.get(..end).unwrap_or_default().replace("\\#", "#")
}

/// `NAME = value` and its kin: name, operator, value. None for a rule.
pub(super) fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = line.find('=')?;
    let before = line.get(..at)?;
    let operator =
        ["::", "?", "+", "!", ":"].iter().find(|one| before.ends_with(**one)).copied().unwrap_or("");
    let name = before.strip_suffix(operator)?.trim();
    let is_name = !name.is_empty() && !name.contains([':', ' ', '\t', '$', '(']);
    let full = match operator {
        "::" => "::=",
        "?" => "?=",
        "+" => "+=",
        "!" => "!=",
        ":" => ":=",
        _ => "=",
    };
    is_name.then(|| (name, full, line.get(at + 1..).unwrap_or_default().trim_start()))
}
