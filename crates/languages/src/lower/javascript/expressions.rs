//! Expressions.

use castellan_event::Why;
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, AssignmentExpression, AssignmentOperator, BinaryExpression,
    BinaryOperator, CallExpression, ChainElement, Expression, ImportExpression, LogicalExpression,
    MemberExpression, ObjectExpression, ObjectPropertyKind, PropertyKind, SpreadElement,
    TaggedTemplateExpression, UnaryExpression, UnaryOperator,
};

use super::super::Lower;
use super::definitions::{getter, private};
use super::literals::number;
use super::span;
use crate::tree::{Kind, Node, Span};

impl Lower<'_> {
    pub(super) fn js(&mut self, node: &Expression<'_>) -> Node {
        let node = node.get_inner_expression();
        self.deeper_at(span(node), |lower| lower.js_expression(node))
    }

    pub(super) fn js_optional(&mut self, at: Span, node: Option<&Expression<'_>>) -> Node {
        node.map_or_else(|| Node::nothing(at), |node| self.js(node))
    }

    fn js_all<'n, 'p: 'n>(&mut self, parts: impl IntoIterator<Item = &'n Expression<'p>>) -> Vec<Node> {
        parts.into_iter().map(|one| self.js(one)).collect()
    }

    fn js_expression(&mut self, node: &Expression<'_>) -> Node {
        let at = span(node);
        let kind = match node {
            Expression::Identifier(name) if name.name == "undefined" => Kind::Constant,
            Expression::Identifier(name) => return Node::name(at, &name.name),
            Expression::ThisExpression(_) => return Node::name(at, "this"),
            // A new target is as unknown as the module's own members.
            Expression::ImportMeta(_) | Expression::NewTarget(_) => return Node::name(at, "import.meta"),
            Expression::NumericLiteral(one) => number(one.value),
            Expression::BigIntLiteral(one) => one.value.parse().map_or(Kind::Constant, Kind::Number),
            Expression::BooleanLiteral(one) => Kind::Number(one.value.into()),
            Expression::NullLiteral(_) | Expression::RegExpLiteral(_) => Kind::Constant,
            Expression::StringLiteral(text) => return Self::js_string(text),
            Expression::TemplateLiteral(text) => return self.js_template(text),
            Expression::Super(_) => Kind::Call(Node::name(at, "super").into(), Vec::new()),
            Expression::AwaitExpression(one) => return self.js(&one.argument),
            Expression::SequenceExpression(one) => Kind::Sequence(self.js_all(&one.expressions)),
            Expression::CallExpression(one) => return self.js_call(one),
            Expression::TaggedTemplateExpression(one) => return self.js_tagged(one),
            Expression::ImportExpression(one) => return self.js_import_call(one),
            Expression::ChainExpression(one) => return self.js_chain_element(&one.expression),
            Expression::NewExpression(one) => {
                let callee = self.js(&one.callee);
                Kind::New(callee.into(), self.js_arguments(&one.arguments))
            }
            Expression::ArrayExpression(one) => {
                let elements = one.elements.iter().map(|element| match element {
                    ArrayExpressionElement::SpreadElement(one) => self.js_spread(one),
                    other => self.js_optional(at, other.as_expression()),
                });
                Kind::List(elements.collect())
            }
            Expression::ObjectExpression(one) => return self.js_object(one),
            Expression::BinaryExpression(one) => return self.js_binary(one),
            Expression::LogicalExpression(one) => Kind::Or(self.js_conditions(one)),
            Expression::PrivateInExpression(one) => Kind::Inert(vec![self.js(&one.right)]),
            Expression::UnaryExpression(one) => return self.js_unary(one),
            Expression::UpdateExpression(one) => {
                let target = self.js_simple(&one.argument);
                return Node::assign(at, target, Node::unknown(at));
            }
            Expression::AssignmentExpression(one) => return self.js_assignment(one),
            Expression::ConditionalExpression(one) => {
                let condition = self.js(&one.test);
                let bodies = self.js_all([&one.consequent, &one.alternate]);
                Kind::Sequence(vec![condition, Node::either(at, bodies)])
            }
            Expression::FunctionExpression(one) => return self.js_function_expression(one),
            Expression::ArrowFunctionExpression(one) => return self.js_arrow(one),
            Expression::ClassExpression(one) => return self.js_class(one),
            Expression::YieldExpression(one) => {
                self.jumps += 1;
                Kind::Yield(one.argument.as_ref().map(|value| self.js(value).into()))
            }
            other => match other.as_member_expression() {
                Some(member) => return self.js_member(member),
                // JSX, or the engine's own functions.
                None => Kind::Hole(Why::Unsupported),
            },
        };
        Node::new(at, kind)
    }

    pub(super) fn js_member(&mut self, node: &MemberExpression<'_>) -> Node {
        let of = self.js(node.object());
        let kind = match node {
            MemberExpression::ComputedMemberExpression(one) => {
                Kind::Index(of.into(), self.js(&one.expression).into())
            }
            MemberExpression::StaticMemberExpression(one) => {
                Kind::Member(of.into(), one.property.name.as_str().into())
            }
            MemberExpression::PrivateFieldExpression(one) => {
                Kind::Member(of.into(), private(&one.field.name).into())
            }
        };
        Node::new(span(node), kind)
    }

    fn js_chain_element(&mut self, node: &ChainElement<'_>) -> Node {
        match (node, node.as_member_expression()) {
            (_, Some(member)) => self.js_member(member),
            (ChainElement::CallExpression(call), _) => self.js_call(call),
            (ChainElement::TSNonNullExpression(one), _) => self.js(&one.expression),
            (_, None) => Node::hole(span(node), Why::Unsupported),
        }
    }

    fn js_arguments(&mut self, arguments: &[Argument<'_>]) -> Vec<Node> {
        let values = arguments.iter().map(|one| match one {
            Argument::SpreadElement(one) => self.js_spread(one),
            other => self.js_optional(span(other), other.as_expression()),
        });
        values.collect()
    }

    fn js_spread(&mut self, node: &SpreadElement<'_>) -> Node {
        Node::spread(span(node), self.js(&node.argument))
    }

    fn js_call(&mut self, node: &CallExpression<'_>) -> Node {
        let arguments = self.js_arguments(&node.arguments);
        let mut callee = self.js(&node.callee);
        if node.callee.is_super() {
            callee = Node::member(callee.at, callee, "constructor");
        }
        Node::call(span(node), callee, arguments)
    }

    /// A tag gets a list of texts, and the values. Here the texts are one, with the values in it.
    fn js_tagged(&mut self, node: &TaggedTemplateExpression<'_>) -> Node {
        let at = span(node);
        let mut arguments = vec![Node::list(at, vec![self.js_template(&node.quasi)])];
        arguments.extend(self.js_all(&node.quasi.expressions));
        let tag = self.js(&node.tag);
        Node::call(at, tag, arguments)
    }

    fn js_import_call(&mut self, node: &ImportExpression<'_>) -> Node {
        let at = span(node);
        let name = self.js(&node.source);
        let load = Node::load(at, name);
        let options = node.options.as_ref().map(|options| self.js(options));
        Node::sequence(at, options.into_iter().chain([load]).collect())
    }

    fn js_object(&mut self, node: &ObjectExpression<'_>) -> Node {
        let mut entries = Vec::new();
        for one in &node.properties {
            entries.push(match one {
                ObjectPropertyKind::SpreadProperty(one) => (self.js_spread(one), Node::nothing(span(&**one))),
                ObjectPropertyKind::ObjectProperty(one) => {
                    let key = self.js_key(&one.key);
                    let value = self.js(&one.value);
                    (key, if one.kind == PropertyKind::Get { getter(value) } else { value })
                }
            });
        }
        Node::new(span(node), Kind::Map(entries))
    }

    fn js_binary(&mut self, node: &BinaryExpression<'_>) -> Node {
        let kind = match node.operator {
            BinaryOperator::Addition => Kind::Add(self.js_operands(node)),
            BinaryOperator::Multiplication => {
                let left = self.js(&node.left);
                Kind::Multiply(left.into(), self.js(&node.right).into())
            }
            _ => Kind::Inert(self.js_operands(node)),
        };
        Node::new(span(node), kind)
    }

    /// The operands of operators that are nested on the left: `a + b + c`.
    fn js_operands(&mut self, node: &BinaryExpression<'_>) -> Vec<Node> {
        let mut right = vec![&node.right];
        let mut left = &node.left;
        while let Expression::BinaryExpression(inner) = left {
            // `f<T>(x)` is a call in TypeScript. As a comparison it reads the name `T`, which has no effect.
            let is_type = inner.operator == BinaryOperator::LessThan
                && node.operator == BinaryOperator::GreaterThan
                && inner.right.is_identifier_reference();
            if inner.operator != node.operator && !is_type {
                break;
            }
            if !is_type {
                right.push(&inner.right);
            }
            left = &inner.left;
        }
        self.js_all(std::iter::once(left).chain(right.into_iter().rev()))
    }

    /// Conditions that are nested on the left are one list: `a && b || c`.
    fn js_conditions(&mut self, node: &LogicalExpression<'_>) -> Vec<Node> {
        let mut right = vec![&node.right];
        let mut left = &node.left;
        while let Expression::LogicalExpression(inner) = left {
            right.push(&inner.right);
            left = &inner.left;
        }
        self.js_all(std::iter::once(left).chain(right.into_iter().rev()))
    }

    fn js_unary(&mut self, node: &UnaryExpression<'_>) -> Node {
        let argument = self.js(&node.argument);
        let kind = match argument.kind {
            Kind::Number(number) if node.operator == UnaryOperator::UnaryNegation => {
                Kind::Number(number.saturating_neg())
            }
            _ => Kind::Inert(vec![argument]),
        };
        Node::new(span(node), kind)
    }

    fn js_assignment(&mut self, node: &AssignmentExpression<'_>) -> Node {
        let at = span(node);
        let right = self.js(&node.right);
        let target = self.js_target(&node.left);
        if node.operator == AssignmentOperator::Assign {
            return Node::assign(at, target, right);
        }
        let before = self.js_target(&node.left);
        let value = match node.operator {
            AssignmentOperator::Addition => Kind::Add(vec![before, right]),
            AssignmentOperator::LogicalOr
            | AssignmentOperator::LogicalAnd
            | AssignmentOperator::LogicalNullish => Kind::Or(vec![before, right]),
            _ => Kind::Inert(vec![before, right]),
        };
        Node::assign(at, target, Node::new(at, value))
    }
}
