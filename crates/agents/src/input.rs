//! The tool part of a payload → [`Call`]: the tool, its shell text, its paths, and their problems. `agents/*.toml` name
//! the keys. Every problem still yields a call, so that it can be denied and recorded.

use castellan_event::{
    Agent, Call, Change, FileTarget, IntakeProblem, PATH_BYTES_MAX, Replacement, Tool, ToolKind,
};
use serde_json::{Map, Value as Json};

use crate::agent::AgentId;
use crate::limits::WORD_BYTES_MAX;
use crate::spec::{Key, McpFamily};
use crate::{patch, shell_words, tools};

/// Reads the call from the payload's fields and takes its input from them. `problems` holds the problems so far.
pub(crate) fn read_call(
    id: AgentId,
    fields: &mut Map<String, Json>,
    correlation_id: u64,
    agent: Agent,
    mut problems: Vec<IntakeProblem>,
) -> Call {
    let raw_name = text(fields, "tool_name", &mut problems);
    let raw_name = raw_name.filter(|name| !name.is_empty()).unwrap_or_else(|| {
        note(&mut problems, "tool_name");
        String::new()
    });
    let use_id = text(fields, "tool_use_id", &mut problems).unwrap_or_default();
    let input = fields.remove("tool_input").unwrap_or_default();
    if !input.is_object() {
        note(&mut problems, "tool_input");
    }
    let background = id.spec().background_key.and_then(|key| input.get(key));
    let in_background = !matches!(background, None | Some(Json::Bool(false)));
    let mut tool = tools::tool(id, &raw_name, use_id);
    if id.spec().families.mcp == McpFamily::Context {
        read_server(fields, &mut tool, &mut problems);
    }
    let mut call = Call {
        correlation_id,
        in_background,
        tool,
        agent,
        input_text: input.to_string(),
        input,
        command: None,
        files: Vec::new(),
        problems,
    };
    if holds_nul(&call) {
        call.problems.push(IntakeProblem::NulByte);
    }
    read_targets(id, &mut call);
    call
}

/// Reads `mcp_context`: the server and its tool.
fn read_server(fields: &Map<String, Json>, tool: &mut Tool, problems: &mut Vec<IntakeProblem>) {
    let Some(context) = fields.get(CONTEXT_KEY).filter(|context| !context.is_null()) else { return };
    let name =
        |key: &str| context.get(key).and_then(Json::as_str).filter(|name| name.len() <= WORD_BYTES_MAX);
    match (name("server_name"), name("tool_name")) {
        (Some(server), Some(name)) => tools::of_server(tool, server, name),
        _ => note(problems, CONTEXT_KEY),
    }
}

const CONTEXT_KEY: &str = "mcp_context";

/// Returns the text that matches a permission request to the question about the same call: canonical tool and input,
/// with sorted keys. Codex 0.169.0 adds a `description` to the permission request, and omits the line break at the end
/// of a patch.
pub fn call_key_input(call: &Call) -> String {
    let mut input = call.input.clone();
    match (call.tool.kind, input.as_object_mut()) {
        (ToolKind::Shell, Some(fields)) => {
            fields.remove("description");
        }
        (ToolKind::Patch, Some(fields)) => {
            if let Some(Json::String(patch)) = fields.get_mut("command") {
                patch.truncate(patch.trim_end_matches(['\r', '\n']).len());
            }
        }
        _ => {}
    }
    input.sort_all_objects();
    format!("{} {input}", call.tool.name)
}

fn read_targets(id: AgentId, call: &mut Call) {
    let (Some(spec), Some(fields)) = (tools::spec(id, &call.tool.name_raw), call.input.as_object()) else {
        return;
    };
    let mut problems = Vec::new();
    let command = keyed(fields, spec.command, &mut problems);
    let path = keyed(fields, spec.path, &mut problems);
    let directory = keyed(fields, spec.directory, &mut problems);
    if path.iter().chain(&directory).any(|path| path.len() > PATH_BYTES_MAX) {
        problems.push(IntakeProblem::TooManyPaths);
    }
    if spec.kind == ToolKind::Patch {
        if let Some(text) = command {
            let (files, found) = patch::split(&text);
            call.files = files;
            problems.extend(found);
        }
    } else {
        if id.spec().patches_in_shell
            && let Some(patch) = command.as_deref().and_then(patch::within_shell_text)
        {
            let (files, found) = patch;
            call.files = files;
            problems.extend(found);
        }
        call.command = match directory {
            Some(directory) => command.map(|command| within(&directory, &command)),
            None => command,
        };
        let change = path.as_deref().map(|path| change(spec.kind, fields, path)).unwrap_or_default();
        call.files.extend(path.map(|path| FileTarget {
            path,
            patch_op: None,
            patch_text: String::new(),
            change,
        }));
    }
    call.problems.extend(problems);
}

/// Returns shell text that first changes to the directory in which the agent runs it.
fn within(directory: &str, command: &str) -> String {
    let there = ["cd", "--", directory].map(str::to_owned);
    format!("{}\n{command}", shell_words::join(there))
}

/// Returns the tool's change of the file at `path`. Unsaid if the input has another form.
fn change(kind: ToolKind, fields: &Map<String, Json>, path: &str) -> Change {
    let text = |fields: &Map<String, Json>, key: &str| Some(fields.get(key)?.as_str()?.to_owned());
    let replacement = |fields: &Map<String, Json>| {
        let is_on = |key: &str| fields.get(key) == Some(&Json::Bool(true));
        let everywhere = is_on("replace_all") || is_on("allow_multiple");
        Some(Replacement { old: text(fields, "old_string")?, new: text(fields, "new_string")?, everywhere })
    };
    let replacements: Option<Vec<Replacement>> = match (kind, fields.get("edits")) {
        (ToolKind::Write, _) => return text(fields, "content").map(Change::Whole).unwrap_or_default(),
        (ToolKind::Edit, Some(Json::Array(edits))) => {
            edits.iter().map(|edit| edit.as_object().and_then(replacement)).collect()
        }
        (ToolKind::Edit, _) => replacement(fields).map(|one| vec![one]),
        _ => None,
    };
    let edited = |replacements| Change::Edited { of: path.to_owned(), replacements };
    replacements.map(edited).unwrap_or_default()
}

fn keyed(fields: &Map<String, Json>, key: Key, problems: &mut Vec<IntakeProblem>) -> Option<String> {
    let (name, required) = match key {
        Key::No => return None,
        Key::Required(name) => (name, true),
        Key::Optional(name) => (name, false),
        Key::Unless(name, other) => (name, !fields.contains_key(other)),
    };
    match fields.get(name) {
        Some(Json::String(value)) if !value.is_empty() => Some(value.clone()),
        None if !required => None,
        Some(Json::Null) if !required => None,
        Some(Json::String(_)) if !required => None,
        _ => {
            note(problems, &format!("tool_input.{name}"));
            None
        }
    }
}

/// Reads an optional text of the payload.
fn text(fields: &Map<String, Json>, key: &str, problems: &mut Vec<IntakeProblem>) -> Option<String> {
    match fields.get(key) {
        Some(Json::String(value)) => Some(limited(value, key, WORD_BYTES_MAX, problems)),
        None | Some(Json::Null) => None,
        Some(_) => {
            note(problems, key);
            None
        }
    }
}

/// Returns a text of the payload. A text above the limit is cut and recorded as a problem, since sessions must not grow
/// with input.
pub(crate) fn limited(value: &str, key: &str, bytes_max: usize, problems: &mut Vec<IntakeProblem>) -> String {
    if value.len() <= bytes_max {
        return value.to_owned();
    }
    problems.push(IntakeProblem::TooLong(key.to_owned()));
    value.get(..value.floor_char_boundary(bytes_max)).unwrap_or_default().to_owned()
}

fn note(problems: &mut Vec<IntakeProblem>, field: &str) {
    let problem = IntakeProblem::WrongType(field.to_owned());
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

fn holds_nul(call: &Call) -> bool {
    let agent = &call.agent;
    let texts =
        [&call.tool.name_raw, &call.tool.use_id, &agent.cwd, &agent.session_id, &agent.transcript_path];
    texts.iter().any(|text| text.contains('\0')) || json_holds_nul(&call.input)
}

fn json_holds_nul(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains('\0'),
        Json::Array(items) => items.iter().any(json_holds_nul),
        Json::Object(fields) => fields.iter().any(|(key, value)| key.contains('\0') || json_holds_nul(value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}
