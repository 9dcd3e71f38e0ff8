//! Reads AppleScript as far as it starts other things: `do shell script`, `do script`, `run script`, keystrokes,
//! deletions by Finder. The reader works by lines and words, without a grammar. A line whose words cannot act is data.
//! Any other line that is not understood gives a `Hole`. Must not know what a shell does.

use castellan_event::Why;

use crate::limits::{READER_BYTES_PER_NODE, TREE_DEPTH_MAX};
use crate::tree::{Kind, Node, Span};
use crate::work::Meter;

/// First words of statements that change nothing outside of the program.
const HARMLESS: &[&str] = &[
    "activate",
    "beep",
    "choose",
    "considering",
    "copy",
    "count",
    "current",
    "delay",
    "display",
    "else",
    "end",
    "error",
    "exit",
    "get",
    "global",
    "if",
    "ignoring",
    "launch",
    "local",
    "log",
    "on",
    "path",
    "property",
    "repeat",
    "return",
    "say",
    "set",
    "tell",
    "the",
    "to",
    "try",
    "use",
    "using",
    "with",
    "name",
    "my",
    "its",
    "it",
    "ascii",
    "offset",
    "random",
    "round",
    "summarize",
    "info",
    "continue",
    "play",
    "pause",
    "playpause",
    "next",
    "previous",
    "system",
];

/// Pairs whose first word normally acts, but only returns information before the second word.
const TELLING: &[(&str, &str)] = &[("system", "info"), ("system", "attribute")];

/// The language's own property for splitting texts.
const DELIMITERS: &[&str] = &["text", "item", "delimiters"];

/// Words of an action, at any place of a line.
const ACTING: &[&str] = &[
    "click",
    "close",
    "code",
    "create",
    "delete",
    "do",
    "download",
    "duplicate",
    "eject",
    "empty",
    "erase",
    "execute",
    "export",
    "import",
    "install",
    "javascript",
    "keystroke",
    "key",
    "kill",
    "load",
    "login",
    "make",
    "mount",
    "move",
    "open",
    "perform",
    "press",
    "print",
    "quit",
    "remove",
    "restart",
    "run",
    "save",
    "script",
    "send",
    "shell",
    "shut",
    "sleep",
    "store",
    "system",
    "terminal",
    "upload",
    "write",
    "handler",
    "call",
    "framework",
    "click",
    "invoke",
    "attachment",
];

pub(crate) fn read(text: &str, meter: &Meter) -> Node {
    let tokens = tokens(text, meter);
    let mut parts = Vec::new();
    for line in tokens.split(|token| matches!(token.is, Is::End)) {
        if meter.is_over() {
            break;
        }
        let Some(first) = line.first() else { continue };
        let at = (first.at.0, line.last().map_or(first.at.1, |last| last.at.1));
        Line { tokens: line, meter, next: 0, depth: 0, at }.statement(&mut parts);
    }
    // A text or a comment without its end may hide the lines behind it.
    let wrong = tokens.iter().filter(|token| matches!(token.is, Is::Wrong));
    parts.extend(wrong.map(|token| Node::new(token.at, Kind::Hole(Why::Syntax))));
    Node::sequence((0, place(text.len())), parts)
}

/// Cost of a token in bytes: its words are compared with [`ACTING`].
const TOKEN_BYTES: usize = 64;

/// Cost of looking at a token again.
const LOOK_BYTES: usize = 2;

#[derive(Debug)]
struct Token {
    at: Span,
    is: Is,
}

#[derive(Debug)]
enum Is {
    /// In lower case.
    Word(String),
    Text(String),
    Sign(char),
    /// Unreadable text.
    Wrong,
    End,
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn tokens(text: &str, meter: &Meter) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(letter) = rest.chars().next()
        && !meter.is_over()
    {
        // Pays for dropping the token's nodes, too.
        meter.pay(TOKEN_BYTES);
        let length;
        let is = if letter == '\n' || letter == '\r' || letter == ';' {
            length = 1;
            Is::End
        } else if letter == '\u{ac}' {
            // `¬` continues the line.
            at += rest.find('\n').map_or(rest.len(), |end| end + 1);
            continue;
        } else if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        } else if letter == '#' || rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("(*") {
            match rest.find("*)") {
                Some(end) => {
                    at += end + 2;
                    continue;
                }
                None => {
                    length = rest.len();
                    Is::Wrong
                }
            }
        } else if letter == '"' || letter == '\u{201c}' {
            let (text, used) = quoted(rest);
            length = used;
            text.map_or(Is::Wrong, Is::Text)
        } else if letter == '|' {
            let end = rest.get(1..).and_then(|rest| rest.find('|'));
            length = end.map_or(rest.len(), |end| end + 2);
            Is::Word(rest.get(..length).unwrap_or_default().trim_matches('|').to_lowercase())
        } else if letter.is_alphanumeric() || letter == '_' {
            length =
                rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
            Is::Word(rest.get(..length).unwrap_or_default().to_lowercase())
        } else {
            length = letter.len_utf8();
            Is::Sign(letter)
        };
        meter.pay(length);
        tokens.push(Token { at: (place(at), place(at + length)), is });
        at += length.max(1);
    }
    tokens
}

/// Returns the text in quotes, and the number of bytes that it takes.
fn quoted(rest: &str) -> (Option<String>, usize) {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' | '\u{201d}' => return (Some(text), at + letter.len_utf8()),
            '\\' => match letters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, other)) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    (None, rest.len())
}

struct Line<'l> {
    tokens: &'l [Token],
    meter: &'l Meter,
    next: usize,
    depth: usize,
    at: Span,
}

impl Line<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.word_at(self.next + ahead)
    }

    fn word_at(&self, at: usize) -> &str {
        match self.tokens.get(at).map(|token| &token.is) {
            Some(Is::Word(word)) => word,
            _ => "",
        }
    }

    /// Reports whether this sign is next.
    fn is_sign(&self, sign: char) -> bool {
        self.tokens.get(self.next).is_some_and(|token| matches!(token.is, Is::Sign(found) if found == sign))
    }

    fn node(&self, kind: Kind) -> Node {
        self.meter.pay(READER_BYTES_PER_NODE);
        Node::new(self.at, kind)
    }

    fn own(&self, name: &str, arguments: Vec<Node>) -> Node {
        let callee = self.node(Kind::Name(format!("%{name}").into()));
        self.node(Kind::Call(callee.into(), arguments))
    }

    /// Reports whether a word of the line may act.
    fn acts(&self) -> bool {
        self.tokens.iter().enumerate().any(|(at, token)| match &token.is {
            Is::Word(word) => {
                ACTING.contains(&word.as_str()) && !TELLING.contains(&(word.as_str(), self.word_at(at + 1)))
            }
            // Raw event codes and unreadable text.
            Is::Sign(sign) => matches!(sign, '\u{ab}' | '\u{bb}'),
            Is::Wrong => true,
            Is::Text(_) | Is::End => false,
        })
    }

    fn statement(mut self, parts: &mut Vec<Node>) {
        let before = parts.len();
        self.actions(parts);
        let is_known = parts.len() > before;
        if let Some(assigned) = self.assignment() {
            parts.push(assigned);
        }
        self.next = 0;
        // A command for an application may do anything, and so may a change of a property of an application's object.
        let told = self.tokens.iter().rposition(|token| matches!(&token.is, Is::Word(word) if word == "to"));
        let told = told.filter(|_| self.word(0) == "tell").map_or(0, |at| at + 1);
        let sets = self.word(told) == "set"
            && self.word(told + 2) != "to"
            && self.word(told + 1) != "volume"
            && (self.word(told + 1), self.word(told + 2)) != ("the", "clipboard")
            && !self.sets_delimiters(told + 1);
        let is_harmless = HARMLESS.contains(&self.word(0)) && HARMLESS.contains(&self.word(told)) && !sets;
        // Lines that only open or close a block, or declare a name.
        let is_end = matches!(self.word(0), "end" | "on" | "property" | "global" | "local");
        let is_application = self.word(0) == "tell" && told == 0;
        if !is_known && (!is_harmless || self.acts() && !is_end && !is_application) {
            let why = if self.tokens.iter().any(|token| matches!(token.is, Is::Wrong)) {
                Why::Syntax
            } else {
                Why::Unsupported
            };
            parts.push(self.node(Kind::Hole(why)));
        }
    }

    /// `AppleScript's text item delimiters to`, `text item delimiters to`, `the text item delimiters of AppleScript to`
    fn sets_delimiters(&self, from: usize) -> bool {
        let words: Vec<&str> = self
            .tokens
            .iter()
            .skip(self.next + from)
            .take(DELIMITERS.len() + 4)
            .filter_map(|token| match &token.is {
                Is::Word(word) if !matches!(word.as_str(), "applescript" | "s" | "the" | "my" | "of") => {
                    Some(word.as_str())
                }
                Is::Sign('\'' | '\u{2019}') | Is::Word(_) => None,
                _ => Some(""),
            })
            .collect();
        self.meter.pay(words.len() * LOOK_BYTES);
        words.starts_with(DELIMITERS) && words.get(DELIMITERS.len()) == Some(&"to")
    }

    /// Reads the actions that are understood, at any place of the line.
    fn actions(&mut self, parts: &mut Vec<Node>) {
        let is_administrator =
            self.tokens.iter().any(|token| matches!(&token.is, Is::Word(word) if word == "administrator"));
        let names_file = self.names_file();
        for at in 0..self.tokens.len() {
            if self.meter.is_over() {
                return;
            }
            self.next = at;
            let words = [self.word(0), self.word(1), self.word(2)];
            let (name, skip) = match words {
                ["do", "shell", "script"] => ("shell", 3),
                ["do", "script", _] => ("shell", 2),
                ["write", "text", _] => ("shell", 2),
                ["run", "script", _] => ("code", 2),
                ["open", "location", _] => ("location", 2),
                ["keystroke", ..] => ("keys", 1),
                ["key", "code", _] => ("keys", 2),
                ["empty", "trash", _] | ["empty", "the", "trash"] => ("trash", 3),
                ["shut", "down", _] => ("power", 2),
                ["restart", ..] => ("power", 1),
                ["delete", ..] if names_file => ("delete", 0),
                _ => continue,
            };
            let argument = if name == "delete" { self.file() } else { self.after(skip) };
            if name == "shell" && is_administrator {
                parts.push(self.own("administrator", Vec::new()));
            }
            parts.push(self.own(name, vec![argument]));
        }
        self.next = 0;
    }

    fn after(&mut self, skip: usize) -> Node {
        self.next += skip;
        self.expression()
    }

    fn names_file(&self) -> bool {
        self.tokens.windows(2).any(|pair| matches!(pair, [Token { is: Is::Word(first), .. }, Token { is: Is::Word(second), .. }] if first == "posix" && second == "file"))
    }

    /// Reads the value after `POSIX file`.
    fn file(&mut self) -> Node {
        let from = self.next;
        while self.next < self.tokens.len() && !(self.word(0) == "posix" && self.word(1) == "file") {
            self.next += 1;
        }
        self.meter.pay((self.next - from) * LOOK_BYTES);
        self.after(2)
    }

    /// Reads `set name to value`.
    fn assignment(&mut self) -> Option<Node> {
        self.next = 0;
        if self.word(0) != "set" || self.word(2) != "to" {
            return None;
        }
        let name = format!("${}", self.word(1));
        let value = self.after(3);
        Some(Node::assign(self.at, Node::name(self.at, &name), value))
    }

    /// Reads values joined by `&`. Does not read text after a value that does not belong to it.
    fn expression(&mut self) -> Node {
        let mut values = vec![self.value()];
        while self.is_sign('&') {
            self.next += 1;
            values.push(self.value());
        }
        Node::only(values, |values| self.node(Kind::Join(values)))
    }

    fn value(&mut self) -> Node {
        if self.depth >= TREE_DEPTH_MAX {
            self.next = self.tokens.len();
            return self.node(Kind::Hole(Why::Nesting));
        }
        self.depth += 1;
        let value = self.value_here();
        self.depth -= 1;
        value
    }

    fn value_here(&mut self) -> Node {
        let Some(token) = self.tokens.get(self.next) else {
            return self.node(Kind::Inert(vec![self.node(Kind::Constant)]));
        };
        self.next += 1;
        match &token.is {
            Is::Text(text) => self.node(Kind::Text(text.as_str().into())),
            Is::Sign('(') => {
                let value = self.expression();
                if self.is_sign(')') {
                    self.next += 1;
                    return value;
                }
                self.unknown()
            }
            Is::Word(word) if word == "quoted" && self.word(0) == "form" => {
                self.next += if self.word(1) == "of" { 2 } else { 1 };
                let value = self.value();
                self.own("quoted", vec![value])
            }
            Is::Word(word) if matches!(word.as_str(), "return" | "linefeed") => {
                self.node(Kind::Text("\n".into()))
            }
            Is::Word(word) if word == "space" => self.node(Kind::Text(" ".into())),
            Is::Word(word) if word == "tab" => self.node(Kind::Text("\t".into())),
            Is::Word(word) if word == "posix" && matches!(self.word(0), "file" | "path") => {
                self.next += if self.word(1) == "of" { 2 } else { 1 };
                self.value()
            }
            Is::Word(word) => {
                let follows = self.tokens.get(self.next).map(|token| &token.is);
                // More than a name: an object of an application, or a call.
                let is_more = matches!(follows, Some(Is::Sign('(' | '{' | '\'')))
                    || matches!(follows, Some(Is::Text(_)))
                    || matches!(self.word(0), "of" | "to" | "named");
                if is_more {
                    return self.unknown();
                }
                self.node(Kind::Name(format!("${word}").into()))
            }
            Is::Sign(_) | Is::Wrong | Is::End => self.unknown(),
        }
    }

    /// Skips an expression that is not followed, up to the next `&` or `)`.
    fn unknown(&mut self) -> Node {
        let from = self.next;
        while self.tokens.get(self.next).is_some_and(|token| !matches!(token.is, Is::Sign('&' | ')'))) {
            self.next += 1;
        }
        self.meter.pay((self.next - from) * LOOK_BYTES);
        self.node(Kind::Inert(vec![self.node(Kind::Constant)]))
    }
}
