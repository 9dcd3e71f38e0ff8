//! Expressions.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::super::numbers::number;
use super::with_topic;
use crate::tree::{Kind, Loop, Node, Span};

/// Forms that give any number of values in a list.
const PLURAL: &[&str] = &[
    "array",
    "hash",
    "function_call_expression",
    "ambiguous_function_call_expression",
    "method_call_expression",
    "coderef_call_expression",
    "map_grep_expression",
    "sort_expression",
    "slice_expression",
    "keyval_expression",
    "anonymous_slice_expression",
    "func1op_call_expression",
    "readline_expression",
    "fileglob_expression",
    "quoted_word_list",
    "array_deref_expression",
    "hash_deref_expression",
    "do_expression",
    "eval_expression",
    "bareword",
    "conditional_expression",
    "assignment_expression",
    "stub_expression",
];

impl Lower<'_> {
    pub(super) fn pl(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.pl_expression(node))
    }

    pub(super) fn pl_field(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(child) => self.pl(child),
            None => self.hole(node, Why::Syntax),
        }
    }

    fn pl_all(&mut self, node: Parsed<'_>) -> Vec<Node> {
        Self::children(node).into_iter().map(|one| self.pl(one)).collect()
    }

    /// Whether it may stand for several values in a list.
    pub(super) fn pl_is_plural(node: Parsed<'_>) -> bool {
        match node.kind() {
            "binary_expression" => node
                .child_by_field_name("operator")
                .is_some_and(|one| matches!(one.kind(), ".." | "..." | "x") || is_range(node)),
            "localization_expression" | "variable_declaration" => {
                Self::children(node).iter().any(|one| matches!(one.kind(), "array" | "hash"))
            }
            kind => PLURAL.contains(&kind),
        }
    }

    /// Values in a list: those of lists in it stand there themselves.
    pub(super) fn pl_values(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let mut values = Vec::new();
        for one in Self::pl_listed(node) {
            let at = Self::at(one);
            let is_plural = Self::pl_is_plural(one);
            let value = self.pl(one);
            values.push(if is_plural { Node::spread(at, value) } else { value });
        }
        values
    }

    /// A list of values.
    pub(super) fn pl_flat(&mut self, node: Option<Parsed<'_>>, at: Span) -> Node {
        let values = node.map(|node| self.pl_values(node)).unwrap_or_default();
        Node::list(at, values)
    }

    /// A value where only one is wanted.
    pub(super) fn pl_scalar(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "parenthesized_expression" => match Self::children(node).as_slice() {
                [inner] => self.deeper(node, |lower| lower.pl_scalar(*inner)),
                _ => self.pl(node),
            },
            // How many there are.
            "array" | "hash" | "array_deref_expression" => {
                let of = self.pl(node);
                Node::inert(at, vec![of])
            }
            "ambiguous_function_call_expression" | "function_call_expression"
                if node.child_by_field_name("function").map(|one| self.text_of(one)) == Some("reverse") =>
            {
                let given = match node.child_by_field_name("arguments") {
                    Some(given) => self.pl_values(given),
                    None => vec![Node::name(at, "$_")],
                };
                Node::library(at, "reversed", given)
            }
            _ => self.pl(node),
        }
    }

    fn pl_expression(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "scalar" | "array" | "hash" => return self.pl_variable(node),
            "array_element_expression" | "hash_element_expression" => return self.pl_element(node),
            "slice_expression" | "anonymous_slice_expression" => return self.pl_slice(node),
            "keyval_expression" => {
                let of = self.pl_slice(node);
                Kind::Inert(vec![of])
            }
            "arraylen"
            | "arraylen_deref_expression"
            | "boolean"
            | "yadayada"
            | "glob"
            | "glob_slot_expression"
            | "loopex_expression"
            | "filehandle" => {
                if node.kind() == "loopex_expression" {
                    self.jumps += 1;
                }
                if node.kind() == "glob" {
                    return Node::text(at, self.text_of(node));
                }
                Kind::Inert(vec![Self::nothing(node)])
            }
            "array_deref_expression" | "hash_deref_expression" => return self.pl_first(node),
            "scalar_deref_expression" => {
                let inner = self.pl_first(node);
                return Node::library(at, "$$", vec![inner]);
            }
            "number" | "version" => number(self.text_of(node)).map_or(Kind::Constant, Kind::Number),
            "bareword" => return self.pl_bareword(node),
            "autoquoted_bareword" => Kind::Text(self.text_of(node).into()),
            "string_literal"
            | "interpolated_string_literal"
            | "command_string"
            | "heredoc_token"
            | "command_heredoc_token"
            | "quoted_word_list"
            | "fileglob_expression"
            | "match_regexp"
            | "quoted_regexp" => return self.pl_text(node),
            "substitution_regexp" | "transliteration_expression" => {
                let topic = Node::name(at, "$_");
                return self.pl_replaced(node, topic, Some(Node::name(at, "$_")));
            }
            "readline_expression" => return self.pl_readline(node),
            _ => return self.pl_composed(node),
        };
        Node::new(at, kind)
    }

    /// Expressions that are made of others.
    fn pl_composed(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "parenthesized_expression" | "list_expression" => match Self::children(node).as_slice() {
                [inner] if !Self::pl_is_plural(*inner) => return self.pl(*inner),
                _ => return self.pl_flat(Some(node), at),
            },
            "stub_expression" => Kind::List(Vec::new()),
            "assignment_expression" => return self.pl_assignment(node),
            "variable_declaration" => return self.pl_declared_only(node),
            "localization_expression" => return self.pl_localized(node),
            "anonymous_array_expression" => {
                let values = Self::children(node).into_iter().flat_map(|one| self.pl_values(one)).collect();
                Kind::List(values)
            }
            "anonymous_hash_expression" => {
                let values = Self::children(node).into_iter().flat_map(|one| self.pl_values(one)).collect();
                return Node::library(at, "{}", values);
            }
            "refgen_expression" => return self.pl_refgen(node),
            "anonymous_subroutine_expression" | "anonymous_method_expression" => {
                return self.pl_function(node);
            }
            "binary_expression" | "lowprec_logical_expression" => return self.pl_binary(node),
            "unary_expression" => return self.pl_unary(node),
            "equality_expression" | "relational_expression" | "logical_not_expression" => {
                Kind::Inert(self.pl_all(node))
            }
            _ => return self.pl_changing(node),
        };
        Node::new(at, kind)
    }

    /// Expressions that change something, or run something.
    fn pl_changing(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "preinc_expression" | "postinc_expression" => {
                let Some(operand) = node.child_by_field_name("operand") else { return self.error(node) };
                let value = self.pl(operand);
                let target = self.pl_target(operand);
                return Node::assign(at, target, Node::inert(at, vec![value]));
            }
            "conditional_expression" => {
                let condition = self.pl_field(node, "condition");
                let bodies = vec![self.pl_field(node, "consequent"), self.pl_field(node, "alternative")];
                Kind::Sequence(vec![condition, Node::either(at, bodies)])
            }
            "postfix_conditional_expression" | "postfix_loop_expression" | "postfix_for_expression" => {
                return self.pl_postfix(node);
            }
            "map_grep_expression" => return self.pl_map(node),
            "sort_expression" => return self.pl_sort(node),
            "do_expression" | "async_block_expression" => match Self::children(node).first() {
                Some(block) if block.kind() == "block" => return self.pl_block(*block),
                _ => return self.pl_strange(node),
            },
            "eval_expression"
            | "require_expression"
            | "return_expression"
            | "undef_expression"
            | "goto_expression"
            | "func0op_call_expression"
            | "func1op_call_expression"
            | "ambiguous_function_call_expression"
            | "function_call_expression"
            | "method_call_expression"
            | "coderef_call_expression"
            | "function"
            | "amper_deref_expression" => return self.pl_call(node),
            "await_expression" => return self.pl_first(node),
            "require_version_expression" | "prototype" | "attrlist" => Kind::Constant,
            "block" => return self.pl_block(node),
            "expression_statement" => match Self::children(node).first() {
                Some(inner) => return self.pl(*inner),
                None => Kind::Constant,
            },
            _ => return self.pl_strange(node),
        };
        Node::new(at, kind)
    }

    fn pl_first(&mut self, node: Parsed<'_>) -> Node {
        match Self::children(node).first() {
            Some(inner) => self.pl(*inner),
            None => self.error(node),
        }
    }

    fn pl_assignment(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return self.error(node);
        };
        let operator = node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default();
        if operator != "=" {
            return self.pl_augmented(node, left, right, operator);
        }
        let inner = match left.kind() {
            "localization_expression" => Self::children(left).first().copied().unwrap_or(left),
            _ => left,
        };
        let declares = inner.kind() == "variable_declaration";
        let shape = match inner.child_by_field_name("variable") {
            Some(variable) => variable.kind(),
            None => inner.kind(),
        };
        match shape {
            "array" | "array_deref_expression" => {
                let list = self.pl_flat(Some(right), at);
                let target = self.pl_target(inner);
                if declares {
                    Node::assign(at, target, list)
                } else {
                    Node::library(at, "@=", vec![target, list])
                }
            }
            "hash" | "hash_deref_expression" => {
                let values = self.pl_values(right);
                let map = Node::library(at, "{}", values);
                let target = self.pl_target(inner);
                match &target.kind {
                    Kind::Name(name) if &**name == "%ENV" => Node::method(at, target, "update", vec![map]),
                    _ if declares => Node::assign(at, target, map),
                    _ => Node::library(at, "@=", vec![target, map]),
                }
            }
            "glob" => self.pl_glob_assignment(inner, right),
            "function_call_expression" | "ambiguous_function_call_expression"
                if self.pl_called(inner) == "substr" =>
            {
                let value = self.pl_scalar(right);
                let listed = inner.child_by_field_name("arguments").map(Self::pl_listed).unwrap_or_default();
                self.pl_part_replaced(node, &listed, Some(value))
            }
            "parenthesized_expression" | "list_expression" | "slice_expression" | "variable_declaration" => {
                let mut list = self.pl_flat(Some(right), at);
                if shape == "slice_expression"
                    && let Kind::List(values) = &mut list.kind
                {
                    values.insert(0, Self::nothing(node));
                }
                let target = self.pl_target(inner);
                Node::assign(at, target, list)
            }
            _ => {
                let value = self.pl_scalar(right);
                let target = self.pl_target(inner);
                Node::assign(at, target, value)
            }
        }
    }

    fn pl_augmented(
        &mut self,
        node: Parsed<'_>,
        left: Parsed<'_>,
        right: Parsed<'_>,
        operator: &str,
    ) -> Node {
        let at = Self::at(node);
        let before = self.pl(left);
        let value = self.pl_scalar(right);
        let target = self.pl_target(left);
        let value = match operator {
            ".=" => Kind::Join(vec![before, value]),
            "||=" | "&&=" | "//=" => Kind::Or(vec![before, value]),
            "x=" => Kind::Multiply(before.into(), value.into()),
            "+=" => Kind::Add(vec![before, value]),
            _ => Kind::Inert(vec![before, value]),
        };
        Node::assign(at, target, Node::new(at, value))
    }

    /// `local $x`: the value is given back later.
    fn pl_localized(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        for inner in Self::children(node).into_iter().flat_map(Self::pl_listed) {
            let target = self.pl_target(inner);
            if matches!(inner.kind(), "scalar") {
                let before = self.pl(inner);
                let either = Node::or(at, vec![before, Self::nothing(node)]);
                parts.push(Node::assign(at, target, either));
            } else if !matches!(target.kind, Kind::Hole(_)) {
                parts.push(target);
            }
        }
        Node::inert(at, parts)
    }

    fn pl_chain(&mut self, node: Parsed<'_>, operators: &[&str]) -> Vec<Node> {
        Self::operands(node, operators).into_iter().map(|one| self.pl_scalar(one)).collect()
    }

    fn pl_binary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return self.error(node);
        };
        let kind = match node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default() {
            ".." | "..." => {
                let given = vec![self.pl_scalar(left), self.pl_scalar(right)];
                return Node::library(at, "..", given);
            }
            // `1..3`, as the grammar takes it apart.
            "." if is_range(node) => {
                let from =
                    number(self.text_of(left).trim_end_matches('.')).map_or(Kind::Constant, Kind::Number);
                let given = vec![Node::new(Self::at(left), from), self.pl_scalar(right)];
                return Node::library(at, "..", given);
            }
            "." => Kind::Join(self.pl_chain(node, &["."])),
            "+" => Kind::Add(self.pl_chain(node, &["+"])),
            "&&" | "||" | "//" => Kind::Or(self.pl_chain(node, &["&&", "||", "//"])),
            "and" | "or" | "xor" => Kind::Or(self.pl_chain(node, &["and", "or", "xor"])),
            "x" => {
                let of = if left.kind() == "parenthesized_expression" || left.kind() == "quoted_word_list" {
                    self.pl_flat(Some(left), at)
                } else {
                    self.pl_scalar(left)
                };
                Kind::Multiply(of.into(), self.pl_scalar(right).into())
            }
            "=~" | "!~" => match right.kind() {
                "substitution_regexp" | "transliteration_expression" => {
                    let inner = match left.kind() {
                        "parenthesized_expression" => Self::children(left).first().copied().unwrap_or(left),
                        _ => left,
                    };
                    let value = self.pl(left);
                    let written = match inner.kind() {
                        "assignment_expression" => inner.child_by_field_name("left").unwrap_or(inner),
                        _ => inner,
                    };
                    // What the assignment declares has been declared.
                    let target = match written.kind() {
                        "variable_declaration" => match written.child_by_field_name("variable") {
                            Some(variable) => self.pl_target(variable),
                            None => self.pl_strange(written),
                        },
                        _ => self.pl_target(written),
                    };
                    return self.pl_replaced(right, value, Some(target));
                }
                _ => Kind::Inert(vec![self.pl_scalar(left), self.pl_scalar(right)]),
            },
            other => {
                let other = [other];
                Kind::Inert(self.pl_chain(node, &other))
            }
        };
        Node::new(at, kind)
    }

    fn pl_unary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let operand = self.pl_field(node, "operand");
        match (node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default(), operand.kind) {
            ("-", Kind::Number(number)) => Node::new(at, Kind::Number(number.saturating_neg())),
            ("+", kind) => Node::new(at, kind),
            (_, kind) => Node::inert(at, vec![Node::new(operand.at, kind)]),
        }
    }

    fn pl_postfix(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let condition = node.child_by_field_name("condition");
        let list = node.child_by_field_name("list");
        let body = Self::children(node).into_iter().find(|one| Some(*one) != condition && Some(*one) != list);
        let Some(body) = body else { return self.error(node) };
        match node.kind() {
            // `eval 'exec perl ...' if 0;`, by which a shell that is given the file starts Perl.
            "postfix_conditional_expression"
                if Self::has_word(node, &["if"]) && condition.is_some_and(|one| self.text_of(one) == "0") =>
            {
                Self::nothing(node)
            }
            "postfix_conditional_expression" => {
                let condition = self.pl_condition(condition, node);
                let body = self.pl(body);
                let bodies = vec![Self::nothing(node), body];
                Node::sequence(at, vec![condition, Node::either(at, bodies)])
            }
            "postfix_loop_expression" => {
                let runs_first = body.kind() == "do_expression";
                let condition = self.pl_condition(condition, node);
                let body = self.pl(body);
                let parts = if runs_first { vec![body, condition] } else { vec![condition, body] };
                Node::repeats(at, parts)
            }
            _ => {
                let over = self.pl_flat(list, at);
                let mark = self.perl.changed.len();
                let body = self.pl(body);
                let target = Node::name(at, "$_");
                let mut parts = vec![Node::for_each(at, target, over, body, false)];
                parts.extend(self.pl_elements_changed(list, mark, &[]));
                with_topic(at, Node::sequence(at, parts))
            }
        }
    }

    /// `map`, `grep`
    fn pl_map(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let list = node.child_by_field_name("list");
        let over = self.pl_flat(list, at);
        let mark = self.perl.changed.len();
        let body = self.pl_field(node, "callback");
        let filters = Self::has_word(node, &["grep"]);
        let target = Node::name(at, "$_");
        let body = if filters { Node::sequence(at, vec![body, Node::name(at, "$_")]) } else { body };
        let one = Loop { over: Some((target, over)), body, jumps: false, collects: true };
        let mut made = Node::new(at, Kind::Loop(Box::new(one)));
        if filters {
            made = Self::pl_some_of(made);
        } else {
            made = Node::library(at, "flat", vec![Node::spread(at, made)]);
        }
        let changed = self.pl_elements_changed(list, mark, &[]);
        if !changed.is_empty() {
            let kept = format!("map at {}", at.0);
            let mut parts = vec![Node::assign(at, Node::name(at, &kept), made)];
            parts.extend(changed);
            parts.push(Node::name(at, &kept));
            made = Node::sequence(at, parts);
        }
        with_topic(at, made)
    }

    /// Some of a list, or all of it in another order.
    fn pl_some_of(list: Node) -> Node {
        let at = list.at;
        let spread = Node::spread(at, list);
        let unknown = Node::spread(at, Node::unknown(at));
        Node::list(at, vec![spread, unknown])
    }

    fn pl_sort(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let list = self.pl_flat(node.child_by_field_name("list"), at);
        let list = if Self::has_word(node, &["reverse"]) {
            Node::library(at, "reverse", vec![Node::spread(at, list)])
        } else {
            Self::pl_some_of(list)
        };
        let mut parts = Vec::new();
        match node.child_by_field_name("callback") {
            Some(block) if block.kind() == "block" => {
                let body = self.deeper(block, |lower| lower.pl_block(block));
                parts.push(Node::either(at, vec![Self::nothing(node), body]));
            }
            Some(function) if function.kind() == "function" => {
                let function = self.pl_function_value(function);
                parts.push(Node::call(at, function, Vec::new()));
            }
            Some(other) => parts.push(self.pl(other)),
            None => {}
        }
        parts.push(list);
        Node::sequence(at, parts)
    }
}

/// `1..3` is taken for `1.` and `.3`; no other number touches a dot.
fn is_range(node: Parsed<'_>) -> bool {
    let left = node.child_by_field_name("left").filter(|left| left.kind() == "number");
    let operator = node.child_by_field_name("operator").filter(|operator| operator.kind() == ".");
    left.zip(operator).is_some_and(|(left, operator)| left.end_byte() == operator.start_byte())
}
