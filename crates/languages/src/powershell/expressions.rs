//! Expressions: operators by precedence, members, calls, casts.

use castellan_event::Why;

use super::{Reader, is_dash, is_double_quote, is_name, is_single_quote};
use crate::limits::TREE_DEPTH_MAX;
use crate::tree::{Kind, Node};

/// Operators that begin with a dash, with their precedence. Comparison operators may have the prefix `c` or `i`.
const RANKS: &[(&str, u8)] = &[
    ("and", 1),
    ("or", 1),
    ("xor", 1),
    ("band", 2),
    ("bor", 2),
    ("bxor", 2),
    ("shl", 3),
    ("shr", 3),
    ("eq", 3),
    ("ne", 3),
    ("gt", 3),
    ("ge", 3),
    ("lt", 3),
    ("le", 3),
    ("like", 3),
    ("notlike", 3),
    ("match", 3),
    ("notmatch", 3),
    ("contains", 3),
    ("notcontains", 3),
    ("in", 3),
    ("notin", 3),
    ("is", 3),
    ("isnot", 3),
    ("as", 3),
    ("replace", 3),
    ("split", 3),
    ("join", 3),
    ("f", 6),
];

/// The precedence of a comma.
const COMMA: u8 = 8;

/// Methods of .NET, with the names of the equivalent methods in `run`.
const METHODS: &[(&str, &str)] = &[
    ("tolower", "lower"),
    ("tolowerinvariant", "lower"),
    ("toupper", "upper"),
    ("toupperinvariant", "upper"),
    ("replace", "replaceAll"),
    ("substring", "substr"),
    ("trimstart", "trimStart"),
    ("trimend", "trimEnd"),
    ("tostring", "toString"),
    ("add", "append"),
    ("addrange", "extend"),
];

impl Reader<'_> {
    /// Reads an expression of operators with this precedence or higher. With `commas`, a comma makes a list.
    pub(super) fn expression(&mut self, rank: u8, commas: bool) -> Node {
        let from = self.at;
        let depth = self.depth;
        let mut left = self.unary(commas);
        loop {
            let before = self.at;
            self.blanks(false);
            let Some((operator, own)) = self.operator(commas).filter(|(_, own)| *own >= rank) else {
                self.at = before;
                break;
            };
            self.blanks(true);
            if self.depth >= TREE_DEPTH_MAX {
                self.depth = depth;
                return self.ends(from, Why::Nesting);
            }
            if operator == "?" {
                left = self.chosen(from, left, commas);
                continue;
            }
            let right = self.deeper(|reader| reader.expression(own + 1, commas && operator != ","));
            left = self.combined(from, &operator, left, right);
        }
        self.depth = depth;
        left
    }

    /// `a ? b : c`
    fn chosen(&mut self, from: usize, condition: Node, commas: bool) -> Node {
        let yes = self.deeper(|reader| reader.expression(1, commas));
        self.expect(":");
        self.blanks(true);
        let no = self.deeper(|reader| reader.expression(1, commas));
        let either = self.node(from, Kind::Either(vec![yes, no]));
        self.depth += 1;
        self.node(from, Kind::Sequence(vec![condition, either]))
    }

    /// Reads the next operator; returns it with its precedence.
    fn operator(&mut self, commas: bool) -> Option<(String, u8)> {
        let rest = self.rest();
        let mut letters = rest.chars();
        let first = letters.next()?;
        let second = letters.next();
        if is_dash(first) && second.is_some_and(is_name) {
            let written = rest.get(first.len_utf8()..).unwrap_or_default();
            let end = written.bytes().take(16).take_while(u8::is_ascii_alphabetic).count();
            let word = written.get(..end).unwrap_or_default().to_ascii_lowercase();
            let found = |word: &str| RANKS.iter().find(|(name, _)| *name == word);
            if let Some((name, rank)) = found(&word).or_else(|| found(word.strip_prefix(['c', 'i'])?)) {
                self.at += first.len_utf8() + word.len();
                return Some(((*name).to_owned(), *rank));
            }
            if !word.is_empty() {
                return None;
            }
        }
        let (operator, rank) = match (first, second) {
            (',', _) if commas => (",", COMMA),
            ('.', Some('.')) => ("..", 7),
            ('+' | '-' | '*' | '/' | '%', Some('=')) => return None,
            ('+', Some('+')) => return None,
            ('+', _) => ("+", 4),
            ('*', _) => ("*", 5),
            ('/', _) => ("/", 5),
            ('%', _) => ("%", 5),
            ('?', Some('?')) if rest.starts_with("??=") => return None,
            ('?', Some('?')) => ("??", 3),
            ('?', _) => ("?", 0),
            (letter, _) if is_dash(letter) => {
                self.at += letter.len_utf8();
                return Some(("-".to_owned(), 4));
            }
            _ => return None,
        };
        self.at += operator.len();
        Some((operator.to_owned(), rank))
    }

    fn combined(&mut self, from: usize, operator: &str, mut left: Node, right: Node) -> Node {
        match (operator, &mut left.kind) {
            ("+", Kind::Add(parts)) | (",", Kind::List(parts)) | ("??", Kind::Or(parts)) => {
                parts.push(right);
                return left;
            }
            (
                "+" | "," | "??" | ".." | "f" | "*" | "replace" | "split" | "join" | "as" | "is" | "isnot",
                _,
            ) => {}
            (_, Kind::Inert(parts)) => {
                parts.push(right);
                return left;
            }
            _ => {}
        }
        self.depth += 1;
        let kind = match operator {
            "+" => Kind::Add(vec![left, right]),
            "," => Kind::List(vec![left, right]),
            "??" => Kind::Or(vec![left, right]),
            "*" => Kind::Multiply(left.into(), right.into()),
            ".." => return self.own(from, "range", vec![left, right]),
            "f" => {
                return self.method(from, left, "format", listed(right));
            }
            "replace" => {
                return self.own(from, "replace", std::iter::once(left).chain(listed(right)).collect());
            }
            "split" => return self.own(from, "split", std::iter::once(left).chain(listed(right)).collect()),
            "join" => return self.own(from, "join", vec![left, right]),
            "as" => return self.cast(from, right, left),
            "is" | "isnot" => Kind::Inert(vec![left]),
            _ => Kind::Inert(vec![left, right]),
        };
        self.node(from, kind)
    }

    fn method(&self, from: usize, of: Node, name: &str, arguments: Vec<Node>) -> Node {
        let callee = self.node(from, Kind::Member(of.into(), name.into()));
        self.node(from, Kind::Call(callee.into(), arguments))
    }

    fn cast(&self, from: usize, kind: Node, value: Node) -> Node {
        self.node(from, Kind::Call(kind.into(), vec![value]))
    }

    fn unary(&mut self, commas: bool) -> Node {
        self.deeper(|reader| reader.unary_here(commas))
    }

    fn unary_here(&mut self, commas: bool) -> Node {
        let from = self.at;
        let rest = self.rest();
        match (self.peek().unwrap_or(' '), self.second().unwrap_or(' ')) {
            ('!', _) => {
                self.bump();
                self.inert_unary(from, commas)
            }
            (',', _) if commas => {
                self.bump();
                self.blanks(true);
                let value = self.unary(commas);
                self.node(from, Kind::List(vec![value]))
            }
            ('+', _) => {
                self.eats("++");
                self.eats("+");
                self.inert_unary(from, commas)
            }
            (first, second) if is_dash(first) && second.is_ascii_alphabetic() => {
                let written = rest.get(first.len_utf8()..).unwrap_or_default();
                let end = written.bytes().take(16).take_while(u8::is_ascii_alphabetic).count();
                let word = written.get(..end).unwrap_or_default().to_ascii_lowercase();
                self.at += first.len_utf8() + word.len();
                self.blanks(true);
                match word.as_str() {
                    "join" => {
                        let value = self.unary(commas);
                        let nothing = Node::text(self.since(from), "");
                        self.own(from, "join", vec![value, nothing])
                    }
                    "split" | "csplit" | "isplit" => {
                        let value = self.unary(commas);
                        self.method(from, value, "split", Vec::new())
                    }
                    "not" | "bnot" => self.inert_unary(from, commas),
                    _ => {
                        self.wrong(from, Why::Syntax);
                        self.inert_unary(from, commas)
                    }
                }
            }
            (first, second) if is_dash(first) => {
                self.bump();
                if is_dash(second) {
                    self.bump();
                }
                self.blanks(true);
                let value = self.unary(commas);
                match value.kind {
                    Kind::Number(number) => self.node(from, Kind::Number(number.saturating_neg())),
                    _ => self.node(from, Kind::Inert(vec![value])),
                }
            }
            ('[', _) => self.type_or_cast(commas),
            _ => self.primary(),
        }
    }

    fn inert_unary(&mut self, from: usize, commas: bool) -> Node {
        self.blanks(true);
        let value = self.unary(commas);
        self.node(from, Kind::Inert(vec![value]))
    }

    /// `[type]::member`, `[type]value`, `[type]`
    fn type_or_cast(&mut self, commas: bool) -> Node {
        let from = self.at;
        let name = self.type_name();
        let kind = self.node(from, Kind::Name(format!("[{name}").into()));
        if self.rest().starts_with("::") {
            return self.postfix(from, kind);
        }
        let before = self.at;
        self.blanks(false);
        let begins = self.peek().is_some_and(|letter| {
            matches!(letter, '$' | '@' | '(' | '{' | '[' | '!' | '+')
                || letter.is_ascii_digit()
                || is_single_quote(letter)
                || is_double_quote(letter)
                || is_dash(letter) && self.second().is_some_and(|next| next.is_ascii_digit())
        });
        if !begins {
            self.at = before;
            return kind;
        }
        let value = self.unary(commas);
        // In an assignment, the type of the variable does not matter.
        if matches!(value.kind, Kind::Name(_)) && self.is_assigned() {
            return value;
        }
        self.cast(from, kind, value)
    }

    fn is_assigned(&self) -> bool {
        let rest = self.rest();
        let after = rest.trim_start_matches([' ', '\t']);
        self.pay(rest.len() - after.len());
        let rest = after;
        rest.starts_with('=') || rest.starts_with("+=")
    }

    pub(super) fn primary(&mut self) -> Node {
        let from = self.at;
        let second = self.second().unwrap_or(' ');
        let value = match self.peek().unwrap_or(' ') {
            '(' => {
                self.bump();
                let value = self.pipelines(')');
                self.expect(")");
                value
            }
            '@' if second == '(' => {
                self.at += 2;
                let value = self.pipelines(')');
                self.expect(")");
                self.own(from, "array", vec![value])
            }
            '@' if second == '{' => self.map(),
            '@' if is_double_quote(second) || is_single_quote(second) => self.quoted(),
            '$' => self.variable(),
            '{' => self.script_block(false),
            '[' => {
                let name = self.type_name();
                self.node(from, Kind::Name(format!("[{name}").into()))
            }
            letter if is_double_quote(letter) || is_single_quote(letter) => self.quoted(),
            letter if letter.is_ascii_digit() || letter == '.' && second.is_ascii_digit() => self.number(),
            _ => {
                self.wrong(from, Why::Syntax);
                // Skips an unreadable character, but not a closing one.
                if self.peek().is_some_and(|letter| !")};|,]".contains(letter)) {
                    self.bump();
                }
                return self.node(from, Kind::Constant);
            }
        };
        self.postfix(from, value)
    }

    /// Reads members, elements and calls after a value.
    fn postfix(&mut self, from: usize, value: Node) -> Node {
        let depth = self.depth;
        let mut value = value;
        loop {
            if self.depth >= TREE_DEPTH_MAX {
                self.depth = depth;
                return self.ends(from, Why::Nesting);
            }
            let rest = self.rest();
            let second = self.second().unwrap_or(' ');
            if rest.starts_with("++")
                || rest.starts_with("--") && !rest.get(2..).unwrap_or_default().starts_with(is_name)
            {
                self.at += 2;
                value = Node::assign(
                    self.since(from),
                    value,
                    self.node(from, Kind::Inert(vec![self.node(from, Kind::Constant)])),
                );
            } else if rest.starts_with("::")
                || rest.starts_with("?.")
                || rest.starts_with('.') && !second.is_whitespace() && is_member(second)
            {
                self.at += if rest.starts_with('.') { 1 } else { 2 };
                value = self.member(from, value);
                self.depth += 1;
            } else if rest.starts_with('[') || rest.starts_with("?[") {
                self.eats("?");
                self.bump();
                let index = self.pipelines(']');
                self.expect("]");
                value = self.node(from, Kind::Index(value.into(), index.into()));
                self.depth += 1;
            } else {
                break;
            }
        }
        self.depth = depth;
        value
    }

    fn member(&mut self, from: usize, of: Node) -> Node {
        let is_type = matches!(&of.kind, Kind::Name(name) if name.starts_with('['));
        let name = match self.peek() {
            Some('$') => Err(self.deeper(Self::variable)),
            Some('(') => {
                self.bump();
                let name = self.pipelines(')');
                self.expect(")");
                Err(name)
            }
            Some(letter) if is_double_quote(letter) || is_single_quote(letter) => Err(self.quoted()),
            _ => Ok(self.take(is_name).to_lowercase()),
        };
        let is_called = self.peek() == Some('(') || self.peek() == Some('{');
        let name = match name {
            Ok(name) => name,
            Err(node) => {
                let index = self.own(from, "lower", vec![node]);
                let callee = self.node(from, Kind::Index(of.into(), index.into()));
                if !is_called {
                    return callee;
                }
                let arguments = self.arguments();
                return self.node(from, Kind::Call(callee.into(), arguments));
            }
        };
        if !is_called {
            return self.node(from, Kind::Member(of.into(), name.into()));
        }
        let arguments = self.arguments();
        match (name.as_str(), is_type) {
            ("new", true) => self.node(from, Kind::New(of.into(), arguments)),
            // A call of a block, or of a method or type by its name.
            ("invoke" | "invokereturnasis", false) => {
                self.own(from, "invoke", std::iter::once(of).chain(arguments).collect())
            }
            // Blocks, or the name of a method, for each value.
            ("foreach", false) => self.own(from, "each", std::iter::once(of).chain(arguments).collect()),
            (name, false) => {
                let known = METHODS.iter().find(|(own, _)| *own == name);
                self.method(from, of, known.map_or(name, |(_, engine)| engine), arguments)
            }
            (name, true) => self.method(from, of, name, arguments),
        }
    }

    /// Reads `( ... )`, a block, or both.
    pub(super) fn arguments(&mut self) -> Vec<Node> {
        let mut arguments = Vec::new();
        if self.eats("(") {
            loop {
                self.blanks(true);
                if self.peek().is_none_or(|letter| letter == ')') {
                    break;
                }
                let before = self.at;
                let argument = self.deeper(|reader| reader.expression(0, false));
                arguments.push(argument);
                self.blanks(true);
                if !self.eats(",") && self.peek() != Some(')') {
                    self.wrong(self.at, Why::Syntax);
                    self.is_stuck(before);
                }
            }
            self.expect(")");
        }
        if self.peek() == Some('{') {
            arguments.push(self.deeper(|reader| reader.script_block(false)));
        }
        arguments
    }

    /// `@{ key = value; ... }`
    fn map(&mut self) -> Node {
        let from = self.skip(2);
        let mut entries = Vec::new();
        loop {
            self.blanks(true);
            if self.eats(";") {
                continue;
            }
            if self.peek().is_none_or(|letter| letter == '}') {
                break;
            }
            let before = self.at;
            let key = match self.peek() {
                Some(letter) if is_name(letter) && !letter.is_ascii_digit() => {
                    let name = self.take(|letter| is_name(letter) || letter == '-').to_lowercase();
                    Node::text(self.since(before), &name)
                }
                _ => {
                    let key = self.deeper(|reader| reader.expression(2, false));
                    self.own(before, "lower", vec![key])
                }
            };
            self.blanks(true);
            if !self.eats("=") {
                self.wrong(before, Why::Syntax);
            }
            self.blanks(true);
            let value = self.deeper(Self::value_statement);
            entries.push((key, value));
            self.is_stuck(before);
        }
        self.expect("}");
        self.node(from, Kind::Map(entries))
    }
}

/// Returns the values of a right operand.
fn listed(right: Node) -> Vec<Node> {
    match right.kind {
        Kind::List(values) => values,
        _ => vec![right],
    }
}

/// Reports whether a member's name may begin with this letter.
fn is_member(letter: char) -> bool {
    is_name(letter) || letter == '$' || letter == '(' || is_double_quote(letter) || is_single_quote(letter)
}
