//! Expressions.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::super::escapes::number;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    pub(super) fn rb(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.rb_expression(node))
    }

    fn rb_all(&mut self, node: Parsed<'_>) -> Vec<Node> {
        Self::children(node).into_iter().map(|one| self.rb(one)).collect()
    }

    pub(super) fn rb_list(&mut self, node: Parsed<'_>) -> Node {
        let values = self.rb_all(node);
        Node::new(Self::at(node), Kind::List(values))
    }

    fn rb_expression(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "identifier" => return self.rb_identifier(node),
            "constant" => return Node::name(at, self.text_of(node)),
            "scope_resolution" => return self.rb_scoped(node),
            "instance_variable" | "class_variable" | "global_variable" => return self.rb_variable(node),
            "self" => return Node::name(at, "self"),
            "super" => Kind::Inert(vec![Self::nothing(node)]),
            "integer" => number(self.text_of(node)).map_or(Kind::Constant, Kind::Number),
            "true" => Kind::Number(1),
            "false" => Kind::Number(0),
            "nil" | "float" | "rational" | "complex" | "encoding" | "line" | "empty_statement" | "undef"
            | "uninterpreted" => Kind::Constant,
            "file" => return self.rb_function_call(at, "__FILE__", Vec::new()),
            "string" | "bare_string" | "delimited_symbol" | "bare_symbol" | "character" | "simple_symbol"
            | "hash_key_symbol" | "chained_string" | "string_array" | "symbol_array"
            | "heredoc_beginning" | "regex" | "subshell" => return self.rb_text(node),
            "array" | "right_assignment_list" => return self.rb_list(node),
            "hash" => return self.rb_hash(node),
            "call" => return self.rb_call(node),
            "element_reference" => return self.rb_element(node),
            "assignment" | "operator_assignment" => return self.rb_assignment(node),
            "method" | "singleton_method" => return self.rb_method(node),
            "class" | "module" => return self.rb_class(node),
            "singleton_class" => return self.rb_optional(node.child_by_field_name("body"), node),
            _ => return self.rb_composed(node),
        };
        Node::new(at, kind)
    }

    /// Expressions that are made of others.
    fn rb_composed(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "lambda" => return self.rb_lambda(node),
            "if" | "unless" | "elsif" | "conditional" => return self.rb_branch(node),
            "if_modifier" | "unless_modifier" | "while_modifier" | "until_modifier" => {
                return self.rb_modifier(node);
            }
            "while" | "until" | "for" => return self.rb_loop(node),
            "case" | "case_match" => return self.rb_case(node),
            "rescue_modifier" => {
                let body = self.rb_field(node, "body");
                let handler = self.rb_field(node, "handler");
                Kind::Or(vec![body, handler])
            }
            "match_pattern" | "test_pattern" => {
                let value = node.child_by_field_name("value");
                return match node.child_by_field_name("pattern") {
                    Some(pattern) => self.rb_pattern(pattern, value),
                    None => self.error(node),
                };
            }
            "begin"
            | "body_statement"
            | "block_body"
            | "then"
            | "do"
            | "else"
            | "ensure"
            | "parenthesized_statements"
            | "block"
            | "do_block"
            | "begin_block"
            | "end_block"
            | "program"
            | "interpolation" => {
                return self.rb_body(node);
            }
            "binary" => return self.rb_binary(node),
            "unary" => {
                let operand = self.rb_field(node, "operand");
                match (node.child_by_field_name("operator").map(|one| one.kind()), operand.kind) {
                    (Some("-"), Kind::Number(number)) => Kind::Number(number.saturating_neg()),
                    (Some("+"), kind) => {
                        return self.rb_function_call(at, "copy.of", vec![Node::new(operand.at, kind)]);
                    }
                    // It is looked at, and not run.
                    (Some("defined?"), _) => Kind::Constant,
                    (_, kind) => Kind::Inert(vec![Node::new(operand.at, kind)]),
                }
            }
            _ => return self.rb_jumping(node),
        };
        Node::new(at, kind)
    }

    /// Ranges, and what leaves or enters a block.
    fn rb_jumping(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "range" => {
                let begin = node.child_by_field_name("begin").map(|one| self.rb(one));
                let end = node.child_by_field_name("end").map(|one| self.rb(one));
                let (Some(begin), Some(mut end)) = (begin, end) else {
                    return Self::rb_unknown(at);
                };
                if self.text_of(node).contains("...") {
                    end = Node::new(at, Kind::Add(vec![end, Node::new(at, Kind::Number(-1))]));
                }
                return self.rb_function_call(at, "..", vec![begin, end]);
            }
            "return" | "next" | "break" => {
                self.jumps += 1;
                let given = Self::children(node).first().map(|list| self.rb_all(*list)).unwrap_or_default();
                let value = match given.len() {
                    0 => None,
                    1 => given.into_iter().next(),
                    _ => Some(Node::new(at, Kind::List(given))),
                };
                Kind::Return(value.map(Box::new))
            }
            "redo" | "retry" => {
                self.jumps += 1;
                Kind::Constant
            }
            "yield" => {
                let given = Self::children(node).first().map(|list| self.rb_given(*list)).unwrap_or_default();
                Kind::Call(Node::name(at, "&").into(), given)
            }
            "splat_argument" | "hash_splat_argument" => match Self::children(node).first() {
                Some(inner) => Kind::Spread(self.rb(*inner).into()),
                None => Kind::Spread(Node::name(at, self.text_of(node)).into()),
            },
            "alias" => return self.rb_alias(node),
            "pattern" | "argument_list" | "exceptions" | "exception_variable" => {
                Kind::Inert(self.rb_all(node))
            }
            _ => Kind::Hole(Why::Unsupported),
        };
        Node::new(at, kind)
    }

    fn rb_identifier(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = self.text_of(node);
        if self.rb_is_local(name) {
            return Node::name(at, name);
        }
        self.rb_function_call(at, name, Vec::new())
    }

    /// A call without an object: a method of the program, or of all objects.
    pub(super) fn rb_function_call(&self, at: crate::tree::Span, name: &str, arguments: Vec<Node>) -> Node {
        let callee = Node::name(at, &format!("{name}()"));
        Node::new(at, Kind::Call(callee.into(), arguments))
    }

    fn rb_scoped(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let written = self.text_of(node);
        let is_plain =
            written.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_'));
        match (node.child_by_field_name("scope"), node.child_by_field_name("name")) {
            (Some(scope), Some(name)) if !is_plain => {
                let of = self.rb(scope);
                Node::new(at, Kind::Member(of.into(), self.text_of(name).into()))
            }
            _ => Node::name(at, written.trim_start_matches("::")),
        }
    }

    fn rb_hash(&mut self, node: Parsed<'_>) -> Node {
        let mut entries = Vec::new();
        for child in Self::children(node) {
            let at = Self::at(child);
            match child.kind() {
                "pair" => {
                    let key = self.rb_field(child, "key");
                    let value = self.rb_pair_value(child);
                    entries.push((key, value));
                }
                "hash_splat_argument" => entries.push((self.rb(child), Self::nothing(child))),
                _ => entries.push((self.hole(child, Why::Syntax), Node::new(at, Kind::Constant))),
            }
        }
        Node::new(Self::at(node), Kind::Map(entries))
    }

    /// `a: 1`, or `a:` for the variable of that name.
    pub(super) fn rb_pair_value(&mut self, node: Parsed<'_>) -> Node {
        match (node.child_by_field_name("value"), node.child_by_field_name("key")) {
            (Some(value), _) => self.rb(value),
            (None, Some(key)) => self.rb_identifier(key),
            (None, None) => self.error(node),
        }
    }

    fn rb_lambda(&mut self, node: Parsed<'_>) -> Node {
        // Its parameters stand beside its block.
        self.rb_function(node, false)
    }

    fn rb_alias(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = |one: &str| one.trim_start_matches(':').to_owned();
        let new = node.child_by_field_name("name").map(|one| name(self.text_of(one))).unwrap_or_default();
        let old = node.child_by_field_name("alias").map(|one| name(self.text_of(one))).unwrap_or_default();
        if new.starts_with('$') {
            return Self::nothing(node);
        }
        let value = Node::name(at, &format!("{old}()"));
        Node::assign(at, Node::name(at, &format!("->{new}")), value)
    }

    fn rb_chain(&mut self, node: Parsed<'_>, operators: &[&str]) -> Vec<Node> {
        Self::operands(node, operators).into_iter().map(|one| self.rb(one)).collect()
    }

    fn rb_binary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default() {
            "+" => Kind::Add(self.rb_chain(node, &["+"])),
            "&&" | "||" => Kind::Or(self.rb_chain(node, &["&&", "||"])),
            "and" | "or" => Kind::Or(self.rb_chain(node, &["and", "or"])),
            "*" => {
                let left = self.rb_field(node, "left");
                Kind::Multiply(left.into(), self.rb_field(node, "right").into())
            }
            "/" => {
                let left = self.rb_field(node, "left");
                Kind::Divide(left.into(), self.rb_field(node, "right").into())
            }
            "%" => {
                let left = self.rb_field(node, "left");
                Kind::Modulo(left.into(), self.rb_field(node, "right").into())
            }
            operator @ ("<<" | ">>") => return self.rb_shifted(node, operator),
            other => {
                let other = [other];
                Kind::Inert(self.rb_chain(node, &other))
            }
        };
        Node::new(at, kind)
    }

    /// `a << b`: a list gets an element, a text more text; functions are chained.
    fn rb_shifted(&mut self, node: Parsed<'_>, operator: &str) -> Node {
        let at = Self::at(node);
        let of = self.rb_field(node, "left");
        let value = self.rb_field(node, "right");
        let member = Node::new(at, Kind::Member(of.into(), operator.into()));
        Node::new(at, Kind::Call(member.into(), vec![value]))
    }
}
