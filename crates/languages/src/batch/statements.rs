//! Lines, blocks, `if`, `for`, and commands with their redirects.

use castellan_event::Why;

use super::Reader;
use crate::tree::{Kind, Loop, Node};

impl Reader<'_> {
    /// Reads lines up to the end, or to the bracket that closes a block.
    pub(super) fn lines(&mut self, in_block: bool) -> Vec<Node> {
        let mut parts = Vec::new();
        loop {
            self.take(|letter| letter.is_whitespace() || matches!(letter, '@' | ',' | ';' | '=' | '&'));
            match self.peek() {
                None => return parts,
                Some(')') if in_block => return parts,
                // A label, or a comment of the same form.
                Some(':') => {
                    self.line_rest();
                    continue;
                }
                // A lone `)` has no effect.
                Some(')') => {
                    self.line_rest();
                    continue;
                }
                Some(_) => {}
            }
            let from = self.at;
            let line = self.deeper(Self::chain);
            parts.push(line);
            if self.is_stuck(from) {
                self.wrong(from, Why::Syntax);
            }
        }
    }

    /// Reads the commands of one line, joined by `&`, `&&` or `||`.
    fn chain(&mut self) -> Node {
        let from = self.at;
        let mut parts = vec![self.pipe()];
        loop {
            self.take(|letter| matches!(letter, ' ' | '\t'));
            let is_other = self.eats("&&") || self.eats("||") || self.eats("&");
            self.take(|letter| matches!(letter, ' ' | '\t' | '@'));
            if !is_other || self.peek().is_none_or(|letter| matches!(letter, '\n' | '\r' | ')')) {
                break;
            }
            parts.push(self.pipe());
        }
        self.node(from, Kind::Or(parts))
    }

    fn pipe(&mut self) -> Node {
        let from = self.at;
        let mut parts = vec![self.deeper(Self::statement)];
        loop {
            self.take(|letter| matches!(letter, ' ' | '\t'));
            if !self.rest().starts_with('|') || self.rest().starts_with("||") {
                break;
            }
            self.bump();
            self.take(|letter| matches!(letter, ' ' | '\t'));
            parts.push(self.deeper(Self::statement));
        }
        Node::only(parts, |parts| self.node(from, Kind::Pipe(parts)))
    }

    fn statement(&mut self) -> Node {
        let from = self.at;
        self.take(|letter| matches!(letter, ' ' | '\t' | '@'));
        if self.eats("(") {
            let mut parts = self.lines(true);
            if !self.eats(")") {
                self.wrong(from, Why::Syntax);
            }
            parts.extend(self.redirects());
            return self.node(from, Kind::Sequence(parts));
        }
        let word = self.keyword();
        let length = word.len();
        let after = self.rest().get(length..).and_then(|rest| rest.chars().next());
        let ends = after.is_none_or(|letter| {
            !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '\\' | '.' | '%' | '!')
        });
        match word.as_str() {
            "rem" if after.is_none_or(char::is_whitespace) => {
                self.line_rest();
                self.node(from, Kind::Constant)
            }
            // Directly after `rem`, these characters begin no comment: `rem& command`, `rem. text & command`.
            "rem"
                if after.is_some_and(|letter| !letter.is_alphanumeric() && !matches!(letter, '_' | '-')) =>
            {
                self.at += length;
                self.take(|letter| {
                    !letter.is_whitespace() && !matches!(letter, '<' | '>') && !super::words::ends(letter)
                });
                self.words(from, |reader| Node::text(reader.since(from), "rem"))
            }
            "if" if ends => self.branch(length),
            "for" if ends => self.repeated(length),
            "set" if ends => self.set(length),
            "goto" if ends => {
                self.kept.jumps = true;
                self.at += length;
                self.words(from, |reader| Node::text(reader.since(from), "goto"))
            }
            "call" if ends => {
                self.at += length;
                self.blanks();
                if self.peek() != Some(':') {
                    return self.statement_again();
                }
                self.kept.jumps = true;
                self.words(from, |reader| Node::text(reader.since(from), "goto"))
            }
            "start" if ends => {
                self.at += length;
                self.start()
            }
            _ => self.command(),
        }
    }

    fn statement_again(&mut self) -> Node {
        self.deeper(Self::statement)
    }

    /// `start "title" /wait program arguments`
    fn start(&mut self) -> Node {
        let from = self.at;
        self.blanks();
        if self.peek() == Some('"') {
            self.word();
            self.blanks();
        }
        while self.peek() == Some('/') {
            let option = self.word();
            self.blanks();
            // The directory.
            if matches!(&option.kind, Kind::Flag(name) if name.eq_ignore_ascii_case("d")) {
                self.word();
                self.blanks();
            }
        }
        if self.peek().is_none_or(super::words::ends) {
            return self.node(from, Kind::Constant);
        }
        self.command()
    }

    fn command(&mut self) -> Node {
        let from = self.at;
        self.words(from, |reader| {
            reader.blanks();
            reader.name()
        })
    }

    /// Reads a command: its name, its words, and the redirects between them. An input file becomes its pipeline input.
    fn words(&mut self, from: usize, name: impl FnOnce(&mut Self) -> Node) -> Node {
        let mut files = self.redirects();
        let name = name(self);
        let mut words = Vec::new();
        loop {
            files.extend(self.redirects());
            self.blanks();
            if self.peek().is_none_or(super::words::ends) {
                break;
            }
            let before = self.at;
            let word = self.word();
            words.push(word);
            self.is_stuck(before);
        }
        let command = self.invoked(from, name, words);
        self.redirected(from, command, files)
    }

    fn redirected(&self, from: usize, command: Node, files: Vec<Node>) -> Node {
        if files.is_empty() {
            return command;
        }
        let reads = |file: &Node| matches!(&file.kind, Kind::Call(callee, _) if matches!(&callee.kind, Kind::Name(name) if &**name == "%read"));
        let (inputs, mut parts): (Vec<Node>, Vec<Node>) = files.into_iter().partition(reads);
        if inputs.is_empty() {
            parts.push(command);
        } else {
            // `cmd` opens all input files and reads the last one.
            let piped = inputs.into_iter().chain([command]).collect();
            parts.push(self.node(from, Kind::Pipe(piped)));
        }
        self.node(from, Kind::Sequence(parts))
    }

    /// `> file`, `2>&1`, `< file`
    fn redirects(&mut self) -> Vec<Node> {
        let mut files = Vec::new();
        loop {
            let before = self.at;
            self.blanks();
            let from = self.at;
            let rest = self.rest();
            let after = rest.strip_prefix(|letter: char| letter.is_ascii_digit()).unwrap_or(rest);
            let Some(kind) = after.chars().next().filter(|letter| matches!(letter, '>' | '<')) else {
                self.at = before;
                return files;
            };
            self.at += rest.len() - after.len() + 1;
            self.eats(">");
            if self.eats("&") {
                self.bump();
                continue;
            }
            self.blanks();
            let file = self.word();
            let is_nothing = matches!(&file.kind, Kind::Text(text) if text.eq_ignore_ascii_case("nul"));
            if !is_nothing {
                files.push(self.own(from, if kind == '>' { "write" } else { "read" }, vec![file]));
            }
        }
    }

    /// `if [/i] [not] ... command [else command]`
    fn branch(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.blanks();
        while self.peek() == Some('/') {
            self.word();
            self.blanks();
        }
        if self.keyword() == "not" {
            self.at += 3;
            self.blanks();
        }
        let mut parts = Vec::new();
        if matches!(self.keyword().as_str(), "exist" | "defined" | "errorlevel" | "cmdextversion") {
            self.at += self.keyword().len();
            self.blanks();
            parts.push(self.word());
        } else {
            parts.push(self.operand());
            self.take(|letter| matches!(letter, ' ' | '\t'));
            if !self.eats("==") {
                // `equ` and similar operators.
                self.take(|letter| letter.is_ascii_alphabetic());
            }
            self.take(|letter| matches!(letter, ' ' | '\t'));
            parts.push(self.operand());
        }
        self.blanks();
        let yes = self.deeper(Self::chain);
        let before = self.at;
        self.take(|letter| matches!(letter, ' ' | '\t'));
        let no = if self.keyword() == "else" {
            self.at += 4;
            self.deeper(Self::chain)
        } else {
            self.at = before;
            self.node(from, Kind::Constant)
        };
        let condition = self.node(from, Kind::Inert(parts));
        let bodies = self.node(from, Kind::Either(vec![yes, no]));
        self.node(from, Kind::Sequence(vec![condition, bodies]))
    }

    /// `for [/f "options"] %%x in (...) do command`
    fn repeated(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.blanks();
        let mut kind = String::new();
        let mut before = Vec::new();
        while self.peek() == Some('/') {
            self.bump();
            kind.push_str(&self.take(|letter| letter.is_ascii_alphabetic()).to_ascii_lowercase());
            self.blanks();
            // Options, or the root of a tree.
            if self.peek().is_some_and(|letter| letter != '%' && letter != '/') {
                before.push(self.word());
                self.blanks();
            }
        }
        self.take(|letter| letter == '%');
        let letter = self.bump().unwrap_or('?').to_ascii_lowercase();
        let target = self.node(from, Kind::Name(format!("%%{letter}").into()));
        self.blanks();
        if self.keyword() == "in" {
            self.at += 2;
        } else {
            self.wrong(from, Why::Syntax);
        }
        self.blanks();
        let over = self.deeper(|reader| reader.elements(&kind));
        self.blanks();
        if self.keyword() == "do" {
            self.at += 2;
        } else {
            self.wrong(from, Why::Syntax);
        }
        self.blanks();
        let body = self.deeper(Self::chain);
        let over = if kind.contains('r') {
            before.push(over);
            self.own(from, "below", before)
        } else {
            over
        };
        let one = Loop { over: Some((target, over)), body, jumps: true, collects: false };
        self.node(from, Kind::Loop(Box::new(one)))
    }

    /// Reads the elements of a loop: words, or with `/f` the lines of a command, of files, or of a text.
    fn elements(&mut self, kind: &str) -> Node {
        let from = self.at;
        if !self.eats("(") {
            self.wrong(from, Why::Syntax);
            return self.node(from, Kind::List(Vec::new()));
        }
        self.blanks();
        let quote = self.peek().filter(|letter| kind.contains('f') && matches!(letter, '\'' | '`'));
        if let Some(quote) = quote {
            self.bump();
            let inside = self.take(|letter| letter != quote && letter != '\n');
            self.bump();
            self.take(|letter| letter != ')' && letter != '\n');
            self.bump();
            let text = Node::text(
                self.since(from),
                &inside.replace("^|", "|").replace("^&", "&").replace("^>", ">"),
            );
            return self.own(from, "lines", vec![text]);
        }
        let mut words = Vec::new();
        loop {
            self.take(|letter| letter.is_whitespace() || matches!(letter, ',' | ';' | '='));
            if self.peek().is_none_or(|letter| letter == ')') {
                break;
            }
            let before = self.at;
            words.push(self.word());
            self.is_stuck(before);
        }
        self.bump();
        let list = self.node(from, Kind::List(words));
        match kind {
            "f" => self.own(from, "file-lines", vec![list]),
            "l" => self.node(from, Kind::Inert(vec![list])),
            _ => self.own(from, "patterns", vec![list]),
        }
    }

    /// `set name=value`, `set "name=value"`, `set /a ...`, `set /p name=...`
    fn set(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.take(|letter| matches!(letter, ' ' | '\t'));
        let mut how = String::new();
        if self.peek() == Some('/') {
            self.bump();
            how = self.take(|letter| letter.is_ascii_alphabetic()).to_ascii_lowercase();
            self.take(|letter| matches!(letter, ' ' | '\t'));
        }
        let is_quoted = self.eats("\"");
        let name = self.take(|letter| !matches!(letter, '=' | '\n' | '\r' | '&' | '|' | ')' | '"'));
        if !self.eats("=") {
            self.eats("\"");
            return self.node(from, Kind::Constant);
        }
        let name = format!("%{}%", name.trim().trim_end_matches(['+', '-', '*']).to_lowercase());
        if how == "p" {
            return self.asks(from, &name);
        }
        let value = self.line_value(is_quoted);
        let value = match how.as_str() {
            "" => value,
            _ => self.node(from, Kind::Inert(vec![value])),
        };
        let target = self.node(from, Kind::Name(name.into()));
        Node::assign(self.since(from), target, value)
    }

    /// `set /p name=prompt`: assigns a line of input.
    fn asks(&mut self, from: usize, name: &str) -> Node {
        let asked = self.words(from, |reader| Node::text(reader.since(from), "rem"));
        let value = self.own(from, "asked", Vec::new());
        let target = self.node(from, Kind::Name(name.into()));
        self.node(from, Kind::Sequence(vec![asked, Node::assign(self.since(from), target, value)]))
    }
}
