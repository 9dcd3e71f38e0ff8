//! Expressions.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::super::numbers::number;
use super::REST;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn lua_expression(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.lua_expression_of(node))
    }

    pub(super) fn lua_field(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(child) => self.lua_expression(child),
            None => self.hole(node, Why::Syntax),
        }
    }

    /// Values in a list, of which the last may be several.
    pub(super) fn lua_values(&mut self, list: Parsed<'_>) -> Vec<Node> {
        let children = Self::children(list);
        let last = children.len().saturating_sub(1);
        let mut values = Vec::new();
        for (at, child) in children.into_iter().enumerate() {
            values.push(if at == last { self.lua_last(child) } else { self.lua_expression(child) });
        }
        values
    }

    /// All values that an expression gives.
    fn lua_last(&mut self, node: Parsed<'_>) -> Node {
        match node.kind() {
            "function_call" => {
                let call = self.lua_expression(node);
                Node::spread(Self::at(node), call)
            }
            "vararg_expression" => {
                let rest = Node::name(Self::at(node), REST);
                Node::spread(Self::at(node), rest)
            }
            _ => self.lua_expression(node),
        }
    }

    /// The first of several values.
    pub(super) fn lua_first(&mut self, value: Node) -> Node {
        match &value.kind {
            Kind::Name(name) if &**name == REST => {
                let at = value.at;
                Node::index(at, value, Node::new(at, Kind::Number(1)))
            }
            _ => value,
        }
    }

    fn lua_expression_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "identifier" => return Node::name(at, self.text_of(node)),
            "vararg_expression" => return self.lua_first(Node::name(at, REST)),
            "string" => return self.lua_string(node),
            "number" => match number(self.text_of(node)) {
                Some(number) => Kind::Number(number),
                None => Kind::Constant,
            },
            "nil" | "true" | "false" => Kind::Constant,
            "parenthesized_expression" => match Self::children(node).first() {
                Some(inner) => return self.lua_expression(*inner),
                None => Kind::Hole(Why::Syntax),
            },
            "dot_index_expression" => {
                let of = self.lua_field(node, "table");
                let name = node.child_by_field_name("field").map(|one| self.text_of(one)).unwrap_or_default();
                Kind::Index(of.into(), Node::text(at, name).into())
            }
            "method_index_expression" => {
                let of = self.lua_field(node, "table");
                let name =
                    node.child_by_field_name("method").map(|one| self.text_of(one)).unwrap_or_default();
                Kind::Index(of.into(), Node::text(at, name).into())
            }
            "bracket_index_expression" => {
                let of = self.lua_field(node, "table");
                Kind::Index(of.into(), self.lua_field(node, "field").into())
            }
            "function_call" => return self.lua_call(node),
            "function_definition" => return self.lua_function(node, false),
            "table_constructor" => return self.lua_table(node),
            "binary_expression" => return self.lua_binary(node),
            "unary_expression" => return self.lua_unary(node),
            _ => Kind::Hole(Why::Unsupported),
        };
        Node::new(at, kind)
    }

    fn lua_call(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some(callee) = node.child_by_field_name("name") else { return self.error(node) };
        let given = node.child_by_field_name("arguments").map(|list| self.lua_values(list));
        let given = given.unwrap_or_default();
        if callee.kind() != "method_index_expression" {
            let callee = self.lua_expression(callee);
            return Node::call(at, callee, given);
        }
        let of = self.lua_field(callee, "table");
        let name = callee.child_by_field_name("method").map(|one| self.text_of(one)).unwrap_or_default();
        let name = Node::text(at, name);
        Node::library(at, "method.called", [of, name].into_iter().chain(given).collect())
    }

    /// A list; with names in it, a map whose further keys are numbers.
    fn lua_table(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let fields = Self::children(node);
        let is_keyed = |field: &Parsed<'_>| field.child_by_field_name("name").is_some();
        if !fields.iter().any(is_keyed) {
            let last = fields.len().saturating_sub(1);
            let mut values = Vec::new();
            for (place, field) in fields.into_iter().enumerate() {
                let Some(value) = field.child_by_field_name("value") else { continue };
                values.push(if place == last { self.lua_last(value) } else { self.lua_expression(value) });
            }
            return Node::list(at, values);
        }
        let mut entries = Vec::new();
        let mut next = 1;
        for field in fields {
            let value = self.lua_field(field, "value");
            let key = match field.child_by_field_name("name") {
                Some(name) if name.kind() == "identifier" && !self.text_of(field).starts_with('[') => {
                    Node::text(Self::at(name), self.text_of(name))
                }
                Some(name) => self.lua_expression(name),
                None => {
                    next += 1;
                    Node::new(at, Kind::Number(next - 1))
                }
            };
            entries.push((key, value));
        }
        Node::new(at, Kind::Map(entries))
    }

    /// The operands of operators that lie deep inside each other, on either side.
    fn lua_chain(&mut self, node: Parsed<'_>, operators: &[&str]) -> Vec<Node> {
        let is_same =
            |node: &Parsed<'_>| node.kind() == "binary_expression" && operators.contains(&operator(*node));
        let mut operands = Vec::new();
        let mut left = vec![node];
        while let Some(one) = left.pop() {
            match (is_same(&one), one.child_by_field_name("left"), one.child_by_field_name("right")) {
                (true, Some(first), Some(second)) => left.extend([second, first]),
                _ => operands.push(self.lua_expression(one)),
            }
        }
        operands
    }

    fn lua_binary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match operator(node) {
            ".." => Kind::Join(self.lua_chain(node, &[".."])),
            "and" | "or" => Kind::Or(self.lua_chain(node, &["and", "or"])),
            "+" => Kind::Add(self.lua_chain(node, &["+"])),
            "==" | "~=" => Kind::Inert(vec![self.lua_field(node, "left"), self.lua_field(node, "right")]),
            other => {
                // A table may say what its operators do.
                let operands = self.lua_chain(node, &[other]);
                Kind::Call(Node::nothing(at).into(), operands)
            }
        };
        Node::new(at, kind)
    }

    fn lua_unary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let operand = self.lua_field(node, "operand");
        let minus = self.text_of(node).starts_with('-');
        match operand.kind {
            Kind::Number(number) if minus => Node::new(at, Kind::Number(number.saturating_neg())),
            _ => Node::inert(at, vec![operand]),
        }
    }

    fn lua_string(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let written = self.text_of(node);
        if let Some(long) = written.strip_prefix('[') {
            let level = long.bytes().take_while(|byte| *byte == b'=').count();
            let inside = long.get(level + 1..long.len().saturating_sub(level + 2)).unwrap_or_default();
            let inside = inside.strip_prefix('\r').unwrap_or(inside);
            return Node::text(at, inside.strip_prefix('\n').unwrap_or(inside));
        }
        let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        let text = |is_old| match unescaped(inside, is_old) {
            Some(text) => Node::text(at, &text),
            None => Node::unknown(at),
        };
        if NEW_ESCAPES.iter().any(|escape| inside.contains(escape)) {
            return Node::new(at, Kind::Either(vec![text(false), text(true)]));
        }
        text(false)
    }
}

fn operator<'p>(node: Parsed<'p>) -> &'p str {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| !child.is_named()).map_or("", |child| child.kind())
}

/// Escapes since Lua 5.2. Lua 5.1 reads their letters as themselves.
const NEW_ESCAPES: &[&str] = &["\\x", "\\z", "\\u"];

/// The text of a literal's inside; `None` for an escape that Lua does not know. `is_old`: as Lua 5.1 reads it.
fn unescaped(inside: &str, is_old: bool) -> Option<String> {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let letter = after.chars().next()?;
        rest = after.get(letter.len_utf8()..)?;
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\\' | '\'' | '"' | '\n' => text.push(letter),
            '\r' => text.push('\n'),
            'x' | 'z' | 'u' if is_old => text.push(letter),
            'z' => rest = rest.trim_start(),
            'x' => {
                let (digits, after) = rest.split_at_checked(2)?;
                text.push(char::from(u8::from_str_radix(digits, 16).ok()?));
                rest = after;
            }
            'u' => {
                let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
                text.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                rest = after;
            }
            '0'..='9' => {
                let count = after.bytes().take(3).take_while(u8::is_ascii_digit).count();
                let (digits, after) = after.split_at_checked(count)?;
                text.push(char::from(digits.parse::<u8>().ok()?));
                rest = after;
            }
            _ => return None,
        }
    }
    text.push_str(rest);
    Some(text)
}
