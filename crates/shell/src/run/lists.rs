//! `xargs` and `parallel`: commands with arguments from a list. This module must not know the effect of the commands.

use castellan_event::{Why, single_quoted};
use castellan_programs::{Arg, Invocation, Piece, Program, Quoting, invoke};

use super::Call;
use crate::found::{Origin, Wrapped};
use crate::limits::{LISTED_CALLS_MAX, VALUE_BYTES_MAX};
use crate::literals::ansi_quoted;
use crate::scope::Scope;
use crate::shells::SH;
use crate::state::{Descriptor, State};
use crate::text::Text;
use crate::walk::Walker;

#[derive(Debug, Default)]
struct Xargs {
    delimiter: Option<char>,
    file: bool,
    replace: Option<String>,
    at_once: Option<usize>,
    lines: bool,
    command: usize,
}

fn read_xargs(program: &'static Program, argv: &[Arg]) -> Xargs {
    let read = invoke(program, argv);
    let mut xargs = Xargs { command: command_at(&read, argv), ..Xargs::default() };
    for used in &read.options {
        let value = used.value.as_ref().and_then(Arg::as_str);
        match used.option.flags.first().copied().unwrap_or_default() {
            "-0" => xargs.delimiter = Some('\0'),
            "-a" => xargs.file = true,
            "-d" => xargs.delimiter = value.and_then(ansi_quoted).and_then(|text| text.chars().next()),
            "-I" | "-i" | "-J" => xargs.replace = Some(value.unwrap_or("{}").to_owned()),
            "-n" => xargs.at_once = value.and_then(|value| value.parse().ok()),
            "-L" | "-l" => xargs.lines = true,
            _ => {}
        }
    }
    xargs
}

/// Returns the position of the command.
fn command_at(read: &Invocation, argv: &[Arg]) -> usize {
    read.operands.first().map_or(argv.len(), |operand| operand.at)
}

impl Walker<'_> {
    pub(super) fn xargs(&mut self, state: &mut State, scope: &Scope, call: &Call, program: &'static Program) {
        let read = read_xargs(program, &call.argv);
        let (own, command) = call.argv.split_at_checked(read.command).unwrap_or((&call.argv, &[]));
        let input = if read.file { None } else { self.input(state) };
        let input =
            input.unwrap_or_else(|| Text::unknown(if read.file { Why::File } else { Why::Input }, "xargs"));
        if command.is_empty() {
            self.emit(state, scope, call);
            self.unknown_output(state, scope, call, Why::Substitution);
            return;
        }
        let why = input.why_of_parts().unwrap_or(Why::Input);
        let any = match why == Why::Glob {
            true => pattern(&input, read.replace.is_none()),
            false => Arg::unknown(why, crate::text::cut(&input.written()), read.replace.is_none()),
        };
        let words: Vec<Arg> = match input.as_str() {
            Some(known) => {
                self.work.spend_bytes(known.len());
                let words = listed(known, &read);
                self.work.spend(words.len() as u64);
                words.into_iter().map(Arg::known).collect()
            }
            // Lines of file patterns: a search with alternative tests prints several.
            None => match patterns(&input) {
                Some(lines) => lines.iter().map(|line| pattern(line, read.replace.is_none())).collect(),
                None => vec![any],
            },
        };
        let wrapper = Wrapped { name: "xargs".into(), argv: own.to_vec(), neutral: false };
        let Some(mut scope) = self.around(scope, wrapper, call) else { return };
        scope.origin = Origin::Wrapped;
        let calls = self.xargs_calls(command, &words, &read);
        self.subshell(state, &scope, |walker, state| {
            state.set_descriptor(0, Descriptor::Input(std::rc::Rc::default()));
            walker.each_started(state, &scope, call, calls);
        });
        state.status = None;
    }

    /// Returns the commands for a list. Over the limit, adds one command with unknown arguments.
    fn xargs_calls(&mut self, command: &[Arg], words: &[Arg], read: &Xargs) -> Vec<Vec<Arg>> {
        let size = match read.replace {
            Some(_) => 1,
            None => read.at_once.unwrap_or(usize::MAX).clamp(1, words.len().max(1)),
        };
        let made = |group: &[Arg]| match (&read.replace, group) {
            (Some(mark), [word]) => replaced(command, mark, word),
            _ => command.iter().chain(group).cloned().collect::<Vec<Arg>>(),
        };
        let mut calls: Vec<Vec<Arg>> = words.chunks(size).take(LISTED_CALLS_MAX).map(made).collect();
        if words.is_empty() && read.replace.is_none() {
            calls.push(command.to_vec());
        }
        if words.len().div_ceil(size) > LISTED_CALLS_MAX {
            calls.push(made(&[Arg::unknown(Why::Budget, "xargs", read.replace.is_none())]));
        }
        self.work.spend(calls.iter().map(|call| call.len() as u64).sum());
        calls
    }

    /// Runs commands as programs with empty standard input.
    pub(super) fn each_started(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        calls: Vec<Vec<Arg>>,
    ) {
        for argv in calls {
            if !self.goes_on(scope, call.span) {
                break;
            }
            self.subshell(state, scope, |walker, state| {
                let mut next = Call::new(argv, call.span);
                next.redirects = call.redirects.clone();
                next.env = call.env.clone();
                walker.started(state, scope, next);
            });
        }
        state.status = None;
    }

    pub(super) fn parallel(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        program: &'static Program,
    ) {
        let at = command_at(&invoke(program, &call.argv), &call.argv);
        let marks = |arg: &Arg| matches!(arg.as_str(), Some(":::" | ":::+" | "::::" | "::::+"));
        let rest = call.argv.get(at..).unwrap_or_default();
        let end = rest.iter().position(marks).unwrap_or(rest.len());
        let (command, lists) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let own = call.argv.get(..at).unwrap_or_default().to_vec();
        let wrapper = Wrapped { name: "parallel".into(), argv: own, neutral: false };
        let Some(mut scope) = self.around(scope, wrapper, call) else { return };
        scope.origin = Origin::Wrapped;
        let mut values = self.parallel_values(state, lists);
        if values.len() > LISTED_CALLS_MAX {
            values.truncate(LISTED_CALLS_MAX);
            values.push(Arg::unknown(Why::Budget, "parallel", false));
        }
        for value in &values {
            if !self.goes_on(&scope, call.span) {
                break;
            }
            let mut code = Text::default();
            let mut placed = false;
            let quoted = quoted(value);
            self.work.spend(command.len() as u64);
            for (number, word) in command.iter().enumerate() {
                if number > 0 {
                    code.push_str(" ");
                }
                for piece in word.pieces() {
                    match piece {
                        Piece::Text(text) => {
                            let mut parts = text.split("{}");
                            code.push_str(parts.next().unwrap_or_default());
                            for part in parts {
                                placed = true;
                                code.push(&quoted);
                                code.push_str(part);
                            }
                        }
                        Piece::Unknown { why, written } => code.push_unknown(*why, written),
                    }
                }
            }
            if command.is_empty() {
                code = Text::from(value);
            } else if !placed {
                code.push_str(" ");
                code.push(&quoted);
            }
            self.work.spend_bytes(code.len().saturating_mul(8));
            self.subshell(state, &scope, |walker, state| {
                walker.parallel_one(state, &scope, call, &code, command, value);
            });
        }
        state.status = None;
    }

    /// Runs one line. An unknown value becomes an unknown argument of the command.
    fn parallel_one(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        code: &Text,
        command: &[Arg],
        value: &Arg,
    ) {
        state.set_descriptor(0, Descriptor::Input(std::rc::Rc::default()));
        let certain = command.iter().all(|word| word.as_str().is_some());
        if code.as_str().is_none() && certain && !command.is_empty() {
            let argv = match replaced(command, "{}", value) {
                same if same == command => command.iter().chain([value]).cloned().collect(),
                made => made,
            };
            self.started(state, scope, Call::new(argv, call.span));
            return;
        }
        self.shell_text(state, scope, SH, code, &[], call.span);
    }

    fn parallel_values(&mut self, state: &State, lists: &[Arg]) -> Vec<Arg> {
        if lists.is_empty() {
            let input = self.input(state).unwrap_or_else(|| Text::unknown(Why::Input, "parallel"));
            return match input.as_str() {
                Some(known) => known.lines().map(Arg::known).collect(),
                None => {
                    let why = input.why_of_parts().unwrap_or(Why::Input);
                    let is_pattern = why == Why::Glob;
                    let any = || Arg::unknown(why, input.written(), false);
                    vec![if is_pattern { pattern(&input, false) } else { any() }]
                }
            };
        }
        let mut values = Vec::new();
        let mut files = false;
        for arg in lists {
            match arg.as_str() {
                Some(":::" | ":::+") => files = false,
                Some("::::" | "::::+") => files = true,
                _ if files => values.push(Arg::unknown(Why::File, arg.written().into_owned(), false)),
                _ => values.push(arg.clone()),
            }
        }
        values
    }
}

/// Returns the lines of a text, if every line is a file pattern.
fn patterns(text: &Text) -> Option<Vec<Text>> {
    let is_glob = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    if !text.pieces().iter().all(is_glob) {
        return None;
    }
    let mut lines = vec![Text::default()];
    for piece in text.pieces() {
        match piece {
            Piece::Text(known) => {
                for (at, part) in known.split('\n').enumerate() {
                    if at > 0 {
                        lines.push(Text::default());
                    }
                    lines.last_mut()?.push_str(part);
                }
            }
            Piece::Unknown { why, written } => lines.last_mut()?.push_unknown(*why, written),
        }
    }
    lines.retain(|line| !line.written().is_empty());
    let is_one = |line: &Text| line.why_of_parts() == Some(Why::Glob);
    ((2..=LISTED_CALLS_MAX).contains(&lines.len()) && lines.iter().all(is_one)).then_some(lines)
}

/// Returns the names from a list that is a single pattern.
fn pattern(input: &Text, several: bool) -> Arg {
    Arg::from_pieces(input.clone().without_last_newlines().pieces().to_vec(), several)
}

fn quoted(value: &Arg) -> Text {
    match value.as_str() {
        Some(known) => Text::known(single_quoted(known)),
        None => Text::from(value),
    }
}

/// Splits a list into words as `xargs` does.
fn listed(text: &str, read: &Xargs) -> Vec<String> {
    if let Some(delimiter) = read.delimiter {
        let text = text.strip_suffix(delimiter).unwrap_or(text);
        return text.split(delimiter).map(str::to_owned).collect();
    }
    if read.replace.is_some() {
        let lines = text.lines().map(|line| Quoting::XARGS_LINE.words(line.trim_start()));
        return lines
            .map(|mut words| words.pop().unwrap_or_default())
            .filter(|line| !line.is_empty())
            .collect();
    }
    Quoting::XARGS.words(text)
}

/// Returns the command with a mark replaced in its arguments.
pub(super) fn replaced(command: &[Arg], mark: &str, value: &Arg) -> Vec<Arg> {
    if mark.is_empty() {
        return command.to_vec();
    }
    let marks =
        |piece: &Piece| matches!(piece, Piece::Text(_)).then(|| piece.written().matches(mark).count());
    let places: usize = command.iter().flat_map(Arg::pieces).filter_map(marks).sum();
    let is_long = places > 1 && places.saturating_mul(value.len()) > VALUE_BYTES_MAX;
    let value = if is_long { &Arg::unknown(Why::Size, mark, false) } else { value };
    command
        .iter()
        .map(|arg| {
            let mut pieces = Vec::new();
            let mut changed = false;
            for piece in arg.pieces() {
                match piece {
                    Piece::Text(text) => {
                        let mut parts = text.split(mark);
                        pieces.push(Piece::Text(parts.next().unwrap_or_default().to_owned()));
                        for part in parts {
                            changed = true;
                            pieces.extend(value.pieces().iter().cloned());
                            pieces.push(Piece::Text(part.to_owned()));
                        }
                    }
                    Piece::Unknown { .. } => pieces.push(piece.clone()),
                }
            }
            Arg::from_pieces(pieces, arg.splits() || (changed && value.splits()))
        })
        .collect()
}
