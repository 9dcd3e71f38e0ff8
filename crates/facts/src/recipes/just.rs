//! Recipes of a justfile, by just 1.40. Each line runs in its own shell, or all lines are one script.

use std::collections::BTreeMap;

use castellan_event::Why;
use castellan_programs::Arg;
use castellan_shell::interpreter;

use super::{Script, UNKNOWN, Wanted};
use crate::limits::JUST_RECIPES_MAX;

/// Attributes that change how or where a recipe runs.
const WAYS: &[&str] = &["script", "working-directory", "no-cd", "extension"];

/// Programs that read a script from their standard input if its name is `-`.
const READ_INPUT: &[&str] =
    &["python", "python3", "node", "perl", "ruby", "lua", "bash", "sh", "zsh", "dash", "deno"];

#[derive(Debug, Default)]
struct Recipe {
    name: String,
    parameters: Vec<String>,
    needs: Vec<String>,
    lines: Vec<String>,
    /// The lines as written.
    written: Vec<String>,
    /// The program that runs all lines as one script, if an attribute names it instead of a first line.
    interpreter: Option<String>,
}

/// Returns the script of a recipe.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let (recipes, variables, mut script) = read(text);
    let default = || recipes.first().map(|recipe| recipe.name.clone());
    let Some(goal) = wanted.name.map(str::to_owned).or_else(default) else { return script };
    // Further words are arguments of a recipe with parameters, or else further recipes.
    let is_recipe = |name: &str| recipes.iter().any(|recipe| recipe.name == name);
    let words =
        wanted.argv.iter().skip(1).filter_map(Arg::as_str).filter(|word| *word != goal && is_recipe(word));
    let mut todo: Vec<String> = words.map(str::to_owned).collect();
    todo.push(goal);
    let mut done: Vec<String> = Vec::new();
    while let Some(name) = todo.pop() {
        if done.contains(&name) {
            continue;
        }
        let Some(recipe) = recipes.iter().find(|recipe| recipe.name == name) else {
            // It may be in a module, or in the justfile of a directory above (`set fallback`).
            script.holes.push((Why::File, name.clone()));
            done.push(name);
            continue;
        };
        if done.len() >= JUST_RECIPES_MAX {
            script.holes.push((Why::Budget, name));
            break;
        }
        done.push(name);
        todo.extend(recipe.needs.iter().cloned());
        add(recipe, &variables, &mut script);
    }
    script
}

fn add(recipe: &Recipe, variables: &BTreeMap<String, String>, script: &mut Script) {
    let within = recipe.lines.iter().flat_map(|line| line.split("{{").skip(1));
    let expressions = within.filter_map(|text| text.split("}}").next());
    for code in expressions.filter(|text| text.contains('`') || text.contains("shell(")) {
        script.holes.push((Why::Language, code.to_owned()));
    }
    let filled = |line: &String| filled(line, recipe, variables);
    if let Some(interpreter) = &recipe.interpreter {
        return as_script(interpreter, recipe.written.iter().map(filled).collect(), script);
    }
    let first = recipe.lines.first().map(String::as_str).unwrap_or_default();
    match interpreter(first).map(|words| words.first().map(|word| (*word).to_owned())) {
        None => {
            let lines = recipe.lines.iter().map(filled);
            script.texts.extend(lines.map(|line| line.trim_start_matches(['@', '-']).to_owned()));
        }
        Some(Some(program)) if matches!(program.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash")) => {
            script.texts.push(recipe.lines.iter().skip(1).map(filled).collect::<Vec<_>>().join("\n"));
        }
        Some(_) => {
            let words = interpreter(first).unwrap_or_default().join(" ");
            as_script(&words, recipe.written.iter().skip(1).map(filled).collect(), script);
        }
    }
}

/// Adds all lines as one script of a program. Unknown text in the script may be code, so such a script is Opaque.
fn as_script(interpreter: &str, mut lines: Vec<String>, script: &mut Script) {
    const END: &str = "END OF THE RECIPE";
    while lines.pop_if(|line| line.trim().is_empty()).is_some() {}
    let name = interpreter.split_whitespace().next().and_then(|program| program.rsplit('/').next());
    let is_read = name.is_some_and(|name| READ_INPUT.contains(&name));
    let is_known = lines.iter().all(|line| !line.contains(UNKNOWN) && line != END);
    if !is_read || !is_known {
        return script.holes.push((Why::Language, interpreter.to_owned()));
    }
    let indented = lines.iter().filter(|line| !line.trim().is_empty());
    let margin = indented.map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    let body: Vec<&str> = lines.iter().map(|line| line.get(margin..).unwrap_or_default()).collect();
    script.texts.push(format!("{interpreter} - <<'{END}'\n{}\n{END}", body.join("\n")));
}

/// Returns the program of `[script("program", "argument")]`.
fn of_attribute(line: &str) -> Option<String> {
    let words = line.strip_prefix("[script(")?.strip_suffix(")]")?.split(',');
    let words: Option<Vec<&str>> = words.map(|word| literal(word.trim())).collect();
    words.filter(|words| words.iter().all(|word| !word.contains([' ', '{']))).map(|words| words.join(" "))
}

/// Replaces `{{name}}` by its value. Parameters and expressions are unknown.
fn filled(line: &str, recipe: &Recipe, variables: &BTreeMap<String, String>) -> String {
    let mut made = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        made.push_str(before);
        let (name, next) = after.split_once("}}").unwrap_or((after, ""));
        let name = name.trim();
        let is_own = recipe.parameters.iter().any(|one| one == name);
        match variables.get(name).filter(|_| !is_own) {
            Some(value) => made.push_str(value),
            None => made.push_str(&format!("${{{UNKNOWN}}}")),
        }
        rest = next;
    }
    made + rest
}

fn read(text: &str) -> (Vec<Recipe>, BTreeMap<String, String>, Script) {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut variables = BTreeMap::new();
    let mut script = Script::default();
    let mut interpreter = None;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() || line.starts_with([' ', '\t']) {
            if let Some(recipe) = recipes.last_mut() {
                recipe.written.push(line.to_owned());
            }
            if let Some(recipe) = recipes.last_mut().filter(|_| !line.trim().is_empty()) {
                let line = line.trim_start();
                match recipe.lines.last_mut().filter(|before| before.ends_with('\\')) {
                    Some(before) => {
                        before.pop();
                        before.push_str(line);
                    }
                    None => recipe.lines.push(line.to_owned()),
                }
            }
            continue;
        }
        if let Some(program) = of_attribute(line.trim_end()) {
            interpreter = Some(program);
            continue;
        }
        let before = recipes.len();
        top(line, &mut recipes, &mut variables, &mut script);
        if let Some(recipe) = recipes.get_mut(before) {
            recipe.interpreter = interpreter.take();
        }
    }
    (recipes, variables, script)
}

/// Parses a line outside of recipes.
fn top(line: &str, recipes: &mut Vec<Recipe>, variables: &mut BTreeMap<String, String>, script: &mut Script) {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return;
    }
    if line.starts_with('[') {
        if WAYS.iter().any(|way| line.contains(way)) {
            script.holes.push((Why::Language, line.to_owned()));
        }
        return;
    }
    let word = line.split_whitespace().next().unwrap_or_default();
    match word {
        "set" if line.contains("shell") || line.contains("working-directory") => {
            script.holes.push((Why::Language, line.to_owned()))
        }
        "set" | "unexport" => return,
        "import" | "import?" | "mod" | "mod?" => {
            let file = line.split_once(['\'', '"']).map(|(_, rest)| rest.trim_end_matches(['\'', '"']));
            match file.filter(|_| word.starts_with("import")) {
                Some(file) => script.includes.push(file.to_owned()),
                None => script.holes.push((Why::File, line.to_owned())),
            }
            return;
        }
        _ => {}
    }
    if let Some((name, value)) = line.split_once(":=") {
        let name = name.trim_start_matches("export ").trim_start_matches("alias ").trim();
        // Commands in backticks run when just reads the file.
        let code: Vec<&str> = value.split('`').skip(1).step_by(2).collect();
        if value.contains("shell(") || code.iter().any(|code| code.is_empty()) {
            script.holes.push((Why::Language, line.to_owned()));
        }
        if !code.is_empty() {
            script.texts.extend(code.into_iter().map(str::to_owned));
        } else if let Some(text) = literal(value.trim()) {
            variables.insert(name.to_owned(), text.to_owned());
        } else if line.starts_with("alias ") {
            recipes.push(Recipe {
                name: name.to_owned(),
                needs: vec![value.trim().to_owned()],
                ..Recipe::default()
            });
        }
        return;
    }
    let Some((head, needs)) = line.split_once(':') else { return };
    let mut words = head.trim_start_matches('@').split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let plain = |word: &str| word.trim_start_matches(['+', '*', '$']).split('=').next().map(str::to_owned);
    let parameters = words.filter_map(plain).collect();
    let needs =
        needs.split(['(', ')', ' ', '&']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    recipes.push(Recipe { name, parameters, needs, ..Recipe::default() });
}

/// Returns the content of a text in quotes without escapes.
fn literal(value: &str) -> Option<&str> {
    ['\'', '"'].iter().find_map(|quote| {
        let inner = value.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains([*quote, '\\'])).then_some(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, name: Option<&str>, expected: &[&str]) {
        let script = script(
            text,
            &Wanted { verb: "run", name, argv: &[], env: &[], is_shown: false, directory: "/w" },
        );
        let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
        let found: Vec<String> = script.texts.iter().cloned().chain(holes).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn recipes_and_what_they_need() {
        check("a:\n  rm x\n", Some("b"), &["hole file b"]);
        check("a: b\n  @echo a\nb:\n  rm x\n", None, &["echo a", "rm x"]);
        check("dir := 'out'\nclean:\n    rm -rf {{dir}}/x\n", Some("clean"), &["rm -rf out/x"]);
        check("go target:\n    rm -rf {{target}}\n", Some("go"), &["rm -rf ${castellan_unknown_value}"]);
        let own = "target := 'x'\ngo target='y':\n    rm -rf {{target}}\n";
        check(own, Some("go"), &["rm -rf ${castellan_unknown_value}"]);
        check("alias c := clean\nclean:\n    rm x\n", Some("c"), &["rm x"]);
        check("a:\n    #!/usr/bin/env bash\n    cd x\n    rm y\n", None, &["cd x\nrm y"]);
        let python = |program: &str, text: &str| {
            format!("{program} - <<'END OF THE RECIPE'\n{text}\nEND OF THE RECIPE")
        };
        let text = "a:\n    #!/usr/bin/env python3\n    if 1:\n\n        print(1)\nb:\n    rm x\n";
        check(text, None, &[&python("python3", "if 1:\n\n    print(1)")]);
        let text = "[script(\"python3\", '-u')]\na:\n    if 1:\n        print(1)\nb:\n    rm x\n";
        check(text, None, &[&python("python3 -u", "if 1:\n    print(1)")]);
        check(text, Some("b"), &["rm x"]);
        check("x := '1'\n[script('node')]\na:\n    f({{x}})\n", None, &[&python("node", "f(1)")]);
        check("[script('node')]\na x:\n    f({{x}})\n", Some("a"), &["hole language node"]);
        check("[script('fish')]\na:\n    rm x\n", None, &["hole language fish"]);
        let bare = "[script]\na:\n    rm x\n";
        check(bare, None, &["rm x", "hole language [script]"]);
        check("v := `rm -rf y`\na:\n    echo\n", None, &["rm -rf y", "echo"]);
        check("v := `a` + `rm b`\nx:\n    echo\n", None, &["a", "rm b", "echo"]);
        let shell = "v := shell('rm y')";
        check(&format!("{shell}\nx:\n    echo\n"), None, &["echo", &format!("hole language {shell}")]);
        let there = "set working-directory := '/'";
        check(&format!("{there}\nx:\n    echo\n"), None, &["echo", &format!("hole language {there}")]);
        let there = "[working-directory: '/']";
        check(&format!("{there}\nx:\n    echo\n"), None, &["echo", &format!("hole language {there}")]);
        check(
            "x:\n    echo {{`rm y`}}\n",
            None,
            &["echo ${castellan_unknown_value}", "hole language `rm y`"],
        );
        check(
            "set shell := ['python3', '-c']\na:\n    x\n",
            None,
            &["x", "hole language set shell := ['python3', '-c']"],
        );
    }
}
