//! [`Makefile`]: the rules and variables of a makefile, by the GNU make 4.3 manual. Must not know how a target is made.

mod conditions;

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::Why;
use castellan_programs::Arg;

use super::UNKNOWN;
use super::expand::{Given, expand, leave_out};
use super::unquote;
use super::variable::Variable;
use crate::limits::{MAKE_ALTERNATIVES_MAX, MAKE_STEPS_MAX, MAKEFILE_HOLES_MAX};
use conditions::Conditions;

/// A makefile, as far as it is understood.
#[derive(Debug)]
pub(super) struct Makefile {
    pub(super) rules: Vec<Rule>,
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) includes: Vec<String>,
    /// Code that make runs itself: `$(shell ...)`, `!=`.
    pub(super) code: Vec<String>,
    pub(super) holes: Vec<(Why, String)>,
    /// Variables that it exports to its recipes.
    pub(super) exported: BTreeSet<String>,
    /// The directory in which make runs.
    directory: String,
    /// Variables of the command, which the makefile does not change.
    fixed: BTreeSet<String>,
    conditions: Conditions,
    /// Remaining steps of expansion.
    steps: usize,
}

/// Variables that make does not inherit from its environment.
const NOT_INHERITED: &[&str] = &["SHELL", "MAKE", "MAKEFILE_LIST"];

/// Variables that change how recipes are written or run.
const WAYS: &[&str] = &[".RECIPEPREFIX", ".SHELLFLAGS"];

/// A rule: how targets are made.
#[derive(Debug, Clone, Default)]
pub(super) struct Rule {
    pub(super) targets: Vec<String>,
    pub(super) prerequisites: Vec<String>,
    /// Its recipe, line by line, not expanded, with the prefixes of each line.
    pub(super) recipe: Vec<String>,
}

impl Rule {
    fn add_head(&mut self, head: &str) {
        let (targets, rest) = head.split_once(':').unwrap_or((head, ""));
        let (prerequisites, recipe) = rest.split_once(';').map_or((rest, None), |(a, b)| (a, Some(b)));
        let prerequisites = prerequisites.trim_start_matches([':', '=']);
        // In a static pattern rule, the targets are before the pattern.
        let prerequisites = prerequisites.rsplit_once(':').map_or(prerequisites, |(_, rest)| rest);
        let add = |to: &mut Vec<String>, words: &str| {
            for word in words.split_whitespace().filter(|word| *word != "|") {
                if !to.iter().any(|one| one == word) {
                    to.push(word.to_owned());
                }
            }
        };
        add(&mut self.targets, targets);
        add(&mut self.prerequisites, prerequisites);
        self.recipe.extend(recipe.map(|recipe| recipe.trim_start().to_owned()));
    }
}

impl Makefile {
    /// Reads a makefile. `env`: the environment of make, whose variables apply until the makefile sets them. `argv`:
    /// the command, whose variables override those of the makefile.
    pub(super) fn read(text: &str, env: &[(String, Arg)], argv: &[Arg], directory: &str) -> Makefile {
        let mut makefile = Makefile::started(env, argv, directory);
        let mut in_rule = false;
        let mut lines = joined(&unquote::cleaned(text)).into_iter();
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
                    let holds = makefile.holds(word, rest);
                    makefile.open(holds);
                }
                "else" => makefile.otherwise(rest),
                "endif" => makefile.close(),
                "define" => {
                    let body: Vec<String> =
                        lines.by_ref().take_while(|line| line.trim() != "endef").collect();
                    let name = rest.trim_end_matches(['=', ':', '?', '+', ' ']).trim().to_owned();
                    makefile.variables.insert(name, Variable::known(&body.join("\n")));
                }
                "include" | "-include" | "sinclude" => {
                    let files = makefile.expanded(rest, &BTreeMap::new());
                    makefile.include(&files);
                }
                "export" | "unexport" | "override" | "private" if rest.is_empty() => {}
                "export" | "override" | "private" if assignment(rest).is_some() => {
                    makefile.fixed.retain(|_| word != "override");
                    makefile.assign(rest, false);
                    let name = assignment(rest).map(|(name, ..)| name.to_owned());
                    makefile.exported.extend(name.filter(|_| word == "export"));
                }
                "export" => makefile.exported.extend(rest.split_whitespace().map(str::to_owned)),
                "unexport" | "undefine" | "vpath" => {}
                "load" | "-load" => makefile.holes.push((Why::Language, trimmed.to_owned())),
                _ if assignment(trimmed).is_some() => makefile.assign(trimmed, false),
                _ => in_rule = makefile.add_rule(trimmed),
            }
        }
        makefile
    }

    fn started(env: &[(String, Arg)], argv: &[Arg], directory: &str) -> Makefile {
        let own = env.iter().filter(|(name, _)| !NOT_INHERITED.contains(&name.as_str()));
        let variable = |value: &Arg| Variable {
            value: value.as_str().unwrap_or_default().to_owned(),
            is_unsure: value.as_str().is_none(),
            ..Variable::default()
        };
        let mut variables: BTreeMap<String, Variable> =
            own.map(|(name, value)| (name.clone(), variable(value))).collect();
        if !directory.is_empty() {
            variables.insert("CURDIR".to_owned(), Variable::known(directory));
            // A shell sets `PWD` to the directory in which make was called.
            let is_elsewhere = |arg: &Arg| arg.prefix().starts_with("-C") || arg.prefix().starts_with("--d");
            let is_unsure = argv.iter().any(is_elsewhere);
            let here = Variable { value: directory.to_owned(), is_unsure, ..Variable::default() };
            variables.entry("PWD".to_owned()).or_insert(here);
        }
        // `make NAME=value`: values of the command override those of the makefile.
        let mut fixed = BTreeSet::new();
        for arg in argv.iter().skip(1) {
            let Some((name, _, value)) = assignment(arg.prefix()) else { continue };
            let is_unsure = arg.as_str().is_none();
            let variable = Variable { value: value.to_owned(), is_unsure, ..Variable::default() };
            variables.insert(name.to_owned(), variable);
            fixed.insert(name.to_owned());
        }
        Makefile {
            rules: Vec::new(),
            variables,
            includes: Vec::new(),
            code: Vec::new(),
            holes: Vec::new(),
            exported: BTreeSet::new(),
            directory: directory.to_owned(),
            fixed,
            conditions: Conditions::default(),
            steps: MAKE_STEPS_MAX,
        }
    }

    fn include(&mut self, files: &str) {
        for file in files.split_whitespace() {
            let is_glob = file.contains('*') && !file.contains(['?', '[', '~']);
            let is_unclear = unquote::has_pattern(file) || file.contains(['*', '?', '[', '~']);
            if file.contains(UNKNOWN) || is_unclear && !is_glob {
                self.holes.push((Why::Dynamic, unquote::shell_text(file, &[])));
            } else {
                self.includes.push(unquote::shell_text(file, &[]));
            }
        }
    }

    /// `is_possible`: the variable has this value or the one before.
    fn assign(&mut self, line: &str, is_possible: bool) {
        let Some((name, operator, value)) = assignment(line) else { return };
        if WAYS.contains(&name) {
            self.holes.push((Why::Language, line.to_owned()));
        }
        // The value is expanded immediately; the rest of it is literal.
        let now = |makefile: &mut Makefile, value: &str| {
            let all = makefile.alternatives(value, &BTreeMap::new());
            Variable::one_of(all.into_iter().map(|one| one.replace('$', "$$")).collect())
        };
        let new = match operator {
            "!=" => {
                let output = format!("$(shell {value})");
                now(self, &output)
            }
            ":=" | "::=" => now(self, value),
            _ => Variable::known(value),
        };
        if self.fixed.contains(name) {
            return;
        }
        let is_new = !self.variables.contains_key(name);
        let variable = self.variables.entry(name.to_owned()).or_default();
        match operator {
            "?=" if is_new => *variable = new,
            "?=" if variable.may_be_unset => {
                // The value replaces the empty one.
                variable.choices.retain(|one| !one.is_empty());
                variable.or(value);
            }
            "?=" => {}
            "+=" if is_possible => {
                let more = format!("{} {value}", variable.values().first().cloned().unwrap_or_default());
                variable.or(&more);
            }
            "+=" if is_new => *variable = new,
            "+=" => variable.add(value),
            _ if is_possible => new.values().iter().for_each(|one| variable.or(one)),
            _ => *variable = new,
        }
    }

    fn add_recipe(&mut self, line: &str) {
        if let Some(rule) = self.rules.last_mut() {
            rule.recipe.push(line.trim_start().to_owned());
        }
    }

    /// Parses `targets: prerequisites ; recipe`; returns true for a rule.
    fn add_rule(&mut self, line: &str) -> bool {
        let at = recipe_begins(line);
        let parts = at.and_then(|at| Some((line.get(..at)?, Some(line.get(at + 1..)?))));
        let (head, recipe) = parts.unwrap_or((line, None));
        let heads = self.alternatives(head, &BTreeMap::new());
        let Some((_, rest)) = heads.first().and_then(|head| head.split_once(':')) else {
            // `$(eval ...)` and calls of functions may create rules.
            if let Some(head) = heads.into_iter().find(|head| head.contains('$')) {
                self.holes.push((Why::Language, head));
            }
            return false;
        };
        if let Some((name, operator, value)) = assignment(rest.trim_start_matches([':', '=']).trim()) {
            // A variable of these targets: it may have this value.
            let line = format!("{name}{operator}{value}");
            self.assign(&line, true);
            return true;
        }
        // All possible targets and prerequisites.
        let mut rule = Rule::default();
        for head in &heads {
            rule.add_head(head);
        }
        rule.recipe.extend(recipe.map(|recipe| recipe.trim_start().to_owned()));
        self.rules.push(rule);
        true
    }

    /// Expands the variables of a text; `own`: those of this text only. Variables with several values are unknown.
    pub(super) fn expanded(&mut self, text: &str, own: &BTreeMap<String, String>) -> String {
        self.expanded_with(text, own, None).text
    }

    /// Returns each possible text, by the possible values of its variables.
    pub(super) fn alternatives(&mut self, text: &str, own: &BTreeMap<String, String>) -> Vec<String> {
        let mut todo: Vec<Vec<(String, usize)>> = vec![Vec::new()];
        let mut made: Vec<String> = Vec::new();
        let mut number = 0;
        while let Some(picks) = todo.pop() {
            number += 1;
            let One { text: one, asked, .. } = self.expanded_with(text, own, Some(&picks));
            for (at, (name, count)) in asked.iter().enumerate() {
                let before = asked.iter().take(at).map(|(name, _)| (name.clone(), 0));
                let before: Vec<(String, usize)> = picks.iter().cloned().chain(before).collect();
                for value in 1..*count {
                    todo.push(before.iter().cloned().chain([(name.clone(), value)]).collect());
                }
            }
            if number + todo.len() > MAKE_ALTERNATIVES_MAX {
                return vec![self.expanded(text, own)];
            }
            if !made.contains(&one) {
                made.push(one);
            }
        }
        made
    }

    fn expanded_with(
        &mut self,
        text: &str,
        own: &BTreeMap<String, String>,
        picks: Option<&[(String, usize)]>,
    ) -> One {
        let code = std::mem::take(&mut self.code);
        let variables = &self.variables;
        let value = |name: &str| {
            let own = own.get(name).map(|value| Variable::known(&value.replace('$', "$$")));
            own.or_else(|| variables.get(name).cloned())
        };
        let given = Given { value: &value, directory: &self.directory, picks };
        let expansion = expand(text, given, code, self.steps);
        self.steps = expansion.steps;
        self.code = expansion.code;
        for hole in expansion.holes {
            if !self.holes.contains(&hole) {
                leave_out(hole, &mut self.holes, MAKEFILE_HOLES_MAX);
            }
        }
        One { text: expansion.text, asked: expansion.asked, has_unset: expansion.has_unset }
    }
}

/// The result of expanding a text.
struct One {
    text: String,
    asked: Vec<(String, usize)>,
    has_unset: bool,
}

/// Returns the start of the recipe on a rule's own line: a semicolon outside of references.
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

/// Splits text into lines, and joins those after a backslash. In a recipe the backslash stays, for the shell.
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

/// Parses `NAME = value` and similar into name, operator and value. None for a rule.
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
