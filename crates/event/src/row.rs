//! Rows: what rules are tested on. A call has one row, a call that names several files one row for each.

use std::borrow::Cow;

use crate::call::{Call, FileTarget, PatchOp};
use crate::field::FIELDS;
use crate::world::{Answers, Query};

/// The value of a field on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// The row has no such value: every comparison with it is false.
    Absent,
    /// Bytes, as they are.
    Text(Cow<'a, [u8]>),
    /// A number.
    U64(u64),
    /// True or false.
    Bool(bool),
    /// A list of texts.
    TextList(Vec<Cow<'a, [u8]>>),
    /// A list of numbers.
    U64List(Vec<u64>),
}

/// Something that rules can be tested on.
pub trait Row {
    /// Returns the value of field number `field` of the catalogue, with its argument where the field takes one.
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_>;
}

/// A call seen as one row of source `coding_agent`.
#[derive(Debug, Clone, Copy)]
pub struct CallRow<'a> {
    call: &'a Call,
    real_cwd: &'a str,
    file: Option<(&'a FileTarget, &'a str)>,
}

/// Builds the rows of a call, or returns the queries whose answers are missing.
///
/// There is always at least one row, so that no call escapes the rules.
pub fn rows<'a>(call: &'a Call, answers: &'a Answers) -> Result<Vec<CallRow<'a>>, Vec<Query>> {
    let mut missing = Vec::new();
    let mut resolve = |base: &str, path: &str| {
        if path.is_empty() {
            return Some("");
        }
        let real = answers.real_path(base, path);
        if real.is_none() {
            missing.push(Query::RealPath { base: base.to_owned(), path: path.to_owned() });
        }
        real
    };
    let cwd = call.agent.cwd.as_str();
    let real_cwd = resolve("/", cwd);
    let files: Vec<_> = call.files.iter().map(|file| (file, resolve(cwd, &file.path))).collect();
    let Some(real_cwd) = real_cwd.filter(|_| missing.is_empty()) else {
        return Err(missing);
    };
    let whole = CallRow { call, real_cwd, file: None };
    if files.is_empty() {
        return Ok(vec![whole]);
    }
    let row = |(file, real): (&'a FileTarget, Option<&'a str>)| CallRow {
        call,
        real_cwd,
        file: Some((file, real.unwrap_or_default())),
    };
    // Shell text with a patch in it is both: the text, and what the patch does.
    let text = call.command.is_some().then_some(whole);
    Ok(text.into_iter().chain(files.into_iter().map(row)).collect())
}

impl Row for CallRow<'_> {
    fn value(&self, field: usize, _arg: Option<&str>) -> Value<'_> {
        // The table of fields and this match are held together by a test.
        FIELDS.get(field).map_or(Value::Absent, |def| self.by_name(def.name))
    }
}

impl<'a> CallRow<'a> {
    fn by_name(&self, name: &str) -> Value<'_> {
        let (call, agent, tool) = (self.call, &self.call.agent, &self.call.tool);
        match name {
            "correlation.id" => Value::U64(call.correlation_id),
            "agent.name" => text(&agent.name),
            "agent.os" => text(OS),
            "agent.pid" => Value::U64(u64::from(agent.pid)),
            "agent.hook_event_name" => text(&agent.event),
            "agent.session_id" => text(&agent.session_id),
            "agent.subagent_id" => text(&agent.subagent_id),
            "agent.permission_mode" => text(&agent.permission_mode),
            "agent.transcript_path" => text(&agent.transcript_path),
            "agent.model" => text(&agent.model),
            "agent.turn_id" => text(&agent.turn_id),
            "agent.cwd" => text(&agent.cwd),
            "agent.real_cwd" => text(self.real_cwd),
            "agent.real_cwd_prefix" => Value::Text(Cow::Owned(with_one_slash(self.real_cwd))),
            "tool.use_id" => text(&tool.use_id),
            "tool.name" => text(self.tool_name()),
            "tool.name_raw" => text(&tool.name_raw),
            "tool.input" => text(&call.input_text),
            "tool.input_command" => text(self.command()),
            "tool.file_path" => text(self.file.map_or("", |(file, _)| &file.path)),
            "tool.real_file_path" => text(self.file.map_or("", |(_, real)| real)),
            "tool.file_name" => text(self.file.map_or("", |(file, _)| last_component(&file.path))),
            "tool.patch_op" => {
                text(self.file.and_then(|(file, _)| file.patch_op).map_or("", PatchOp::as_str))
            }
            "tool.mcp_server" => text(tool.mcp.as_ref().map_or("", |(server, _)| server)),
            _ => Value::Absent,
        }
    }

    /// What a patch does is done by the patch tool, whatever carried the patch.
    fn tool_name(&self) -> &str {
        if self.patched_file().is_some() { "apply_patch" } else { &self.call.tool.name }
    }

    fn command(&self) -> &str {
        match self.patched_file() {
            Some(file) => &file.patch_text,
            None => self.call.command.as_deref().unwrap_or_default(),
        }
    }

    fn patched_file(&self) -> Option<&'a FileTarget> {
        self.file.map(|(file, _)| file).filter(|file| file.patch_op.is_some())
    }
}

const OS: &str = if cfg!(target_os = "linux") {
    "linux"
} else if cfg!(target_os = "macos") {
    "macos"
} else if cfg!(windows) {
    "windows"
} else {
    "unknown"
};

fn text(value: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(value.as_bytes()))
}

fn last_component(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

fn with_one_slash(path: &str) -> Vec<u8> {
    let mut prefix = path.trim_end_matches('/').as_bytes().to_vec();
    if !path.is_empty() {
        prefix.push(b'/');
    }
    prefix
}
