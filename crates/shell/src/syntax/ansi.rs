//! The content of `$'...'` (bash 3.1.2.4, zshmisc "QUOTING", ksh "Quoting"). This module must not know the parser.
//!
//! The shells agree on the escapes of C. They differ in unknown escapes, which keep their backslash in bash only, and
//! in the names of control characters.

use super::Shell;
use super::Shell::{Bash, Ksh, Zsh};
use crate::literals::{Escapes, unescaped};

/// Escapes that mean the same in every shell.
const SHARED: &[char] = &[
    'a', 'b', 'e', 'E', 'f', 'n', 'r', 't', 'v', '\\', '\'', '"', '?', 'x', 'u', 'U', '0', '1', '2', '3',
    '4', '5', '6', '7',
];

/// Decodes the text between the quotes; nothing where the value depends on the version or is no text.
pub(super) fn decoded(text: &str, shell: Shell) -> Option<String> {
    let mut shared = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        if one != '\\' {
            shared.push(one);
            continue;
        }
        let letter = rest.next()?;
        match letter {
            'c' if shell != Zsh => {
                let key = rest.next().filter(char::is_ascii_alphabetic)?;
                shared.push(char::from(u8::try_from(key).ok()? & 0x1f));
            }
            'x' | 'u' | 'U' if !has_number(rest.as_str(), letter, shell) => return None,
            'C' | 'M' if shell != Bash => return None,
            letter => {
                if shell == Bash || SHARED.contains(&letter) {
                    shared.push('\\');
                }
                shared.push(letter);
            }
        }
    }
    let (mut value, _) = unescaped(&shared, Escapes::Format)?;
    let zero = value.find('\0');
    // A zero byte ends the value, but in zsh.
    if shell == Zsh && zero.is_some() {
        return None;
    }
    value.truncate(zero.unwrap_or(value.len()));
    Some(value)
}

/// Reports whether the digits after `\x` and `\u` have one meaning.
fn has_number(rest: &str, letter: char, shell: Shell) -> bool {
    let digits = rest.chars().take_while(char::is_ascii_hexdigit).count();
    let is_literal = digits == 0 && shell == Bash && !rest.starts_with('{');
    let is_long = letter == 'x' && digits > 2 && shell == Ksh;
    is_literal || (digits > 0 && !is_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_has_its_escapes() {
        for (text, bash, zsh, ksh) in [
            (
                r"a\n\t\\\'\e\x41\101\u41",
                Some("a\n\t\\'\u{1b}AAA"),
                Some("a\n\t\\'\u{1b}AAA"),
                Some("a\n\t\\'\u{1b}AAA"),
            ),
            (r"r\m\8\-", Some(r"r\m\8\-"), Some("rm8-"), Some("rm8-")),
            (r"\ca\cJ", Some("\u{1}\n"), Some("cacJ"), Some("\u{1}\n")),
            (r"\c1", None, Some("c1"), None),
            (r"\c", None, Some("c"), None),
            (r"\C-a", Some(r"\C-a"), None, None),
            (r"\M-a", Some(r"\M-a"), None, None),
            (r"\x{41}", None, None, None),
            (r"\x", Some(r"\x"), None, None),
            (r"\ug", Some(r"\ug"), None, None),
            (r"\x414", Some("A4"), Some("A4"), None),
            (r"a\0b", Some("a"), None, Some("a")),
            (r"\xff", None, None, None),
        ] {
            let expected = [(Bash, bash), (Zsh, zsh), (Ksh, ksh)];
            for (shell, expected) in expected {
                assert_eq!(decoded(text, shell).as_deref(), expected, "{shell:?} {text}");
            }
        }
    }
}
