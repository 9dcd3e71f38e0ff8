//! Matches the words of a command, in every reading, with a pattern. Does not depend on calls.

use castellan_event::Command;

use crate::limits::SUBCOMMAND_PLACES_MAX;
use crate::operator::pattern::{CommandPattern, SEPARATOR};

/// Reports whether a command matches in any spelling: by its words, or without flags if it has the named flags.
pub(super) fn may_be(meant: &CommandPattern, command: &Command) -> bool {
    readings(command).iter().any(|text| meant.line.is_match(text))
        || (has_flags(meant, command)
            && plain_readings(command).iter().any(|text| meant.words.is_match(text)))
}

/// The command as the program gets it.
pub(super) fn joined_argv(command: &Command) -> Option<String> {
    let name = command.name.as_deref()?;
    Some(joined(std::iter::once(name).chain(command.args.iter().map(String::as_str))))
}

/// Joins words into the text that patterns match.
pub(super) fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut text = String::new();
    for (at, word) in words.enumerate() {
        if at > 0 {
            text.push(SEPARATOR);
        }
        text.push_str(word);
    }
    text
}

/// The command as written, as the program gets it, and without options before its subcommand. With or without wrappers.
fn readings(command: &Command) -> Vec<String> {
    let written = joined(command.line.split_whitespace());
    let Some(name) = command.name.as_deref() else { return vec![written] };
    let args: Vec<&str> = command.args.iter().map(String::as_str).collect();
    let mut all = vec![joined(std::iter::once(name).chain(args.iter().copied()))];
    if let Some(subcommand) = &command.subcommand {
        let last = subcommand.split(' ').next_back().unwrap_or_default();
        all.extend(places(last, &args).map(|at| {
            let after = args.get(at + 1..).unwrap_or_default().iter().copied();
            joined(std::iter::once(name).chain(subcommand.split(' ')).chain(after))
        }));
    }
    let mut all = wrapped(&all, command);
    all.push(written);
    all
}

/// Possible positions of a subcommand's word: options before it and words after it may be the same word.
fn places(word: &str, args: &[&str]) -> impl Iterator<Item = usize> {
    let all: Vec<usize> =
        args.iter().enumerate().filter(|(_, arg)| **arg == word).map(|(at, _)| at).collect();
    let skipped = all.len().saturating_sub(2 * SUBCOMMAND_PLACES_MAX);
    all.into_iter()
        .enumerate()
        .filter(move |(nth, _)| *nth < SUBCOMMAND_PLACES_MAX || *nth >= SUBCOMMAND_PLACES_MAX + skipped)
        .map(|(_, at)| at)
}

/// Returns the command without flags: name, subcommand and operands. Also after its wrappers.
fn plain_readings(command: &Command) -> Vec<String> {
    let Some(name) = command.name.as_deref() else { return Vec::new() };
    let subcommand = command.subcommand.iter().flat_map(|words| words.split(' '));
    let words = std::iter::once(name).chain(subcommand).chain(command.operands.iter().map(String::as_str));
    wrapped(&[joined(words)], command)
}

/// Returns the readings, alone and after its wrappers, the innermost wrapper first.
fn wrapped(readings: &[String], command: &Command) -> Vec<String> {
    let mut all = readings.to_vec();
    let mut outer = readings.to_vec();
    for wrapper in command.wrappers.iter().rev() {
        for reading in &mut outer {
            *reading = format!("{wrapper}{SEPARATOR}{reading}");
        }
        all.extend(outer.iter().cloned());
    }
    all
}

/// Reports whether the command has every named flag in any spelling, and no other if no more words may follow.
fn has_flags(meant: &CommandPattern, command: &Command) -> bool {
    let named: Vec<Vec<String>> = meant.flags.iter().map(|flag| cluster(flag)).collect();
    let given = |flag: &String| command.flags.contains(flag) || command.flag_spellings.contains(flag);
    let mut both = meant.flags.iter().zip(&named);
    both.all(|(flag, letters)| given(flag) || letters.iter().all(given))
        && (meant.goes_on || command.flags.len() <= named.iter().map(Vec::len).sum())
}

/// Splits a cluster such as `-rf` into its flags; another flag stays whole.
fn cluster(flag: &str) -> Vec<String> {
    match flag.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => {
            letters.chars().map(|letter| format!("-{letter}")).collect()
        }
        _ => vec![flag.to_owned()],
    }
}
