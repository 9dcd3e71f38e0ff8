//! Commands of the database clients themselves: `\! ls`, `\copy`, `.shell ls`, `.output file`. Sources: psql 17, mysql
//! 8.4, the SQLite shell 3.46, sqlcmd.

use castellan_event::{EffectKind, Remote, Role, Why};
use castellan_programs::Arg;

use super::shortened;
use crate::sink::Sink;

/// The use that a client makes of the text after its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Shell text.
    Shell,
    /// A file of statements to run.
    Run,
    /// A file to read.
    Read,
    /// A file to write, or shell text after `|`.
    Write,
    /// `\copy table from|to file` or `program 'text'`.
    Copy,
    /// The client runs the result of the query.
    Results,
    /// A library to load.
    Library,
}

/// Commands by their first word, sorted. Any other command changes nothing.
const COMMANDS: &[(&str, Act)] = &[
    ("!!", Act::Shell),
    (".backup", Act::Write),
    (".cd", Act::Read),
    (".clone", Act::Write),
    (".dump", Act::Write),
    (".import", Act::Read),
    (".load", Act::Library),
    (".log", Act::Write),
    (".once", Act::Write),
    (".open", Act::Write),
    (".output", Act::Write),
    (".read", Act::Run),
    (".restore", Act::Read),
    (".save", Act::Write),
    (".sh", Act::Shell),
    (".shell", Act::Shell),
    (".sy", Act::Shell),
    (".sys", Act::Shell),
    (".system", Act::Shell),
    (".trace", Act::Write),
    (":!!", Act::Shell),
    (":out", Act::Write),
    (":r", Act::Run),
    ("\\!", Act::Shell),
    ("\\.", Act::Run),
    ("\\T", Act::Write),
    ("\\copy", Act::Copy),
    ("\\g", Act::Write),
    ("\\gexec", Act::Results),
    ("\\gx", Act::Write),
    ("\\i", Act::Run),
    ("\\include", Act::Run),
    ("\\include_relative", Act::Run),
    ("\\ir", Act::Run),
    ("\\lo_export", Act::Write),
    ("\\lo_import", Act::Read),
    ("\\o", Act::Write),
    ("\\out", Act::Write),
    ("\\s", Act::Write),
    ("\\w", Act::Write),
    ("\\write", Act::Write),
    ("pager", Act::Shell),
    ("source", Act::Run),
    ("system", Act::Shell),
    ("tee", Act::Write),
];

/// Adds the effects of a client's command.
pub(super) fn effects(system: &str, text: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let shell = ["\\!", ":!!", "!!"].iter().find(|mark| text.starts_with(*mark));
    let (word, rest) = match shell {
        Some(mark) => (*mark, text.strip_prefix(mark).unwrap_or_default()),
        None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    };
    // psql runs text in backquotes after its own commands in a shell and inserts the output.
    if word.starts_with('\\') && rest.contains('`') {
        rest.split('`').skip(1).step_by(2).for_each(|text| sink.shell(Arg::known(text)));
    }
    let word = if word.starts_with('\\') { word.to_owned() } else { word.to_ascii_lowercase() };
    let Ok(at) = COMMANDS.binary_search_by_key(&word.as_str(), |(name, _)| name) else { return };
    let Some((_, act)) = COMMANDS.get(at) else { return };
    let rest = rest.trim().trim_end_matches(';').trim();
    let last = rest.split_whitespace().next_back().map(|last| last.trim_matches(['\'', '"']));
    match act {
        Act::Shell if !rest.is_empty() => sink.shell(Arg::known(rest)),
        Act::Shell => sink.on(EffectKind::Interactive, system, "", None),
        Act::Run => run(system, rest, sink),
        Act::Results => sink.opaque(Role::Code, Why::Dynamic, &shortened(text)),
        Act::Copy => copy(rest, sink),
        Act::Read | Act::Write | Act::Library => {
            let Some(file) = last else { return };
            if let Some((before, command)) = rest.split_once('|').filter(|_| *act != Act::Library) {
                // In SQLite the shell text may be in quotes and ends with the quote.
                let quote = before.chars().next_back().filter(|last| matches!(last, '\'' | '"'));
                let end = quote.and_then(|quote| command.find(quote)).unwrap_or(command.len());
                return sink.shell(Arg::known(command.get(..end).unwrap_or(command)));
            }
            let kind = match act {
                Act::Write => EffectKind::Write,
                Act::Library => EffectKind::Execute,
                Act::Shell | Act::Run | Act::Read | Act::Copy | Act::Results => EffectKind::Read,
            };
            if !matches!(file, "off" | "on" | "stdout" | "stderr" | ":memory:") && !file.starts_with('(') {
                sink.path(kind, &Arg::known(file));
            }
        }
    }
}

/// `FILE`, to the end of the line, or shell text after `|`.
fn run(system: &str, rest: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let file = rest.trim_matches(['\'', '"']);
    match file.strip_prefix('|') {
        Some(command) => sink.shell(Arg::known(command)),
        // A variable of psql.
        None if file.starts_with(':') => sink.opaque(Role::Code, Why::Variable, file),
        None if file.is_empty() => {}
        None => super::file(system, &Arg::known(file), sink),
    }
}

/// `table from 'file'`, `(query) to program 'text'`.
fn copy(rest: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let lower = rest.to_ascii_lowercase();
    let (at, kind) = match (lower.rfind(" to "), lower.rfind(" from ")) {
        (Some(to), from) if from.is_none_or(|from| from < to) => (to + 4, EffectKind::Write),
        (_, Some(from)) => (from + 6, EffectKind::Read),
        (_, None) => return,
    };
    let what = rest.get(at..).unwrap_or_default().trim();
    let is_program = lower.get(at..).is_some_and(|lower| lower.trim_start().starts_with("program"));
    let quoted = what.split_once('\'').and_then(|(_, rest)| rest.split('\'').next());
    let named = quoted.or_else(|| what.split_whitespace().next()).unwrap_or_default();
    if is_program {
        sink.shell(Arg::known(named));
    } else if !matches!(named.to_ascii_lowercase().as_str(), "stdin" | "stdout" | "pstdin" | "pstdout") {
        let file = Arg::known(named);
        if kind == EffectKind::Read {
            sink.text_sent(Remote::default(), &file)
        } else {
            sink.path(kind, &file)
        }
    }
}
