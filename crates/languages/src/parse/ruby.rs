//! Ruby by Prism, the parser of Ruby itself. Only this module and `lower/ruby` use its types.

use castellan_event::Why;
use ruby_prism::{CommandLineFlag, Options, Version, parse_with_options};

use crate::limits::{PARSER_STACK_MIN, PARSER_STACK_PER_BYTE};
use crate::lower::ruby;
use crate::tree::Node;

/// Names of encodings in which Ruby reads the text that castellan reads. The first two are for any text.
const LIKE_UTF_8: &[&str] = &["utf-8", "utf8", "us-ascii", "ascii"];

/// Parses a program. A text with a syntax error is not known: another version of Ruby may run it.
pub(super) fn parse(text: &str) -> Result<Node, Why> {
    if !is_as_read(text) {
        return Err(Why::Encoding);
    }
    let stack = PARSER_STACK_MIN + PARSER_STACK_PER_BYTE * text.len();
    stacker::maybe_grow(stack, stack, || parsed(text))
}

fn parsed(text: &str) -> Result<Node, Why> {
    let flags = flags(text)?;
    // A text may belong to a loop or function that it does not show: `eval "next"`.
    let options =
        Options::default().version(Version::Latest).partial_script(true).command_line(flags).build();
    let parsed = parse_with_options(text.as_bytes(), &options);
    // The tree that the parser recovers has places outside of the text, and Ruby runs nothing of it.
    if parsed.is_failure() {
        return Err(Why::Syntax);
    }
    Ok(ruby(text, &parsed.node()))
}

/// The options in the first line, `#!ruby -n`, that change what a text means. Behind a first line that names another
/// program, Ruby begins at a later `#!ruby`, as `-x` does.
fn flags(text: &str) -> Result<Vec<CommandLineFlag>, Why> {
    let Some(line) = text.strip_prefix("#!").and_then(|text| text.lines().next()) else {
        return Ok(Vec::new());
    };
    let Some((_, options)) = line.split_once("ruby") else {
        let is_inside = |line: &str| line.starts_with("#!") && line.contains("ruby");
        return if text.lines().any(is_inside) { Err(Why::Unsupported) } else { Ok(Vec::new()) };
    };
    let mut flags = Vec::new();
    for word in options.split_whitespace().filter(|word| word.starts_with('-') && !HARMLESS.contains(word)) {
        for letter in word.trim_start_matches('-').chars() {
            match letter {
                'n' | 'p' => flags.push(CommandLineFlag::N),
                // Warnings, lines and their fields.
                'a' | 'l' | 'v' | 'w' | 'W' | '0'..='9' => {}
                // `-r` loads a file, `-i` changes the files of the arguments, `-E` names an encoding.
                _ => return Err(Why::Unsupported),
            }
        }
    }
    Ok(flags)
}

/// Long options that change nothing.
const HARMLESS: &[&str] =
    &["--disable-gems", "--disable=gems", "--enable=frozen-string-literal", "--jit", "--yjit", "--verbose"];

/// Returns true if Ruby reads the bytes of the text as UTF-8: a comment of the first two lines may name an encoding.
fn is_as_read(text: &str) -> bool {
    let comments = text.split('\n').take(2).filter_map(|line| line.split_once('#'));
    comments.flat_map(|(_, comment)| declared(comment)).all(|name| {
        let place = LIKE_UTF_8.iter().position(|one| name == *one || name.starts_with("utf-8-"));
        place.is_some_and(|place| place < 2 || text.is_ascii())
    })
}

/// The names after `coding:` or `coding=`, in any letter case.
fn declared(comment: &str) -> Vec<String> {
    let comment = comment.to_ascii_lowercase();
    let named = comment.split("coding").skip(1).filter_map(|after| {
        let after = after.trim_start().strip_prefix([':', '='])?.trim_start();
        let end = after.find(|one: char| !one.is_ascii_alphanumeric() && !"-_.".contains(one));
        after.get(..end.unwrap_or(after.len()))
    });
    named.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
