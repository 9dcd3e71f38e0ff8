//! Compares a command that a shell ran with the found commands. This module must not know the source of either.

use std::path::Path;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};
use castellan_shell::{Found, Item, Run};

use super::shells::{Called, MARKERS};

/// The result of the comparison for a command that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    /// Found with its arguments.
    Known,
    /// Found by its name, with unknown arguments.
    Partly,
    /// Found in a folder that is not there: its `cd` failed, and the command ran where the shell was before. The walk
    /// does not read the disk, and follows only the `cd` that succeeds: two folders for each would double the work.
    Astray,
    /// Covered only by a part that was not understood, or by a command with an unknown name.
    Gap,
    No,
}

pub(crate) fn cover(found: &Found, call: &Called) -> Cover {
    let covering: Vec<&Run> = runs(found).filter(|run| is_there(run, call) && covers(run, call)).collect();
    if covering.iter().any(|run| is_known(run)) {
        Cover::Known
    } else if covering.iter().any(|run| has_known_name(run)) {
        Cover::Partly
    } else if leaves(found, call) && runs(found).any(|run| is_astray(run) && covers(run, call)) {
        Cover::Astray
    } else if has_gap(found) {
        Cover::Gap
    } else {
        Cover::No
    }
}

/// The beginning of the names that a process substitution makes.
const MADE: &[&str] = &["/dev/fd/", "/proc/self/fd/", "/tmp/zsh"];

/// Returns true if a part that may run commands was not understood.
pub(crate) fn has_gap(found: &Found) -> bool {
    let gap = |item: &Item| matches!(item, Item::Hole(gap) if matches!(gap.role, Role::Program | Role::Code));
    found.items.iter().any(gap)
}

/// Returns the number of known marker calls that were found and not made.
pub(crate) fn not_made(found: &Found, calls: &[Called]) -> usize {
    let marker =
        |run: &&Run| run.argv.first().and_then(Arg::as_str).is_some_and(|name| MARKERS.contains(&name));
    let made = |run: &Run| calls.iter().any(|call| is_there(run, call) && covers(run, call));
    runs(found).filter(marker).filter(|run| is_known(run) && !made(run)).count()
}

/// Returns the found items as readable text.
pub(crate) fn lines(found: &Found, base: &str) -> String {
    let lines = found.items.iter().map(|item| match item {
        Item::Command(run) => {
            let cwd = run.cwd.as_deref().map(|cwd| cwd.strip_prefix(base).unwrap_or(cwd));
            match cwd {
                Some("") => format!("`{}`", run.line),
                Some(cwd) => format!("`{}` in .{cwd}", run.line),
                None => format!("`{}` anywhere", run.line),
            }
        }
        Item::Set(set) => format!("{}={}", set.name, set.value.written()),
        Item::Script(script) => format!("script {}", script.path),
        Item::Hole(gap) => format!("?{}", gap.written),
    });
    lines.collect::<Vec<_>>().join(", ")
}

fn runs(found: &Found) -> impl Iterator<Item = &Run> {
    found.items.iter().filter_map(|item| match item {
        Item::Command(run) => Some(run),
        Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
    })
}

fn has_known_name(run: &Run) -> bool {
    run.argv.first().is_some_and(|name| name.as_str().is_some())
}

fn is_known(run: &Run) -> bool {
    run.argv.iter().all(|arg| arg.as_str().is_some())
}

/// Returns true if a command was found in the folder in which the other ran.
fn is_there(run: &Run, call: &Called) -> bool {
    run.cwd.is_none() || call.directory.is_none() || run.cwd == call.directory
}

/// Returns true if a `cd` was found in the folder of the command.
fn leaves(found: &Found, call: &Called) -> bool {
    let is_cd = |run: &Run| run.argv.first().and_then(Arg::as_str) == Some("cd");
    runs(found).any(|run| is_cd(run) && run.cwd == call.directory)
}

/// Returns true if a command was found in a folder that is not there.
fn is_astray(run: &Run) -> bool {
    run.cwd.as_ref().is_some_and(|cwd| !Path::new(cwd).is_dir())
}

fn covers(run: &Run, call: &Called) -> bool {
    let Some((name, arguments)) = run.argv.split_first() else { return false };
    let (called, words) =
        call.argv.split_first().map_or(("", &[][..]), |(name, words)| (name.as_str(), words));
    if !run.remote.is_empty() {
        return false;
    }
    match name.as_str() {
        Some(name) => name.rsplit('/').next() == Some(called) && all_fit(arguments, words),
        // A program with an unknown name is also reported as a `Gap`.
        None if name.splits() => false,
        None => fits(name, called) && all_fit(arguments, words),
    }
}

/// Returns true if arguments may expand to these words.
fn all_fit(arguments: &[Arg], words: &[String]) -> bool {
    let Some((first, others)) = arguments.split_first() else { return words.is_empty() };
    if !first.splits() {
        return words.split_first().is_some_and(|(word, rest)| fits(first, word) && all_fit(others, rest));
    }
    let pieces = first.pieces();
    let (prefix, suffix) = match (pieces.first(), pieces.last()) {
        (Some(first), Some(last)) => (text(first), text(last)),
        _ => ("", ""),
    };
    (0..=words.len()).any(|count| {
        let (taken, rest) = words.split_at(count);
        let ends = match (taken.first(), taken.last()) {
            (Some(first), Some(last)) => first.starts_with(prefix) && last.ends_with(suffix),
            // A pattern that matches nothing, or a program that is not there, may leave no word.
            _ => prefix.is_empty() && suffix.is_empty() || pieces.iter().any(may_vanish),
        };
        ends && all_fit(others, rest)
    })
}

fn may_vanish(piece: &Piece) -> bool {
    matches!(piece, Piece::Unknown { why: Why::Glob | Why::Unresolved, .. })
}

fn text(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text) => text,
        Piece::Unknown { .. } => "",
    }
}

/// Returns true if an argument may be this word.
fn fits(arg: &Arg, word: &str) -> bool {
    fn pieces_fit(pieces: &[Piece], word: &str) -> bool {
        match pieces.split_first() {
            None => word.is_empty(),
            Some((Piece::Text(text), rest)) => {
                word.strip_prefix(text.as_str()).is_some_and(|word| pieces_fit(rest, word))
            }
            Some((Piece::Unknown { .. }, [])) => true,
            Some((Piece::Unknown { .. }, rest)) => word
                .char_indices()
                .map(|(at, _)| at)
                .chain([word.len()])
                .any(|at| word.get(at..).is_some_and(|word| pieces_fit(rest, word))),
        }
    }
    // The shell chooses a free descriptor, or the name of a file (`=( )`).
    let is_made = |text: &str| MADE.iter().any(|folder| text.starts_with(folder));
    arg.as_str().is_some_and(is_made) && is_made(word) || pieces_fit(arg.pieces(), word)
}
