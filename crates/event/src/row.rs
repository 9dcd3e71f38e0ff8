//! Rows: the objects that rules are tested on. A call becomes rows by left join. The call has one row for each file
//! that it names. Each command has a row with the call's fields, and each effect one with the fields of its command and
//! call. Effects of files that the call writes become rows in the same way.

mod fields;

use std::borrow::Cow;
use std::net::IpAddr;

use crate::call::{Call, FileTarget};
use crate::effect::Effect;
use crate::facts::{Command, Facts};
use crate::field::Level;
use crate::net::Net;
use crate::session::Session;
use crate::world::{Answers, Query};
use fields::{Read, TABLE};

pub use fields::{FIELDS, field_index};

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

impl<'a> Value<'a> {
    fn text(text: &'a str) -> Value<'a> {
        Value::Text(Cow::Borrowed(text.as_bytes()))
    }

    fn optional(text: Option<&'a str>) -> Value<'a> {
        text.map_or(Value::Absent, Value::text)
    }

    fn texts(texts: &'a [String]) -> Value<'a> {
        Value::List(texts.iter().map(|text| Value::text(text)).collect())
    }
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
    part: Part<'a>,
}

/// The part of the facts that a row describes.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Call,
    Command(Placed<'a>),
    /// An effect, and the command that has it.
    Effect(&'a Effect, Option<Placed<'a>>),
    /// An effect of a file that the call writes, when the file is run later.
    Written(&'a Effect, Option<Placed<'a>>),
}

/// A command with its position in its list.
type Placed<'a> = (usize, &'a Command);

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
    let whole = CallRow { call, session, real_cwd, file: None, part: Part::Call };
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
    let commands = commands.map(|command| CallRow { part: Part::Command(command), ..whole });
    let of_file = |effect: &Effect| effect.file.and_then(|at| files.get(at)).copied().unwrap_or(whole);
    let effects = facts.effects.iter().map(|effect| CallRow {
        part: Part::Effect(effect, placed(effect, &facts.commands)),
        ..of_file(effect)
    });
    let written = facts.written.effects.iter().map(|effect| CallRow {
        part: Part::Written(effect, placed(effect, &facts.written.commands)),
        ..of_file(effect)
    });
    Ok(text.into_iter().chain(files.iter().copied()).chain(commands).chain(effects).chain(written).collect())
}

/// Returns the command that has an effect.
fn placed<'a>(effect: &Effect, commands: &'a [Command]) -> Option<Placed<'a>> {
    let at = effect.command?;
    Some((at, commands.get(at)?))
}

impl Row for CallRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let Some(field) = TABLE.get(field) else { return Value::Absent };
        match field.read {
            Read::Call(read) => read(self),
            Read::Keyed(read) => read(self, arg.unwrap_or_default()),
            Read::Command(read) => self.command().map_or(Value::Absent, |(_, command)| read(command)),
            Read::Effect(read) => self.effect().map_or(Value::Absent, read),
            Read::Written(read) => match self.part {
                Part::Written(effect, _) => read(effect),
                Part::Call | Part::Command(_) | Part::Effect(..) => Value::Absent,
            },
        }
    }

    fn level(&self) -> Level {
        match self.part {
            Part::Call => Level::Call,
            Part::Command(_) => Level::Command,
            Part::Effect(..) => Level::Effect,
            Part::Written(..) => Level::Written,
        }
    }

    /// The call's fields differ by file. A command's fields also differ by its list: run now, or written.
    fn part(&self, of: Level) -> Option<usize> {
        match of {
            Level::Call => Some(self.file.map_or(0, |file| file.at + 1)),
            Level::Command => {
                let is_written = matches!(self.part, Part::Written(..));
                Some(self.command().map_or(0, |(at, _)| (at + 1) * 2 + usize::from(is_written)))
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
        match self.part {
            Part::Call => None,
            Part::Command(command) => Some(command),
            Part::Effect(_, command) | Part::Written(_, command) => command,
        }
    }

    /// Returns the effect that the row describes.
    pub fn effect(&self) -> Option<&'a Effect> {
        match self.part {
            Part::Call | Part::Command(_) => None,
            Part::Effect(effect, _) | Part::Written(effect, _) => Some(effect),
        }
    }

    fn mcp(&self) -> Option<&'a (String, String)> {
        self.call.tool.mcp.as_ref()
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
