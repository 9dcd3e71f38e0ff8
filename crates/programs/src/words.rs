//! Splits a line into words in the way of programs that are not shells.

/// Reads quotes and backslashes in the way of a program. Both quotes hide blanks and each other; a backslash outside of
/// quotes hides the next character, unless `escapes` is `Escapes::Never`.
#[derive(Debug, Clone, Copy)]
pub struct Quoting {
    is_blank: fn(char) -> bool,
    escapes: Escapes,
}

/// The places where a backslash is not literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Never,
    /// Outside of quotes.
    Outside,
    /// Also in double quotes, before the quote and a backslash.
    BeforeQuotes,
    /// Also in double quotes, before any character.
    InQuotes,
}

impl Quoting {
    /// `xargs`.
    pub const XARGS: Quoting = Quoting { is_blank: char::is_whitespace, escapes: Escapes::Outside };
    /// `xargs -I`: a line is one word.
    pub const XARGS_LINE: Quoting = Quoting { is_blank: |_| false, ..Quoting::XARGS };
    /// An alias of Git.
    pub const GIT: Quoting = Quoting { is_blank: |one| " \t\n".contains(one), escapes: Escapes::InQuotes };
    /// Python's `shlex.split`.
    pub const SHLEX: Quoting =
        Quoting { is_blank: |one| " \t\n\r".contains(one), escapes: Escapes::BeforeQuotes };
    /// A line of `sftp`'s batch file.
    pub const SFTP: Quoting = Quoting { is_blank: char::is_whitespace, escapes: Escapes::Never };

    /// Splits a line. An open quote ends with the line.
    pub fn words(self, line: &str) -> Vec<String> {
        self.split(line).0
    }

    /// Splits a line; `None` if a quote is open, or the line ends with a backslash.
    pub fn closed_words(self, line: &str) -> Option<Vec<String>> {
        let (words, is_closed) = self.split(line);
        is_closed.then_some(words)
    }

    fn split(self, line: &str) -> (Vec<String>, bool) {
        let Quoting { is_blank, escapes } = self;
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote: Option<char> = None;
        let mut is_closed = true;
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            if quote.is_none() && is_blank(letter) {
                words.extend(word.take());
                continue;
            }
            let word = word.get_or_insert_default();
            let escapes = match quote {
                None => escapes != Escapes::Never,
                Some('"') => matches!(escapes, Escapes::BeforeQuotes | Escapes::InQuotes),
                Some(_) => false,
            };
            match letter {
                '\\' if escapes => {
                    let next = letters.next();
                    is_closed &= next.is_some();
                    let is_literal = quote.is_some()
                        && self.escapes == Escapes::BeforeQuotes
                        && next.is_some_and(|next| !matches!(next, '"' | '\\'));
                    word.extend(is_literal.then_some('\\').into_iter().chain(next));
                }
                _ if quote == Some(letter) => quote = None,
                '\'' | '"' if quote.is_none() => quote = Some(letter),
                letter => word.push(letter),
            }
        }
        words.extend(word);
        (words, is_closed && quote.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn programs_differ_in_quotes() {
        let check = |quoting: Quoting, line: &str, expected: &[&str]| {
            assert_eq!(quoting.closed_words(line), Some(owned(expected)), "{line}");
        };
        let check_open = |quoting: Quoting, line: &str, expected: &[&str]| {
            assert_eq!((quoting.words(line), quoting.closed_words(line)), (owned(expected), None), "{line}");
        };
        let all = [Quoting::XARGS, Quoting::GIT, Quoting::SHLEX, Quoting::SFTP];
        for quoting in all {
            check(quoting, "", &[]);
            check(quoting, " a  b\t'c d'\"e f\" ", &["a", "b", "c de f"]);
            check(quoting, "'' \"\"", &["", ""]);
            check(quoting, "'\"' \"'\"", &["\"", "'"]);
            check(quoting, r"'a\'", &[r"a\"]);
            check_open(quoting, "a 'b", &["a", "b"]);
        }
        for quoting in [Quoting::XARGS, Quoting::GIT, Quoting::SHLEX] {
            check(quoting, r"a\ b \'", &["a b", "'"]);
            check_open(quoting, r"a \", &["a", ""]);
        }
        check(Quoting::SFTP, r"a\ b", &[r"a\", "b"]);
        check(Quoting::XARGS, r#""a\" "b\n""#, &[r"a\", r"b\n"]);
        check(Quoting::SFTP, r#""a\" "b\n""#, &[r"a\", r"b\n"]);
        check(Quoting::GIT, r#""a\" \\ \n""#, &[r#"a" \ n"#]);
        check(Quoting::SHLEX, r#""a\" \\ \n""#, &[r#"a" \ \n"#]);
        check(Quoting::XARGS_LINE, r"a 'b c'\ d", &["a b c d"]);
        // Blanks that only some programs know.
        check(Quoting::XARGS, "a\u{a0}b\rc", &["a", "b", "c"]);
        check(Quoting::SHLEX, "a\u{a0}b\rc", &["a\u{a0}b", "c"]);
        check(Quoting::GIT, "a\u{a0}b\rc", &["a\u{a0}b\rc"]);
    }
}
