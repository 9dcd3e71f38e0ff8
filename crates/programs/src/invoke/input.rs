//! Commands that get arguments from input or from the words after `:::`, as with `xargs` and `parallel`.

use super::joined::joined;
use castellan_event::{Why, single_quoted};

use super::Invocation;
use crate::arg::{Arg, Piece};
use crate::limits::INPUT_PLACES_MAX;

/// Default placeholder for text from input.
const INPUT: &str = "{}";

impl Invocation {
    /// Returns a command with the text from input: in place of the placeholder, or at the end.
    pub(super) fn with_input(&self, argv: &[Arg]) -> Vec<Arg> {
        let used = self.options.iter().find(|used| used.option.slot.detail == "replace");
        let Some(used) = used else {
            return argv.iter().cloned().chain([input(true)]).collect();
        };
        let mark = used.value.as_ref().map_or(Some(INPUT), Arg::as_str).filter(|mark| !mark.is_empty());
        let unknown = input(false);
        argv.iter().map(|arg| mark.map_or_else(|| unknown.clone(), |mark| put(arg, mark, &unknown))).collect()
    }
}

/// Returns the shell texts of a template and its values: the words after `:::`, or text from input.
pub(super) fn texts(argv: &[Arg]) -> Vec<Arg> {
    let split = argv.iter().position(is_source).unwrap_or(argv.len());
    let (template, sources) = argv.split_at(split);
    let mut values = Vec::new();
    let mut is_file = false;
    for arg in sources {
        if is_source(arg) {
            is_file = arg.as_str().is_some_and(|text| text.starts_with("::::"));
        } else {
            values.push(if is_file { input(true) } else { arg.clone() });
        }
    }
    if values.is_empty() {
        values.push(input(true));
    }
    if template.is_empty() {
        return values;
    }
    let words: Vec<Arg> = values.iter().map(quoted).collect();
    let put_in = joined(&words);
    let mut left = INPUT_PLACES_MAX;
    let mut text: Vec<Arg> = Vec::new();
    for word in template {
        let marks = word.written().matches('{').count();
        let value = if marks <= left { put_in.clone() } else { input(true) };
        left = left.saturating_sub(marks);
        text.push(filled(word, &value));
    }
    if text.as_slice() == template {
        text.push(put_in);
    }
    vec![joined(&text)]
}

fn input(splits: bool) -> Arg {
    Arg::unknown(Why::Input, INPUT, splits)
}

fn is_source(arg: &Arg) -> bool {
    matches!(arg.as_str(), Some(":::" | ":::+" | "::::" | "::::+"))
}

/// Returns an argument with a value in place of each mark.
fn put(arg: &Arg, mark: &str, value: &Arg) -> Arg {
    let mut pieces = Vec::new();
    let mut splits = arg.splits();
    for piece in arg.pieces() {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        for (number, part) in text.split(mark).enumerate() {
            if number > 0 {
                pieces.extend(value.pieces().iter().cloned());
                splits |= value.splits();
            }
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
    Arg::from_pieces(pieces, splits)
}

/// Returns a template word with all values for `{}` and `{1}`. Parts of values, such as `{.}`, are not computed.
fn filled(word: &Arg, value: &Arg) -> Arg {
    let mut pieces = Vec::new();
    let mut splits = word.splits();
    for piece in word.pieces() {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            pieces.push(Piece::Text(before.to_owned()));
            let of_mark = |letter: char| letter.is_ascii_digit() || "./#%+-".contains(letter);
            let mark = after.split_once('}').filter(|(mark, _)| mark.chars().all(of_mark));
            let Some((mark, after)) = mark else {
                pieces.push(Piece::Text("{".to_owned()));
                rest = after;
                continue;
            };
            rest = after;
            if mark.chars().all(|letter| letter.is_ascii_digit()) {
                pieces.extend(value.pieces().iter().cloned());
                splits |= value.splits();
            } else {
                pieces.push(Piece::Unknown { why: Why::Input, written: format!("{{{mark}}}") });
            }
        }
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Arg::from_pieces(pieces, splits)
}

/// Returns a value as one word of shell text.
fn quoted(arg: &Arg) -> Arg {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    let pieces = arg.pieces().iter().map(|piece| match piece {
        Piece::Text(text) if !text.chars().all(plain) => Piece::Text(single_quoted(text)),
        Piece::Text(_) | Piece::Unknown { .. } => piece.clone(),
    });
    Arg::from_pieces(pieces, arg.splits())
}

/// Splits a line into words like `env -S`: at blanks, with quotes and backslashes. Unlike [`crate::Quoting`], it
/// accepts unknown parts, and `\n`, `\t` and `\_` are escapes.
pub(super) fn words(line: &Arg) -> Vec<Arg> {
    let mut words = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut is_open = false;
    let mut quote = None;
    for piece in line.pieces() {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            is_open = true;
            continue;
        };
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match (quote, letter) {
                (None, letter) if letter.is_ascii_whitespace() => {
                    if std::mem::take(&mut is_open) {
                        words.push(Arg::from_pieces(pieces.drain(..), line.splits()));
                    }
                    continue;
                }
                (None, '\'' | '"') => quote = Some(letter),
                (Some(open), _) if open == letter => quote = None,
                (None | Some('"'), '\\') => {
                    pieces.extend(letters.next().map(|next| Piece::Text(escaped(next))))
                }
                (_, letter) => pieces.push(Piece::Text(letter.into())),
            }
            is_open = true;
        }
    }
    if is_open {
        words.push(Arg::from_pieces(pieces, line.splits()));
    }
    words
}

fn escaped(letter: char) -> String {
    match letter {
        'n' => '\n',
        't' => '\t',
        '_' => ' ',
        other => other,
    }
    .to_string()
}
