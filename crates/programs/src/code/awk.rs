//! Programs of awk, by the gawk 5.2 manual: the commands that they run, and the files that they read and write. The
//! scanner examines only tokens and their neighbours. A value that is not a literal is not known.

use castellan_event::Why;

use super::{Found, is_mark, is_stream};

mod token;

pub use token::{Program, Token};

pub(super) fn scan(text: &str) -> Vec<Found> {
    let program = Program::read(text).unwrap_or_default();
    let mut found = Vec::new();
    let mut state = State::default();
    for (at, token) in program.tokens.iter().enumerate() {
        let near = Near { tokens: &program.tokens, at };
        state.enter(token);
        found.extend(does(token, &near, &state));
    }
    if !program.is_whole {
        found.push(Found::Unknown(Why::Syntax, text.to_owned()));
    }
    found
}

/// Files of this name connect gawk to a host.
const NETWORK: &str = "/inet";

/// The position of a token in its statement.
#[derive(Default)]
struct State {
    depth: usize,
    /// Parenthesis depth of the open `print`.
    print: Option<usize>,
    /// The statement has a `getline` before the token.
    getline: bool,
}

impl State {
    fn enter(&mut self, token: &Token) {
        match token {
            Token::Sign("(" | "[") => self.depth += 1,
            Token::Sign(")" | "]") => self.depth = self.depth.saturating_sub(1),
            Token::Sign(";" | "{" | "}") | Token::End => {
                self.print = None;
                self.getline = false;
            }
            Token::Word(word) if matches!(word.as_str(), "print" | "printf") => self.print = Some(self.depth),
            Token::Word(word) if word == "getline" => self.getline = true,
            Token::Word(_) | Token::Text { .. } | Token::Number(_) | Token::Regex | Token::Sign(_) => {}
        }
    }
}

struct Near<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl Near<'_> {
    fn after(&self, offset: usize) -> &Token {
        self.tokens.get(self.at + offset).unwrap_or(&Token::End)
    }

    fn before(&self, offset: usize) -> &Token {
        self.at.checked_sub(offset).and_then(|at| self.tokens.get(at)).unwrap_or(&Token::End)
    }

    /// Returns the literal there, unless another expression is joined to it.
    fn literal_after(&self, offset: usize) -> Option<String> {
        let Token::Text { value, .. } = self.after(offset) else { return None };
        let ends = matches!(
            self.after(offset + 1),
            Token::End | Token::Sign(";" | "}" | ")" | "|" | "&&" | "||" | ">" | "<" | "==" | "!=")
        );
        ends.then(|| value.clone())
    }

    /// Returns the literal before this token, unless another expression is joined to it.
    fn literal_before(&self) -> Option<String> {
        let Token::Text { value, .. } = self.before(1) else { return None };
        let begins = match self.before(2) {
            Token::End => true,
            Token::Sign(sign) => !matches!(*sign, ")" | "]" | "$"),
            Token::Word(_) | Token::Text { .. } | Token::Number(_) | Token::Regex => false,
        };
        begins.then(|| value.clone())
    }
}

fn does(token: &Token, near: &Near<'_>, state: &State) -> Option<Found> {
    let dynamic = |what: &str| Found::Unknown(Why::Dynamic, what.to_owned());
    let shell = |text: Option<String>, what: &str| match text {
        Some(text) if text.starts_with(NETWORK) => Found::Unknown(Why::Network, text),
        Some(text) => Found::Shell(text),
        None => dynamic(what),
    };
    match token {
        Token::Word(word) if word == "system" => Some(shell(near.literal_after(2), "system")),
        Token::Word(word) if word == "ARGV" || word.chars().any(is_mark) => Some(dynamic(word)),
        Token::Sign("|" | "|&") if *near.after(1) == Token::Word("getline".to_owned()) => {
            Some(shell(near.literal_before(), "getline"))
        }
        // The output for a shell is code, and is not known.
        Token::Sign("|" | "|&") if near.literal_after(1).is_some_and(|text| is_shell(&text)) => {
            Some(dynamic("| sh"))
        }
        Token::Sign("|" | "|&") => Some(shell(near.literal_after(1), "|")),
        Token::Sign(">" | ">>") if state.print == Some(state.depth) => {
            near.literal_after(1).map_or_else(|| Some(dynamic("print >")), |path| file(path, Found::Write))
        }
        Token::Sign("<") if state.getline => {
            near.literal_after(1).map_or_else(|| Some(dynamic("getline <")), |path| file(path, Found::Read))
        }
        Token::Sign("@") => Some(dynamic("@")),
        Token::Word(_)
        | Token::Text { .. }
        | Token::Number(_)
        | Token::Regex
        | Token::Sign(_)
        | Token::End => None,
    }
}

/// Reports whether a command is a shell that reads its commands from its input.
fn is_shell(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or_default();
    matches!(program.rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish"))
}

fn file(path: String, found: fn(String) -> Found) -> Option<Found> {
    match path.starts_with(NETWORK) {
        true => Some(Found::Unknown(Why::Network, path)),
        false => (!is_stream(&path)).then(|| found(path)),
    }
}
