//! Scripts of sed, by the GNU sed 4.9 manual: what they read, write and run. Anything that is no script is not known.

use castellan_event::Why;

use super::{Found, is_mark, is_stream};

pub(super) fn scan(text: &str) -> Vec<Found> {
    // No script begins so; it is the suffix after BSD's `-i`, or an error.
    if text.starts_with('.') {
        return Vec::new();
    }
    // What is no script to GNU sed may be one to BSD's, by which a delimiter in brackets ends nothing.
    let found = [false, true].iter().find_map(|in_brackets| read(text, *in_brackets));
    found.unwrap_or_else(|| vec![Found::Unknown(Why::Syntax, text.to_owned())])
}

/// What a script does; `None` when it is none. `in_brackets`: a delimiter between brackets is text.
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

    /// The letter of the next command, its addresses skipped; `None` when an address does not end.
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

    /// The text up to a delimiter that no backslash stands before.
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

    /// The same of a regular expression.
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

    /// What follows a command's letter; `None` when it is no command.
    fn arguments(&mut self, letter: char) -> Option<()> {
        match letter {
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            // The number after them is skipped as an address would be.
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
                // Without a command the line that was read is one.
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
                // What was replaced runs as a command.
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

/// What stands behind a list in brackets, which a text begins with: a `]` that comes first, and those of classes (`[:space:]`), end none.
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
