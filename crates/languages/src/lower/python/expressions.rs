//! Expressions.

use castellan_event::Why;
use ruff_python_ast::{
    ArgOrKeyword, Arguments, BoolOp, Comprehension, Expr, ExprBinOp, ExprBoolOp, ExprDict, ExprDictComp,
    ExprGenerator, ExprListComp, ExprSetComp, ExprSlice, ExprSubscript, ExprUnaryOp, Number, Operator,
    UnaryOp,
};

use super::super::Lower;
use super::span;
use crate::limits::LAYERS_MAX;
use crate::tree::{Kind, Loop, Node, Span};

impl Lower<'_> {
    pub(super) fn expression(&mut self, node: &Expr) -> Node {
        self.deeper_at(span(node), |lower| lower.expression_of(node))
    }

    fn expression_of(&mut self, node: &Expr) -> Node {
        let at = span(node);
        let kind = match node {
            // The parser adds such a name where a part is missing.
            Expr::Name(name) if name.id.is_empty() => Kind::Hole(Why::Syntax),
            Expr::Name(name) => return Node::name(at, &name.id),
            Expr::NumberLiteral(number) => match &number.value {
                Number::Int(whole) => whole.as_i64().map_or(Kind::Constant, Kind::Number),
                Number::Float(_) | Number::Complex { .. } => Kind::Constant,
            },
            Expr::BooleanLiteral(one) => Kind::Number(one.value.into()),
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => Kind::Constant,
            Expr::StringLiteral(text) => return self.string(text),
            Expr::BytesLiteral(bytes) => return Self::bytes(bytes),
            Expr::FString(text) => return self.formatted(text),
            Expr::TString(text) => return self.template_text(text),
            Expr::Attribute(one) => {
                let of = self.expression(&one.value);
                Kind::Member(of.into(), one.attr.as_str().into())
            }
            Expr::Subscript(one) => return self.subscript(one),
            Expr::Call(call) => {
                let callee = self.expression(&call.func);
                Kind::Call(callee.into(), self.arguments(&call.arguments))
            }
            Expr::BinOp(one) => return self.binary(one),
            Expr::BoolOp(one) => Kind::Or(self.conditions(one)),
            Expr::Compare(one) => {
                return self.inert(at, std::iter::once(&*one.left).chain(&one.comparators));
            }
            Expr::UnaryOp(one) => return self.unary(one),
            Expr::If(one) => {
                let [yes, condition, no] =
                    [&one.body, &one.test, &one.orelse].map(|one| self.expression(one));
                Kind::Sequence(vec![condition, Node::either(at, vec![yes, no])])
            }
            Expr::Named(one) => {
                let value = self.expression(&one.value);
                let target = match &*one.target {
                    Expr::Name(name) => Node::name(at, &self.declare_outside(&name.id)),
                    other => self.expression(other),
                };
                return Node::assign(at, target, value);
            }
            Expr::Lambda(one) => return self.lambda(one),
            Expr::List(one) => Kind::List(self.expressions(&one.elts)),
            Expr::Tuple(one) => Kind::List(self.expressions(&one.elts)),
            Expr::Set(one) => Kind::List(self.expressions(&one.elts)),
            Expr::Starred(one) => Kind::Spread(self.expression(&one.value).into()),
            Expr::Await(one) => return self.expression(&one.value),
            Expr::Dict(one) => self.dictionary(one),
            Expr::ListComp(ExprListComp { elt, generators, .. })
            | Expr::SetComp(ExprSetComp { elt, generators, .. })
            | Expr::Generator(ExprGenerator { elt, generators, .. }) => {
                return self.comprehension(at, generators, |lower| lower.expression(elt));
            }
            Expr::DictComp(one) => self.entries(one),
            Expr::Yield(one) => {
                self.jumps += 1;
                Kind::Yield(one.value.as_ref().map(|value| self.expression(value).into()))
            }
            Expr::YieldFrom(one) => {
                self.jumps += 1;
                Kind::Yield(Some(self.expression(&one.value).into()))
            }
            Expr::Slice(slice) => return self.inert(at, bounds(slice).into_iter().flatten()),
            // Only notebooks have such commands.
            Expr::IpyEscapeCommand(_) => Kind::Hole(Why::Unsupported),
        };
        Node::new(at, kind)
    }

    /// The arguments of a call or of a class, in the order of the text.
    pub(super) fn arguments(&mut self, arguments: &Arguments) -> Vec<Node> {
        let in_order = arguments.iter_source_order();
        in_order
            .map(|one| match one {
                ArgOrKeyword::Arg(value) => self.expression(value),
                ArgOrKeyword::Keyword(keyword) => {
                    let value = self.expression(&keyword.value).into();
                    let kind = match &keyword.arg {
                        Some(name) => Kind::Keyword(name.as_str().into(), value),
                        None => Kind::Spread(value),
                    };
                    Node::new(span(keyword), kind)
                }
            })
            .collect()
    }

    fn subscript(&mut self, node: &ExprSubscript) -> Node {
        let at = span(node);
        let of = self.expression(&node.value);
        match &*node.slice {
            Expr::Slice(slice) => {
                let bounds = bounds(slice).map(|bound| bound.map(|bound| self.expression(bound).into()));
                Node::new(at, Kind::Slice(of.into(), bounds))
            }
            Expr::Tuple(several) if !several.parenthesized => {
                let index = self.inert(span(several), &several.elts);
                Node::index(at, of, index)
            }
            index => {
                let index = self.expression(index);
                Node::index(at, of, index)
            }
        }
    }

    /// Conditions that are nested on the left are one list: `a and b or c`.
    fn conditions(&mut self, node: &ExprBoolOp) -> Vec<Node> {
        let (mut first, mut rest) = (node.values.split_first(), Vec::new());
        let mut parts = Vec::new();
        while let Some((left, right)) = first {
            rest.push(right);
            first = match left {
                Expr::BoolOp(ExprBoolOp { values, op: BoolOp::And | BoolOp::Or, .. }) => values.split_first(),
                left => {
                    parts.push(self.expression(left));
                    None
                }
            };
        }
        let rest = rest.into_iter().rev().flatten();
        parts.extend(rest.map(|one| self.expression(one)));
        parts
    }

    fn binary(&mut self, node: &ExprBinOp) -> Node {
        let kind = match node.op {
            Operator::Add => Kind::Add(self.terms(node, |operator| operator == Operator::Add)),
            // `dict | dict`: of both.
            Operator::BitOr => Kind::Or(self.terms(node, |operator| operator == Operator::BitOr)),
            operator if is_of_numbers(operator) => Kind::Inert(self.terms(node, is_of_numbers)),
            operator => {
                let [left, right] = [&node.left, &node.right].map(|one| self.expression(one));
                arithmetic(operator, left, right)
            }
        };
        Node::new(span(node), kind)
    }

    /// The operands of operators that are nested on the left: `a + b + c`.
    fn terms(&mut self, node: &ExprBinOp, is_same: fn(Operator) -> bool) -> Vec<Node> {
        let mut right = vec![&*node.right];
        let mut left = &*node.left;
        while let Expr::BinOp(inner) = left {
            if !is_same(inner.op) {
                break;
            }
            right.push(&inner.right);
            left = &inner.left;
        }
        self.expressions(std::iter::once(left).chain(right.into_iter().rev()))
    }

    fn unary(&mut self, node: &ExprUnaryOp) -> Node {
        let operand = self.expression(&node.operand);
        let kind = match operand.kind {
            Kind::Number(number) if node.op == UnaryOp::USub => Kind::Number(number.saturating_neg()),
            _ => Kind::Inert(vec![operand]),
        };
        Node::new(span(node), kind)
    }

    fn dictionary(&mut self, node: &ExprDict) -> Kind {
        let entries = node.items.iter().map(|item| {
            let key = item.key.as_ref().map(|key| self.expression(key));
            let value = self.expression(&item.value);
            let at = value.at;
            match key {
                Some(key) => (key, value),
                None => (Node::spread(at, value), Node::nothing(at)),
            }
        });
        Kind::Map(entries.collect())
    }

    /// `{key: value for …}`, and `{**map for …}`.
    fn entries(&mut self, node: &ExprDictComp) -> Kind {
        let at = span(node);
        let values = self.comprehension(at, &node.generators, |lower| {
            let value = lower.expression(&node.value);
            match &node.key {
                Some(key) => {
                    let key = lower.expression(key);
                    Node::list(at, vec![key, value])
                }
                None => value,
            }
        });
        Kind::Map(vec![(Node::spread(at, values), Node::nothing(at))])
    }

    /// Nested loops, whose names are their own.
    fn comprehension(
        &mut self,
        at: Span,
        generators: &[Comprehension],
        body: impl FnOnce(&mut Self) -> Node,
    ) -> Node {
        let clauses: usize = generators.iter().map(|one| 1 + one.ifs.len()).sum();
        if clauses > LAYERS_MAX {
            return Node::hole(at, Why::Nesting);
        }
        self.begin_block();
        let mut loops = Vec::new();
        for one in generators {
            let right = self.expression(&one.iter);
            let left = self.target(&one.target);
            loops.push((left, right, self.expressions(&one.ifs)));
        }
        let body = body(self);
        let made = loops.into_iter().rev().fold(body, |body, (left, right, conditions)| {
            // The left out elements are not known: any may be there.
            let body = if conditions.is_empty() {
                body
            } else {
                Node::sequence(at, conditions.into_iter().chain([body]).collect())
            };
            let one = Loop { over: Some((left, right)), body, jumps: false, collects: true };
            Node::new(at, Kind::Loop(Box::new(one)))
        });
        self.scoped(made)
    }
}

/// From, to, step.
fn bounds(slice: &ExprSlice) -> [Option<&Expr>; 3] {
    [&slice.lower, &slice.upper, &slice.step].map(|bound| bound.as_deref())
}

/// The operators that have a meaning for paths and texts; the value of others is data.
pub(super) fn arithmetic(operator: Operator, left: Node, right: Node) -> Kind {
    match operator {
        Operator::Div => Kind::Divide(left.into(), right.into()),
        Operator::Mod => Kind::Modulo(left.into(), right.into()),
        Operator::Mult => Kind::Multiply(left.into(), right.into()),
        _ => Kind::Inert(vec![left, right]),
    }
}

fn is_of_numbers(operator: Operator) -> bool {
    !matches!(operator, Operator::Add | Operator::BitOr | Operator::Div | Operator::Mod | Operator::Mult)
}
