//! Words: quotes, carets, variables and their parts.

use super::Reader;
use crate::tree::{Kind, Node};

impl Reader<'_> {
    /// Reads a command's name: it also ends at word separators, and after some built-in commands at a slash or point.
    pub(super) fn name(&mut self) -> Node {
        let from = self.at;
        // `echo.` and similar forms.
        let word = self.keyword();
        let after = self.rest().get(word.len()..).and_then(|rest| rest.chars().next());
        if word == "echo" && after.is_some_and(|letter| ".:([+".contains(letter)) {
            self.at += word.len() + 1;
            return self.node(from, Kind::Text("echo".into()));
        }
        if matches!(
            word.as_str(),
            "cd" | "chdir" | "md" | "mkdir" | "rd" | "rmdir" | "dir" | "del" | "copy" | "type"
        ) && after.is_some_and(|letter| matches!(letter, '/' | '\\' | '.'))
        {
            // `cd\`, `rd/s`, but not a program with such a path.
            let is_path = self.rest().get(word.len()..).is_some_and(|rest| {
                rest.starts_with(".exe") || rest.starts_with(".bat") || rest.starts_with(".cmd")
            });
            if !is_path {
                self.at += word.len();
                return self.node(from, Kind::Text(word.into()));
            }
        }
        self.pieces(|letter| {
            ends(letter) || letter.is_whitespace() || matches!(letter, ',' | ';' | '=' | '<' | '>')
        })
    }

    /// Reads a word of a command.
    pub(super) fn word(&mut self) -> Node {
        let from = self.at;
        if self.peek() == Some('/') {
            let written = self.take(|letter| {
                !letter.is_whitespace()
                    && !ends(letter)
                    && !matches!(letter, '<' | '>' | '"' | '%' | '!' | ',' | ';' | '=')
            });
            let flag = written.trim_start_matches('/');
            let is_whole = self.peek().is_none_or(|letter| {
                letter.is_whitespace() || ends(letter) || matches!(letter, ',' | ';' | '<' | '>')
            });
            if is_whole && !flag.is_empty() {
                return match flag.split_once(':') {
                    Some((name, value)) => {
                        let value = self.node(from, Kind::Text(value.into()));
                        self.node(from, Kind::Keyword(name.into(), value.into()))
                    }
                    None => self.node(from, Kind::Flag(flag.into())),
                };
            }
            self.at = from;
        }
        self.pieces(|letter| {
            ends(letter) || letter.is_whitespace() || matches!(letter, ',' | ';' | '<' | '>')
        })
    }

    /// Reads one side of a comparison.
    pub(super) fn operand(&mut self) -> Node {
        self.pieces(|letter| ends(letter) || letter.is_whitespace() || matches!(letter, '=' | '<' | '>'))
    }

    /// Reads the rest of a line as a value. A quoted value ends at its quote.
    pub(super) fn line_value(&mut self, is_quoted: bool) -> Node {
        let value = self.text(
            move |letter| if is_quoted { matches!(letter, '"' | '\n' | '\r') } else { ends(letter) },
            is_quoted,
        );
        if is_quoted {
            self.take(|letter| !ends(letter));
        }
        value
    }

    fn pieces(&mut self, stops: impl Fn(char) -> bool) -> Node {
        self.text(stops, false)
    }

    /// Reads text with variables, up to a stop character outside of quotes.
    fn text(&mut self, stops: impl Fn(char) -> bool, keeps_quotes: bool) -> Node {
        let from = self.at;
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut in_quotes = false;
        while let Some(letter) = self.peek() {
            match letter {
                '"' if !keeps_quotes => {
                    self.bump();
                    in_quotes = !in_quotes;
                }
                '\n' | '\r' => break,
                letter if !in_quotes && stops(letter) => break,
                '^' if !in_quotes => {
                    self.bump();
                    self.eats("\r");
                    if !self.eats("\n") {
                        text.extend(self.bump());
                    }
                }
                '%' | '!' => match self.variable(letter) {
                    Some(variable) => {
                        parts.push(self.node(from, Kind::Text(std::mem::take(&mut text).into())));
                        parts.push(variable);
                    }
                    None => {
                        self.bump();
                        if letter == '!' || self.eats("%") {
                            text.push(letter);
                        }
                    }
                },
                other => {
                    text.push(other);
                    self.bump();
                }
            }
        }
        if parts.is_empty() {
            return self.node(from, Kind::Text(text.into()));
        }
        parts.push(self.node(from, Kind::Text(text.into())));
        parts.retain(|part| !matches!(&part.kind, Kind::Text(text) if text.is_empty()));
        self.node(from, Kind::Join(parts))
    }

    /// `%name%`, `%name:a=b%`, `%name:~1,2%`, `!name!`, `%1`, `%~dp0`, `%%i`
    fn variable(&mut self, mark: char) -> Option<Node> {
        let from = self.at;
        let rest = self.rest().get(1..).unwrap_or_default();
        if mark == '%' {
            let after = rest.strip_prefix('%').unwrap_or(rest);
            let is_loop = after.len() < rest.len() || rest.starts_with('~');
            let modifiers = after.strip_prefix('~').map(|rest| {
                let end = rest.find(|letter: char| !"dpfnxsatz".contains(letter)).unwrap_or(0);
                self.pay(end);
                rest.get(..end).unwrap_or_default()
            });
            if let Some(node) = self.parameter(from, after, modifiers, is_loop) {
                return Some(node);
            }
        }
        let end = rest.find([mark, '\n', '\r', '"']);
        self.pay(end.unwrap_or(rest.len()));
        let end = end.filter(|end| rest.get(*end..).is_some_and(|rest| rest.starts_with(mark)))?;
        let inside = rest.get(..end).filter(|inside| !inside.is_empty() && !inside.contains(['&', '|']))?;
        self.at += end + 2;
        let (name, change) =
            inside.split_once(':').map_or((inside, None), |(name, change)| (name, Some(change)));
        let value = self.node(from, Kind::Name(format!("%{}%", name.to_lowercase()).into()));
        let Some(change) = change else { return Some(value) };
        let text = |text: &str| Node::text(self.since(from), text);
        Some(match (change.strip_prefix('~'), change.split_once('=')) {
            (Some(range), _) => {
                let mut numbers = range.split(',').map(|number| number.trim().parse::<i64>().ok());
                let mut next = || {
                    numbers.next().map(|number| self.node(from, number.map_or(Kind::Constant, Kind::Number)))
                };
                let arguments = std::iter::once(value).chain(next()).chain(next()).collect();
                self.own(from, "cut", arguments)
            }
            (None, Some((before, after))) => {
                let arguments = vec![value, text(before), text(after)];
                self.own(from, "replace", arguments)
            }
            (None, None) => self.node(from, Kind::Inert(vec![value])),
        })
    }

    /// Reads an argument of the file or a loop variable; `after` is the text after the percent signs.
    fn parameter(
        &mut self,
        from: usize,
        after: &str,
        modifiers: Option<&str>,
        is_loop: bool,
    ) -> Option<Node> {
        let tail = after.get(modifiers.map_or(0, |modifiers| modifiers.len() + 1)..)?;
        let letter = tail.chars().next()?;
        let rest = tail.get(letter.len_utf8()..)?;
        let end = rest.find(['%', ' ', '\n', '"', '\\']);
        self.pay(end.unwrap_or(rest.len()));
        let closes = end.is_some_and(|end| rest.get(end..).is_some_and(|rest| rest.starts_with('%')));
        let is_argument = letter.is_ascii_digit() || letter == '*';
        let is_variable = letter.is_ascii_alphabetic() && (is_loop || modifiers.is_some());
        // With one percent sign, as on a command line, it may also be the name of a variable.
        let is_short = letter.is_ascii_alphabetic() && !is_loop && !closes && modifiers.is_none();
        if !(is_argument || is_variable || is_short) {
            return None;
        }
        self.at += self.rest().len() - tail.len() + letter.len_utf8();
        if is_argument && letter == '0' && modifiers.is_some_and(|modifiers| modifiers.contains("dp")) {
            return Some(self.own(from, "directory", Vec::new()));
        }
        let name =
            if is_argument { format!("%{letter}") } else { format!("%%{}", letter.to_ascii_lowercase()) };
        let value = self.node(from, Kind::Name(name.into()));
        Some(match modifiers {
            None | Some("" | "f") => value,
            Some(_) => self.node(from, Kind::Inert(vec![value])),
        })
    }
}

/// Reports whether this letter ends a command.
pub(super) fn ends(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '&' | '|' | ')')
}
