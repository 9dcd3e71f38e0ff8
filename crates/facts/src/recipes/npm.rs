//! Scripts of a `package.json`, by npm 11. `pre` and `post` scripts run around each; further arguments go to its end.
//! Commands that install or publish the project run scripts of their own.

use std::collections::BTreeSet;

use castellan_event::{Why, matches_star};
use castellan_programs::{Arg, find, invoke};
use serde_json::Value;

use super::{Script, Wanted, quoted};
use crate::memo;
use castellan_programs::base_name;

/// Returns the requested script, with those around it.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let Some(manifest) = memo::json(text) else {
        return Script { holes: vec![(Why::Syntax, "package.json".to_owned())], ..Script::default() };
    };
    let name = wanted.name.filter(|_| wanted.verb == "run").unwrap_or(wanted.verb);
    let own = LIFECYCLE.iter().find(|(verb, _)| wanted.name.is_none() && *verb == name);
    let names: Vec<(String, bool)> = match own {
        Some((_, names)) => names.iter().map(|name| ((*name).to_owned(), false)).collect(),
        None if name == "restart" => {
            ["stop", "restart", "start"].iter().flat_map(|name| with_hooks(name)).collect()
        }
        None => with_hooks(name).into(),
    };
    let scripts = manifest.get("scripts");
    let mut script = Script { env: variables(&manifest, wanted, name), ..Script::default() };
    if wanted.verb == "run" && name.contains('*') {
        script.texts.extend(matched(name, scripts, wanted));
        return script;
    }
    if wanted.verb == "run" && scripts.and_then(|scripts| scripts.get(name)).is_none() {
        script.texts.extend(program(wanted, name));
        return script;
    }
    for (name, takes_arguments) in names {
        let Some(text) = scripts.and_then(|scripts| scripts.get(&name)?.as_str()) else { continue };
        let more = if takes_arguments { further(wanted, &name) } else { String::new() };
        script.texts.push(format!("{text}{more}"));
    }
    script
}

/// Returns the scripts whose names match a pattern of runners of several scripts (`lint:*`, `lint:*(!fix)`).
fn matched(pattern: &str, scripts: Option<&Value>, wanted: &Wanted<'_>) -> Vec<String> {
    let (pattern, without) = match pattern.split_once("(!") {
        Some((pattern, without)) => (pattern, without.strip_suffix(')')),
        None => (pattern, None),
    };
    let all = scripts.and_then(Value::as_object).into_iter().flatten();
    let fitting = all.filter(|(name, _)| {
        matches_star(pattern, name) && !without.is_some_and(|without| name.contains(without))
    });
    let manager = wanted.argv.first().and_then(Arg::as_str).map(base_name);
    let is_manager = manager.is_some_and(|name| MANAGERS.contains(&name));
    let names = fitting.flat_map(|(name, _)| with_hooks(name));
    let texts = names.filter_map(|(name, takes_arguments)| {
        let text = scripts?.get(&name)?.as_str()?;
        let takes_arguments = takes_arguments && is_manager;
        let more = if takes_arguments { further(wanted, wanted.name?) } else { String::new() };
        Some(format!("{text}{more}"))
    });
    texts.collect()
}

/// Returns the variables that npm and similar managers set for a script.
fn variables(manifest: &Value, wanted: &Wanted<'_>, name: &str) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let own = |key: &str| Some((format!("npm_package_{key}"), manifest.get(key).and_then(text)?));
    let config = manifest.get("config").and_then(Value::as_object).into_iter().flatten();
    let configured =
        config.filter_map(|(key, value)| Some((format!("npm_package_config_{key}"), text(value)?)));
    let manager =
        wanted.argv.first().and_then(Arg::as_str).map(base_name).filter(|name| MANAGERS.contains(name));
    let started = manager.map(|manager| ("npm_execpath".to_owned(), manager.to_owned()));
    let event = ("npm_lifecycle_event".to_owned(), name.to_owned());
    ["name", "version"].into_iter().filter_map(own).chain(configured).chain(started).chain([event]).collect()
}

/// Programs that run scripts of a `package.json` and set `npm_execpath` to themselves.
const MANAGERS: &[&str] = &["npm", "pnpm", "yarn"];

/// Returns the program for a name without a script: one of the project's packages (not for npm), or a code file (bun).
fn program(wanted: &Wanted<'_>, name: &str) -> Option<String> {
    let manager = wanted.argv.first().and_then(Arg::as_str)?.rsplit('/').next()?;
    let is_code = [".ts", ".js", ".mjs", ".cjs", ".tsx", ".jsx"].iter().any(|end| name.ends_with(end));
    let name = quoted(&Arg::known(name));
    let more = further(wanted, name.trim_matches('\''));
    match manager {
        "bun" if is_code => Some(format!("bun {name}{more}")),
        "bun" | "pnpm" | "yarn" => Some(format!("{name}{more}")),
        _ => None,
    }
}

/// Scripts that npm runs for its own commands.
const LIFECYCLE: &[(&str, &[&str])] = &[
    (
        "install",
        &[
            "preinstall",
            "install",
            "postinstall",
            "prepublish",
            "preprepare",
            "prepare",
            "postprepare",
            "dependencies",
        ],
    ),
    ("pack", &["prepack", "prepare", "postpack"]),
    ("publish", &["prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"]),
    ("version", &["preversion", "version", "postversion"]),
];

/// Returns a script with those around it; only the script itself takes arguments.
fn with_hooks(name: &str) -> [(String, bool); 3] {
    [(format!("pre{name}"), false), (name.to_owned(), true), (format!("post{name}"), false)]
}

/// Returns the words after the script's name, or after the subcommand that names it, without the options of npm.
fn further(wanted: &Wanted<'_>, name: &str) -> String {
    let is_name = |arg: &Arg| arg.as_str() == Some(name);
    let is_word = |arg: &Arg| !arg.prefix().starts_with('-');
    let options = options_of_npm(wanted.argv);
    let own = wanted.argv.get(1..).unwrap_or_default();
    let at = own.iter().position(is_name).or_else(|| own.iter().position(is_word));
    let rest = own.iter().enumerate().skip(at.map_or(own.len(), |at| at + 1));
    let rest = rest.filter(|(at, arg)| arg.as_str() != Some("--") && !options.contains(&(at + 1)));
    rest.map(|(_, arg)| format!(" {}", quoted(arg))).collect()
}

/// Returns the positions of npm's options and their values. The other managers accept none after a script's name.
fn options_of_npm(argv: &[Arg]) -> BTreeSet<usize> {
    let name = argv.first().and_then(Arg::as_str).map(base_name);
    let Some(program) = name.filter(|name| *name == "npm").and_then(find) else { return BTreeSet::new() };
    let read = invoke(program, argv);
    let mut places = BTreeSet::new();
    for used in &read.options {
        places.insert(used.at);
        let is_next = |value: &Arg| argv.get(used.at + 1) == Some(value);
        places.extend(used.value.as_ref().filter(|value| is_next(value)).map(|_| used.at + 1));
    }
    for operand in &read.operands {
        places.remove(&operand.at);
    }
    places
}
