//! Rows: the objects that rules are tested on. A call becomes rows by left join. The call has one row for each file
//! that it names. Each command has a row with the call's fields, and each effect one with the fields of its command and
//! call. Effects of files that the call writes become rows in the same way.

use std::borrow::Cow;
use std::net::IpAddr;

use crate::call::{Call, FileTarget, PatchOp};
use crate::facts::{Command, Effect, Facts, When};
use crate::field::{FIELDS, Level};
use crate::net::Net;
use crate::session::Session;
use crate::world::{Answers, Query};

/// The value of a field on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// The row has no such value: every comparison is false.
    Absent,
    /// Bytes as they are; values of types text and bytes.
    Text(Cow<'a, [u8]>),
    /// A number.
    U64(u64),
    /// True or false.
    Bool(bool),
    /// An address.
    Ip(IpAddr),
    /// A network.
    Net(Net),
    /// A list; its elements have one of the kinds above, and none is absent.
    List(Vec<Value<'a>>),
}

/// Something that rules can be tested on.
pub trait Row {
    /// Returns the value of field number `field` of the catalogue, with its argument if the field takes one. Callers
    /// never ask for a field finer than the row.
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_>;

    /// Returns the level that the row describes.
    fn level(&self) -> Level {
        Level::Call
    }

    /// Returns a number for the part of the row at a level. Two rows of one call with equal parts down to a level have
    /// equal values in the fields of these levels. `None` if their equality is not known.
    fn part(&self, _of: Level) -> Option<usize> {
        None
    }
}

/// A call, or a part of it, seen as one row of source `coding_agent`.
#[derive(Debug, Clone, Copy)]
pub struct CallRow<'a> {
    call: &'a Call,
    session: &'a Session,
    real_cwd: &'a str,
    file: Option<RowFile<'a>>,
    /// The command, with its position in the facts.
    command: Option<(usize, &'a Command)>,
    effect: Option<&'a Effect>,
    /// The effect belongs to a file that the call writes, when the file is run later.
    is_written: bool,
}

/// One of the call's files.
#[derive(Debug, Clone, Copy)]
struct RowFile<'a> {
    /// Position in the call's files.
    at: usize,
    target: &'a FileTarget,
    real_path: &'a str,
}

/// Builds the rows of a call, coarse ones first, or returns the queries whose answers are missing.
///
/// There is always at least one row, so that no call escapes the rules.
pub fn rows<'a>(
    call: &'a Call,
    facts: &'a Facts,
    session: &'a Session,
    answers: &'a Answers,
) -> Result<Vec<CallRow<'a>>, Vec<Query>> {
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
    let whole =
        CallRow { call, session, real_cwd, file: None, command: None, effect: None, is_written: false };
    let files: Vec<CallRow<'a>> = files
        .into_iter()
        .enumerate()
        .map(|(at, (target, real))| {
            let real_path = real.unwrap_or_default();
            CallRow { file: Some(RowFile { at, target, real_path }), ..whole }
        })
        .collect();
    // Shell text with a patch has both: a row for the text, and a row for each file of the patch.
    let text = (files.is_empty() || call.command.is_some()).then_some(whole);
    let commands = facts.commands.iter().enumerate();
    let commands = commands.map(|command| CallRow { command: Some(command), ..whole });
    let effects = facts.effects.iter().map(|effect| {
        let command = effect.command.and_then(|at| facts.commands.get(at).map(|command| (at, command)));
        let of = effect.file.and_then(|at| files.get(at)).copied().unwrap_or(whole);
        CallRow { command, effect: Some(effect), ..of }
    });
    let written = facts.written.effects.iter().map(|effect| {
        let commands = &facts.written.commands;
        let command = effect.command.and_then(|at| commands.get(at).map(|command| (at, command)));
        let of = effect.file.and_then(|at| files.get(at)).copied().unwrap_or(whole);
        CallRow { command, effect: Some(effect), is_written: true, ..of }
    });
    Ok(text.into_iter().chain(files.iter().copied()).chain(commands).chain(effects).chain(written).collect())
}

impl Row for CallRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        // A test keeps the table of fields and the matches below in agreement.
        FIELDS.get(field).map_or(Value::Absent, |def| match def.level {
            Level::Call => self.of_call(def.name, arg),
            Level::Command => {
                self.command.map_or(Value::Absent, |(_, command)| of_command(command, def.name))
            }
            Level::Effect => self.effect.map_or(Value::Absent, |effect| of_effect(effect, def.name)),
            Level::Written => {
                if self.is_written {
                    of_written(def.name)
                } else {
                    Value::Absent
                }
            }
        })
    }

    fn level(&self) -> Level {
        match (self.command, self.effect) {
            (_, Some(_)) if self.is_written => Level::Written,
            (_, Some(_)) => Level::Effect,
            (Some(_), None) => Level::Command,
            (None, None) => Level::Call,
        }
    }

    /// The call's fields differ by file. A command's fields also differ by its list: run now, or written.
    fn part(&self, of: Level) -> Option<usize> {
        match of {
            Level::Call => Some(self.file.map_or(0, |file| file.at + 1)),
            Level::Command => {
                Some(self.command.map_or(0, |(at, _)| (at + 1) * 2 + usize::from(self.is_written)))
            }
            Level::Effect | Level::Written => None,
        }
    }
}

impl<'a> CallRow<'a> {
    /// Returns the position in the call's files of the file that the row describes or belongs to.
    pub fn file(&self) -> Option<usize> {
        self.file.map(|file| file.at)
    }

    /// Returns the call's working directory, symlinks resolved.
    pub fn real_cwd(&self) -> &'a str {
        self.real_cwd
    }

    /// Returns the command that the row describes or belongs to, with its position in the facts. For a row of level
    /// [`Level::Written`], the position is in the commands of [`Facts::written`].
    pub fn command(&self) -> Option<(usize, &'a Command)> {
        self.command
    }

    /// Returns the effect that the row describes.
    pub fn effect(&self) -> Option<&'a Effect> {
        self.effect
    }

    fn of_call(&self, name: &str, arg: Option<&str>) -> Value<'_> {
        let (call, agent, tool) = (self.call, &self.call.agent, &self.call.tool);
        let mcp = tool.mcp.as_ref();
        match name {
            "correlation.id" => Value::U64(call.correlation_id),
            "row.level" => text(self.level().as_str()),
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
            "tool.input_command" => text(self.input_command()),
            "tool.file_path" => text(self.file.map_or("", |file| &file.target.path)),
            "tool.real_file_path" => text(self.file.map_or("", |file| file.real_path)),
            "tool.file_name" => text(self.file.map_or("", |file| last_component(&file.target.path))),
            "tool.patch_op" => {
                text(self.file.and_then(|file| file.target.patch_op).map_or("", PatchOp::as_str))
            }
            "tool.mcp_server" | "mcp.server" => text(mcp.map_or("", |(server, _)| server)),
            "mcp.tool" => text(mcp.map_or("", |(_, tool)| tool)),
            "mcp.args" => text(mcp.map_or("", |_| &call.input_text)),
            "session.mark_count" => {
                let mark = self.session.marks.get(arg.unwrap_or_default());
                Value::U64(mark.map_or(0, |mark| mark.count))
            }
            "session.mark_age_ms" => {
                let mark = self.session.marks.get(arg.unwrap_or_default());
                mark.map_or(Value::Absent, |mark| Value::U64(self.session.now_ms.saturating_sub(mark.at_ms)))
            }
            _ => Value::Absent,
        }
    }

    /// The patch tool does the changes of a patch, even if another tool carried the patch.
    fn tool_name(&self) -> &str {
        if self.patched_file().is_some() { "apply_patch" } else { &self.call.tool.name }
    }

    fn input_command(&self) -> &str {
        match self.patched_file() {
            Some(file) => &file.patch_text,
            None => self.call.command.as_deref().unwrap_or_default(),
        }
    }

    fn patched_file(&self) -> Option<&'a FileTarget> {
        self.file.map(|file| file.target).filter(|file| file.patch_op.is_some())
    }
}

fn of_command<'a>(command: &'a Command, name: &str) -> Value<'a> {
    match name {
        "cmd.name" => optional(&command.name),
        "cmd.path" => optional(&command.path),
        "cmd.args" => texts(&command.args),
        "cmd.flags" => texts(&command.flags),
        "cmd.operands" => texts(&command.operands),
        "cmd.subcommand" => optional(&command.subcommand),
        "cmd.line" => text(&command.line),
        "cmd.wrappers" => texts(&command.wrappers),
        "cmd.origin" => text(&command.origin),
        "cmd.pipe_from" => optional(&command.pipe_from),
        "cmd.env" => texts(&command.env),
        "cmd.remote" => optional(&command.remote),
        _ => Value::Absent,
    }
}

fn of_effect<'a>(effect: &'a Effect, name: &str) -> Value<'a> {
    match name {
        "fx.kind" => text(effect.kind.as_str()),
        "fx.path" => optional(&effect.path),
        "fx.path_raw" => optional(&effect.path_raw),
        "fx.home_path" => effect.home_path().map_or(Value::Absent, text),
        "fx.scope" => effect.scope.map_or(Value::Absent, |scope| text(scope.as_str())),
        "fx.place" => effect.place.map_or(Value::Absent, |place| text(place.as_str())),
        "fx.guard" => effect.guard.map_or(Value::Absent, |guard| text(guard.as_str())),
        "fx.host" => optional(&effect.host),
        "fx.file_origin" => effect.file_origin.map_or(Value::Absent, |origin| text(origin.as_str())),
        "fx.host_class" => effect.host_class.map_or(Value::Absent, |class| text(class.as_str())),
        "fx.url" => optional(&effect.url),
        "fx.recursive" => effect.recursive.map_or(Value::Absent, Value::Bool),
        "fx.force" => effect.force.map_or(Value::Absent, Value::Bool),
        "fx.system" => optional(&effect.system),
        "fx.verb" => optional(&effect.verb),
        "fx.target" => optional(&effect.target),
        "fx.package" => optional(&effect.package),
        "fx.what" => text(effect.what()),
        "fx.text" => Value::Text(Cow::Owned(effect.text().into_bytes())),
        "fx.role" => effect.role.map_or(Value::Absent, |role| text(role.as_str())),
        "fx.why" => effect.why.map_or(Value::Absent, |why| text(why.as_str())),
        "script.path" => optional(&effect.script_path),
        "script.sha256" => optional(&effect.script_sha256),
        _ => Value::Absent,
    }
}

fn of_written<'a>(name: &str) -> Value<'a> {
    match name {
        "fx.when" => text(When::Written.as_str()),
        _ => Value::Absent,
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

fn optional(value: &Option<String>) -> Value<'_> {
    value.as_deref().map_or(Value::Absent, text)
}

fn texts(all: &[String]) -> Value<'_> {
    Value::List(all.iter().map(|one| text(one)).collect())
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
