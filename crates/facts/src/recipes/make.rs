//! Recipes of a makefile for a target and its prerequisites, by the GNU make 4.3 manual. Each line runs in a shell of
//! its own. All targets are treated as out of date.

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::Why;

use super::makefile::{Makefile, Rule};
use super::{MAKEFILES, Script, UNKNOWN, Wanted, unquote};
use crate::limits::MAKE_TARGETS_MAX;

/// Prefixes of a recipe line that control how it runs.
const PREFIXES: &[char] = &['@', '-', '+'];

/// Returns the script of a target.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let mut makefile = Makefile::read(text, wanted.env, wanted.argv, wanted.directory);
    let mut script = Script { includes: makefile.includes.clone(), ..Script::default() };
    let default = || makefile.rules.iter().flat_map(|rule| &rule.targets).find(|name| is_goal(name)).cloned();
    // Reading the makefile runs code even if there is nothing to make.
    let goal = wanted.name.map(str::to_owned).or_else(default);
    // make first makes included files, and the makefile itself, if a rule exists for them.
    let mut todo: Vec<String> = makefile.includes.clone();
    let is_target = |name: &str| makefile.rules.iter().flat_map(|rule| &rule.targets).any(|one| one == name);
    todo.extend(MAKEFILES.iter().filter(|name| is_target(name)).map(|name| (*name).to_owned()));
    let in_one_shell = is_target(".ONESHELL");
    todo.extend(goal);
    let mut made = BTreeSet::new();
    let mut texts = Vec::new();
    while let Some(target) = todo.pop() {
        if !made.insert(target.clone()) {
            continue;
        }
        if made.len() > MAKE_TARGETS_MAX {
            script.holes.push((Why::Budget, target));
            break;
        }
        let rules: Vec<Rule> = makefile
            .rules
            .iter()
            .filter(|rule| rule.targets.iter().any(|one| fits(one, &target)))
            .cloned()
            .collect();
        let rules = or_implicit(&makefile, rules, &target);
        for rule in rules {
            todo.extend(rule.prerequisites.iter().map(|one| one.replace('%', stem(&rule, &target))));
            texts.append(&mut expanded(&mut makefile, &rule, &target, (in_one_shell, wanted.is_shown)));
        }
    }
    let shell = makefile.variables.get("SHELL").cloned().unwrap_or_default();
    if !shell.value.is_empty() && (shell.is_unsure || !is_shell(&shell.value)) {
        script.holes.push((Why::Language, format!("SHELL = {}", shell.value)));
    }
    // Code that runs while make reads comes first.
    script.env = exported(&mut makefile);
    let all = makefile.code.iter().chain(&texts);
    script.texts = all.map(|text| unquote::shell_text(text, &makefile.code)).collect();
    script.holes.append(&mut makefile.holes);
    script
}

/// Returns the variables that the makefile exports to its recipes' shells. `PATH` stays as known.
fn exported(makefile: &mut Makefile) -> Vec<(String, String)> {
    let names: Vec<String> = makefile.exported.iter().filter(|name| *name != "PATH").cloned().collect();
    let mut value = |name: String| {
        let variable = makefile.variables.get(&name)?.clone();
        let texts = makefile.alternatives(&format!("$({name})"), &BTreeMap::new());
        let [text] = texts.as_slice() else { return None };
        let is_known = !variable.is_unsure && !text.contains(UNKNOWN) && !unquote::is_files(text);
        is_known.then(|| (name, text.clone()))
    };
    names.into_iter().filter_map(&mut value).collect()
}

/// Returns the lines of a rule's recipe for a target as shell text, with all possible values.
fn expanded(
    makefile: &mut Makefile,
    rule: &Rule,
    target: &str,
    (in_one_shell, is_shown): (bool, bool),
) -> Vec<String> {
    let own = automatic(rule, target);
    let mut lines = Vec::new();
    for line in &rule.recipe {
        let (prefix, command) = split(line);
        // A line with a plus, or with a make in the make, runs even if commands are only shown.
        if !is_shown || prefix.contains('+') || command.contains("MAKE") {
            lines.push(command.to_owned());
        }
    }
    if in_one_shell {
        return makefile.alternatives(&lines.join("\n"), &own);
    }
    let mut made = Vec::new();
    for line in lines {
        // A value of several lines is several commands.
        let all = makefile.alternatives(&line, &own);
        let each = all.iter().flat_map(|text| commands(text)).filter(|line| !line.trim().is_empty());
        made.extend(each.map(|line| split(&line).1.to_owned()));
    }
    made
}

/// Splits text into lines, and keeps a line together with the one before that ends with a backslash.
fn commands(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        match lines.last_mut().filter(|before| before.ends_with('\\')) {
            Some(before) => {
                before.push('\n');
                before.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Splits a line into its prefixes and the command.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    line.split_at(line.len() - line.trim_start_matches(|one| PREFIXES.contains(&one) || one == ' ').len())
}

/// Adds the recipe of make for a target without one: `.DEFAULT` for a target that no rule names, the built-in rule for
/// an object file. A program has one if the makefile sets its compiler.
fn or_implicit(makefile: &Makefile, mut rules: Vec<Rule>, target: &str) -> Vec<Rule> {
    if rules.iter().any(|rule| !rule.recipe.is_empty()) || target.starts_with('.') {
        return rules;
    }
    let is_own = |name: &str| makefile.variables.contains_key(name);
    let with =
        |recipe: Vec<String>| Rule { targets: vec![target.to_owned()], prerequisites: Vec::new(), recipe };
    let lines = |of_c: &str, of_cxx: &str| {
        let all = [Some(of_c), Some(of_cxx).filter(|_| is_own("CXX"))];
        all.into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    if let Some(stem) = target.strip_suffix(".o") {
        let of_c = format!("$(CC) $(CFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c -o {target} {stem}.c");
        let of_cxx = format!("$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c -o {target} {stem}.cc");
        rules.push(with(lines(&of_c, &of_cxx)));
    } else if rules.is_empty() {
        let of_all = makefile.rules.iter().filter(|rule| rule.targets.iter().any(|one| one == ".DEFAULT"));
        let recipe: Vec<String> = of_all.flat_map(|rule| rule.recipe.clone()).collect();
        if !recipe.is_empty() {
            rules.push(with(recipe));
        } else if !target.contains('.') && (is_own("CC") || is_own("CXX")) {
            let of_c = format!("$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) {target}.c $(LDLIBS) -o {target}");
            let of_cxx =
                format!("$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(LDFLAGS) {target}.cc $(LDLIBS) -o {target}");
            rules.push(with(lines(&of_c, &of_cxx)));
        }
    }
    rules
}

fn is_goal(target: &str) -> bool {
    !target.starts_with('.') && !target.contains('%')
}

fn is_shell(program: &str) -> bool {
    let name = program.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ash" | "ksh")
}

/// Returns true if a rule's target, which may be a pattern, matches this one. `%` matches at least one character, once.
fn fits(pattern: &str, target: &str) -> bool {
    match pattern.split_once('%') {
        None => pattern.trim_start_matches("./") == target.trim_start_matches("./"),
        Some((before, after)) => {
            target.len() > before.len() + after.len() && target.starts_with(before) && target.ends_with(after)
        }
    }
}

/// Returns the text that `%` matches.
fn stem<'t>(rule: &Rule, target: &'t str) -> &'t str {
    let pattern = rule.targets.iter().find(|one| one.contains('%') && fits(one, target));
    let found = pattern
        .and_then(|one| one.split_once('%'))
        .and_then(|(before, after)| target.strip_prefix(before)?.strip_suffix(after));
    found.unwrap_or_default()
}

fn automatic(rule: &Rule, target: &str) -> BTreeMap<String, String> {
    let stem = stem(rule, target);
    let all: Vec<String> = rule.prerequisites.iter().map(|one| one.replace('%', stem)).collect();
    let first = all.first().map_or("", String::as_str);
    let directory = |path: &str| path.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned();
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    [
        ("@", target.to_owned()),
        ("<", first.to_owned()),
        ("^", all.join(" ")),
        ("+", all.join(" ")),
        ("?", all.join(" ")),
        ("*", stem.to_owned()),
        ("@D", directory(target)),
        ("@F", file(target)),
        ("<D", directory(first)),
        ("<F", file(first)),
        ("^D", all.iter().map(|one| directory(one)).collect::<Vec<_>>().join(" ")),
        ("^F", all.iter().map(|one| file(one)).collect::<Vec<_>>().join(" ")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests;
