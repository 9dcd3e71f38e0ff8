//! Expressions.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::escapes::{number, unescaped};
use super::super::{Lower, Names};
use super::definitions::after;
use crate::limits::LAYERS_MAX;
use crate::tree::{Kind, Loop, Node};

impl Lower<'_> {
    pub(super) fn expression(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.expression_of(node))
    }

    fn expression_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "identifier" | "keyword_identifier" => return Node::name(at, self.text_of(node)),
            "integer" => number(self.text_of(node)).map_or(Kind::Constant, Kind::Number),
            "true" => Kind::Number(1),
            "false" => Kind::Number(0),
            "float" | "none" | "ellipsis" | "type" => Kind::Constant,
            "string" => return self.string(node),
            "concatenated_string" => {
                Kind::Join(Self::children(node).into_iter().map(|one| self.expression(one)).collect())
            }
            "attribute" => {
                let of = self.field(node, "object");
                let name =
                    node.child_by_field_name("attribute").map(|one| self.text_of(one)).unwrap_or_default();
                Kind::Member(of.into(), name.into())
            }
            "subscript" => return self.subscript(node),
            "call" => return self.call(node),
            "binary_operator" => return self.binary(node),
            "boolean_operator" => Kind::Or(self.chain(node, &["and", "or"])),
            "not_operator" | "comparison_operator" => return self.inert(node),
            "unary_operator" => return self.unary(node),
            "conditional_expression" => return self.conditional(node),
            "named_expression" => return self.named(node),
            "assignment" => return self.assignment(node),
            "augmented_assignment" => return self.augmented(node),
            "lambda" => return self.function(node, false),
            "list" | "tuple" | "set" | "expression_list" | "pattern_list" => {
                Kind::List(Self::children(node).into_iter().map(|one| self.argument(one)).collect())
            }
            "parenthesized_expression" | "await" => match Self::children(node).first() {
                Some(inner) => return self.expression(*inner),
                None => Kind::Constant,
            },
            "dictionary" => return self.dictionary(node),
            "list_comprehension" | "set_comprehension" | "generator_expression" => {
                return self.comprehension(node);
            }
            "dictionary_comprehension" => {
                let values = self.comprehension(node);
                let values = Node::new(at, Kind::Spread(values.into()));
                Kind::Map(vec![(values, Self::nothing(node))])
            }
            "yield" => {
                self.jumps += 1;
                let value = Self::children(node).first().map(|one| self.expression(*one).into());
                Kind::Yield(value)
            }
            "list_splat" | "dictionary_splat" | "parenthesized_list_splat" | "keyword_argument" => {
                return self.argument(node);
            }
            "as_pattern" => return self.as_pattern(node),
            "print_statement" => return self.inert(node),
            "pair" => {
                Kind::Sequence(Self::children(node).into_iter().map(|one| self.expression(one)).collect())
            }
            _ => Kind::Hole(Why::Unsupported),
        };
        Node::new(at, kind)
    }

    fn conditional(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Self::children(node).into_iter().map(|one| self.expression(one));
        let kind = match (parts.next(), parts.next(), parts.next()) {
            (Some(yes), Some(condition), Some(no)) => {
                Kind::Sequence(vec![condition, Node::new(at, Kind::Either(vec![yes, no]))])
            }
            _ => Kind::Hole(Why::Syntax),
        };
        Node::new(at, kind)
    }

    fn named(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let value = self.field(node, "value");
        let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
        let name = self.declare_outside(name);
        Node::assign(at, Node::name(at, &name), value)
    }

    fn field(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(child) => self.expression(child),
            None => self.hole(node, Why::Syntax),
        }
    }

    /// An argument, or an element of a list.
    pub(super) fn argument(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "keyword_argument" => {
                let name = node.child_by_field_name("name").map(|one| self.text_of(one)).unwrap_or_default();
                let value = self.field(node, "value");
                Node::new(at, Kind::Keyword(name.into(), value.into()))
            }
            "list_splat" | "dictionary_splat" | "parenthesized_list_splat" => {
                let inner = Self::children(node);
                let inner = inner.first().map(|one| self.expression(*one));
                let inner = inner.unwrap_or_else(|| self.hole(node, Why::Syntax));
                Node::new(at, Kind::Spread(inner.into()))
            }
            _ => self.expression(node),
        }
    }

    /// Calls in a chain lie deep inside each other.
    fn call(&mut self, node: Parsed<'_>) -> Node {
        let callee = self.field(node, "function");
        let arguments = match node.child_by_field_name("arguments") {
            Some(one) if one.kind() == "generator_expression" => vec![self.expression(one)],
            Some(list) => Self::children(list).into_iter().map(|one| self.argument(one)).collect(),
            None => Vec::new(),
        };
        Node::new(Self::at(node), Kind::Call(callee.into(), arguments))
    }

    fn subscript(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let of = self.field(node, "value");
        let indexes = Self::fields(node, "subscript");
        match indexes.as_slice() {
            [slice] if slice.kind() == "slice" => {
                let mut bounds = [None, None, None];
                let mut place = 0;
                let mut cursor = slice.walk();
                for child in slice.children(&mut cursor) {
                    if child.kind() == ":" {
                        place += 1;
                    } else if let Some(bound) = bounds.get_mut(place) {
                        *bound = Some(self.expression(child).into());
                    }
                }
                Node::new(at, Kind::Slice(of.into(), bounds))
            }
            [index] => {
                let index = self.expression(*index);
                Node::new(at, Kind::Index(of.into(), index.into()))
            }
            _ => {
                let parts = indexes.into_iter().filter(|one| one.kind() != "slice");
                let parts = parts.map(|one| self.expression(one)).collect();
                let index = Node::new(at, Kind::Inert(parts));
                Node::new(at, Kind::Index(of.into(), index.into()))
            }
        }
    }

    fn chain(&mut self, node: Parsed<'_>, operators: &[&str]) -> Vec<Node> {
        Self::operands(node, operators).into_iter().map(|one| self.expression(one)).collect()
    }

    fn binary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let operator = node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default();
        let kind = match operator {
            "+" => Kind::Add(self.chain(node, &["+"])),
            "/" | "%" | "*" => {
                let left = self.field(node, "left");
                let right = self.field(node, "right");
                arithmetic(operator, left, right)
            }
            // `dict | dict`: of both.
            "|" => Kind::Or(self.chain(node, &["|"])),
            _ => Kind::Inert(self.chain(node, &["-", "//", "**", "&", "^", "<<", ">>", "@"])),
        };
        Node::new(at, kind)
    }

    fn unary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let argument = self.field(node, "argument");
        let minus = node.child_by_field_name("operator").is_some_and(|one| one.kind() == "-");
        match argument.kind {
            Kind::Number(number) if minus => Node::new(at, Kind::Number(number.saturating_neg())),
            _ => Node::new(at, Kind::Inert(vec![argument])),
        }
    }

    fn assignment(&mut self, node: Parsed<'_>) -> Node {
        let annotations = self.annotations(node.child_by_field_name("type"));
        let right = node.child_by_field_name("right").map(|right| self.expression(right));
        let made = match (node.child_by_field_name("left"), right) {
            (Some(left), Some(value)) => {
                let target = self.target(left);
                Node::assign(Self::at(node), target, value)
            }
            (_, value) => value.unwrap_or_else(|| Self::nothing(node)),
        };
        after(annotations, made)
    }

    fn augmented(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let operator = node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default();
        let right = self.field(node, "right");
        let Some(left) = node.child_by_field_name("left") else { return right };
        let target = self.target(left);
        let value = match operator {
            "+=" => return Node::new(at, Kind::Augment(target.into(), right.into())),
            "/=" | "%=" | "*=" => {
                let before = self.expression(left);
                arithmetic(operator.trim_end_matches('='), before, right)
            }
            // A map changes in place.
            "|=" => {
                let update = Node::new(at, Kind::Member(self.expression(left).into(), "update".into()));
                let with = self.field(node, "right");
                let changed = Node::new(at, Kind::Call(update.into(), vec![with]));
                let value = Node::new(at, Kind::Or(vec![self.expression(left), right]));
                return Node::new(at, Kind::Sequence(vec![changed, Node::assign(at, target, value)]));
            }
            _ => Kind::Inert(vec![self.expression(left), right]),
        };
        Node::assign(at, target, Node::new(at, value))
    }

    fn dictionary(&mut self, node: Parsed<'_>) -> Node {
        let mut entries = Vec::new();
        for child in Self::children(node) {
            if child.kind() == "pair" {
                entries.push((self.field(child, "key"), self.field(child, "value")));
            } else {
                let spread = self.argument(child);
                entries.push((spread, Self::nothing(child)));
            }
        }
        Node::new(Self::at(node), Kind::Map(entries))
    }

    /// Loops inside each other, whose names are their own.
    fn comprehension(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        self.scopes.push(Names { is_block: true, ..Names::default() });
        let clauses: Vec<Parsed<'_>> = Self::children(node)
            .into_iter()
            .filter(|one| matches!(one.kind(), "for_in_clause" | "if_clause"))
            .collect();
        if clauses.len() > LAYERS_MAX {
            self.locals();
            return self.hole(node, Why::Nesting);
        }
        let mut loops: Vec<(Node, Node, Vec<Node>)> = Vec::new();
        for clause in clauses {
            if clause.kind() == "for_in_clause" {
                let rights: Vec<Node> =
                    Self::fields(clause, "right").into_iter().map(|one| self.expression(one)).collect();
                let right = match <[Node; 1]>::try_from(rights) {
                    Ok([only]) => only,
                    Err(several) => Node::new(Self::at(clause), Kind::List(several)),
                };
                let left = match clause.child_by_field_name("left") {
                    Some(left) => self.target(left),
                    None => self.hole(clause, Why::Syntax),
                };
                loops.push((left, right, Vec::new()));
            } else if let Some((_, _, conditions)) = loops.last_mut() {
                let tests =
                    Self::children(clause).into_iter().map(|one| self.expression(one)).collect::<Vec<_>>();
                conditions.extend(tests);
            }
        }
        let body = match node.child_by_field_name("body") {
            Some(pair) if pair.kind() == "pair" => {
                let parts = vec![self.field(pair, "key"), self.field(pair, "value")];
                Node::new(Self::at(pair), Kind::List(parts))
            }
            Some(body) => self.expression(body),
            None => self.hole(node, Why::Syntax),
        };
        let made = loops.into_iter().rev().fold(body, |body, (left, right, conditions)| {
            // Which elements are left out is not known: any may be there.
            let body = if conditions.is_empty() {
                body
            } else {
                Node::new(at, Kind::Sequence(conditions.into_iter().chain([body]).collect()))
            };
            let one = Loop { over: Some((left, right)), body, jumps: false, collects: true };
            Node::new(at, Kind::Loop(Box::new(one)))
        });
        let locals = self.locals();
        Node::new(at, Kind::Scope(locals, made.into()))
    }

    fn string(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        let (mut is_raw, mut has_values) = (false, false);
        for child in Self::children(node) {
            match child.kind() {
                "string_start" => {
                    let prefix = self.text_of(child).to_ascii_lowercase();
                    is_raw = prefix.contains('r');
                    has_values = prefix.contains(['f', 't']);
                }
                "interpolation" => parts.push(self.interpolation(child)),
                "string_content" => {
                    let inside = self.text_of(child);
                    let inside = if has_values {
                        inside.replace("{{", "{").replace("}}", "}")
                    } else {
                        inside.to_owned()
                    };
                    let text = if is_raw { Some(inside) } else { unescaped(&inside, true) };
                    let at = Self::at(child);
                    parts.push(match text {
                        Some(text) => Node::text(at, &text),
                        None => Node::new(at, Kind::Inert(vec![Self::nothing(child)])),
                    });
                }
                "escape_interpolation" => {
                    let text = self.text_of(child).chars().take(1).collect::<String>();
                    parts.push(Node::text(Self::at(child), &text));
                }
                "string_end" => {}
                _ => parts.push(self.error(child)),
            }
        }
        match parts.len() {
            0 => Node::text(at, ""),
            1 if !has_values => parts.pop().unwrap_or_else(|| Node::text(at, "")),
            _ => Node::new(at, Kind::Join(parts)),
        }
    }

    /// A value in a text; one with a format of its own is not known.
    fn interpolation(&mut self, node: Parsed<'_>) -> Node {
        let value = self.field(node, "expression");
        let format = node.child_by_field_name("format_specifier");
        let inner = format.map(Self::children).unwrap_or_default();
        let inner = inner.into_iter().filter(|one| one.kind() == "format_expression");
        let has_format = format.is_some()
            || node.child_by_field_name("type_conversion").is_some_and(|one| self.text_of(one) != "!s");
        let parts: Vec<Node> = inner.map(|one| self.deeper(one, |lower| lower.interpolation(one))).collect();
        if !has_format {
            return value;
        }
        Node::new(Self::at(node), Kind::Inert(std::iter::once(value).chain(parts).collect()))
    }
}

fn arithmetic(operator: &str, left: Node, right: Node) -> Kind {
    match operator {
        "/" => Kind::Divide(left.into(), right.into()),
        "%" => Kind::Modulo(left.into(), right.into()),
        _ => Kind::Multiply(left.into(), right.into()),
    }
}
