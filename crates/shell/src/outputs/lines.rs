//! Programs that pass lines on: `cat`, `head`, `tail`, `cut`, `rev`, `tac`, `sort`, `uniq`.

use std::collections::BTreeSet;

use castellan_programs::Arg;

use super::{Given, each_known};
use crate::limits::RANGES_MAX;
use crate::text::Text;

pub(super) fn cat(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut changes = false;
    let mut operands = Vec::new();
    for arg in known {
        match arg {
            "-u" | "--" => {}
            "-" => operands.push(arg),
            arg if arg.starts_with('-') => changes = true,
            arg => operands.push(arg),
        }
    }
    if changes || !matches!(operands.as_slice(), [] | ["-"]) {
        return None;
    }
    given.input.cloned()
}

pub(super) fn rev(given: Given<'_>) -> Option<Text> {
    let text = given.read_by(&given.known()?)?;
    let lines = text.split('\n').map(|line| line.chars().rev().collect::<String>());
    Some(Text::known(lines.collect::<Vec<_>>().join("\n")))
}

pub(super) fn tac(given: Given<'_>) -> Option<Text> {
    let text = given.read_by(&given.known()?)?;
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.reverse();
    Some(Text::known(lines.concat()))
}

pub(super) fn sort(given: Given<'_>) -> Option<Text> {
    let text = given.read_by(&given.known()?)?;
    let mut lines: Vec<&str> = text.lines().collect();
    // The order depends on the locale, except for lower-case letters and digits.
    if !text.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '\n') {
        return None;
    }
    lines.sort_unstable();
    Some(Text::known(lines.iter().flat_map(|line| [line, "\n"]).collect::<String>()))
}

pub(super) fn uniq(given: Given<'_>) -> Option<Text> {
    let text = given.read_by(&given.known()?)?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.dedup();
    Some(Text::known(lines.iter().flat_map(|line| [line, "\n"]).collect::<String>()))
}

/// The amount that `head` and `tail` print.
enum Amount {
    Lines(i64),
    Bytes(i64),
}

/// Parses the amount, its sign and the operands.
fn amount<'a>(known: &[&'a str]) -> Option<(Amount, char, Vec<&'a str>)> {
    let mut found = Amount::Lines(10);
    let mut sign = ' ';
    let mut operands = Vec::new();
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        let (bytes, value) = match arg {
            "-n" | "--lines" => (false, args.next()?),
            "-c" | "--bytes" => (true, args.next()?),
            "-q" | "-" => {
                if arg == "-" {
                    operands.push(arg);
                }
                continue;
            }
            arg => {
                if let Some(value) = arg.strip_prefix("-n").or_else(|| arg.strip_prefix("--lines=")) {
                    (false, value)
                } else if let Some(value) = arg.strip_prefix("-c").or_else(|| arg.strip_prefix("--bytes=")) {
                    (true, value)
                } else if let Some(value) = arg.strip_prefix('-') {
                    (false, value)
                } else {
                    operands.push(arg);
                    continue;
                }
            }
        };
        sign = value.chars().next().filter(|one| matches!(one, '+' | '-')).unwrap_or(' ');
        let number = value.trim_start_matches(['+', '-']).parse().ok()?;
        found = if bytes { Amount::Bytes(number) } else { Amount::Lines(number) };
    }
    Some((found, sign, operands))
}

/// Programs that only remove or reorder lines.
const KEEPING: &[&str] = &["egrep", "fgrep", "grep", "head", "sort", "tac", "tail", "uniq"];

/// Returns true if such a program reads only its input and prints lines unchanged.
pub(super) fn keeps(name: &str, args: &[Arg]) -> bool {
    let is_search = name.ends_with("grep");
    // `-c` counts, `-n` adds numbers, `-o` prints parts, `-r` and `-f` read files.
    let is_plain = |arg: &str| match arg.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            matches!(long, "-null-data" | "-unique" | "-reverse" | "-invert-match")
        }
        Some(letters) if is_search => letters.chars().all(|one| "EFPaiqvwxz".contains(one)),
        Some(letters) => {
            letters.chars().all(|one| one.is_ascii_digit() || "nruVzh".contains(one)) && name != "uniq"
        }
        None => false,
    };
    let known: Option<Vec<&str>> = args.iter().map(Arg::as_str).collect();
    let Some(known) = known.filter(|_| KEEPING.contains(&name)) else { return false };
    let (options, operands): (Vec<&str>, Vec<&str>) = known.into_iter().partition(|arg| arg.starts_with('-'));
    let operands = operands.iter().filter(|arg| is_search || !arg.bytes().all(|one| one.is_ascii_digit()));
    options.into_iter().all(is_plain) && operands.count() == usize::from(is_search)
}

pub(super) fn head(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let (amount, sign, operands) = amount(&known)?;
    let text = given.read_by(&operands)?;
    let (number, total) = match amount {
        Amount::Lines(number) => (number, text.split_inclusive('\n').count()),
        Amount::Bytes(number) => (number, text.len()),
    };
    let number = usize::try_from(number).ok()?;
    let count = if sign == '-' { total.saturating_sub(number) } else { number };
    part(text, &amount, 0, count)
}

pub(super) fn tail(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let (amount, sign, operands) = amount(&known)?;
    let text = given.read_by(&operands)?;
    let (number, total) = match amount {
        Amount::Lines(number) => (number, text.split_inclusive('\n').count()),
        Amount::Bytes(number) => (number, text.len()),
    };
    let number = usize::try_from(number).ok()?;
    let skip = if sign == '+' { number.saturating_sub(1) } else { total.saturating_sub(number) };
    part(text, &amount, skip, usize::MAX)
}

fn part(text: &str, amount: &Amount, skip: usize, count: usize) -> Option<Text> {
    match amount {
        Amount::Lines(_) => {
            Some(Text::known(text.split_inclusive('\n').skip(skip).take(count).collect::<String>()))
        }
        Amount::Bytes(_) => {
            let end = skip.saturating_add(count).min(text.len());
            text.get(skip.min(text.len())..end).map(Text::known)
        }
    }
}

/// `cut -d: -f1`, `cut -c1-3`.
pub(super) fn cut(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut delimiter = '\t';
    let mut fields = None;
    let mut letters = None;
    let mut operands = Vec::new();
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        let option = arg.strip_prefix('-').and_then(|rest| rest.chars().next()).filter(|_| arg.len() > 1);
        let Some(option) = option else {
            operands.push(arg);
            continue;
        };
        let value = match arg.get(2..) {
            Some("") | None => args.next()?,
            Some(value) => value,
        };
        match option {
            'd' => delimiter = value.chars().next()?,
            'f' => fields = Some(list(value)?),
            'c' | 'b' => letters = Some(list(value)?),
            _ => return None,
        }
    }
    let text = given.read_by(&operands)?;
    let mut made = String::new();
    for line in text.lines() {
        match (&fields, &letters) {
            (Some(fields), None) if line.contains(delimiter) => {
                let chosen: Vec<&str> = line
                    .split(delimiter)
                    .enumerate()
                    .filter(|(at, _)| chosen(fields, at + 1))
                    .map(|(_, field)| field)
                    .collect();
                made.push_str(&chosen.join(delimiter.encode_utf8(&mut [0; 4])));
            }
            (Some(_), None) => made.push_str(line),
            (None, Some(letters)) => {
                made.extend(
                    line.chars().enumerate().filter(|(at, _)| chosen(letters, at + 1)).map(|(_, one)| one),
                );
            }
            _ => return None,
        }
        made.push('\n');
    }
    Some(Text::known(made))
}

fn list(text: &str) -> Option<BTreeSet<(usize, usize)>> {
    if text.matches(',').count() >= RANGES_MAX {
        return None;
    }
    text.split(',')
        .map(|one| match one.split_once('-') {
            None => one.parse().ok().map(|number| (number, number)),
            Some((first, last)) => {
                let first = if first.is_empty() { 1 } else { first.parse().ok()? };
                let last = if last.is_empty() { usize::MAX } else { last.parse().ok()? };
                Some((first, last))
            }
        })
        .collect()
}

fn chosen(list: &BTreeSet<(usize, usize)>, number: usize) -> bool {
    list.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

/// Applies a change to each known character.
pub(super) fn by_character(text: &Text, change: impl Fn(char) -> Option<char>) -> Text {
    each_known(text, |known| known.chars().filter_map(&change).collect())
}
