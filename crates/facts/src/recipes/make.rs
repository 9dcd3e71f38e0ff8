//! Recipes of a makefile for a target and what it needs, by the GNU make 4.3 manual. Each line runs in a shell of its own.
//! Everything is taken to be out of date.

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::Why;
use castellan_programs::Arg;

use super::makefile::{Makefile, Rule, Variable, assignment};
use super::{MAKEFILES, Script, Wanted};
use crate::limits::MAKE_TARGETS_MAX;

/// What stands before a recipe line that says how it is run, not what.
const PREFIXES: &[char] = &['@', '-', '+'];

/// What runs for a target.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let mut makefile = Makefile::read(text, wanted.env);
    of_command(&mut makefile, wanted.argv);
    let mut script = Script { includes: makefile.includes.clone(), ..Script::default() };
    let default = || makefile.rules.iter().flat_map(|rule| &rule.targets).find(|name| is_goal(name)).cloned();
    // What make reads runs code even where there is nothing to make.
    let goal = wanted.name.map(str::to_owned).or_else(default);
    // make first makes what it includes, and the makefile itself, where a rule says how.
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
            let mut lines = expanded(&mut makefile, &rule, &target, wanted.is_shown);
            if in_one_shell {
                lines = vec![lines.join("\n")];
            }
            texts.append(&mut lines);
        }
    }
    let shell = makefile.variables.get("SHELL").cloned().unwrap_or_default();
    if !shell.value.is_empty() && (shell.is_unsure || !is_shell(&shell.value)) {
        script.holes.push((Why::Language, format!("SHELL = {}", shell.value)));
    }
    // What make runs while it reads comes first.
    script.texts = std::mem::take(&mut makefile.code).into_iter().chain(texts).collect();
    script.holes.append(&mut makefile.holes);
    script
}

/// The lines of a rule's recipe for a target, as shells are given them.
fn expanded(makefile: &mut Makefile, rule: &Rule, target: &str, is_shown: bool) -> Vec<String> {
    let own = automatic(rule, target);
    let mut lines = Vec::new();
    for line in &rule.recipe {
        let (prefix, command) = line.split_at(line.len() - line.trim_start_matches(PREFIXES).len());
        // With a plus, and for a make in the make, a line runs even when commands are only shown.
        if is_shown && !prefix.contains('+') && !command.contains("MAKE") {
            continue;
        }
        let expanded = makefile.expanded(command, &own);
        lines.extend(Some(expanded).filter(|line| !line.trim().is_empty()));
    }
    lines
}

/// What make does for a target without a recipe: `.DEFAULT` for one that no rule names, its own rule for an object file, and for
/// a program where the makefile says what compiles it.
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

/// `make NAME=value`: the command's values count before the makefile's.
fn of_command(makefile: &mut Makefile, argv: &[Arg]) {
    for arg in argv.iter().skip(1) {
        let Some((name, _, value)) = assignment(arg.prefix()) else { continue };
        let variable = Variable { value: value.to_owned(), is_unsure: arg.as_str().is_none() };
        makefile.variables.insert(name.to_owned(), variable);
    }
}

fn is_goal(target: &str) -> bool {
    !target.starts_with('.') && !target.contains('%')
}

fn is_shell(program: &str) -> bool {
    let name = program.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ash" | "ksh")
}

/// Whether a rule's target, which may be a pattern, is this one.
fn fits(pattern: &str, target: &str) -> bool {
    match pattern.split_once('%') {
        None => pattern.trim_start_matches("./") == target.trim_start_matches("./"),
        Some((before, after)) => {
            target.len() > before.len() + after.len() && target.starts_with(before) && target.ends_with(after)
        }
    }
}

/// What `%` stands for.
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
    let directory = target.rsplit_once('/').map_or(".", |(directory, _)| directory);
    [
        ("@", target.to_owned()),
        ("<", all.first().cloned().unwrap_or_default()),
        ("^", all.join(" ")),
        ("+", all.join(" ")),
        ("?", all.join(" ")),
        ("*", stem.to_owned()),
        ("@D", directory.to_owned()),
        ("@F", target.rsplit('/').next().unwrap_or_default().to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, target: Option<&str>, expected: &[&str]) {
        let wanted = Wanted { verb: "run", name: target, argv: &[], env: &[], is_shown: false };
        let script = script(text, &wanted);
        let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
        let found: Vec<String> = script.texts.iter().cloned().chain(holes).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn recipes_of_a_target_and_of_what_it_needs() {
        check(
            "all: b c\n\techo all\nb:\n\t@echo b\nc: ; -rm -f x\n",
            None,
            &["echo all", "rm -f x", "echo b"],
        );
        check(".PHONY: x\nx:\n\techo x\ny:\n\techo y\n", None, &["echo x"]);
        check("x:\n\techo x\ny:\n\techo y\n", Some("y"), &["echo y"]);
        check("%.o: %.c\n\tcc -c $< -o $@\n", Some("a.o"), &["cc -c a.c -o a.o"]);
        check("a b: c\n\techo $@ $^\nc:\n", Some("b"), &["echo b c"]);
        check("x:\n\techo a \\\n\t  b\n", None, &["echo a \\\n  b"]);
        check("x: y\ny: x\n\techo y\n", None, &["echo y"]);
        check("$(shell echo a)\n", None, &["echo a", "hole language ${castellan_unknown_value}"]);
        check("$(eval all: ; echo a)\n", None, &["hole language $(eval all: ; echo a)"]);
        check("x: $(shell echo a; echo b) ; echo c\n", None, &["echo a; echo b", "echo c"]);
    }

    #[test]
    fn variables_are_expanded_and_what_is_not_known_stays_unknown() {
        check("D = out\nclean:\n\t$(RM) -r $(D)/x $${HOME}\n", Some("clean"), &["rm -f -r out/x ${HOME}"]);
        check("A := r\nA += m\nx:\n\t$(A)\n", None, &["r m"]);
        check("A ?= 1\nA ?= 2\nx:\n\techo ${A}\n", None, &["echo 1"]);
        check("x:\n\techo $(wildcard *.c)\n", None, &["echo ${castellan_unknown_value}"]);
        check(
            "ifdef X\nA=1\nelse\nA=2\nendif\nx:\n\techo $(A)\n",
            None,
            &["echo ${castellan_unknown_value}"],
        );
        check("A = $(A)\nx:\n\techo $(A)\n", None, &["echo ${castellan_unknown_value}", "hole budget $(A)"]);
        check(
            "V := $(shell rm -rf y)\nx:\n\techo $(V)\n",
            None,
            &["rm -rf y", "echo ${castellan_unknown_value}"],
        );
        check("V != rm -rf y\nx:\n\techo\n", None, &["rm -rf y", "echo"]);
        check("x: V = 1\nx:\n\techo $(V)\n", None, &["echo ${castellan_unknown_value}"]);
    }

    #[test]
    fn what_make_runs_itself_is_found_wherever_it_stands() {
        let x = "x:\n\techo\n";
        check(&format!("A := $(shell rm -rf y)\n{x}"), None, &["rm -rf y", "echo"]);
        check(&format!("ifeq ($(shell rm -rf y),)\nendif\n{x}"), None, &["rm -rf y", "echo"]);
        let unknown = "echo ${castellan_unknown_value}";
        check("define f\n$(shell rm -rf y)\nendef\nx:\n\techo $(call f)\n", None, &["rm -rf y", unknown]);
        check("x:\n\techo $(shell\trm -rf y)\n", None, &["rm -rf y", unknown]);
        check("A = $(shell rm -rf y)\nx:\n\techo $(A:a=b)\n", None, &["rm -rf y", unknown]);
        check(
            "x:\n\techo $(foreach f,a b,$(shell rm $(f)))\n",
            None,
            &["rm ${castellan_unknown_value}", unknown],
        );
        check("x_1 = a\nN = 1\nx:\n\techo $(x_$(N))\n", None, &["echo a"]);
        check("C = rm\nV != $(C) y\nx:\n\techo\n", None, &["rm y", "echo"]);
    }

    #[test]
    fn values_are_those_of_their_time() {
        check("A := x\nB := $(A)\nA := y\nx:\n\techo $(B)\n", None, &["echo x"]);
        check("A = x\nB = $(A)\nA = y\nx:\n\techo $(B)\n", None, &["echo y"]);
        check(".ONESHELL:\nx:\n\tcd a\n\trm b\n", None, &["cd a\nrm b"]);
        check("include y.mk\nx:\n\techo\ny.mk:\n\trm z\n", None, &["echo", "rm z"]);
    }

    #[test]
    fn values_that_may_hold_commands_are_told() {
        check(
            "ifdef A\nB = x; rm -rf y\nendif\nx:\n\techo $(B)\n",
            None,
            &["echo ${castellan_unknown_value}", "hole dynamic $(B)"],
        );
    }

    #[test]
    fn variables_that_multiply_come_to_an_end() {
        let twice = |from: usize| format!("A{} = {}\n", from + 1, format!("$(A{from})").repeat(60));
        let text = (0..20).map(twice).collect::<String>() + "A0 =\nx:\n\techo $(A20)\n";
        let wanted = Wanted { verb: "run", name: None, argv: &[], env: &[], is_shown: false };
        assert!(script(&text, &wanted).holes.iter().any(|(why, _)| *why == Why::Budget));
        let text = "A := x\n".to_owned() + &"A := $(A)$(A)\n".repeat(60) + "x:\n\techo $(A)\n";
        assert!(script(&text, &wanted).holes.iter().any(|(why, _)| *why == Why::Budget));
    }

    #[test]
    fn targets_without_a_recipe_have_one_of_their_own() {
        check("x:\n\trm x\n.DEFAULT:\n\trm $@\n", Some("y"), &["rm y"]);
        check("x: y\n.DEFAULT:\n\trm $@\n", Some("x"), &["rm y"]);
        check("x:\n\trm x\n", Some("y"), &[]);
        check("CC = rm\nx: x.h\n", Some("x.o"), &["rm    -c -o x.o x.c"]);
        check("x.o: x.h\n", None, &["cc    -c -o x.o x.c"]);
        check("CC = rm\nall:\n", Some("x"), &["rm    x.c  -o x"]);
        check("CXX = rm\n", Some("x.o"), &["cc    -c -o x.o x.c", "rm    -c -o x.o x.cc"]);
    }

    #[test]
    fn what_makes_rules_is_not_understood() {
        check("$(eval $(call f,x))\nx:\n\techo\n", None, &["echo", "hole language $(eval $(call f,x))"]);
        check(".RECIPEPREFIX = >\nx:\n>rm -rf /\n", None, &["hole language .RECIPEPREFIX = >"]);
        check("include *.mk\nx:\n\techo\n", None, &["echo", "hole dynamic *.mk"]);
        check("x:\n\t$(file >a,b)echo\n", None, &["echo", "hole language $(file >a,b)"]);
        check("SHELL = python3\nx:\n\tprint(1)\n", None, &["print(1)", "hole language SHELL = python3"]);
    }
}
