//! Scripts of sed, read as GNU sed 4.9 reads them: for their effects, and for programs that compute their output.
//! Invalid scripts are not known.

use castellan_event::Why;

use super::{Found, is_number_mark, is_stream};
use crate::limits::CODE_BYTES_MAX;

/// A script. The marks of unknown parts are characters that no command has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<'t> {
    /// Commands in their order, without comments.
    pub commands: Vec<Command<'t>>,
    /// False if sed rejects the text after the commands. sed has opened the files of `w` by then.
    pub is_whole: bool,
}

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command<'t> {
    /// The text of its addresses, with the `!`; empty for all lines.
    pub address: &'t str,
    /// Its letter with its arguments.
    pub function: Function<'t>,
}

/// The letter of a command and its arguments, as far as they show an effect or change the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Function<'t> {
    /// `s`
    Substitute(Substitution<'t>),
    /// `r` and `R` with their file.
    Read(&'t str),
    /// `w` and `W` with their file.
    Write(&'t str),
    /// `e` with its command; `None` if sed runs the pattern space, or if escapes hide the command.
    Execute(Option<String>),
    /// A command with another letter.
    Other(char),
}

/// `s/pattern/replacement/flags`. Pattern and replacement have no backslash before the delimiter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution<'t> {
    /// The regular expression.
    pub pattern: String,
    /// The text in place of a match, with its escapes.
    pub replacement: String,
    /// Flags, numbers and blanks between them, without `w`.
    pub flags: &'t str,
    /// The file of the flag `w`.
    pub file: Option<&'t str>,
}

/// A digit, or an unknown number.
fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit() || is_number_mark(letter)
}

pub(super) fn scan(text: &str) -> Vec<Found> {
    // No script begins with a dot: it is the suffix after BSD's `-i`, or an error.
    if text.starts_with('.') {
        return Vec::new();
    }
    let script = Script::read(text);
    let mut found: Vec<Found> =
        script.commands.into_iter().flat_map(|one| does(one.function)).flatten().collect();
    if !script.is_whole {
        found.push(Found::Unknown(Why::Syntax, text.to_owned()));
    }
    found
}

fn does(function: Function<'_>) -> [Option<Found>; 2] {
    let file = |path: &str, found: fn(String) -> Found| (!is_stream(path)).then(|| found(path.to_owned()));
    match function {
        Function::Substitute(Substitution { replacement, flags, file: path, .. }) => [
            // sed runs the result of the replacement as a command.
            flags.contains('e').then_some(Found::Unknown(Why::Dynamic, replacement)),
            path.and_then(|path| file(path, Found::Write)),
        ],
        Function::Read(path) => [file(path, Found::Read), None],
        Function::Write(path) => [file(path, Found::Write), None],
        Function::Execute(Some(text)) => [Some(Found::Shell(text)), None],
        Function::Execute(None) => [Some(Found::Unknown(Why::Dynamic, "e".to_owned())), None],
        Function::Other(_) => [None, None],
    }
}

impl<'t> Script<'t> {
    /// Reads a script, or its commands up to the first that sed rejects. A text over the limit has no commands.
    pub fn read(text: &'t str) -> Script<'t> {
        let mut script = Script { commands: Vec::new(), is_whole: text.len() <= CODE_BYTES_MAX };
        let mut reader = Reader { rest: if script.is_whole { text } else { "" } };
        loop {
            reader.skip(|letter| letter == ';' || letter.is_ascii_whitespace());
            if reader.rest.is_empty() {
                return script;
            }
            match reader.command() {
                Some(Command { function: Function::Other('#'), .. }) => {}
                Some(command) => script.commands.push(command),
                None => {
                    script.is_whole = false;
                    return script;
                }
            }
        }
    }
}

/// The text that is not yet read. Each method returns `None` where sed rejects the text.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(letter)
    }

    fn take(&mut self, letter: char) -> bool {
        let after = self.rest.strip_prefix(letter);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Returns the text up to the first character without a property.
    fn skip(&mut self, has: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|letter| !has(letter)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        skipped
    }

    fn blanks(&mut self) {
        self.skip(|letter| matches!(letter, ' ' | '\t'));
    }

    fn number(&mut self) {
        self.blanks();
        self.skip(is_digit);
    }

    fn command(&mut self) -> Option<Command<'t>> {
        let start = self.rest;
        if self.address()? {
            self.blanks();
            if self.take(',') {
                self.blanks();
                self.address()?.then_some(())?;
            }
        }
        self.blanks();
        if self.take('!') {
            self.blanks();
        }
        let address = start.get(..start.len() - self.rest.len())?.trim_end();
        Some(Command { address, function: self.function()? })
    }

    /// Reports whether there is an address, and skips it. sed accepts `+w`, too.
    fn address(&mut self) -> Option<bool> {
        if self.take('+') || self.take('~') {
            self.number();
        } else if self.rest.starts_with(is_digit) {
            self.number();
            self.blanks();
            if self.take('~') {
                self.number();
            }
        } else if self.rest.starts_with(['/', '\\']) {
            self.take('\\');
            self.delimited(self.rest.chars().next(), true)?;
            self.next();
            self.skip(|letter| matches!(letter, ' ' | '\t' | 'I' | 'M'));
        } else {
            return Some(self.take('$'));
        }
        Some(true)
    }

    /// Reads a text between delimiters up to the second one, which remains. A delimiter in the brackets of a pattern is
    /// text.
    fn delimited(&mut self, delimiter: Option<char>, is_pattern: bool) -> Option<String> {
        let delimiter = delimiter.filter(|one| one.is_ascii() && *one != '\n')?;
        let mut text = String::new();
        self.next();
        loop {
            match self.rest.chars().next()? {
                letter if letter == delimiter => return Some(text),
                '\n' => return None,
                '[' if is_pattern => {
                    let after = after_brackets(self.rest)?;
                    let brackets = self.rest.get(..self.rest.len() - after.len())?;
                    text.push_str(brackets);
                    self.rest = after;
                }
                '\\' => {
                    self.next();
                    let escaped = self.next()?;
                    // `s&a&\&&` makes an ampersand.
                    if escaped != '\n' && (escaped != delimiter || !is_pattern && escaped == '&') {
                        text.push('\\');
                    }
                    text.push(escaped);
                }
                letter => {
                    self.next();
                    text.push(letter);
                }
            }
        }
    }

    /// Reads two texts between three delimiters.
    fn pair(&mut self, is_pattern: bool) -> Option<(String, String)> {
        let delimiter = self.rest.chars().next();
        let pair = (self.delimited(delimiter, is_pattern)?, self.delimited(delimiter, false)?);
        self.next();
        Some(pair)
    }

    fn line(&mut self) -> &'t str {
        self.skip(|letter| letter != '\n')
    }

    fn file(&mut self) -> Option<&'t str> {
        self.blanks();
        Some(self.line()).filter(|path| !path.is_empty())
    }

    /// Reads the text of `a`, `i`, `c` and `e`: the lines up to the first without a backslash at its end. `None` if
    /// letters that may be escapes follow a backslash.
    fn text(&mut self) -> Option<String> {
        if self.take('\\') {
            self.take('\n');
        }
        let (mut text, mut is_known) = (String::new(), true);
        while let Some(letter) = self.next().filter(|letter| *letter != '\n') {
            let escaped = if letter == '\\' { self.next() } else { None };
            is_known &= !escaped.is_some_and(|escaped| escaped.is_ascii_alphanumeric());
            text.push(escaped.unwrap_or(letter));
        }
        is_known.then_some(text)
    }

    fn function(&mut self) -> Option<Function<'t>> {
        let letter = self.next()?;
        match letter {
            '{' => {}
            '}' | '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => {
                self.end()?
            }
            'l' | 'L' | 'q' | 'Q' => {
                self.number();
                self.end()?;
            }
            '#' => drop(self.line()),
            // A command may follow a label without a separator. Other programs than GNU sed allow `#` in a label.
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.blanks();
                let label = self.skip(|one| !matches!(one, ';' | '}') && !one.is_ascii_whitespace());
                if letter == ':' && label.is_empty() {
                    return None;
                }
            }
            'a' | 'i' | 'c' => {
                self.blanks();
                self.rest.chars().next()?;
                self.text();
            }
            'r' | 'R' => return self.file().map(Function::Read),
            'w' | 'W' => return self.file().map(Function::Write),
            'e' => {
                self.blanks();
                return Some(Function::Execute(self.text().filter(|text| !text.is_empty())));
            }
            'y' => {
                self.pair(false)?;
                self.end()?;
            }
            's' => return self.substitution().map(Function::Substitute),
            _ => return None,
        }
        Some(Function::Other(letter))
    }

    fn substitution(&mut self) -> Option<Substitution<'t>> {
        let (pattern, replacement) = self.pair(true)?;
        let is_flag = |letter: char| matches!(letter, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | 'e' | ' ' | '\t');
        let flags = self.skip(|letter| is_flag(letter) || letter.is_ascii_digit());
        let file = if self.take('w') { Some(self.file()?) } else { None };
        self.take('\r');
        self.end()?;
        Some(Substitution { pattern, replacement, flags, file })
    }

    /// Accepts only the end of a command.
    fn end(&mut self) -> Option<()> {
        self.blanks();
        (self.rest.is_empty() || self.rest.starts_with(['\n', ';', '}', '#'])).then_some(())
    }
}

/// Returns the text after a bracket list at the start. A first `]`, and those of classes (`[:space:]`), do not end it.
fn after_brackets(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?;
    let inner = inner.strip_prefix('^').unwrap_or(inner);
    let mut rest = inner.strip_prefix(']').unwrap_or(inner);
    loop {
        let mut letters = rest.chars();
        let letter = letters.next()?;
        rest = letters.as_str();
        match (letter, rest.chars().next()) {
            (']', _) => return Some(rest),
            ('\n', _) => return None,
            ('[', Some(mark @ (':' | '.' | '='))) => rest = rest.get(1..)?.split_once(&format!("{mark}]"))?.1,
            _ => {}
        }
    }
}
