//! Calls of MCP tools, and the paths, URLs and commands in their arguments. A server's tools have no models: arguments
//! are recognised by the name of their key and by their shape.

use castellan_event::{Call, EffectKind, Role, Why, single_quoted};
use castellan_programs::Arg;
use serde_json::Value as Json;

use crate::limits::MCP_VALUES_MAX;
use crate::remote::{self, Request};
use crate::sink::Sink;
use crate::{targets, told};

/// Effects of a tool on its path arguments, by a word in the tool's name.
const VERBS: &[(&str, &[EffectKind])] = &[
    ("append", &[EffectKind::Write]),
    ("copy", &[EffectKind::Read, EffectKind::Write]),
    ("create", &[EffectKind::Write]),
    ("delete", &[EffectKind::Delete]),
    ("download", &[EffectKind::Write]),
    ("edit", &[EffectKind::Read, EffectKind::Write]),
    ("find", &[EffectKind::Read]),
    ("get", &[EffectKind::Read]),
    ("list", &[EffectKind::Read]),
    ("move", &[EffectKind::Read, EffectKind::Write, EffectKind::Delete]),
    ("patch", &[EffectKind::Read, EffectKind::Write]),
    ("put", &[EffectKind::Write]),
    ("read", &[EffectKind::Read]),
    ("remove", &[EffectKind::Delete]),
    ("rename", &[EffectKind::Read, EffectKind::Write, EffectKind::Delete]),
    ("replace", &[EffectKind::Read, EffectKind::Write]),
    ("save", &[EffectKind::Write]),
    ("search", &[EffectKind::Read]),
    ("stat", &[EffectKind::Read]),
    ("unlink", &[EffectKind::Delete]),
    ("update", &[EffectKind::Read, EffectKind::Write]),
    ("upload", &[EffectKind::Read, EffectKind::Upload]),
    ("view", &[EffectKind::Read]),
    ("write", &[EffectKind::Write]),
];

/// Effects of a tool whose name has no such word.
const ANYTHING: &[EffectKind] = &[EffectKind::Read, EffectKind::Write];

/// Keys whose values are paths in any shape. Also matches the last word of a key (`source_path`).
const PATH_KEYS: &[&str] = &[
    "cwd",
    "dest",
    "destination",
    "dir",
    "directory",
    "file",
    "filename",
    "filepath",
    "files",
    "folder",
    "path",
    "paths",
    "root",
    "source",
    "src",
];

/// Keys whose values are shell text.
const COMMAND_KEYS: &[&str] = &["bash", "cmd", "command", "commandline", "script", "shell"];

/// Keys whose values are database statements, or documents of GraphQL.
const STATEMENT_KEYS: &[&str] =
    &["document", "graphql", "mutation", "query", "queries", "sql", "statement", "statements"];

/// Adds the effects of the call and of its arguments.
pub(crate) fn effects(call: &Call, sink: &mut Sink<'_, '_, '_, '_>) {
    let (server, tool) = match &call.tool.mcp {
        Some((server, tool)) => (server.as_str(), tool.as_str()),
        None => ("", call.tool.name.as_str()),
    };
    sink.on(EffectKind::Mcp, server, tool, None);
    told::tool(server, tool, sink);
    remote::tool(server, tool, sink);
    request(call, sink);
    let kinds = kinds_of(tool);
    let mut looked_at = 0;
    for (key, text) in values(&call.input).into_iter().filter(|(key, _)| !is_one_of(key, COMMAND_KEYS)) {
        if is_one_of(key, STATEMENT_KEYS) {
            told::statements(text, sink);
            remote::documents(text, sink);
        }
        let is_path = is_one_of(key, PATH_KEYS) || is_path(text);
        looked_at += usize::from(is_path || is_url(text));
        if looked_at > MCP_VALUES_MAX {
            return sink.opaque(Role::Target, Why::Size, tool);
        }
        if is_url(text) {
            targets::url(EffectKind::Connect, &Arg::known(text), sink);
        } else if is_path {
            // Most servers expand `~`.
            let text = match text.strip_prefix("~/") {
                Some(rest) => format!("{}/{rest}", sink.scene.session.places.home()),
                None => text.to_owned(),
            };
            for kind in kinds {
                sink.path(*kind, &Arg::known(text.clone()));
            }
        }
    }
}

/// Adds the changes of a request that the arguments describe: a method, an address and a body.
fn request(call: &Call, sink: &mut Sink<'_, '_, '_, '_>) {
    let values = values(&call.input);
    let texts = |table| values.iter().filter(move |(key, _)| is_one_of(key, table)).map(|(_, text)| *text);
    let Some(method) = texts(&["method", "verb"]).next().map(str::to_ascii_uppercase) else { return };
    let Some(url) = texts(&["url", "uri", "endpoint", "path"]).next().map(Arg::known) else { return };
    let bodies: Vec<String> = texts(&["body", "data", "json", "payload"]).map(str::to_owned).collect();
    remote::request(
        &Request { method: &method, url: Some(&url), bodies: &bodies, ..Request::default() },
        sink,
    );
}

/// Returns shell text in the arguments of an MCP call. A list may hold the words of one command, or several commands.
pub(crate) fn commands(call: &Call) -> Vec<String> {
    let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
    for (key, text) in values(&call.input).into_iter().filter(|(key, _)| is_one_of(key, COMMAND_KEYS)) {
        match lists.last_mut() {
            Some((before, texts)) if std::ptr::eq(*before, key) => texts.push(text),
            _ => lists.push((key, vec![text])),
        }
    }
    let mut commands = Vec::new();
    for (_, texts) in lists {
        if texts.len() == 1 || texts.iter().any(|text| text.contains(char::is_whitespace)) {
            commands.extend(texts.iter().map(|&text| text.to_owned()));
        }
        if texts.len() > 1 {
            let words: Vec<String> = texts.iter().map(|text| single_quoted(text)).collect();
            commands.push(words.join(" "));
        }
    }
    commands
}

fn kinds_of(tool: &str) -> &'static [EffectKind] {
    let words = words(tool);
    let verb = VERBS.iter().find(|(verb, _)| words.iter().any(|word| word == verb));
    verb.map_or(ANYTHING, |(_, kinds)| kinds)
}

/// Returns every text in the input, with the nearest key above it.
fn values(input: &Json) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut open = vec![("", input)];
    while let Some((key, value)) = open.pop() {
        match value {
            Json::String(text) => found.push((key, text.as_str())),
            Json::Array(list) => open.extend(list.iter().map(|one| (key, one))),
            Json::Object(fields) => open.extend(fields.iter().map(|(key, one)| (key.as_str(), one))),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    found.reverse();
    found
}

fn is_one_of(key: &str, table: &[&str]) -> bool {
    words(key).last().is_some_and(|last| table.contains(&last.as_str()))
}

/// Splits `readFile`, `read_file` and `read-file` into words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || was_lower && letter.is_uppercase() {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    !scheme.is_empty()
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

/// Returns true for an absolute path, or one relative to the home or the working directory, in one line.
fn is_path(text: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|start| text.starts_with(start));
    begins && !text.contains('\n')
}
