//! Quotes a command line of an agent's settings for any login shell, and splits its own output. This is not a shell
//! parser.

use castellan_event::single_quoted;

/// Joins words into a command line: plain words unchanged, others in single quotes.
pub(crate) fn join(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted: Vec<_> = words.into_iter().map(|word| quote(word.as_ref())).collect();
    quoted.join(" ")
}

/// Splits a command line that [`join`] could have written; `None` for any other.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let word = words.last_mut()?;
        match c {
            ' ' => words.push(String::new()),
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    quoted => word.push(quoted),
                }
            },
            '\\' if chars.next()? == '\'' => word.push('\''),
            c if is_plain(c) => word.push(c),
            _ => return None,
        }
    }
    Some(words)
}

fn quote(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    single_quoted(word)
}

/// Characters that no common shell treats specially anywhere in a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:@,+".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_what_a_shell_would_change() {
        let check = |words: &[&str], line: &str| {
            assert_eq!(join(words), line);
        };
        check(&["/usr/bin/castellan-hook", "--home", "/home/u"], "/usr/bin/castellan-hook --home /home/u");
        check(&["/home/a b/x", "it's", "$HOME", "~", ""], r"'/home/a b/x' 'it'\''s' '$HOME' '~' ''");
    }

    #[test]
    fn what_castellan_did_not_write_is_not_split() {
        for line in ["a;b", "a $(b)", "\"a\"", "a 'b", "a\\", "a | b", "a\tb"] {
            assert_eq!(split(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn split_undoes_join(words in prop::collection::vec(".*", 1..5)) {
            prop_assert_eq!(split(&join(&words)), Some(words));
        }
    }
}
