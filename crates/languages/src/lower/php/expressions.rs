//! Expressions.

use castellan_event::Why;
use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::super::escapes::number;
use super::names::constant;
use super::unknown;
use crate::tree::{Kind, Node};

/// Variables that are the same everywhere.
const SUPERGLOBALS: &[&str] =
    &["$GLOBALS", "$_SERVER", "$_GET", "$_POST", "$_FILES", "$_COOKIE", "$_SESSION", "$_REQUEST", "$_ENV"];

impl Lower<'_> {
    pub(super) fn php_expression(&mut self, node: Parsed<'_>) -> Node {
        self.deeper(node, |lower| lower.php_expression_of(node))
    }

    pub(super) fn php_field(&mut self, node: Parsed<'_>, name: &str) -> Node {
        match node.child_by_field_name(name) {
            Some(child) => self.php_expression(child),
            None => self.hole(node, Why::Syntax),
        }
    }

    pub(super) fn php_all(&mut self, node: Parsed<'_>) -> Vec<Node> {
        Self::children(node).into_iter().map(|one| self.php_expression(one)).collect()
    }

    fn php_only(&mut self, node: Parsed<'_>) -> Node {
        match Self::children(node).last() {
            Some(inner) => self.php_expression(*inner),
            None => Self::nothing(node),
        }
    }

    fn php_expression_of(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let kind = match node.kind() {
            "variable_name" => return self.php_variable(node),
            "dynamic_variable_name" => return self.php_named_variable(node),
            "name" | "qualified_name" | "relative_name" => return self.php_constant(node),
            "string" => return self.php_plain(node),
            "encapsed_string" => return self.php_parts(node),
            "heredoc" | "nowdoc" => return self.php_heredoc(node),
            "integer" => match integer(self.text_of(node)) {
                Some(number) => Kind::Number(number),
                None => Kind::Constant,
            },
            "boolean" if self.text_of(node).eq_ignore_ascii_case("true") => Kind::Number(1),
            "float" | "boolean" | "null" | "argument_placeholder" => Kind::Constant,
            "expression_statement"
            | "parenthesized_expression"
            | "error_suppression_expression"
            | "argument"
            | "variadic_unpacking" => return self.php_only(node),
            "by_ref" => return self.php_only(node),
            "sequence_expression" => Kind::Sequence(self.php_all(node)),
            "assignment_expression" => return self.php_assignment(node),
            "reference_assignment_expression" => return self.php_alias(node),
            "augmented_assignment_expression" => return self.php_augmented(node),
            "update_expression" => return self.php_update(node),
            "binary_expression" => return self.php_binary(node),
            "unary_op_expression" => return self.php_unary(node),
            "cast_expression" => return self.php_cast(node),
            "conditional_expression" => return self.php_conditional(node),
            "match_expression" => return self.php_match(node),
            "subscript_expression" => return self.php_subscript(node),
            "member_access_expression" | "nullsafe_member_access_expression" => {
                let of = self.php_field(node, "object");
                return self.php_property(node, of);
            }
            "scoped_property_access_expression" => {
                let of = self.php_scope(node);
                return self.php_property(node, of);
            }
            "class_constant_access_expression" => return self.php_class_constant(node),
            "function_call_expression" => return self.php_call(node),
            "member_call_expression" | "nullsafe_member_call_expression" => return self.php_method(node),
            "scoped_call_expression" => return self.php_static_method(node),
            "object_creation_expression" => return self.php_new(node),
            "clone_expression" => return library(node, "clone", vec![self.php_only(node)]),
            "array_creation_expression" => return self.php_array(node),
            "anonymous_function" | "arrow_function" => return self.php_function(node, false),
            "include_expression"
            | "include_once_expression"
            | "require_expression"
            | "require_once_expression" => {
                let path = self.php_only(node);
                return library(node, "include", vec![path]);
            }
            "shell_command_expression" => {
                let text = self.php_parts(node);
                return library(node, "shell_exec", vec![text]);
            }
            "print_intrinsic" | "throw_expression" => {
                self.jumps += usize::from(node.kind() == "throw_expression");
                Kind::Inert(self.php_all(node))
            }
            "yield_expression" => {
                self.jumps += 1;
                let value = Self::children(node).last().copied();
                Kind::Yield(value.map(|value| self.php_only_of(value).into()))
            }
            _ => Kind::Hole(Why::Unsupported),
        };
        Node::new(at, kind)
    }

    /// `$x++`
    fn php_update(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let before = self.php_field(node, "argument");
        let Some(target) = node.child_by_field_name("argument") else { return before };
        let target = self.php_target(target);
        Node::assign(at, target, Node::new(at, Kind::Inert(vec![before])))
    }

    fn php_only_of(&mut self, node: Parsed<'_>) -> Node {
        match node.kind() {
            "array_element_initializer" => self.php_only(node),
            _ => self.php_expression(node),
        }
    }

    fn php_variable(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = self.text_of(node);
        if name == "$this" {
            return Node::name(at, "this");
        }
        if !SUPERGLOBALS.contains(&name) {
            self.declare_outside(name);
        }
        Node::name(at, name)
    }

    /// `$$name`, `${'name'}`
    fn php_named_variable(&mut self, node: Parsed<'_>) -> Node {
        let inner = Self::children(node);
        let Some(inner) = inner.first() else { return self.error(node) };
        let name = match inner.kind() {
            // In a text: `${name}`.
            "name" => {
                return Node::name(
                    Self::at(node),
                    &self.declare_outside(&format!("${}", self.text_of(*inner))),
                );
            }
            _ => self.php_expression(*inner),
        };
        let names = library(node, "get_defined_vars", Vec::new());
        Node::new(Self::at(node), Kind::Index(names.into(), name.into()))
    }

    fn php_constant(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = self.text_of(node);
        match name.trim_start_matches('\\') {
            "PHP_EOL" => Node::text(at, "\n"),
            "DIRECTORY_SEPARATOR" => Node::text(at, "/"),
            "PATH_SEPARATOR" => Node::text(at, ":"),
            "__DIR__" => Node::name(at, "__dir__"),
            "__FILE__" => Node::name(at, "__file__"),
            "PHP_BINARY" => Node::text(at, "php"),
            option if option.starts_with("CURLOPT_") => Node::text(at, option),
            "STDIN" | "STDOUT" | "STDERR" => Node::new(at, Kind::Constant),
            "__NAMESPACE__" => Node::text(at, self.php.own("").trim_end_matches('\\')),
            "__CLASS__" => match self.php.around.last().and_then(|around| around.name.clone()) {
                Some(name) => Node::text(at, &name),
                None => unknown(at),
            },
            _ if self.php.has_constant(name) => Node::name(at, &constant(name)),
            _ => unknown(at),
        }
    }

    fn php_assignment(&mut self, node: Parsed<'_>) -> Node {
        let value = self.php_field(node, "right");
        let Some(target) = node.child_by_field_name("left") else { return value };
        Node::assign(Self::at(node), self.php_target(target), value)
    }

    /// `$a = &$b`: from here on both are one, which is not followed.
    fn php_alias(&mut self, node: Parsed<'_>) -> Node {
        let assigned = self.php_assignment(node);
        let is_new = node.child_by_field_name("right").is_some_and(|right| {
            matches!(
                right.kind(),
                "function_call_expression"
                    | "member_call_expression"
                    | "scoped_call_expression"
                    | "object_creation_expression"
                    | "array_creation_expression"
            )
        });
        if is_new {
            return assigned;
        }
        let hole = self.hole(node, Why::Unsupported);
        Node::new(Self::at(node), Kind::Sequence(vec![hole, assigned]))
    }

    fn php_augmented(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let right = self.php_field(node, "right");
        let Some(left) = node.child_by_field_name("left") else { return right };
        let before = self.php_expression(left);
        let value = match self.php_operator(node) {
            ".=" => Kind::Join(vec![before, right]),
            "+=" => Kind::Add(vec![before, right]),
            "??=" => Kind::Or(vec![before, right]),
            _ => Kind::Inert(vec![before, right]),
        };
        Node::assign(at, self.php_target(left), Node::new(at, value))
    }

    fn php_operator<'p>(&self, node: Parsed<'p>) -> &'p str {
        node.child_by_field_name("operator").map(|one| one.kind()).unwrap_or_default()
    }

    /// The operands of operators that lie deep inside each other.
    fn php_chain(&mut self, node: Parsed<'_>, operators: &[&str]) -> Vec<Node> {
        let mut operands = Vec::new();
        let mut left = node;
        while left.kind() == node.kind() && operators.contains(&self.php_operator(left)) {
            operands.extend(left.child_by_field_name("right"));
            match left.child_by_field_name("left") {
                Some(next) => left = next,
                None => break,
            }
        }
        operands.push(left);
        operands.into_iter().rev().map(|one| self.php_expression(one)).collect()
    }

    fn php_binary(&mut self, node: Parsed<'_>) -> Node {
        let kind = match self.php_operator(node) {
            "." => Kind::Join(self.php_chain(node, &["."])),
            "+" => Kind::Add(self.php_chain(node, &["+"])),
            "??" => Kind::Or(vec![self.php_field(node, "left"), self.php_field(node, "right")]),
            "&&" | "||" | "and" | "or" => {
                let parts = self.php_chain(node, &["&&", "||", "and", "or"]);
                Kind::Inert(vec![Node::new(Self::at(node), Kind::Or(parts))])
            }
            "instanceof" => Kind::Inert(vec![self.php_field(node, "left")]),
            other => {
                let other = [other];
                Kind::Inert(self.php_chain(node, &other))
            }
        };
        Node::new(Self::at(node), kind)
    }

    fn php_unary(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let argument = self.php_only(node);
        let minus = self.text_of(node).starts_with('-');
        match argument.kind {
            Kind::Number(number) if minus => Node::new(at, Kind::Number(number.saturating_neg())),
            _ => Node::new(at, Kind::Inert(vec![argument])),
        }
    }

    fn php_cast(&mut self, node: Parsed<'_>) -> Node {
        let value = self.php_field(node, "value");
        let to = node.child_by_field_name("type").map(|one| self.text_of(one)).unwrap_or_default();
        let kind = match to.trim().to_ascii_lowercase().as_str() {
            "string" | "binary" => Kind::Join(vec![value]),
            "array" => return library(node, "array.cast", vec![value]),
            _ => Kind::Inert(vec![value]),
        };
        Node::new(Self::at(node), kind)
    }

    fn php_conditional(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let condition = self.php_field(node, "condition");
        let other = self.php_field(node, "alternative");
        let kind = match node.child_by_field_name("body") {
            Some(body) => {
                let bodies = vec![self.php_expression(body), other];
                Kind::Sequence(vec![condition, Node::new(at, Kind::Either(bodies))])
            }
            None => Kind::Or(vec![condition, other]),
        };
        Node::new(at, kind)
    }

    fn php_match(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut conditions = vec![self.php_field(node, "condition")];
        let mut bodies = Vec::new();
        for arm in node.child_by_field_name("body").map(Self::children).unwrap_or_default() {
            if let Some(tests) = arm.child_by_field_name("conditional_expressions") {
                conditions.extend(self.php_all(tests));
            }
            bodies.push(self.php_field(arm, "return_expression"));
        }
        let conditions = Node::new(at, Kind::Or(conditions));
        Node::new(at, Kind::Sequence(vec![conditions, Node::new(at, Kind::Either(bodies))]))
    }

    fn php_subscript(&mut self, node: Parsed<'_>) -> Node {
        let children = Self::children(node);
        let Some((of, index)) = children.split_first() else { return self.error(node) };
        let of = self.php_expression(*of);
        match index.first() {
            Some(index) => {
                let index = self.php_expression(*index);
                Node::new(Self::at(node), Kind::Index(of.into(), index.into()))
            }
            None => of,
        }
    }

    /// `->name`, `::$name`, `->{name}`
    fn php_property(&mut self, node: Parsed<'_>, of: Node) -> Node {
        let at = Self::at(node);
        let Some(name) = node.child_by_field_name("name") else { return of };
        let is_scoped = node.kind() == "scoped_property_access_expression";
        let kind = match name.kind() {
            "name" => Kind::Member(of.into(), format!("${}", self.text_of(name)).into()),
            "variable_name" if is_scoped => Kind::Member(of.into(), self.text_of(name).into()),
            _ => {
                let name = self.php_expression(name);
                let name = Node::new(at, Kind::Join(vec![Node::text(at, "$"), name]));
                Kind::Index(of.into(), name.into())
            }
        };
        Node::new(at, kind)
    }

    fn php_class_constant(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let children = Self::children(node);
        let [of, name] = children.as_slice() else { return unknown(at) };
        let is_class = matches!(of.kind(), "name" | "qualified_name" | "relative_name" | "relative_scope");
        if self.text_of(*name).eq_ignore_ascii_case("class") {
            return match (is_class, self.php_class_text(*of)) {
                (true, Some(name)) => Node::text(at, &name),
                _ => unknown(at),
            };
        }
        if !is_class || !self.php.has_constant(self.text_of(*name)) {
            return unknown(at);
        }
        // The class itself has no value yet.
        if of.kind() == "relative_scope" && self.php.around.last().is_some_and(|around| around.is_near) {
            return Node::name(at, &constant(self.text_of(*name)));
        }
        let of = self.php_class_of(*of);
        Node::new(at, Kind::Member(of.into(), constant(self.text_of(*name)).into()))
    }

    /// A list; with keys, each element has one.
    fn php_array(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let children = Self::children(node);
        let is_keyed = children.iter().any(|child| Self::children(*child).len() > 1);
        let mut values = Vec::new();
        let mut entries = Vec::new();
        let mut next = 0;
        for child in children {
            let parts = Self::children(child);
            let hole = parts
                .last()
                .filter(|one| one.kind() == "by_ref")
                .map(|one| self.hole(*one, Why::Unsupported));
            match parts.as_slice() {
                [spread] if spread.kind() == "variadic_unpacking" => {
                    let inner = self.php_expression(*spread);
                    let inner = Node::new(Self::at(child), Kind::Spread(inner.into()));
                    if is_keyed { entries.push((inner, Self::nothing(child))) } else { values.push(inner) }
                }
                [key, value] => {
                    let key = self.php_expression(*key);
                    if let Kind::Number(number) = key.kind {
                        next = number.saturating_add(1);
                    }
                    entries.push((key, self.php_expression(*value)));
                }
                [value] => {
                    let value = self.php_expression(*value);
                    if is_keyed {
                        entries.push((Node::text(at, &next.to_string()), value));
                        next = next.saturating_add(1);
                    } else {
                        values.push(value);
                    }
                }
                _ => {}
            }
            if let Some(hole) = hole {
                values.push(hole);
            }
        }
        if !is_keyed {
            return Node::new(at, Kind::List(values));
        }
        let map = Node::new(at, Kind::Map(entries));
        Node::new(at, Kind::Sequence(values.into_iter().chain([map]).collect()))
    }
}

/// A call of something that every program has.
pub(super) fn library(node: Parsed<'_>, name: &str, arguments: Vec<Node>) -> Node {
    let at = Lower::at(node);
    Node::new(at, Kind::Call(Node::name(at, name).into(), arguments))
}

fn integer(written: &str) -> Option<i64> {
    let digits: String = written.chars().filter(|c| *c != '_').collect();
    match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() && octal.bytes().all(|byte| byte.is_ascii_digit()) => {
            i64::from_str_radix(octal, 8).ok()
        }
        _ => number(&digits),
    }
}
