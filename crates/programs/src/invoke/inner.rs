//! The commands, shell text and code that an invocation runs from its arguments.

use super::joined::joined;
use castellan_event::{Why, matches_star};

use super::found::filled;
use super::{Invocation, Operand, Used, input};
use crate::arg::Arg;
use crate::code::{Does, code};
use crate::limits::DETAIL_CHARS_MAX;
use crate::program::{Slot, SlotRole, Style};

/// A command or code that an invocation runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inner {
    /// A command, its name first, and its additional environment.
    Command {
        /// Name and arguments.
        argv: Vec<Arg>,
        /// `NAME` and value.
        assignments: Vec<(String, Arg)>,
        /// Position of the command's name in the arguments.
        at: usize,
    },
    /// Shell text.
    Shell {
        /// The text.
        text: Arg,
        /// Arguments after it, for `bash -c TEXT NAME ARGS`.
        rest: Vec<Arg>,
    },
    /// A command with its arguments in one text, split at blanks.
    Line {
        /// The text.
        text: Arg,
    },
    /// Code.
    Code {
        /// Its language.
        language: &'static str,
        /// The text.
        text: Arg,
    },
}

impl Invocation {
    /// Returns the commands and code that the invocation runs, in argument order. `argv`: the parsed arguments.
    pub fn inner(&self, argv: &[Arg]) -> Vec<Inner> {
        let mut found = self.inner_of_options(argv);
        found.extend(self.inner_of_operands(argv));
        found
    }

    /// Like [`Invocation::inner`] for options' values alone. They run here, even if the operands run in another place.
    pub fn inner_of_options(&self, argv: &[Arg]) -> Vec<Inner> {
        let mut found = Vec::new();
        for used in self.options.iter().filter(|used| !is_before(used)) {
            if used.option.slot.role == SlotRole::Clause && !used.clause.is_empty() {
                found.push(Inner::Command {
                    argv: self.clause(used, argv),
                    assignments: Vec::new(),
                    at: used.at + 1,
                });
            }
            if let Some(value) = &used.value {
                let operands = || self.operands.iter().map(|one| one.arg.clone()).collect();
                match self.by_option(used, value, argv) {
                    Some(command) => found.push(command),
                    None => found.extend(text(used.option.slot, value, operands)),
                }
            }
        }
        found
    }

    /// Like [`Invocation::inner`] for operands alone.
    pub fn inner_of_operands(&self, argv: &[Arg]) -> Vec<Inner> {
        let mut found = Vec::new();
        let before = self.before();
        if !before.is_empty() && !self.operands.iter().any(|one| one.slot.role == SlotRole::Command) {
            let at = argv.len();
            found.push(Inner::Command { argv: before.clone(), assignments: self.assignments(), at });
        }
        for (number, operand) in self.operands.iter().enumerate() {
            let rest = || self.operands.iter().skip(number + 1).map(|one| one.arg.clone()).collect();
            let after = argv.get(operand.at..).unwrap_or_default();
            if operand.slot.role == SlotRole::Command {
                let argv = match operand.slot.detail {
                    "input" => self.with_input(after),
                    "package" => of_package(after),
                    _ => after.to_vec(),
                };
                let argv = before.iter().cloned().chain(argv).collect();
                found.push(Inner::Command { argv, assignments: self.assignments(), at: operand.at });
            } else if operand.slot.role == SlotRole::Joined && operand.slot.detail == "input" {
                let texts = input::texts(after).into_iter();
                found.extend(texts.map(|text| Inner::Shell { text, rest: Vec::new() }));
            } else if operand.slot.role == SlotRole::JoinedCode {
                found.push(Inner::Code { language: operand.slot.detail, text: joined(after) });
            } else if operand.slot.role == SlotRole::Joined {
                found.push(Inner::Shell { text: joined(after), rest: Vec::new() });
            } else {
                found.extend(text(operand.slot, &operand.arg, rest));
            }
        }
        found
    }

    /// Returns the words before the command in the operands: `docker run --entrypoint`.
    fn before(&self) -> Vec<Arg> {
        let used = self.options.iter().rfind(|used| is_before(used));
        used.and_then(|used| used.value.as_ref()).map(input::words).unwrap_or_default()
    }

    /// Returns an option's command: its value and the operands, or a wrapper's arguments in one text (`env -S`).
    fn by_option(&self, used: &Used, value: &Arg, argv: &[Arg]) -> Option<Inner> {
        let slot = used.option.slot;
        if slot.role == SlotRole::Joined {
            let operands = self.operands.iter().map(|one| one.arg.clone());
            let all: Vec<Arg> = std::iter::once(value.clone()).chain(operands).collect();
            return Some(Inner::Shell { text: joined(&all), rest: Vec::new() });
        }
        let argv = if slot.role == SlotRole::Command {
            let is_its = |one: &&Operand| slot.detail == "operands" || one.at > used.at;
            let operands = self.operands.iter().filter(is_its).map(|one| one.arg.clone());
            std::iter::once(value.clone()).chain(operands).collect()
        } else if slot.role == SlotRole::Line && self.wrapper().is_some() {
            let written = argv.get(used.at).map(|arg| arg.written().into_owned()).unwrap_or_default();
            let is_attached = written != used.flag && written.ends_with(&*value.written());
            let rest = argv.get(used.at + if is_attached { 1 } else { 2 }..).unwrap_or_default();
            let words = input::words(value).into_iter().chain(rest.iter().cloned());
            argv.first().cloned().into_iter().chain(words).collect()
        } else {
            return None;
        };
        Some(Inner::Command { argv, assignments: self.assignments(), at: used.at })
    }

    /// Returns the words of a clause, with the found paths of a search in place of the placeholder.
    fn clause(&self, used: &Used, argv: &[Arg]) -> Vec<Arg> {
        match used.option.slot.detail {
            "found" => filled(&used.clause, &self.found(argv, used.at), self.command.style != Style::Find),
            _ => used.clause.clone(),
        }
    }

    /// Returns `NAME=value` among options and operands: the environment of the command.
    pub fn assignments(&self) -> Vec<(String, Arg)> {
        let options = self.options.iter().filter(|used| used.option.slot.role == SlotRole::Assignment);
        let operands = self.operands.iter().filter(|operand| operand.slot.role == SlotRole::Assignment);
        let all = options.filter_map(|used| used.value.as_ref()).chain(operands.map(|operand| &operand.arg));
        all.filter_map(|arg| {
            let (name, _) = arg.prefix().split_once('=')?;
            Some((name.to_owned(), arg.strip_prefix(name)?.strip_prefix("=")?))
        })
        .collect()
    }

    /// Returns the named machine or container in which commands run; `None` when they run here.
    pub fn place(&self) -> Option<&Arg> {
        let operand = self.operands.iter().find(|operand| operand.slot.role == SlotRole::Where);
        operand.map(|operand| &operand.arg)
    }

    /// Returns the directory for the rest of the invocation (`-C DIR`); the last one applies.
    pub fn directory(&self) -> Option<&Arg> {
        let used = self.options.iter().rev().find(|used| used.option.slot.role == SlotRole::Directory);
        used.and_then(|used| used.value.as_ref())
    }
}

impl Slot {
    /// Returns the part of an argument after the prefix that the slot's detail requires; the whole argument without a
    /// detail. An unknown argument may be anything, so it is returned whole.
    pub fn part_of(&self, arg: &Arg) -> Option<Arg> {
        detailed(self.detail, arg)
    }
}

/// Returns a command whose name is a package, without the version: `rimraf@5`, `@scope/name@latest`, `black==24`.
fn of_package(argv: &[Arg]) -> Vec<Arg> {
    let Some((name, rest)) = argv.split_first() else { return Vec::new() };
    let known = name.prefix();
    let begins = usize::from(known.starts_with('@'));
    let end = known
        .get(begins..)
        .and_then(|text| text.find(['@', '=', '<', '>', '~', '!', '[']))
        .map(|at| at + begins);
    let bare = end
        .and_then(|end| known.get(..end))
        .filter(|bare| !bare.starts_with(['.', '/']) && !bare.contains(':'));
    let name = bare.filter(|bare| !bare.is_empty()).map_or_else(|| name.clone(), Arg::known);
    std::iter::once(name).chain(rest.iter().cloned()).collect()
}

/// Detail of a slot for shell text that may contain short names of project scripts.
const SCRIPTS: &str = "scripts";

/// Converts `npm:NAME ARGUMENTS` to `npm run NAME ARGUMENTS`. NAME is quoted: patterns are for the runner, not the
/// shell.
fn of_scripts(arg: &Arg) -> Arg {
    const MANAGERS: &[&str] = &["bun", "npm", "pnpm", "yarn"];
    let short = arg.as_str().and_then(|text| text.split_once(':'));
    let Some((manager, named)) = short.filter(|(manager, _)| MANAGERS.contains(manager)) else {
        return arg.clone();
    };
    let (name, more) = named.split_once(' ').unwrap_or((named, ""));
    if name.contains('\'') {
        return arg.clone();
    }
    Arg::known(format!("{manager} run '{name}' {more}"))
}

fn is_before(used: &Used) -> bool {
    used.option.slot.role == SlotRole::Line && used.option.slot.detail == "before"
}

fn text(slot: Slot, arg: &Arg, rest: impl FnOnce() -> Vec<Arg>) -> Vec<Inner> {
    if matches!(slot.role, SlotRole::Code | SlotRole::JoinedCode) {
        return in_code(slot.detail, arg);
    }
    let shell = || {
        if slot.detail == SCRIPTS {
            return Some(Inner::Shell { text: of_scripts(arg), rest: Vec::new() });
        }
        let text = detailed(slot.detail, arg)?;
        Some(Inner::Shell { text, rest: if slot.detail.is_empty() { rest() } else { Vec::new() } })
    };
    let line = || detailed(slot.detail, arg).map(|text| Inner::Line { text });
    let found = match slot.role == SlotRole::Shell {
        true => shell(),
        false if slot.role == SlotRole::Line => line(),
        false => None,
    };
    found.into_iter().collect()
}

/// Returns the shell text that code runs, if its language is supported; the code itself otherwise.
fn in_code(language: &'static str, arg: &Arg) -> Vec<Inner> {
    let Some(does) = code(language, arg) else { return vec![Inner::Code { language, text: arg.clone() }] };
    let shell = does.into_iter().filter_map(|one| match one {
        Does::Shell(text) => Some(Inner::Shell { text, rest: Vec::new() }),
        Does::Read(_) | Does::Write(_) | Does::Execute(_) | Does::Unknown { .. } => None,
    });
    shell.collect()
}

/// Returns the text after its required prefix, or all of it without a detail or if the text is unknown.
fn detailed(detail: &str, arg: &Arg) -> Option<Arg> {
    if detail.is_empty() || arg.prefix().is_empty() && arg.as_str().is_none() {
        return Some(arg.clone());
    }
    let all = arg.prefix();
    let end = all.char_indices().nth(DETAIL_CHARS_MAX).map_or(all.len(), |(end, _)| end);
    let (known, rest) = all.split_at_checked(end)?;
    let known = known.to_ascii_lowercase();
    let details = || detail.split('|').map(str::to_ascii_lowercase);
    if let Some(start) = details().filter_map(|one| begins(&one, &known)).min() {
        return arg.strip_prefix(all.get(..start)?);
    }
    let may_begin = |one: String| {
        let last = one.chars().next_back().filter(|_| one.contains('*'));
        let head = one.split('*').next().unwrap_or_default();
        last.is_some_and(|last| rest.to_ascii_lowercase().contains(last)) && known.starts_with(head)
    };
    details().any(may_begin).then(|| Arg::unknown(Why::Size, all.get(..end).unwrap_or_default(), false))
}

/// Returns the length of the shortest prefix of a text that matches a pattern.
fn begins(pattern: &str, text: &str) -> Option<usize> {
    let Some(last) = pattern.chars().next_back().filter(|_| pattern.contains('*')) else {
        return text.starts_with(pattern).then_some(pattern.len());
    };
    let ends = text.match_indices(last).map(|(at, letter)| at + letter.len());
    ends.filter_map(|end| text.get(..end)).find(|start| matches_star(pattern, start)).map(str::len)
}
