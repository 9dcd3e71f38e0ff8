//! [`Makefile`]: the rules and variables of a makefile, by the GNU make 4.3 manual. Both branches of a condition are read. It
//! must not know how a target is made.

use std::collections::BTreeMap;

use castellan_event::Why;

use super::expand::expand;

/// A makefile, as far as it is understood.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    pub(super) rules: Vec<Rule>,
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) includes: Vec<String>,
    /// Code that make runs itself: `$(shell ...)`, `!=`.
    pub(super) code: Vec<String>,
    pub(super) holes: Vec<(Why, String)>,
}

/// A variable's value, not expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) value: String,
    /// It may have other values: it is set in a condition, or by code.
    pub(super) is_unsure: bool,
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
    pub(super) fn read(text: &str) -> Makefile {
        let mut makefile = Makefile::default();
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
                "ifeq" | "ifneq" | "ifdef" | "ifndef" => conditions += 1,
                "else" => {}
                "endif" => conditions = conditions.saturating_sub(1),
                "define" => {
                    let body: Vec<String> =
                        lines.by_ref().take_while(|line| line.trim() != "endef").collect();
                    let name = rest.trim_end_matches(['=', ':', '?', '+', ' ']).trim().to_owned();
                    makefile.variables.insert(name, Variable { value: body.join("\n"), is_unsure: true });
                }
                "include" | "-include" | "sinclude" => {
                    let files = makefile.expanded(rest, &BTreeMap::new());
                    makefile.includes.extend(files.split_whitespace().map(str::to_owned));
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

    fn assign(&mut self, line: &str, is_unsure: bool) {
        let Some((name, operator, value)) = assignment(line) else { return };
        if operator == "!=" {
            self.code.push(value.to_owned());
        }
        let is_new = !self.variables.contains_key(name);
        let variable = self.variables.entry(name.to_owned()).or_default();
        match operator {
            "?=" if !is_new => {}
            "+=" => {
                variable.value.push(' ');
                variable.value.push_str(value);
            }
            // A variable that names itself would never come to an end.
            ":=" | "::=" if value.contains(&format!("$({name})")) => {
                variable.value = value.replace(&format!("$({name})"), &variable.value.clone());
            }
            _ => value.clone_into(&mut variable.value),
        }
        variable.is_unsure |= is_unsure || operator == "!=";
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
        match line.split_once(';') {
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
        let mut code = Vec::new();
        let expanded = expand(text, &value, &mut code);
        for one in code {
            if !self.code.contains(&one) {
                self.code.push(one);
            }
        }
        expanded
    }
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
