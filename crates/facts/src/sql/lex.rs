//! Splits SQL text into statements of tokens, by the rules of the client program: quotes, comments, dollar quotes and
//! the client's own commands. Linear in the text. This module must not know the effects of statements.

use super::System;

/// A statement, or a command of the client itself.
#[derive(Debug, Default)]
pub(super) struct Statement {
    /// The text without comments.
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    /// The statement is a command of the client (`\! ls`, `.shell ls`); `text` contains all of it.
    pub(super) is_client: bool,
    /// The deepest nesting of parentheses.
    pub(super) depth: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word outside quotes.
    Word(String),
    /// A quoted name.
    Name(String),
    /// A string or a number.
    Text(String),
    /// Anything else.
    Sign(char),
}

impl Token {
    /// True if the token is this keyword. The keyword must be in capitals.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }
}

pub(super) fn statements(text: &str, system: System) -> Vec<Statement> {
    let mut lexer = Lexer {
        rest: text,
        system,
        done: Vec::new(),
        open: Statement::default(),
        depth: 0,
        executable: false,
        at_line_start: true,
    };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    lexer.end();
    lexer.done
}

struct Lexer<'t> {
    rest: &'t str,
    system: System,
    done: Vec<Statement>,
    open: Statement,
    depth: usize,
    /// Inside `/*! ... */`.
    executable: bool,
    at_line_start: bool,
}

impl Lexer<'_> {
    fn step(&mut self) {
        let Some(letter) = self.rest.chars().next() else { return };
        if self.client_command(letter) || self.comment() {
            return;
        }
        if letter.is_whitespace() {
            self.take(letter.len_utf8());
            self.at_line_start = letter == '\n' || self.at_line_start && self.open.tokens.is_empty();
            return;
        }
        self.at_line_start = false;
        match letter {
            ';' => {
                self.skip(1);
                self.end();
            }
            '\'' => self.quoted('\'', self.system.escapes_with_backslash(), Token::Text),
            '"' if self.system == System::Mysql => self.quoted('"', true, Token::Text),
            '"' => self.quoted('"', false, Token::Name),
            '`' => self.quoted('`', false, Token::Name),
            '[' if self.system.has_brackets() => self.bracketed(),
            '$' if self.system.has_dollar_quotes() && self.dollar_quoted() => {}
            'e' | 'E' if self.system.has_dollar_quotes() && self.rest.get(1..2) == Some("'") => {
                self.take(1);
                self.quoted('\'', true, Token::Text);
            }
            _ if letter.is_alphanumeric() || letter == '_' || letter == '@' => self.word(),
            _ => self.sign(letter),
        }
    }

    fn sign(&mut self, letter: char) {
        match letter {
            '(' => {
                self.depth += 1;
                self.open.depth = self.open.depth.max(self.depth);
            }
            ')' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.take(letter.len_utf8());
        self.open.tokens.push(Token::Sign(letter));
    }

    /// Moves this many bytes into the statement's text.
    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.open.text.push_str(taken);
        self.rest = rest;
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn end(&mut self) {
        let statement = std::mem::take(&mut self.open);
        self.depth = 0;
        if !statement.tokens.is_empty() {
            self.done.push(statement);
        }
    }

    fn word(&mut self) {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '@' | '$');
        let length = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let word = self.rest.get(..length).unwrap_or_default().to_owned();
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        self.take(length);
        self.open.tokens.push(if is_number { Token::Text(word) } else { Token::Word(word) });
    }

    /// Reads a quoted string or name. A doubled quote is part of it.
    fn quoted(&mut self, quote: char, backslash: bool, token: fn(String) -> Token) {
        let mut value = String::new();
        let mut letters = self.rest.char_indices().skip(1).peekable();
        let mut length = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            if letter == '\\' && backslash {
                value.extend(letters.next().map(|(_, escaped)| escaped));
            } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
                length = at + quote.len_utf8();
                break;
            } else {
                value.push(letter);
            }
        }
        self.take(length);
        self.open.tokens.push(token(value));
    }

    fn bracketed(&mut self) {
        let Some(length) = self.rest.find(']') else { return self.sign('[') };
        let name = self.rest.get(1..length).unwrap_or_default().to_owned();
        self.take(length + 1);
        self.open.tokens.push(Token::Name(name));
    }

    /// Reads `$tag$ ... $tag$`. False if the text is not a dollar quote.
    fn dollar_quoted(&mut self) -> bool {
        let after = self.rest.get(1..).unwrap_or_default();
        let is_tag = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = after.find(|letter| !is_tag(letter)).unwrap_or(after.len());
        if !after.get(length..).is_some_and(|rest| rest.starts_with('$')) {
            return false;
        }
        let Some((tag, body)) = self.rest.split_at_checked(length + 2) else { return false };
        let (inside, all) = match body.find(tag) {
            Some(end) => (body.get(..end).unwrap_or_default(), tag.len() * 2 + end),
            None => (body, self.rest.len()),
        };
        let inside = inside.to_owned();
        self.take(all);
        self.open.tokens.push(Token::Text(inside));
        true
    }

    /// Skips a comment. The text inside an executable comment of MySQL is read.
    fn comment(&mut self) -> bool {
        if self.rest.starts_with("--") {
            let after = self.rest.get(2..).and_then(|rest| rest.chars().next());
            if self.system == System::Mysql && after.is_some_and(|after| !after.is_whitespace()) {
                return false;
            }
            self.skip_line();
            return true;
        }
        if self.rest.starts_with('#') && self.system == System::Mysql {
            self.skip_line();
            return true;
        }
        if self.executable && self.rest.starts_with("*/") {
            self.executable = false;
            self.skip(2);
            return true;
        }
        if !self.rest.starts_with("/*") {
            return false;
        }
        let opener = if self.rest.starts_with("/*M!") { 4 } else { 3 };
        let is_executable = opener == 4 || self.rest.starts_with("/*!");
        if self.system == System::Mysql && is_executable {
            self.executable = true;
            self.skip(opener);
            let digits = self.rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.rest.len());
            self.skip(digits);
            self.open.text.push(' ');
            return true;
        }
        self.skip(block_comment(self.rest, self.system.nests_comments()));
        self.open.text.push(' ');
        true
    }

    fn skip_line(&mut self) {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        self.skip(length);
    }

    /// Reads a command of the client, up to the end of its line.
    fn client_command(&mut self, letter: char) -> bool {
        let fresh = self.at_line_start && self.open.tokens.is_empty();
        let is_one = match self.system {
            System::Postgres | System::Mysql => letter == '\\',
            System::Sqlite | System::Duckdb => letter == '.' && fresh,
            System::Sqlserver => fresh && (letter == ':' || letter == '!'),
            System::Other => false,
        };
        let word = if self.system == System::Mysql && fresh { self.mysql_word() } else { false };
        if !is_one && !word {
            return false;
        }
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        let text = self.rest.get(..length).unwrap_or_default().trim().to_owned();
        self.skip(length);
        self.done.push(Statement { text, is_client: true, ..Statement::default() });
        true
    }

    /// True for commands of the `mysql` client without a backslash: `system ls`, `source file`.
    fn mysql_word(&self) -> bool {
        let word = self.rest.split_whitespace().next().unwrap_or_default();
        ["source", "system", "tee", "pager"].iter().any(|one| word.eq_ignore_ascii_case(one))
    }
}

/// The length of a block comment in bytes; the whole text if the comment does not end.
fn block_comment(text: &str, nests: bool) -> usize {
    let mut level = 0_usize;
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        let next = bytes.peek().map(|(_, next)| *next);
        match (byte, next) {
            (b'/', Some(b'*')) if nests || level == 0 => level += 1,
            (b'*', Some(b'/')) => level = level.saturating_sub(1),
            _ => continue,
        }
        bytes.next();
        if level == 0 {
            return at + 2;
        }
    }
    text.len()
}
