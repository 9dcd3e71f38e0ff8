//! What stands in a makefile's expanded text for what make itself would put there, and how that becomes text of a shell: outputs of code
//! as variables that the shell sets first, patterns of files as its own patterns, where it reads them as such. It must not know make's
//! syntax.

use super::UNKNOWN;
use crate::limits::MAKE_OUTPUTS_MAX;

/// Signs that stand for those of a pattern of files: others in the text are no pattern to make.
const SIGNS: &[(char, char)] = &[('*', '\u{f0000}'), ('?', '\u{f0001}'), ('[', '\u{f0002}')];

/// Stands behind the name of a file that may not be there: then nothing stands in its place.
const MAYBE: char = '\u{f0003}';

/// What is not known.
pub(super) fn unknown() -> String {
    format!("${{{UNKNOWN}}}")
}

/// What code writes, by its number.
pub(super) fn output(code: usize) -> String {
    format!("${{{UNKNOWN}_{code}}}")
}

/// The files that patterns stand for.
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

/// Whether a word stands for files: for several, or for none.
pub(super) fn is_files(word: &str) -> bool {
    word.contains(MAYBE) || has_pattern(word)
}

/// Whether a part of a word stands for parts of several names.
pub(super) fn has_pattern(part: &str) -> bool {
    SIGNS.iter().any(|(_, mark)| part.contains(*mark))
}

/// A makefile's own text, without signs that have a meaning here.
pub(super) fn cleaned(text: &str) -> String {
    let is_own = |one: char| one == MAYBE || SIGNS.iter().any(|(_, mark)| *mark == one);
    text.chars().map(|one| if is_own(one) { char::REPLACEMENT_CHARACTER } else { one }).collect()
}

/// The text as a shell is given it. `code`: what make runs, by number.
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

/// The outputs that a text names, and those that their code does.
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

/// Patterns stand where a shell reads them as such; in quotes nobody knows which files they are.
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
