//! `sed` with substitutions: `s/a/b/g`. Other commands are not computed. Patterns are not computed if POSIX and the
//! regex crate may choose different matches.

use regex::{Captures, Regex, RegexBuilder};

use super::Given;
use crate::limits::{REGEX_BYTES_MAX, VALUE_BYTES_MAX};
use crate::text::Text;

pub(super) fn sed(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut is_extended = false;
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        match arg {
            "-e" | "--expression" => scripts.push(args.next()?),
            "-E" | "-r" => is_extended = true,
            "-s" | "-u" => {}
            arg if arg.starts_with('-') && arg.len() > 1 => return None,
            arg => operands.push(arg),
        }
    }
    let mut operands = operands.into_iter();
    if scripts.is_empty() {
        scripts.push(operands.next()?);
    }
    let operands: Vec<&str> = operands.collect();
    let mut text = given.read_by(&operands)?.to_owned();
    for script in scripts {
        let mut rest = script.trim_start_matches([';', '\n', ' ']);
        while !rest.is_empty() {
            let (substitution, after) = Substitution::read(rest, is_extended)?;
            text = substitution.applied(&text)?;
            rest = after.trim_start_matches([';', '\n', ' ']);
        }
    }
    Some(Text::known(text))
}

/// `s/pattern/replacement/flags`
struct Substitution {
    pattern: Regex,
    replacement: Vec<Part>,
    everywhere: bool,
}

/// A part of a replacement.
enum Part {
    Text(String),
    /// The match of a group; 0 is the whole match.
    Group(usize),
}

impl Substitution {
    /// Parses the first substitution of a script and returns the rest.
    fn read(script: &str, is_extended: bool) -> Option<(Substitution, &str)> {
        let rest = script.strip_prefix('s')?;
        let delimiter = rest.chars().next().filter(|one| !matches!(one, '\\' | '\n'))?;
        let (pattern, rest) = delimited(rest.get(delimiter.len_utf8()..)?, delimiter)?;
        let (replacement, rest) = delimited(rest, delimiter)?;
        let end = rest.find([';', '\n']).unwrap_or(rest.len());
        let (flags, after) = rest.split_at_checked(end)?;
        let (mut everywhere, mut folds) = (false, false);
        for flag in flags.trim_end().chars() {
            match flag {
                'g' => everywhere = true,
                'i' | 'I' => folds = true,
                _ => return None,
            }
        }
        let pattern = translated(&pattern, is_extended).filter(|pattern| !pattern.is_empty())?;
        let mut builder = RegexBuilder::new(&pattern);
        let pattern = builder.case_insensitive(folds).size_limit(REGEX_BYTES_MAX).build().ok()?;
        let replacement = parts(&replacement)?;
        Some((Substitution { pattern, replacement, everywhere }, after))
    }

    /// Returns `None` if the result exceeds the limit of a value.
    fn applied(&self, text: &str) -> Option<String> {
        let mut made = String::with_capacity(text.len());
        for whole_line in text.split_inclusive('\n') {
            let line = whole_line.trim_end_matches('\n');
            let mut at = 0;
            let matches = self.pattern.captures_iter(line).take(if self.everywhere { usize::MAX } else { 1 });
            for captures in matches {
                let whole = captures.get(0)?;
                made.push_str(line.get(at..whole.start())?);
                self.put(&captures, &mut made);
                at = whole.end();
                if made.len() > VALUE_BYTES_MAX {
                    return None;
                }
            }
            made.push_str(whole_line.get(at..)?);
        }
        (made.len() <= VALUE_BYTES_MAX).then_some(made)
    }

    fn put(&self, captures: &Captures<'_>, made: &mut String) {
        for part in &self.replacement {
            match part {
                Part::Text(text) => made.push_str(text),
                Part::Group(number) => {
                    made.push_str(captures.get(*number).map_or("", |group| group.as_str()))
                }
            }
        }
    }
}

/// Returns the text before a delimiter and the text after it. A backslash escapes the delimiter.
fn delimited(text: &str, delimiter: char) -> Option<(String, &str)> {
    let mut made = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                let (_, next) = letters.next()?;
                if next != delimiter {
                    made.push('\\');
                }
                made.push(next);
            }
            letter if letter == delimiter => return Some((made, text.get(at + letter.len_utf8()..)?)),
            letter => made.push(letter),
        }
    }
    None
}

/// Translates a POSIX pattern to the regex crate. Returns `None` for alternatives, repeated groups and unsupported
/// syntax: POSIX takes the longest match, the regex crate the first.
fn translated(pattern: &str, is_extended: bool) -> Option<String> {
    let mut made = String::new();
    let mut letters = pattern.chars().peekable();
    let mut is_start = true;
    // After a group, a repetition or `^`.
    let mut no_repeat = false;
    while let Some(letter) = letters.next() {
        let (escaped, letter) = if letter == '\\' { (true, letters.next()?) } else { (false, letter) };
        let is_special = escaped != is_extended;
        let repeats =
            matches!((letter, escaped), ('*', false)) || matches!(letter, '+' | '?' | '{') && is_special;
        if repeats && no_repeat {
            return None;
        }
        no_repeat = repeats;
        match (letter, escaped) {
            ('[', false) => bracket(&mut letters, &mut made)?,
            ('*', false) if is_start => made.push_str(r"\*"),
            ('*' | '.', false) => made.push(letter),
            ('^', false) if is_start || is_extended => {
                made.push('^');
                no_repeat = true;
            }
            ('$', false) if letters.peek().is_none() || is_extended => made.push('$'),
            // Before the end of a group, `$` may be an anchor or a literal.
            ('$', false) if letters.peek() == Some(&'\\') => return None,
            ('|', _) if is_special => return None,
            ('(' | ')' | '+' | '?' | '{' | '}', _) if is_special => {
                made.push(letter);
                no_repeat = repeats || letter == ')';
            }
            ('n' | 't' | 's' | 'S' | 'w' | 'W' | 'b', true) => made.extend(['\\', letter]),
            (letter, true) if letter.is_ascii_alphanumeric() => return None,
            (letter, _) => made.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
        }
        is_start = letter == '(' && is_special;
    }
    Some(made)
}

/// `[...]`
fn bracket(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, made: &mut String) -> Option<()> {
    made.push('[');
    if letters.next_if_eq(&'^').is_some() {
        made.push('^');
    }
    let mut is_first = true;
    loop {
        match letters.next()? {
            ']' if !is_first => break,
            '[' if letters.peek() == Some(&':') => {
                made.push('[');
                for letter in letters.by_ref() {
                    made.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
            }
            '[' if matches!(letters.peek(), Some('.' | '=')) => return None,
            '-' => made.push('-'),
            // GNU sed accepts some escapes in a bracket.
            '\\' => return None,
            letter if letter.is_ascii_punctuation() => made.extend(['\\', letter]),
            letter => made.push(letter),
        }
        is_first = false;
    }
    made.push(']');
    Some(())
}

fn parts(replacement: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = replacement.chars();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '&' => Part::Group(0),
            '\\' => match letters.next()? {
                digit @ '0'..='9' => Part::Group(usize::try_from(digit.to_digit(10)?).ok()?),
                'n' => Part::Text("\n".to_owned()),
                't' => Part::Text("\t".to_owned()),
                'x' => {
                    let digits: String = letters.by_ref().take(2).collect();
                    // A non-ASCII byte is not a character.
                    let code = u8::from_str_radix(&digits, 16)
                        .ok()
                        .filter(|code| digits.len() == 2 && code.is_ascii())?;
                    Part::Text(char::from(code).to_string())
                }
                letter if letter.is_ascii_alphanumeric() => return None,
                letter => Part::Text(letter.to_string()),
            },
            letter => Part::Text(letter.to_string()),
        });
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use castellan_programs::Arg;

    use super::*;

    fn check(args: &[&str], input: &str, expected: Option<&str>) {
        let args: Vec<Arg> = args.iter().map(|arg| Arg::known(*arg)).collect();
        let made = sed(Given { args: &args, input: Some(&Text::known(input)) });
        assert_eq!(made.as_ref().and_then(Text::as_str), expected, "{args:?}");
    }

    #[test]
    fn text_becomes_what_sed_makes_of_it() {
        check(&["s/^x/r/"], "xm -rf /\n", Some("rm -rf /\n"));
        check(&["s/./r/"], "xm -rf /\n", Some("rm -rf /\n"));
        check(&["s/^/rm /"], "-rf /\nx\n", Some("rm -rf /\nrm x\n"));
        check(&["s/$/ -rf/"], "rm\n", Some("rm -rf\n"));
        check(&["s/x*/-/g"], "abc\n", Some("-a-b-c-\n"));
        check(&["s/b*/-/g"], "abc\n", Some("-a-c-\n"));
        check(&["s/\\(a\\)\\(b\\)/\\2\\1/"], "ab\n", Some("ba\n"));
        check(&["-E", "s/(.)(.)/\\2\\1/g"], "mr\n", Some("rm\n"));
        check(&["s/../\\\\x&/g"], "726d\n", Some("\\x72\\x6d\n"));
        check(&["s/x/\\x72/"], "xm\n", Some("rm\n"));
        check(&["s|/a|/|;s/m/r/"], "m /a\n", Some("r /\n"));
        check(&["s/[^a-z]//g"], "r1m2\n", Some("rm\n"));
        check(&["s/[[:digit:]]//g"], "r1m2\n", Some("rm\n"));
        check(&["s/[]x]/r/"], "]m\n", Some("rm\n"));
        check(&["s/X/r/I"], "xm\n", Some("rm\n"));
        check(&["s/a+/x/"], "a+b\n", Some("xb\n"));
        check(&["s/a\\+/x/"], "aab\n", Some("xb\n"));
        check(&["-E", "s/a{2}/x/"], "aab\n", Some("xb\n"));
        check(&["s/a.b/x/", "-"], "axb\n", Some("x\n"));
        check(&["s,a\\,b,x,"], "a,b\n", Some("x\n"));
        check(&["s/_/ /g"], "rm_-rf_/", Some("rm -rf /"));
        check(&["-e", "s/a/b/", "-e", "s/b/c/"], "a\n", Some("c\n"));
        check(&["s/a/x\\ny/"], "a\n", Some("x\ny\n"));
        check(&["s/*a/x/"], "*a\n", Some("x\n"));
    }

    #[test]
    fn what_may_match_otherwise_is_not_computed() {
        check(&["s/a\\|b/x/"], "a", None);
        check(&["-E", "s/(a|b)/x/"], "a", None);
        check(&["-E", "s/(a?)(ab)?/x/"], "ab", None);
        check(&["-E", "s/a*?/x/"], "a", None);
        check(&["s/[\\n]/x/"], "n", None);
        check(&["s/a/\\U&/"], "a", None);
        check(&["s/a/x/2"], "aa", None);
        check(&["1d"], "a", None);
        check(&["s/\\(a\\)\\1/x/"], "aa", None);
    }
}
