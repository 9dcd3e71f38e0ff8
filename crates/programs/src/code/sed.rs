//! Scripts of sed, by the GNU sed 4.9 manual: the files and commands that they use. Invalid scripts are not known.

use castellan_event::Why;

use super::{Found, is_mark, is_stream};

pub(super) fn scan(text: &str) -> Vec<Found> {
    // No script begins with a dot: it is the suffix after BSD's `-i`, or an error.
    if text.starts_with('.') {
        return Vec::new();
    }
    // A text that GNU sed rejects may be valid in BSD sed, which ignores a delimiter in brackets.
    let found = [false, true].iter().find_map(|in_brackets| read(text, *in_brackets));
    found.unwrap_or_else(|| vec![Found::Unknown(Why::Syntax, text.to_owned())])
}

/// Returns the effects of a script; `None` if it is invalid. `in_brackets`: a delimiter between brackets is text.
fn read(text: &str, in_brackets: bool) -> Option<Vec<Found>> {
    let mut script = Script { rest: text, in_brackets, found: Vec::new() };
    loop {
        match script.command()? {
            Command::End => return Some(script.found),
            Command::Letter(letter) => script.arguments(letter)?,
        }
    }
}

enum Command {
    Letter(char),
    End,
}

struct Script<'a> {
    rest: &'a str,
    in_brackets: bool,
    found: Vec<Found>,
}

impl<'a> Script<'a> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(letter)
    }

    /// Skips addresses and returns the letter of the next command; `None` when an address does not end.
    fn command(&mut self) -> Option<Command> {
        loop {
            let delimiter = match self.next() {
                None => return Some(Command::End),
                Some(letter) if letter.is_whitespace() || letter.is_ascii_digit() => continue,
                Some(';' | ',' | '!' | '$' | '+' | '~' | '{' | '}') => continue,
                Some('/') => '/',
                Some('\\') => self.next()?,
                Some(letter) => return Some(Command::Letter(letter)),
            };
            self.pattern(delimiter)?;
            self.rest = self.rest.trim_start_matches(['I', 'M']);
        }
    }

    /// Reads the text up to a delimiter without a backslash before it.
    fn part(&mut self, delimiter: char) -> Option<&'a str> {
        let mut escaped = false;
        for (at, letter) in self.rest.char_indices() {
            if letter == delimiter && !escaped {
                let part = self.rest.get(..at)?;
                self.rest = self.rest.get(at + letter.len_utf8()..)?;
                return Some(part);
            }
            escaped = letter == '\\' && !escaped;
        }
        None
    }

    /// Reads a regular expression up to its delimiter.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        if !self.in_brackets {
            return self.part(delimiter).map(drop);
        }
        let mut escaped = false;
        while let Some(letter) = self.rest.chars().next() {
            if letter == '[' && !escaped {
                self.rest = after_brackets(self.rest)?;
                continue;
            }
            self.next();
            if letter == delimiter && !escaped {
                return Some(());
            }
            escaped = letter == '\\' && !escaped;
        }
        None
    }

    fn line(&mut self) -> &'a str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line.trim_start()
    }

    fn file(&mut self, found: fn(String) -> Found) {
        let path = self.line();
        if !is_stream(path) {
            self.found.push(found(path.to_owned()));
        }
    }

    /// Reads the arguments of a command; `None` for an unknown command.
    fn arguments(&mut self, letter: char) -> Option<()> {
        match letter {
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            // The number after these letters is skipped like an address.
            'l' | 'L' | 'q' | 'Q' => {}
            '#' => drop(self.line()),
            ':' | 'b' | 't' | 'T' | 'v' => {
                let end = self.rest.find(['\n', ';', '}']).unwrap_or(self.rest.len());
                self.rest = self.rest.get(end..)?;
            }
            'a' | 'i' | 'c' => while self.line().ends_with('\\') {},
            'r' | 'R' => self.file(Found::Read),
            'w' | 'W' => self.file(Found::Write),
            'e' => {
                let command = self.line().to_owned();
                // Without a command, sed runs the pattern space.
                self.found.push(if command.is_empty() {
                    Found::Unknown(Why::Dynamic, "e".to_owned())
                } else {
                    Found::Shell(command)
                });
            }
            'y' => {
                let delimiter = self.next()?;
                self.part(delimiter)?;
                self.part(delimiter)?;
            }
            's' => return self.substitution(),
            _ => return None,
        }
        Some(())
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.next().filter(|letter| !is_mark(*letter))?;
        self.pattern(delimiter)?;
        let replacement = self.part(delimiter)?;
        let mut runs = false;
        loop {
            let before = self.rest;
            match self.next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {}
                // sed runs the result of the replacement as a command.
                Some('e') if !runs => {
                    runs = true;
                    self.found.push(Found::Unknown(Why::Dynamic, replacement.to_owned()));
                }
                Some('e') => {}
                Some('w') => {
                    self.file(Found::Write);
                    return Some(());
                }
                None => return Some(()),
                Some(' ' | '\t' | '\r' | '\n' | ';' | '}' | '#') => {
                    self.rest = before;
                    return Some(());
                }
                Some(_) => return None,
            }
        }
    }
}

/// Returns the text after a bracket list at the start. A first `]`, and those of classes (`[:space:]`), do not end it.
fn after_brackets(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?;
    let inner = inner.strip_prefix('^').unwrap_or(inner);
    let mut rest = inner.strip_prefix(']').unwrap_or(inner);
    loop {
        let class = ["[:", "[.", "[="].iter().find(|begin| rest.starts_with(**begin));
        if let Some(class) = class {
            let end = match *class {
                "[:" => ":]",
                "[." => ".]",
                _ => "=]",
            };
            rest = rest.get(2..)?.split_once(end)?.1;
            continue;
        }
        let mut letters = rest.chars();
        let letter = letters.next()?;
        rest = letters.as_str();
        if letter == ']' {
            return Some(rest);
        }
    }
}
