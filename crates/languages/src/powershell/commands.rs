//! Pipelines and commands: words, parameters, redirects.

use std::rc::Rc;

use castellan_event::Why;

use super::{Reader, is_dash, is_double_quote, is_name, is_single_quote};
use crate::tree::{Invoked, Kind, Node, Way};

/// Number of characters that decide if an expression begins.
const EXPRESSION_LETTERS: usize = 40;

impl Reader<'_> {
    /// Reads pipelines joined by `&&` or `||`. Also returns whether they have an output value.
    pub(super) fn chain(&mut self) -> (Node, bool) {
        let from = self.at;
        let (first, is_output) = self.pipeline();
        let mut parts = vec![first];
        loop {
            let before = self.at;
            self.blanks(false);
            if self.eats("&&") || self.eats("||") {
                self.blanks(true);
                parts.push(self.pipeline().0);
                continue;
            }
            // In the background.
            if !self.eats("&") {
                self.at = before;
            }
            break;
        }
        let node = Node::only(parts, |parts| self.node(from, Kind::Or(parts)));
        (node, is_output)
    }

    fn pipeline(&mut self) -> (Node, bool) {
        let from = self.at;
        let is_expression = self.begins_expression();
        let first =
            if is_expression { self.deeper(|reader| reader.expression(0, true)) } else { self.command() };
        let first = if is_expression {
            match self.assignment(from, first) {
                Ok(assigned) => return (assigned, false),
                Err(first) => first,
            }
        } else {
            first
        };
        let mut parts = vec![first];
        let mut files = self.redirects();
        loop {
            let before = self.at;
            self.blanks(true);
            if !self.rest().starts_with('|') || self.rest().starts_with("||") {
                self.at = before;
                break;
            }
            self.bump();
            self.blanks(true);
            parts.push(self.command());
            files.extend(self.redirects());
        }
        let node = Node::only(parts, |parts| self.node(from, Kind::Pipe(parts)));
        if files.is_empty() {
            return (node, true);
        }
        let parts = std::iter::once(node).chain(files).collect();
        (self.node(from, Kind::Sequence(parts)), false)
    }

    /// Reads the value of an assignment; returns the target unchanged if there is none.
    fn assignment(&mut self, from: usize, target: Node) -> Result<Node, Node> {
        let before = self.at;
        self.blanks(false);
        let operators = ["=", "+=", "-=", "*=", "/=", "%=", "??="];
        let Some(operator) = operators.into_iter().find(|one| self.rest().starts_with(one)) else {
            self.at = before;
            return Err(target);
        };
        self.at += operator.len();
        self.blanks(true);
        self.declare_target(&target);
        let value = self.deeper(Self::value_statement);
        let at = self.since(from);
        if let Some(item) = drive_item(&target) {
            return Ok(self.own(from, "store", vec![Node::text(at, &item), value]));
        }
        if !is_place(&target) {
            let wrong = Node::new(at, Kind::Hole(Why::Syntax));
            return Ok(Node::new(at, Kind::Sequence(vec![target, value, wrong])));
        }
        Ok(match operator {
            "=" => Node::assign(at, target, value),
            "??=" => Node::assign(at, target, Node::or(at, vec![Node::nothing(at), value])),
            "+=" => Node::new(at, Kind::Augment(target.into(), value.into())),
            _ => Node::assign(at, target, Node::inert(at, vec![value])),
        })
    }

    pub(super) fn declare_target(&mut self, target: &Node) {
        match &target.kind {
            Kind::Name(name) => self.declare(&Rc::clone(name)),
            Kind::List(targets) => targets.iter().for_each(|one| self.declare_target(one)),
            _ => {}
        }
    }

    /// Reports whether an expression begins here, and no command.
    fn begins_expression(&self) -> bool {
        // Numbers and operators are short.
        self.pay(EXPRESSION_LETTERS);
        let rest: String =
            self.rest().chars().take(EXPRESSION_LETTERS).collect::<String>().to_ascii_lowercase();
        let mut letters = rest.chars();
        let (first, second) = (letters.next().unwrap_or(' '), letters.next().unwrap_or(' '));
        match first {
            '$' | '@' | '(' | '{' | '[' | '!' | ',' => true,
            letter if is_single_quote(letter) || is_double_quote(letter) => true,
            letter if is_dash(letter) => {
                is_dash(second) || !is_name(second) || second.is_ascii_digit() || {
                    let word = rest.trim_start_matches(is_dash);
                    ["not", "join", "split", "csplit", "isplit", "bnot"]
                        .iter()
                        .any(|one| word.starts_with(one))
                }
            }
            '+' => true,
            letter if letter.is_ascii_digit() || letter == '.' && second.is_ascii_digit() => {
                // `7z` is a command; `5`, `0x5`, `5kb`, `1..3` are none.
                let digits = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit() || "x._".contains(c));
                let unit =
                    ["kb", "mb", "gb", "tb", "l", "n", "u"].iter().find_map(|one| digits.strip_prefix(one));
                !unit.unwrap_or(digits).starts_with(|c: char| is_name(c) || "\\/:".contains(c))
                    && (letter.is_ascii_digit() || letter == '.')
                    && !rest
                        .trim_start_matches(|c: char| c.is_ascii_digit())
                        .starts_with(|c: char| ('a'..='w').contains(&c) && !"eklmgtbnud".contains(c))
            }
            _ => false,
        }
    }

    fn command(&mut self) -> Node {
        let from = self.at;
        let mut way = Way::Plain;
        let rest = self.rest();
        if rest.starts_with('&') && !rest.starts_with("&&") {
            way = Way::Call;
        } else if rest.starts_with('.')
            && !rest.starts_with("./")
            && !rest.starts_with(".\\")
            && !rest.starts_with("..")
        {
            way = Way::Source;
        }
        if way != Way::Plain {
            self.bump();
            self.blanks(false);
        }
        if self.peek().is_none_or(ends_command) {
            let before = self.at;
            self.wrong(before, Why::Syntax);
            return self.node(from, Kind::Constant);
        }
        let name = match self.peek() {
            Some('{') => self.deeper(|reader| reader.script_block(way != Way::Source)),
            // An expression in the middle of a pipeline.
            _ if way == Way::Plain && self.begins_expression() => {
                return self.deeper(|reader| reader.expression(0, true));
            }
            _ => self.deeper(Self::word),
        };
        // Redirects may be between the words.
        let mut words = Vec::new();
        let mut files = Vec::new();
        loop {
            files.extend(self.redirects());
            self.blanks(false);
            if self.peek().is_none_or(ends_command) {
                break;
            }
            if self.rest().starts_with("--%") {
                self.verbatim(&mut words);
                break;
            }
            let before = self.at;
            let word = self.deeper(Self::argument);
            words.push(word);
            if self.is_stuck(before) {
                self.wrong(before, Why::Syntax);
            }
        }
        let node = self.node(from, Kind::Command(Box::new(Invoked { name, words, way })));
        if files.is_empty() {
            return node;
        }
        // The value of a redirected command does not matter.
        files.push(node);
        self.node(from, Kind::Sequence(files))
    }

    /// Words after `--%` stay as written.
    fn verbatim(&mut self, words: &mut Vec<Node>) {
        self.at += "--%".len();
        let line = self.take(|letter| !matches!(letter, '\n' | '\r' | '|'));
        for word in line.split_whitespace() {
            words.push(Node::text(self.since(self.at), word.trim_matches('"')));
        }
    }

    /// `> file`, `2>&1`
    fn redirects(&mut self) -> Vec<Node> {
        let mut files = Vec::new();
        loop {
            let before = self.at;
            self.blanks(false);
            if !self.is_redirect() {
                self.at = before;
                return files;
            }
            let from = self.at;
            self.take(|letter| letter.is_ascii_digit() || letter == '*');
            self.bump();
            self.eats(">");
            if self.eats("&") {
                self.bump();
                continue;
            }
            self.blanks(false);
            let file = self.deeper(Self::word);
            if !matches!(&file.kind, Kind::Name(name) if &**name == "$null") {
                files.push(self.own(from, "write", vec![file]));
            }
        }
    }

    fn is_redirect(&self) -> bool {
        let rest = self.rest();
        let rest = rest.strip_prefix(|letter: char| letter.is_ascii_digit() || letter == '*').unwrap_or(rest);
        rest.starts_with('>')
    }

    /// Reads a word of a command: a parameter, a value, or a list of values.
    fn argument(&mut self) -> Node {
        let from = self.at;
        if self.peek().is_some_and(is_dash) && self.second().is_some_and(|next| is_name(next) || next == '?')
        {
            self.bump();
            let name: Rc<str> = self.take(|letter| is_name(letter) || matches!(letter, '-' | '?')).into();
            match self.peek() {
                Some(':') => {
                    self.bump();
                    self.blanks(false);
                    let value = self.listed();
                    return self.node(from, Kind::Keyword(name, value.into()));
                }
                letter if letter.is_none_or(|letter| letter.is_whitespace() || ends_command(letter)) => {
                    return self.node(from, Kind::Flag(name));
                }
                // No cmdlet has such a parameter.
                _ => {
                    let mut parts = vec![self.node(from, Kind::Text(format!("-{name}").into()))];
                    self.bare(&mut parts);
                    return joined(self.since(from), parts);
                }
            }
        }
        self.listed()
    }

    fn listed(&mut self) -> Node {
        let from = self.at;
        let first = self.word();
        let mut values = vec![first];
        loop {
            let before = self.at;
            self.blanks(false);
            if !self.eats(",") {
                self.at = before;
                break;
            }
            self.blanks(true);
            values.push(self.deeper(Self::word));
        }
        Node::only(values, |values| self.node(from, Kind::List(values)))
    }

    /// Reads one value among the words of a command.
    pub(super) fn word(&mut self) -> Node {
        let from = self.at;
        let mut parts = Vec::new();
        match self.peek() {
            Some('(') => return self.primary(),
            Some('{') => return self.script_block(false),
            Some('@') if self.second().is_some_and(|next| "({\"'".contains(next)) => return self.primary(),
            Some('@') if self.second().is_some_and(is_name) => {
                self.bump();
                let name = format!("${}", self.take(is_name).to_lowercase());
                let name = Node::name(self.since(from), &name);
                return self.node(from, Kind::Spread(name.into()));
            }
            Some(letter) if is_single_quote(letter) || is_double_quote(letter) => return self.primary(),
            Some('$') => {
                let value = self.primary();
                if !self.peek().is_some_and(goes_on) {
                    return value;
                }
                parts.push(value);
            }
            _ => {}
        }
        self.bare(&mut parts);
        joined(self.since(from), parts)
    }

    /// Reads text without quotes, with variables in it.
    fn bare(&mut self, parts: &mut Vec<Node>) {
        let from = self.at;
        let mut text = String::new();
        while let Some(letter) = self.peek() {
            match letter {
                '`' => {
                    self.bump();
                    text.extend(self.bump());
                }
                letter if is_single_quote(letter) || is_double_quote(letter) => {
                    parts.push(self.node(from, Kind::Text(std::mem::take(&mut text).into())));
                    parts.push(self.quoted());
                }
                '$' if self.second().is_some_and(|next| is_name(next) || "{(".contains(next)) => {
                    parts.push(self.node(from, Kind::Text(std::mem::take(&mut text).into())));
                    parts.push(self.deeper(Self::variable));
                }
                letter if goes_on(letter) => {
                    text.push(letter);
                    self.bump();
                }
                _ => break,
            }
        }
        if !text.is_empty() || parts.is_empty() {
            parts.push(self.node(from, Kind::Text(text.into())));
        }
    }
}

/// Reports whether a value can be stored there. PowerShell rejects other targets.
fn is_place(target: &Node) -> bool {
    matches!(target.kind, Kind::Name(_) | Kind::Member(..) | Kind::Index(..) | Kind::List(_))
}

/// Returns the item of a drive that a variable names: `${c:/file}`, `$alias:name`.
fn drive_item(target: &Node) -> Option<Rc<str>> {
    let Kind::Call(callee, arguments) = &target.kind else { return None };
    match (&callee.kind, arguments.as_slice()) {
        (Kind::Name(name), [Node { kind: Kind::Text(item), .. }]) if &**name == "%drive" => {
            Some(Rc::clone(item))
        }
        _ => None,
    }
}

/// Joins adjacent parts to one text. A text without quotes stays a text, so that programs get its pattern matches.
fn joined(at: crate::tree::Span, mut parts: Vec<Node>) -> Node {
    parts.retain(|part| !matches!(&part.kind, Kind::Text(text) if text.is_empty()));
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Node::text(at, ""),
        (Some(only), true) if matches!(only.kind, Kind::Text(_)) => only,
        (last, _) => {
            parts.extend(last);
            Node::new(at, Kind::Join(parts))
        }
    }
}

/// Reports whether this letter ends a command.
fn ends_command(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | ';' | '|' | '&' | ')' | '}')
}

/// Reports whether this letter is part of a word.
fn goes_on(letter: char) -> bool {
    !letter.is_whitespace() && !matches!(letter, ';' | '|' | '&' | '(' | ')' | '{' | '}' | ',' | '<' | '>')
}
