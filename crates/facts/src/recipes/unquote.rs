//! Placeholders in a makefile's expanded text. In shell text, outputs of code become variables that the shell sets
//! first, and patterns of files become shell patterns where a shell reads them as such. Must not know make's syntax.

use super::UNKNOWN;
use crate::limits::MAKE_OUTPUTS_MAX;

/// Placeholders for the characters of a file pattern. The plain characters in the text are no pattern for make.
const SIGNS: &[(char, char)] = &[('*', '\u{f0000}'), ('?', '\u{f0001}'), ('[', '\u{f0002}')];

/// Mark after the name of a file that may not exist. Without the file, make inserts nothing.
const MAYBE: char = '\u{f0003}';

/// Returns the text of an unknown value.
pub(super) fn unknown() -> String {
    format!("${{{UNKNOWN}}}")
}

/// Returns the text for the output of code, by its number.
pub(super) fn output(code: usize) -> String {
    format!("${{{UNKNOWN}_{code}}}")
}

/// Returns the text for the files that match patterns.
pub(super) fn files(patterns: &str) -> String {
    let word = |word: &str| {
        let marked: String = word.chars().map(marked).collect();
        format!("{marked}{MAYBE}")
    };
    patterns.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

fn marked(one: char) -> char {
    SIGNS.iter().find(|(sign, _)| *sign == one).map_or(one, |(_, mark)| *mark)
}

/// Returns true if a word represents files: several, or none.
pub(super) fn is_files(word: &str) -> bool {
    word.contains(MAYBE) || has_pattern(word)
}

/// Returns true if a part of a word represents parts of several names.
pub(super) fn has_pattern(part: &str) -> bool {
    SIGNS.iter().any(|(_, mark)| part.contains(*mark))
}

/// Returns a makefile's own text without characters that are placeholders here.
pub(super) fn cleaned(text: &str) -> String {
    let is_own = |one: char| one == MAYBE || SIGNS.iter().any(|(_, mark)| *mark == one);
    text.chars().map(|one| if is_own(one) { char::REPLACEMENT_CHARACTER } else { one }).collect()
}

/// Returns the text for a shell. `code`: the code that make runs, by number.
pub(super) fn shell_text(text: &str, code: &[String]) -> String {
    let mut wanted = Vec::new();
    wants(text, code, &mut wanted);
    wanted.sort_unstable();
    let mut made = String::new();
    if wanted.len() <= MAKE_OUTPUTS_MAX {
        for at in wanted {
            // The code of an output names only outputs before it.
            let code = with_patterns(code.get(at).map_or("", String::as_str));
            made.push_str(&format!("{UNKNOWN}_{at}=$({code}\n)\n"));
        }
    }
    made.push_str(&with_patterns(text));
    made
}

/// Collects the outputs that a text names, and those that their code names.
fn wants(text: &str, code: &[String], found: &mut Vec<usize>) {
    let open = format!("${{{UNKNOWN}_");
    for part in text.split(&open).skip(1) {
        let number = part.split_once('}').and_then(|(number, _)| number.parse::<usize>().ok());
        let Some(at) = number.filter(|at| !found.contains(at)) else { continue };
        if found.len() > MAKE_OUTPUTS_MAX {
            return;
        }
        found.push(at);
        wants(code.get(at).map_or("", String::as_str), code.get(..at).unwrap_or_default(), found);
    }
}

/// Inserts patterns where a shell reads them as such. In quotes, the matching files are unknown.
fn with_patterns(text: &str) -> String {
    let (mut quote, mut is_escaped) = (None, false);
    let mut made = String::with_capacity(text.len());
    for one in text.chars() {
        if one == MAYBE {
            continue;
        }
        match SIGNS.iter().find(|(_, mark)| *mark == one) {
            Some((sign, _)) if quote.is_none() && !is_escaped => made.push(*sign),
            Some(_) => made.push_str(&unknown()),
            None => made.push(one),
        }
        match (quote, one) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(one),
            (Some(open), _) if open == one => quote = None,
            _ => {}
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_make_puts_there_is_set_first_and_patterns_are_none_in_quotes() {
        let code = ["a".to_owned(), format!("b {}", output(0))];
        let set = |at: usize, code: &str| format!("castellan_unknown_value_{at}=$({code}\n)\n");
        let check = |text: &str, expected: &str| assert_eq!(shell_text(text, &code), expected, "{text}");
        check("echo x", "echo x");
        check("echo ${castellan_unknown_value_0}", &(set(0, "a") + "echo ${castellan_unknown_value_0}"));
        let both = set(0, "a") + &set(1, "b ${castellan_unknown_value_0}");
        check("x ${castellan_unknown_value_1}", &(both + "x ${castellan_unknown_value_1}"));
        let files = files("a/*.c b");
        check(&format!("rm {files}"), "rm a/*.c b");
        check(&format!("rm '{files}'"), "rm 'a/${castellan_unknown_value}.c b'");
        check(&format!("rm \"\\\"{files}\""), "rm \"\\\"a/${castellan_unknown_value}.c b\"");
        check(&format!("echo it\\'s {files}"), "echo it\\'s a/*.c b");
    }
}
