//! Statements: the order of execution, and branches.

use castellan_event::Why;

use super::Reader;
use crate::tree::{Kind, Loop, Node, Parameter};

impl Reader<'_> {
    /// Reads statements up to the closing character.
    pub(super) fn statements(&mut self, end: Option<char>) -> Vec<Node> {
        let mut parts = Vec::new();
        while self.begins_statement(end) {
            let (from, errors) = (self.at, self.errors.len());
            let statement = self.deeper(Self::statement);
            parts.push(statement);
            if self.is_stuck(from) && self.errors.len() == errors {
                self.wrong(from, Why::Syntax);
            }
        }
        parts
    }

    /// Goes to the next statement, and reports whether there is one before the end.
    fn begins_statement(&mut self, end: Option<char>) -> bool {
        self.blanks(true);
        while self.eats(";") {
            self.blanks(true);
        }
        self.peek().is_some_and(|letter| Some(letter) != end)
    }

    /// Reads `{ ... }`.
    pub(super) fn block(&mut self) -> Node {
        self.blanks(true);
        let from = self.at;
        if !self.eats("{") {
            self.wrong(from, Why::Syntax);
            return self.node(from, Kind::Constant);
        }
        let parts = self.statements(Some('}'));
        self.expect("}");
        self.node(from, Kind::Sequence(parts))
    }

    fn statement(&mut self) -> Node {
        let from = self.at;
        if self.peek() == Some(':') && self.second().is_some_and(super::is_name) {
            // The label of a loop.
            self.bump();
            self.take(super::is_name);
            self.blanks(true);
        }
        let word = self.keyword();
        let behind = self.rest().get(word.len()..).unwrap_or_default();
        let after = behind.trim_start();
        self.pay(behind.len() - after.len());
        let length = word.len();
        let is_word = !word.is_empty()
            && !self.rest().get(length..).is_some_and(|rest| rest.starts_with(['\\', '/', '.', ':']));
        if !is_word {
            return self.outputs();
        }
        match (word.as_str(), after.chars().next()) {
            ("if", Some('(')) => self.branch(length),
            ("while" | "until", Some('(')) => {
                self.at += length;
                let condition = self.condition();
                let body = self.block();
                self.repeated(from, vec![condition, body])
            }
            ("for", Some('(')) => self.counted(length),
            ("foreach", Some('(' | '-')) if !after.starts_with("--") => self.for_each(length),
            ("do", Some('{')) => {
                self.at += length;
                let body = self.block();
                self.blanks(true);
                if matches!(self.keyword().as_str(), "while" | "until") {
                    self.at += 5;
                }
                let condition = self.condition();
                self.repeated(from, vec![body, condition])
            }
            ("switch", Some('(' | '-')) => self.switch(length),
            ("try" | "trap", Some(_)) => self.attempt(&word),
            ("function" | "filter" | "workflow" | "configuration", Some(_)) => {
                self.function_statement(length)
            }
            ("class" | "enum", Some(_)) => self.class_statement(&word),
            ("return" | "throw" | "exit" | "break" | "continue", _) => self.leaves(&word),
            ("param", Some('(')) => {
                self.at += length;
                let (parameters, mut parts) = self.parameters();
                parts.extend(parameters.into_iter().filter_map(|one| self.own_parameter(from, one)));
                self.node(from, Kind::Sequence(parts))
            }
            (
                "begin" | "process" | "end" | "clean" | "dynamicparam" | "data" | "inlinescript" | "parallel"
                | "sequence",
                Some('{'),
            ) => {
                self.at += length;
                self.block()
            }
            ("using", Some(_)) => self.using(),
            _ => self.outputs(),
        }
    }

    /// Assigns a parameter of the program itself: its default, or its start argument.
    fn own_parameter(&self, from: usize, parameter: Parameter) -> Option<Node> {
        let given = self.own(from, "argument", Vec::new());
        let value = self.node(from, Kind::Either(vec![parameter.default?, given]));
        Some(Node::assign(self.since(from), parameter.target, value))
    }

    /// Reads a pipeline; the enclosing function returns its output.
    fn outputs(&mut self) -> Node {
        let from = self.at;
        let (node, is_output) = self.chain();
        if is_output && !self.kept.scopes.is_empty() {
            return self.node(from, Kind::Return(Some(node.into())));
        }
        node
    }

    /// Reads `( ... )`.
    pub(super) fn condition(&mut self) -> Node {
        self.blanks(true);
        let from = self.at;
        if !self.eats("(") {
            self.wrong(from, Why::Syntax);
            return self.node(from, Kind::Constant);
        }
        let value = self.pipelines(')');
        self.expect(")");
        value
    }

    /// Reads pipelines as a value.
    pub(super) fn pipelines(&mut self, end: char) -> Node {
        let from = self.at;
        let mut parts = Vec::new();
        while self.begins_statement(Some(end)) {
            let before = self.at;
            let part = self.deeper(Self::value_statement);
            parts.push(part);
            if self.is_stuck(before) {
                self.wrong(before, Why::Syntax);
            }
        }
        if parts.is_empty() {
            return self.node(from, Kind::Constant);
        }
        Node::only(parts, |parts| self.own(from, "array", vec![self.node(from, Kind::List(parts))]))
    }

    /// Reads a statement as a value: the right side of an assignment, or code in brackets.
    pub(super) fn value_statement(&mut self) -> Node {
        match self.keyword().as_str() {
            "if" | "foreach" | "for" | "while" | "do" | "switch" | "try" | "return" | "throw"
            | "function" | "param" => {
                // A block that runs at once collects the outputs of its pipelines.
                let from = self.at;
                let body = self.collected(|reader| reader.deeper(Self::statement));
                let function = self.node(from, body);
                self.node(from, Kind::Call(function.into(), Vec::new()))
            }
            _ => self.chain().0,
        }
    }

    fn branch(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        let mut conditions = vec![self.condition()];
        let mut bodies = vec![self.block()];
        loop {
            let before = self.at;
            self.blanks(true);
            match self.keyword().as_str() {
                "elseif" => {
                    self.at += 6;
                    conditions.push(self.condition());
                    bodies.push(self.block());
                }
                "else" => {
                    self.at += 4;
                    bodies.push(self.block());
                    break;
                }
                _ => {
                    self.at = before;
                    bodies.push(self.node(from, Kind::Constant));
                    break;
                }
            }
        }
        let conditions = self.node(from, Kind::Or(conditions));
        let bodies = self.node(from, Kind::Either(bodies));
        self.node(from, Kind::Sequence(vec![conditions, bodies]))
    }

    fn repeated(&self, from: usize, parts: Vec<Node>) -> Node {
        let body = self.node(from, Kind::Sequence(parts));
        self.node(from, Kind::Loop(Box::new(Loop { over: None, body, jumps: true, collects: false })))
    }

    fn counted(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.expect("(");
        let mut parts = Vec::new();
        for end in [';', ';', ')'] {
            self.blanks(true);
            if self.peek() != Some(end) {
                parts.push(self.deeper(|reader| reader.chain().0));
            }
            self.blanks(true);
            if !self.eats(";") {
                break;
            }
        }
        self.expect(")");
        parts.push(self.block());
        let first = if parts.len() > 1 { parts.remove(0) } else { self.node(from, Kind::Constant) };
        let body = self.repeated(from, parts);
        self.node(from, Kind::Sequence(vec![first, body]))
    }

    fn for_each(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.blanks(true);
        if self.eats("-") {
            // `-parallel`
            self.take(super::is_name);
        }
        self.expect("(");
        self.blanks(true);
        let target = self.deeper(Self::primary);
        self.declare_target(&target);
        self.blanks(true);
        if self.keyword() == "in" {
            self.at += 2;
        } else {
            self.wrong(from, Why::Syntax);
        }
        let over = self.pipelines(')');
        self.expect(")");
        let over = self.own(from, "array", vec![over]);
        let body = self.block();
        let one = Loop { over: Some((target, over)), body, jumps: true, collects: false };
        self.node(from, Kind::Loop(Box::new(one)))
    }

    /// Reads a `switch`. Each case may run, with the value as `$_`.
    fn switch(&mut self, length: usize) -> Node {
        let from = self.skip(length);
        self.blanks(true);
        let mut is_file = false;
        while self.peek().is_some_and(super::is_dash) {
            self.bump();
            is_file |= self.take(super::is_name).eq_ignore_ascii_case("file");
            self.blanks(true);
        }
        let value = if self.peek() == Some('(') { self.condition() } else { self.word() };
        let value = if is_file { self.own(from, "file", vec![value]) } else { value };
        let item = self.node(from, Kind::Name("$_".into()));
        let mut parts = vec![Node::assign(self.since(from), item, value)];
        self.expect("{");
        while self.begins_statement(Some('}')) {
            let before = self.at;
            let test = if self.peek() == Some('{') { self.block() } else { self.word() };
            let body = self.block();
            let nothing = self.node(before, Kind::Constant);
            parts.push(test);
            parts.push(self.node(before, Kind::Either(vec![nothing, body])));
            self.is_stuck(before);
        }
        self.expect("}");
        self.node(from, Kind::Try(parts))
    }

    /// Reads `try` with its handlers, or `trap`.
    fn attempt(&mut self, word: &str) -> Node {
        let from = self.skip(word.len());
        let mut parts = Vec::new();
        let mut is_handler = word == "trap";
        loop {
            self.blanks(true);
            while is_handler && self.peek() == Some('[') {
                self.type_name();
                self.blanks(true);
                self.eats(",");
                self.blanks(true);
            }
            let body = self.block();
            let nothing = self.node(from, Kind::Constant);
            parts.push(if is_handler { self.node(from, Kind::Either(vec![nothing, body])) } else { body });
            let before = self.at;
            self.blanks(true);
            let next = self.keyword();
            match next.as_str() {
                "catch" => is_handler = true,
                "finally" => is_handler = false,
                _ => {
                    self.at = before;
                    break;
                }
            }
            self.at += next.len();
        }
        self.node(from, Kind::Try(parts))
    }

    fn leaves(&mut self, word: &str) -> Node {
        let from = self.skip(word.len());
        self.blanks(false);
        if self.peek().is_none_or(|letter| matches!(letter, '\n' | '\r' | ';' | '}' | ')')) {
            return self.node(from, if word == "return" { Kind::Return(None) } else { Kind::Constant });
        }
        let value = self.deeper(Self::value_statement);
        let kind = match word {
            "return" => Kind::Return(Some(value.into())),
            _ => Kind::Inert(vec![value]),
        };
        self.node(from, kind)
    }

    /// Reads `using`. `using namespace` allows other type names, which the tables accept in any case.
    fn using(&mut self) -> Node {
        let from = self.skip("using".len());
        self.blanks(false);
        let what = self.keyword();
        self.at += what.len();
        self.blanks(false);
        let name = self.word();
        match what.as_str() {
            "namespace" => self.node(from, Kind::Constant),
            _ => self.node(from, Kind::Load(name.into())),
        }
    }
}
