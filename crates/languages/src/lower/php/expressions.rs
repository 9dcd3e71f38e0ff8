//! Expressions, and what values are given to.

use castellan_event::Why;
use php_ast::{
    ArrayElement, ArrayElementKind, AssignExpr, AssignOp, BinaryExpr, BinaryOp, ByteStr, CastKind, Expr,
    ExprKind, MagicConstKind, MatchExpr, StringPart, UnaryPrefixExpr, UnaryPrefixOp,
};

use super::super::Lower;
use super::names::{constant, written};
use super::span;
use crate::tree::{Kind, Node, Span};

/// Variables that are the same everywhere.
const SUPERGLOBALS: &[&str] =
    &["$GLOBALS", "$_SERVER", "$_GET", "$_POST", "$_FILES", "$_COOKIE", "$_SESSION", "$_REQUEST", "$_ENV"];

impl Lower<'_> {
    pub(super) fn php_expression(&mut self, node: &Expr<'_, '_>) -> Node {
        self.deeper_at(span(node.span), |lower| lower.php_value(node))
    }

    pub(super) fn php_all<'n, 's: 'a, 'a: 'n>(
        &mut self,
        all: impl IntoIterator<Item = &'n Expr<'a, 's>>,
    ) -> Vec<Node> {
        all.into_iter().map(|one| self.php_expression(one)).collect()
    }

    /// Names, literals and what is made of them.
    fn php_value(&mut self, node: &Expr<'_, '_>) -> Node {
        let at = span(node.span);
        let kind = match &node.kind {
            ExprKind::Variable(name) => return self.php_variable(at, name),
            ExprKind::VariableVariable(name) => {
                let name = self.php_expression(name);
                Kind::Index(Node::library(at, "get_defined_vars", Vec::new()).into(), name.into())
            }
            ExprKind::Identifier(_) | ExprKind::Name(_) => {
                return self.php_constant(at, &written(node).unwrap_or_default());
            }
            ExprKind::MagicConst(one) => return self.php_magic(at, *one),
            ExprKind::String(text) => return piece(at, text),
            ExprKind::Nowdoc { value, .. } => return Node::text(at, value),
            ExprKind::InterpolatedString(parts) | ExprKind::Heredoc { parts, .. } => {
                return self.php_parts(at, parts);
            }
            ExprKind::ShellExec(parts) => {
                return Node::library(at, "shell_exec", vec![self.php_parts(at, parts)]);
            }
            ExprKind::Int(number) => Kind::Number(*number),
            ExprKind::Bool(true) => Kind::Number(1),
            ExprKind::Bool(false) | ExprKind::Float(_) | ExprKind::Null | ExprKind::Omit => Kind::Constant,
            ExprKind::Parenthesized(inner) | ExprKind::ErrorSuppress(inner) => {
                return self.php_expression(inner);
            }
            ExprKind::Array(elements) => return self.php_array(at, elements),
            ExprKind::ArrayAccess(one) => {
                let of = self.php_expression(one.array);
                let Some(index) = one.index else { return of };
                Kind::Index(of.into(), self.php_expression(index).into())
            }
            ExprKind::PropertyAccess(one) | ExprKind::NullsafePropertyAccess(one) => {
                let of = self.php_expression(one.object);
                return self.php_property(at, of, one.property);
            }
            ExprKind::StaticPropertyAccess(one) => {
                let of = self.php_class_of(one.class);
                return self.php_property(at, of, one.member);
            }
            ExprKind::StaticPropertyAccessDynamic { class, member } => {
                let of = self.php_class_of(class);
                let member =
                    if let ExprKind::VariableVariable(inner) = &member.kind { inner } else { member };
                return self.php_property(at, of, member);
            }
            ExprKind::ClassConstAccess(one) => return self.php_class_constant(at, one.class, one.member),
            ExprKind::ClassConstAccessDynamic { class, member } => {
                Kind::Inert(self.php_all([*class, *member]))
            }
            _ => return self.php_computed(node),
        };
        Node::new(at, kind)
    }

    /// Operators, assignments and what leaves an expression.
    fn php_computed(&mut self, node: &Expr<'_, '_>) -> Node {
        let at = span(node.span);
        let kind = match &node.kind {
            ExprKind::Assign(one) => return self.php_assignment(at, one),
            ExprKind::Binary(one) => return self.php_binary(node, one),
            ExprKind::UnaryPrefix(one) => return self.php_unary(at, one),
            ExprKind::UnaryPostfix(one) => return self.php_counted(at, one.operand),
            ExprKind::Ternary(one) => {
                let condition = self.php_expression(one.condition);
                match one.then_expr {
                    Some(body) => {
                        let bodies = self.php_all([body, one.else_expr]);
                        Kind::Sequence(vec![condition, Node::either(at, bodies)])
                    }
                    None => Kind::Or(vec![condition, self.php_expression(one.else_expr)]),
                }
            }
            ExprKind::NullCoalesce(one) => Kind::Or(self.php_all([one.left, one.right])),
            ExprKind::Cast(to, value) => {
                let value = self.php_expression(value);
                match to {
                    CastKind::String => Kind::Join(vec![value]),
                    CastKind::Array => return Node::library(at, "array.cast", vec![value]),
                    _ => Kind::Inert(vec![value]),
                }
            }
            ExprKind::Match(one) => return self.php_match(at, one),
            ExprKind::Clone(inner) => return Node::library(at, "clone", vec![self.php_expression(inner)]),
            ExprKind::CloneWith(inner, changes) => {
                let changes = self.php_expression(changes);
                let clone = Node::library(at, "clone", vec![self.php_expression(inner)]);
                Kind::Sequence(vec![changes, clone])
            }
            ExprKind::Include(_, path) => {
                return Node::library(at, "include", vec![self.php_expression(path)]);
            }
            ExprKind::Eval(text) => return Node::library(at, "eval", vec![self.php_expression(text)]),
            ExprKind::Isset(values) => Kind::Inert(self.php_all(values.iter())),
            ExprKind::Print(value) | ExprKind::Empty(value) => Kind::Inert(vec![self.php_expression(value)]),
            ExprKind::Exit(value) => {
                Kind::Inert(value.map(|value| self.php_expression(value)).into_iter().collect())
            }
            ExprKind::Throw(value) => {
                self.jumps += 1;
                Kind::Inert(vec![self.php_expression(value)])
            }
            ExprKind::Yield(one) => {
                self.jumps += 1;
                let key = one.key.map(|key| self.php_expression(key));
                let value = one.value.map(|value| self.php_expression(value).into());
                let yielded = Node::new(at, Kind::Yield(value));
                Kind::Sequence(key.into_iter().chain([yielded]).collect())
            }
            // The parser reports the error, too.
            ExprKind::Error => return Node::unknown(at),
            _ => return self.php_called(node),
        };
        Node::new(at, kind)
    }

    /// The parts of `"text $x"`, of a heredoc, or of what stands in backticks.
    fn php_parts(&mut self, at: Span, parts: &[StringPart<'_, '_>]) -> Node {
        let part = |one: &StringPart<'_, '_>| match one {
            StringPart::Literal(text) => piece(at, text),
            StringPart::Expr(value) => self.php_expression(value),
            _ => Node::unknown(at),
        };
        Node::new(at, Kind::Join(parts.iter().map(part).collect()))
    }

    /// `$x++`
    fn php_counted(&mut self, at: Span, operand: &Expr<'_, '_>) -> Node {
        let before = self.php_expression(operand);
        let target = self.php_target(operand);
        Node::assign(at, target, Node::inert(at, vec![before]))
    }

    fn php_variable(&mut self, at: Span, name: &str) -> Node {
        let name = format!("${name}");
        if name == "$this" {
            return Node::name(at, "this");
        }
        if !SUPERGLOBALS.contains(&name.as_str()) {
            self.declare_outside(&name);
        }
        Node::name(at, &name)
    }

    fn php_constant(&mut self, at: Span, name: &str) -> Node {
        match name.trim_start_matches('\\') {
            "PHP_EOL" => Node::text(at, "\n"),
            "DIRECTORY_SEPARATOR" => Node::text(at, "/"),
            "PATH_SEPARATOR" => Node::text(at, ":"),
            "PHP_BINARY" => Node::text(at, "php"),
            option if option.starts_with("CURLOPT_") => Node::text(at, option),
            "STDIN" | "STDOUT" | "STDERR" => Node::nothing(at),
            _ if self.php.has_constant(name) => Node::name(at, &constant(name)),
            _ => Node::unknown(at),
        }
    }

    fn php_magic(&mut self, at: Span, constant: MagicConstKind) -> Node {
        match constant {
            MagicConstKind::Dir => Node::name(at, "__dir__"),
            MagicConstKind::File => Node::name(at, "__file__"),
            MagicConstKind::Namespace => Node::text(at, self.php.names.namespace().unwrap_or_default()),
            MagicConstKind::Class => match self.php.around.last().and_then(|around| around.name.as_deref()) {
                Some(name) => Node::text(at, name),
                None => Node::unknown(at),
            },
            _ => Node::unknown(at),
        }
    }

    fn php_assignment(&mut self, at: Span, node: &AssignExpr<'_, '_>) -> Node {
        let AssignExpr { target, op, value, by_ref, .. } = node;
        let right = self.php_expression(value);
        let right = match op {
            AssignOp::Assign => right,
            op => {
                let parts = vec![self.php_expression(target), right];
                Node::new(
                    at,
                    match op {
                        AssignOp::Concat => Kind::Join(parts),
                        AssignOp::Plus => Kind::Add(parts),
                        AssignOp::Coalesce => Kind::Or(parts),
                        _ => Kind::Inert(parts),
                    },
                )
            }
        };
        let target = self.php_target(target);
        let assigned = Node::assign(at, target, right);
        let is_new = || {
            matches!(
                value.kind,
                ExprKind::FunctionCall(_)
                    | ExprKind::MethodCall(_)
                    | ExprKind::StaticMethodCall(_)
                    | ExprKind::StaticMethodCallDynamic(_)
                    | ExprKind::New(_)
                    | ExprKind::Array(_)
            )
        };
        if !by_ref || is_new() {
            return assigned;
        }
        // `$a = &$b`: from here on both are one, which is not followed.
        Node::sequence(at, vec![Node::hole(at, Why::Unsupported), assigned])
    }

    /// The operands of operators that lie deep inside each other on the left.
    fn php_operands(&mut self, node: &Expr<'_, '_>, is_same: impl Fn(BinaryOp) -> bool) -> Vec<Node> {
        let (mut left, mut right) = (node, Vec::new());
        while let ExprKind::Binary(one) = &left.kind
            && is_same(one.op)
        {
            right.push(one.right);
            left = one.left;
        }
        self.php_all(std::iter::once(left).chain(right.into_iter().rev()))
    }

    fn php_binary(&mut self, node: &Expr<'_, '_>, one: &BinaryExpr<'_, '_>) -> Node {
        let at = span(node.span);
        let is_condition = |op| {
            matches!(
                op,
                BinaryOp::BooleanAnd | BinaryOp::BooleanOr | BinaryOp::LogicalAnd | BinaryOp::LogicalOr
            )
        };
        let kind = match one.op {
            BinaryOp::Concat => Kind::Join(self.php_operands(node, |op| op == BinaryOp::Concat)),
            BinaryOp::Add => Kind::Add(self.php_operands(node, |op| op == BinaryOp::Add)),
            op if is_condition(op) => {
                let parts = self.php_operands(node, is_condition);
                Kind::Inert(vec![Node::or(at, parts)])
            }
            BinaryOp::Instanceof => {
                let class = Some(one.right).filter(|class| written(class).is_none());
                Kind::Inert(self.php_all(std::iter::once(one.left).chain(class)))
            }
            // `value |> function`
            BinaryOp::Pipe => {
                let (value, function) = (self.php_expression(one.left), self.php_expression(one.right));
                return Node::library(at, "call_user_func", vec![function, value]);
            }
            op => Kind::Inert(self.php_operands(node, |other| other == op)),
        };
        Node::new(at, kind)
    }

    fn php_unary(&mut self, at: Span, node: &UnaryPrefixExpr<'_, '_>) -> Node {
        if matches!(node.op, UnaryPrefixOp::PreIncrement | UnaryPrefixOp::PreDecrement) {
            return self.php_counted(at, node.operand);
        }
        let operand = self.php_expression(node.operand);
        match operand.kind {
            Kind::Number(number) if node.op == UnaryPrefixOp::Negate => {
                Node::new(at, Kind::Number(number.saturating_neg()))
            }
            _ => Node::inert(at, vec![operand]),
        }
    }

    fn php_match(&mut self, at: Span, node: &MatchExpr<'_, '_>) -> Node {
        let mut conditions = vec![self.php_expression(node.subject)];
        let mut bodies = Vec::new();
        for arm in node.arms.iter() {
            conditions.extend(self.php_all(arm.conditions.iter().flat_map(|tests| tests.iter())));
            bodies.push(self.php_expression(&arm.body));
        }
        Node::branch(at, conditions, bodies)
    }

    /// `->name`, `::$name`, `->{name}`
    fn php_property(&mut self, at: Span, of: Node, name: &Expr<'_, '_>) -> Node {
        if let ExprKind::Identifier(name) = &name.kind {
            return Node::member(at, of, format!("${}", name.as_str()));
        }
        let name = self.php_expression(name);
        let name = Node::new(at, Kind::Join(vec![Node::text(at, "$"), name]));
        Node::index(at, of, name)
    }

    fn php_class_constant(&mut self, at: Span, class: &Expr<'_, '_>, name: &Expr<'_, '_>) -> Node {
        let (Some(class_name), Some(name)) = (written(class), written(name)) else {
            return Node::inert(at, self.php_all([class, name]));
        };
        if name.eq_ignore_ascii_case("class") {
            return self.php.class_in(class).map_or_else(|| Node::unknown(at), |name| Node::text(at, &name));
        }
        if !self.php.has_constant(&name) {
            return Node::unknown(at);
        }
        // The class itself has no value yet.
        let is_own = ["self", "static", "parent"].iter().any(|own| class_name.eq_ignore_ascii_case(own));
        if is_own && self.php.around.last().is_some_and(|around| around.is_near) {
            return Node::name(at, &constant(&name));
        }
        let of = self.php_class_of(class);
        Node::member(at, of, constant(&name))
    }

    /// A list; with keys, each element has one.
    fn php_array(&mut self, at: Span, elements: &[ArrayElement<'_, '_>]) -> Node {
        let is_keyed = elements.iter().any(|one| one.key.is_some());
        let (mut values, mut entries) = (Vec::new(), Vec::new());
        let mut next = 0;
        for one in elements {
            let key = one.key.as_ref().map(|key| self.php_expression(key));
            let value = self.php_expression(one.value());
            match (&one.kind, key) {
                (ArrayElementKind::Spread(_), _) => {
                    let inner = Node::spread(span(one.span), value);
                    if is_keyed { entries.push((inner, Node::nothing(at))) } else { values.push(inner) }
                }
                (_, Some(key)) => {
                    if let Kind::Number(number) = key.kind {
                        next = number.saturating_add(1);
                    }
                    entries.push((key, value));
                }
                (_, None) if is_keyed => {
                    entries.push((Node::text(at, &next.to_string()), value));
                    next = next.saturating_add(1);
                }
                (_, None) => values.push(value),
            }
            if one.is_by_ref() {
                values.push(Node::hole(span(one.span), Why::Unsupported));
            }
        }
        if !is_keyed {
            return Node::list(at, values);
        }
        let map = Node::new(at, Kind::Map(entries));
        Node::sequence(at, values.into_iter().chain([map]).collect())
    }

    /// What an assignment gives a value to.
    pub(super) fn php_target(&mut self, node: &Expr<'_, '_>) -> Node {
        let at = span(node.span);
        self.deeper_at(at, |lower| match &node.kind {
            ExprKind::Array(elements) => lower.php_list_target(at, elements),
            ExprKind::Parenthesized(inner) => lower.php_target(inner),
            ExprKind::Omit => Node::nothing(at),
            ExprKind::ArrayAccess(one) => {
                let of = lower.php_target(one.array);
                let index = match one.index {
                    Some(index) => lower.php_expression(index),
                    // A new element at the end.
                    None => Node::spread(at, Node::nothing(at)),
                };
                Node::index(at, of, index)
            }
            _ => lower.php_value(node),
        })
    }

    /// `[$a, , $b]` or `['k' => $a]`: a target for each place, or for each key.
    fn php_list_target(&mut self, at: Span, elements: &[ArrayElement<'_, '_>]) -> Node {
        let (mut targets, mut entries) = (Vec::new(), Vec::new());
        for one in elements {
            let key = one.key.as_ref().map(|key| self.php_expression(key));
            let target = self.php_target(one.value());
            match key {
                Some(key) => entries.push((key, target)),
                None => targets.push(target),
            }
        }
        Node::new(at, if entries.is_empty() { Kind::List(targets) } else { Kind::Map(entries) })
    }
}

/// A text that is no UTF-8 is not known.
fn piece(at: Span, text: &ByteStr<'_, '_>) -> Node {
    text.to_str().map_or_else(|| Node::unknown(at), |text| Node::text(at, text))
}
