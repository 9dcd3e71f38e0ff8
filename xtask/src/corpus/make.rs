//! Recipes of makefiles in the form that the shell receives.
//!
//! A recipe line with its continuations is one item, because make runs each in its own shell. A leading `@`, `-` or `+`
//! is removed, and `$$` becomes `$`. `$(NAME)` becomes its value if the file sets it to plain text, or if make has a
//! default (`CC`, `RM`). A variable of the usual environment (`HOME`, `CFLAGS`) becomes the shell variable `${NAME}`,
//! with a value that castellan cannot know either. `$@`, `$<` and similar become words. Lines with another variable or
//! a function of make (`$(call ...)`, `$(patsubst ...)`) are left out and counted.

use std::collections::HashMap;

use super::item::{Items, Kind};

/// GNU make's own default variables.
const DEFAULTS: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CPP", "cc -E"),
    ("CXX", "g++"),
    ("CURDIR", "."),
    ("LD", "ld"),
    ("LEX", "lex"),
    ("MAKE", "make"),
    ("RM", "rm -f"),
    ("SHELL", "/bin/sh"),
    ("YACC", "yacc"),
];

/// Automatic variables; also for forms such as `$(@D)`.
const AUTOMATIC: &[(&str, &str)] = &[
    ("@", "target"),
    ("<", "source"),
    ("^", "source"),
    ("+", "source"),
    ("?", "source"),
    ("*", "stem"),
    ("%", "member"),
    ("|", "source"),
];

/// Limit of variables within variables; no file nests deeper.
const DEPTH_MAX: usize = 8;
const BYTES_MAX: usize = 64 << 10;

type Variables<'t> = HashMap<&'t str, &'t str>;

pub(crate) fn read(text: &str, origin: &str, items: &mut Items) {
    let mut variables: Variables<'_> = DEFAULTS.iter().copied().collect();
    let set = text.lines().filter(|line| !line.starts_with('\t')).filter_map(|line| line.split_once('='));
    for (name, value) in set {
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        if !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !value.ends_with('\\')
        {
            variables.insert(name, value.trim());
        }
    }
    let mut lines = text.lines().enumerate();
    // A continuation line is not a recipe, even if it begins with a tab.
    let mut goes_on = false;
    while let Some((number, line)) = lines.next() {
        let Some(line) = line.strip_prefix('\t').filter(|_| !goes_on) else {
            goes_on = line.ends_with('\\');
            continue;
        };
        let mut recipe = line.to_owned();
        while recipe.ends_with('\\') {
            let Some((_, next)) = lines.next() else { break };
            recipe.push('\n');
            recipe.push_str(next.strip_prefix('\t').unwrap_or(next));
        }
        let recipe = shown_or_not(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']));
        if recipe.starts_with('#') || is_assignment(recipe) {
            continue;
        }
        match expand(recipe, &variables, DEPTH_MAX) {
            Some(shell) => items.add(Kind::Recipe, format!("{origin}#{}", number + 1), &shell),
            None => items.leave_out("make recipes with functions of make"),
        }
    }
}

/// Removes variables that only control make's output: automake's, and `$(Q)`.
fn shown_or_not(recipe: &str) -> &str {
    let mut rest = recipe;
    while let Some((name, after)) = rest.strip_prefix("$(").and_then(|inner| inner.split_once(')')) {
        if !name.starts_with("AM_V_") && name != "Q" {
            break;
        }
        rest = after.trim_start_matches(['@', '-', '+', ' ', '\t']);
    }
    rest
}

/// Returns true for an assignment to a make variable, indented by a tab between conditionals.
fn is_assignment(recipe: &str) -> bool {
    let name = recipe.split(['?', ':', '+', '=']).next().unwrap_or_default();
    let rest = recipe.get(name.len()..).unwrap_or_default();
    let is_name =
        !name.trim().is_empty() && name.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name && ["?=", ":=", "+="].iter().any(|sign| rest.starts_with(sign))
}

/// Returns tasks (targets that are not files), each with its line and the recipes of it and its dependencies.
pub(crate) fn tasks(text: &str) -> Vec<(usize, &str, String)> {
    let mut rules: HashMap<&str, (Vec<&str>, String)> = HashMap::new();
    let mut targets: Vec<(usize, &str)> = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(recipe) = line.strip_prefix('\t') {
            for target in &current {
                let (_, recipes) = rules.entry(target).or_default();
                recipes.push_str(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']));
                recipes.push('\n');
            }
        } else if let Some((names, needs)) =
            line.split_once(':').filter(|(_, rest)| !rest.starts_with(['=', ':']))
        {
            current = names.split_whitespace().collect();
            for target in &current {
                rules.entry(target).or_default().0.extend(needs.split_whitespace());
                targets.push((number + 1, target));
            }
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            current.clear();
        }
    }
    let mut tasks = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (line, target) in targets {
        let is_task = target.starts_with(|c: char| c.is_ascii_lowercase())
            && target.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        if !is_task || !seen.insert(target) {
            continue;
        }
        let recipes = recipes_of(target, &rules);
        if !recipes.is_empty() {
            tasks.push((line, target, recipes));
        }
    }
    tasks
}

fn recipes_of(target: &str, rules: &HashMap<&str, (Vec<&str>, String)>) -> String {
    let (mut open, mut seen, mut all) = (vec![target], std::collections::HashSet::new(), String::new());
    while let Some(target) = open.pop() {
        let Some((needs, recipes)) = rules.get(target).filter(|_| seen.insert(target)) else { continue };
        all.push_str(recipes);
        open.extend(needs);
    }
    all
}

/// Variables that make itself sets (GNU make 4.4, `make -p`), limited to those used in recipes.
const CATALOGUE: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("ARFLAGS", "rv"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CPP", "cc -E"),
    ("CXX", "g++"),
    ("FC", "f77"),
    ("INSTALL", "install"),
    ("LD", "ld"),
    ("LEX", "lex"),
    ("MAKE", "make"),
    ("RM", "rm -f"),
    ("YACC", "yacc"),
];

/// Environment variables set by the caller of make; the shell receives them too.
const GIVEN: &[&str] = &[
    "CFLAGS", "CPPFLAGS", "CXXFLAGS", "DESTDIR", "HOME", "LDFLAGS", "LDLIBS", "LIBS", "PATH", "PREFIX",
    "PWD", "SHELL", "TMPDIR", "USER",
];

/// Expands a recipe to shell text; `None` if only make could expand it.
fn expand(text: &str, variables: &Variables<'_>, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        whole.push_str(before);
        let mut chars = after.chars();
        let first = chars.next()?;
        let close = match first {
            '(' => Some(')'),
            '{' => Some('}'),
            _ => None,
        };
        let name = match close {
            Some(close) => chars.as_str().split_once(close)?.0,
            None => after.get(..first.len_utf8())?,
        };
        rest = match close {
            Some(_) => chars.as_str().get(name.len() + 1..)?,
            None => chars.as_str(),
        };
        if first == '$' {
            whole.push('$');
            continue;
        }
        let automatic = AUTOMATIC
            .iter()
            .find(|(sign, _)| name.strip_prefix(sign).is_some_and(|end| matches!(end, "" | "D" | "F")));
        if let Some((_, word)) = automatic {
            whole.push_str(word);
        } else if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')) {
            return None;
        } else if let Some(value) = variables.get(name) {
            whole.push_str(&expand(value, variables, depth)?);
        } else if let Some((_, value)) = CATALOGUE.iter().find(|(one, _)| *one == name) {
            whole.push_str(value);
        } else if GIVEN.contains(&name) {
            whole.push_str(&format!("${{{name}}}"));
        } else {
            // Another file may set the variable. If none does, the shell receives an empty text.
            return None;
        }
        if whole.len() > BYTES_MAX {
            return None;
        }
    }
    whole.push_str(rest);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_what_the_shell_gets() {
        let variables: Variables<'_> = [("CC", "cc"), ("FLAGS", "-O2 $(CFLAGS)"), ("LOOP", "$(LOOP)")].into();
        for (recipe, expected) in [
            ("$(CC) $(FLAGS) -o $@ $<", Some("cc -O2 ${CFLAGS} -o target source")),
            ("$(RM) a.o && $(MAKE) b", Some("rm -f a.o && make b")),
            ("rm -f lib.$(SET_ELSEWHERE)", None),
            ("for i in a b; do echo $$i; done", Some("for i in a b; do echo $i; done")),
            ("echo $${HOME} ${CC} $(@D)", Some("echo ${HOME} cc target")),
            ("echo $(shell ls)", None),
            ("echo $(LOOP)", None),
            ("echo $", None),
        ] {
            assert_eq!(expand(recipe, &variables, DEPTH_MAX).as_deref(), expected, "{recipe}");
        }
    }

    #[test]
    fn tasks_hold_the_recipes_of_what_they_need() {
        let text = ".PHONY: all\nX := 1\nall: lib.o lint\n\t@echo all\nlib.o: lib.c\n\tcc -c lib.c\nlint:\n\t-lint .\nempty: none\n";
        let tasks = tasks(text);
        assert_eq!(
            tasks,
            [(3, "all", "echo all\nlint .\ncc -c lib.c\n".to_owned()), (7, "lint", "lint .\n".to_owned())]
        );
    }

    #[test]
    fn lines_of_rules_are_taken() {
        let mut items = Items::default();
        read(
            "V = x\nW = \\\n\ta \\\n\tb\nall: a\n\t@echo $(V) \\\n\t  b\n\t# no\n\t-rm $(call f,x)\n",
            "Makefile",
            &mut items,
        );
        assert_eq!(items.len(), 1);
        assert!(format!("{items:?}").contains(r"echo x \\\n  b"), "{items:?}");
    }
}
