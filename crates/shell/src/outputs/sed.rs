//! `sed` with substitutions: `s/a/b/g`. Other commands are not computed. Patterns are not computed if POSIX and the
//! regex crate may choose different matches.

use castellan_programs::sed::{Command, Function, Script};
use regex::{Regex, RegexBuilder};

use super::Given;
use crate::limits::{REGEX_BYTES_MAX, SED_COMMANDS_MAX, VALUE_BYTES_MAX};
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
    let scripts: Vec<Script<'_>> = scripts.into_iter().map(Script::read).collect();
    let commands = || scripts.iter().flat_map(|script| &script.commands);
    if !scripts.iter().all(|script| script.is_whole) || commands().count() > SED_COMMANDS_MAX {
        return None;
    }
    for command in commands() {
        text = Substitution::of(command, is_extended)?.applied(&text)?;
    }
    Some(Text::known(text))
}

/// `s/pattern/replacement/flags`
struct Substitution {
    pattern: Regex,
    /// In the syntax of the regex crate.
    replacement: String,
    everywhere: bool,
}

impl Substitution {
    /// Compiles a command for all lines.
    fn of(command: &Command<'_>, is_extended: bool) -> Option<Substitution> {
        let ("", Function::Substitute(read)) = (command.address, &command.function) else { return None };
        let is_computed = |flag| matches!(flag, 'g' | 'i' | 'I' | ' ' | '\t');
        if read.file.is_some() || !read.flags.chars().all(is_computed) {
            return None;
        }
        let pattern = translated(&read.pattern, is_extended).filter(|pattern| !pattern.is_empty())?;
        let mut builder = RegexBuilder::new(&pattern);
        builder.case_insensitive(read.flags.contains(['i', 'I'])).size_limit(REGEX_BYTES_MAX);
        let pattern = builder.build().ok()?;
        let replacement = expansion(&read.replacement, pattern.captures_len())?;
        Some(Substitution { pattern, replacement, everywhere: read.flags.contains('g') })
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
                captures.expand(&self.replacement, &mut made);
                at = whole.end();
                if made.len() > VALUE_BYTES_MAX {
                    return None;
                }
            }
            made.push_str(whole_line.get(at..)?);
        }
        (made.len() <= VALUE_BYTES_MAX).then_some(made)
    }
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
            ('*', false) if is_start && is_extended => return None,
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
                no_repeat = repeats || matches!(letter, ')' | '}');
            }
            ('n' | 't' | 's' | 'S' | 'w' | 'W' | 'b', true) => {
                made.extend(['\\', letter]);
                no_repeat = letter == 'b';
            }
            (letter, true) if letter.is_ascii_alphanumeric() || "<>`'".contains(letter) => return None,
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
            '\\' if letters.peek().is_some_and(char::is_ascii_alphanumeric) => return None,
            letter if letter.is_ascii_punctuation() => made.extend(['\\', letter]),
            letter => made.push(letter),
        }
        is_first = false;
    }
    made.push(']');
    Some(())
}

/// Translates a replacement. `groups`: the number of groups with the whole match; sed rejects others.
fn expansion(replacement: &str, groups: usize) -> Option<String> {
    let mut made = String::new();
    let mut letters = replacement.chars();
    while let Some(letter) = letters.next() {
        let (escaped, letter) = if letter == '\\' { (true, letters.next()?) } else { (false, letter) };
        match letter {
            '&' if !escaped => made.push_str("${0}"),
            '0'..='9' if escaped => {
                let group = usize::try_from(letter.to_digit(10)?).ok().filter(|group| *group < groups)?;
                made.push_str(&format!("${{{group}}}"));
            }
            'n' if escaped => made.push('\n'),
            't' if escaped => made.push('\t'),
            'x' if escaped => {
                let digits: String = letters.by_ref().take(2).collect();
                // A non-ASCII byte is not a character.
                let code = u8::from_str_radix(&digits, 16).ok();
                let code = code.filter(|code| digits.len() == 2 && code.is_ascii())?;
                made.push_str(&char::from(code).to_string().replace('$', "$$"));
            }
            letter if escaped && letter.is_ascii_alphanumeric() => return None,
            '$' => made.push_str("$$"),
            letter => made.push(letter),
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use castellan_programs::Arg;

    use super::*;

    fn check(args: &[&str], input: &str, expected: Option<&str>) {
        let is_gnu = super::super::real("sed", &["--version"], "").is_some_and(|text| text.contains("GNU"));
        if let (true, Some(expected)) = (is_gnu, expected) {
            assert_eq!(super::super::real("sed", args, input).as_deref(), Some(expected), "sed {args:?}");
        }
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
        check(&["s/[/]m/rm/"], "/m\n", Some("rm\n"));
        check(&["s/[^\\/]*$/x/"], "a/b\n", Some("a/x\n"));
        check(&["s/x/r/ g # comment\n\n; s|a\\|b|rm|;"], "xa|b\n", Some("rrm\n"));
        check(&["s/x/r\\\nm/"], "x\n", Some("r\nm\n"));
        check(&["s&x&\\&&"], "x\n", Some("&\n"));
        check(&["s/\\(x\\)/$1\\x24{1}\\11/"], "x\n", Some("$1${1}x1\n"));
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
        check(&["s/a/\\1/"], "b", None);
        check(&["-E", "s/a{1}?/x/"], "aa", None);
        check(&["-E", "s/*a/x/"], "*a", None);
        check(&["s/\\<a/x/"], "a", None);
        check(&["s/\\b*a/x/"], "a", None);
        check(&["s/a/b/p"], "a", None);
        check(&["s/a/b/w f"], "a", None);
        check(&["2s/a/b/"], "a", None);
        check(&["!s/a/b/"], "a", None);
        check(&["s/a/b/;k"], "a", None);
        check(&["s/a\nb/c/"], "a", None);
    }
}
